"""The dataset `meta_timevista`: ladders, ratings by people, published copies, and its card."""

import json
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import datasets
import numpy as np
import pytest
from read_only_hub import ReadOnlyHub

from timevista_hf import dataset_scripts
from timevista_hf.building import build_dataset, rated_case, rated_parts, rated_rows
from timevista_hf.io import read_forecasts
from timevista_hf.judges import load_judge
from timevista_hf.meta_evaluation import align_judge, format_alignments
from timevista_hf.rating import Question, RatingSession
from timevista_hf.rubrics import load_rubric
from timevista_hf.synthesis.ladders import DIMENSIONS, make_ladder
from timevista_hf.synthesis.timevista import make_series

NAME = "meta_timevista"
CARD = next(
    Path(root, NAME, "README.md") for root in dataset_scripts.__path__ if Path(root, NAME).is_dir()
)
LADDERS = [f"ladders/{dimension}" for dimension in DIMENSIONS]


@pytest.fixture(scope="module")
def rows():
    return datasets.load_dataset(NAME, split="test")


def write_forecasts(path, off=0.0):
    lines = [
        {"id": name, "history": [1, 2, 3, 4], "truth": [5, 6, 7], "predictions": {"ets": [5, 6, z]}}
        for name, z in (("a", 7.5), ("b", 9.0 + off))
    ]
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")


def rate(folder, annotator, scores, rubric="trend"):
    """Answer a question a case, by the series' name; None skips."""
    cases = read_forecasts(folder / "forecasts.jsonl").cases()
    questions = [Question(case, load_rubric(rubric)) for case in cases]
    with RatingSession(questions, annotator, folder / "ratings") as session:
        while session.current is not None:
            score = scores[session.current.case.id]
            session.skip() if score is None else session.rate(score, comment="by Ben himself")


@pytest.fixture
def rated(tmp_path):
    folder = tmp_path / "study"
    folder.mkdir()
    write_forecasts(folder / "forecasts.jsonl")
    rate(folder, "Ana", {"a": 5, "b": 2})
    rate(folder, "Ben", {"a": 4, "b": None})
    return folder


def test_24_series_have_a_ladder_in_each_dimension(rows):
    assert rows.num_rows == 480
    assert len(set(rows["id"])) == 24
    pairs = Counter(zip(rows["dimension"], rows["grade"], strict=True))
    assert pairs == {(name, grade): 24 for name in DIMENSIONS for grade in range(1, 6)}


def test_the_series_are_of_all_groups_and_lengths(rows):
    groups = Counter(name.partition("-")[0] for name in set(rows["id"]))
    assert sorted(groups.values()) == [4, 5, 5, 5, 5]
    horizons = [len(row["truth"]) for row in rows.select(range(0, 120, 5))]
    assert min(horizons) == 32
    assert max(horizons) >= 480


def test_a_row_becomes_the_case_it_was_made_of(rows):
    for place, number in ((120 + 5 * 3, 51), (360 + 5 * 10, 170)):
        dimension = rows[place]["dimension"]
        for step, own in enumerate(make_ladder(make_series(number), dimension, seed=number)):
            made = rated_case(rows[place + step])
            assert made.label == own.label
            assert made.season_length == own.season_length
            for name in ("history", "truth", "prediction"):
                assert np.array_equal(getattr(made, name), getattr(own, name))


def test_a_ladder_is_no_rating_by_people(rows):
    assert set(rows["source"]) == {"ladder"}
    assert set(rows["rating"]) == {None}
    assert all(given == [] for given in rows["ratings"])


def test_the_rubric_of_a_ladder_is_that_of_its_dimension(rows):
    for place in range(0, 480, 120):
        rubric = load_rubric(rows[place]["dimension"])
        assert (rows[place]["rubric"], rows[place]["level"]) == (rubric.identity, "micro")


def test_ratings_come_with_their_forecast_and_their_consensus(rated):
    first, second = rated_rows("rated", data_dir=rated)
    assert (first["id"], first["model"], first["prediction"]) == ("a", "ets", [5, 6, 7.5])
    assert (first["rubric"], first["source"], first["grade"]) == ("trend@1.0", "people", None)
    # 5 and 4, once each, make 4.5; a skipped case has no vote
    assert [first["rating"], second["rating"]] == [4.5, 2.0]


def test_annotators_are_numbers_and_neither_names_nor_comments_get_out(rated):
    first, second = rated_rows("rated", data_dir=rated)
    assert first["ratings"] == [{"annotator": 1, "score": 5}, {"annotator": 2, "score": 4}]
    assert second["ratings"][1] == {"annotator": 2, "score": None}
    assert "Ben" not in json.dumps([first, second])


def test_where_all_skipped_there_is_no_rating(rated):
    rate(rated, "Ana", {"a": None, "b": None}, rubric="phase")
    ratings = {
        (row["id"], row["dimension"]): row["rating"] for row in rated_rows("rated", data_dir=rated)
    }
    assert ratings["a", "phase"] is None


def test_a_rating_that_was_added_is_noticed(rated, tmp_path):
    options = {"split": "test", "data_dir": str(rated), "cache_dir": tmp_path / "cache"}
    assert datasets.load_dataset(NAME, "rated", **options)["rating"] == [4.5, 2.0]
    rate(rated, "cem", {"a": 5, "b": 2})
    assert datasets.load_dataset(NAME, "rated", **options)["rating"] == [5.0, 2.0]


def test_a_copy_is_made_anew_when_a_rating_was_added(rated, tmp_path):
    def build():
        return build_dataset(NAME, tmp_path / "copy", config_name="rated", data_dir=rated)

    assert (build().written, build().kept) == (1, 1)
    rate(rated, "cem", {"a": 5, "b": 2})
    assert build().written == 1
    found = datasets.load_dataset(str(tmp_path / "copy"), split="test")
    assert found["rating"] == [5.0, 2.0]


def test_a_forecast_that_was_not_the_rated_one_is_refused(rated):
    write_forecasts(rated / "forecasts.jsonl", off=0.1)
    with pytest.raises(ValueError, match="holds no forecast of series 'b' by 'ets' with the numb"):
        rated_rows("rated", data_dir=rated)


@pytest.mark.parametrize("others", [[], ["forecasts.csv", "forecasts.parquet"]])
def test_there_must_be_one_file_of_forecasts(rated, others):
    (rated / "forecasts.jsonl").unlink()
    for name in others:
        (rated / name).touch()
    with pytest.raises(ValueError, match=rf"needs one file forecasts\.\* .* has {len(others)}$"):
        rated_rows("rated", data_dir=rated)


@pytest.mark.parametrize(
    ("part", "options", "message"),
    [
        ("rated", {}, "ratings by people are not shipped: name a folder as `data_dir`"),
        ("published", {}, "no ratings have been published with this package: name a repository"),
        ("published", {"repo": "no/where"}, r"no/where: was not read: .*Go online"),
        ("ladders/fase", {}, "unknown part 'ladders/fase'; did you mean 'ladders/phase'"),
    ],
)
def test_what_is_missing_is_said_at_once(part, options, message):
    with pytest.raises(ValueError, match=message):
        rated_rows(part, **options)


def load_published(hub, home):
    code = f"""
import json, datasets, timevista_hf
rows = datasets.load_dataset({NAME!r}, "published", split="test", repo="some/ratings")
print(json.dumps([*rows]))
"""
    settings = {"HF_ENDPOINT": hub.url, "HF_HOME": str(home), "HF_HUB_OFFLINE": "0"}
    return subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **settings, "HF_HUB_DISABLE_XET": "1"},
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_a_published_copy_is_read_by_the_name_of_its_repository(rated, tmp_path):
    copy = build_dataset(NAME, tmp_path / "copy", config_name="rated", data_dir=rated).folder
    with ReadOnlyHub("some/ratings", copy) as hub:
        done = load_published(hub, tmp_path / "home")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [*rated_rows("rated", data_dir=rated)]


def test_another_dataset_is_no_published_copy(tmp_path):
    (tmp_path / "copy").mkdir()
    (tmp_path / "copy" / "test.csv").write_text("id,score\na,1\n", encoding="utf-8")
    with ReadOnlyHub("some/ratings", tmp_path / "copy") as hub:
        done = load_published(hub, tmp_path / "home")
    assert "some/ratings: lacks the feature 'cutoff'" in done.stderr


def printed_alignments():
    table = CARD.read_text(encoding="utf-8").split("<!-- output of")[1].split("\n\n")[0]
    lines = [line.strip("| ").split(" | ") for line in table.splitlines() if line.startswith("| ")]
    return {(dimension, rater): cells for dimension, rater, *cells in lines[1:]}


def estimates(cells):
    return [cell.partition(" ")[0] for cell in cells]


def parse(text):
    """The cells of a table that was formatted, by dimension and rater."""
    lines = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")]
    return {(dimension, rater): cells for dimension, rater, *cells in lines[1:]}


def test_the_card_has_the_correlations_of_the_errors(rows):
    printed = printed_alignments()
    found = parse(format_alignments(align_judge(rows, resamples=1)))
    assert len(found) == 16
    assert {key: estimates(printed[key]) for key in found} == {
        key: estimates(cells) for key, cells in found.items()
    }


def test_the_card_has_the_correlation_of_the_judge_and_its_interval(rows):
    own = rows.select(range(360, 480))  # the ladders of magnitude
    found = align_judge(own, load_judge("builtin"))
    cells = parse(format_alignments(found))["magnitude", "builtin"]
    assert cells[:2] == printed_alignments()["magnitude", "builtin"][:2]


def test_in_the_card_the_judge_is_above_every_error():
    printed = printed_alignments()
    for dimension in DIMENSIONS:
        judge, *errors = (
            [float(one.replace("−", "-")) for one in estimates(printed[dimension, rater])]
            for rater in ("builtin", "−MSE", "−MAE", "−DTW", "random")
        )
        assert all(np.less(error, judge).all() for error in errors)


def test_the_parts_of_the_default_are_the_ladders():
    assert [*datasets.load_dataset_builder(NAME).config.parts] == LADDERS
    assert rated_parts() == [*LADDERS, "rated", "published"]


def test_the_card_says_that_no_ratings_are_shipped():
    assert re.search(r"ratings are\s+not\s+public, and none are shipped", CARD.read_text())
