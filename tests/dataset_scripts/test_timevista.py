"""The dataset `timevista`: its rows, pictures, copies and card."""

import io
import json
import re
import zipfile
from pathlib import Path

import datasets
import numpy as np
import pytest
import yaml
from PIL import Image

from timevista_hf import dataset_scripts
from timevista_hf.building import (
    build_dataset,
    published_statistics,
    series_case,
    series_parts,
    series_rows,
    summarize_series,
)
from timevista_hf.rubrics import load_rubric
from timevista_hf.sources import list_sources, load_source
from timevista_hf.synthesis.timevista import GROUPS, make_series

NAME = "timevista"
TABLE_3 = Path(__file__).parents[3] / "shared/paper_tables/timevista_table3_datasets.csv"
CARD = next(
    Path(root, NAME, "README.md") for root in dataset_scripts.__path__ if Path(root, NAME).is_dir()
)


@pytest.fixture(scope="module")
def rows():
    return datasets.load_dataset(NAME, "synthetic", split="test")


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A folder with the files of `crypto`, ten coins of 300 days, and of `fnspid`."""
    folder = tmp_path_factory.mktemp("files")
    noise = np.random.default_rng(0).normal(size=(10, 300))
    features = datasets.Features(
        {
            "item_id": datasets.Value("string"),
            "start": datasets.Value("timestamp[s]"),
            "freq": datasets.Value("string"),
            "target": datasets.List(datasets.Value("float32")),
        }
    )
    coins = [
        {"item_id": f"coin {k}", "start": "2020-01-01T00:00:00", "freq": "D", "target": values}
        for k, values in enumerate(noise)
    ]
    datasets.Dataset.from_list(coins, features=features).save_to_disk(folder / "Crypto" / "D")
    (folder / "Stock_price").mkdir()
    with zipfile.ZipFile(folder / "Stock_price/full_history.zip", "w") as archive:
        dates = np.arange("2020-01", "2020-06", dtype="datetime64[D]")
        days = [f"{day},{step % 7}" for step, day in enumerate(dates)]
        archive.writestr("aa.csv", "\n".join(["date,close", *days]))
    return folder


def front_matter(folder):
    return yaml.safe_load((folder / "README.md").read_text(encoding="utf-8").split("---\n")[1])


def section(text, name):
    return text.split(f"## {name}\n")[1].split("\n## ")[0]


def table_of(text):
    """The cells of the rows of a table that start with a name in backquotes."""
    lines = re.findall(r"^\| `(.+) \|$", text, flags=re.MULTILINE)
    return [line.replace("`", "").split(" | ") for line in lines]


def test_the_synthetic_series_come_group_by_group(rows):
    assert rows["id"] == [f"{group}-{place:02d}" for group in GROUPS for place in range(80)]


@pytest.mark.parametrize("place", [0, 85, 399])
def test_a_row_holds_its_series_to_the_bit(rows, place):
    row = rows[place]
    group, number = row["id"].split("-")
    series = make_series(5 * int(number) + GROUPS.index(group))
    assert (row["history"], row["truth"]) == (series.history.tolist(), series.truth.tolist())
    assert row["season_length"] == series.season_length


def test_the_components_recombine_to_the_series(rows):
    for row in rows.select(range(0, 400, 16)):
        parts = {name: np.array(values) for name, values in row["components"].items()}
        made = parts["trend"] + parts["amplitude"] * parts["motif"]
        assert np.array_equal(made, row["history"] + row["truth"])
        assert np.all(np.diff(parts["phase"]) > 0)


def test_a_synthetic_series_has_no_step_date_or_unit(rows):
    row = rows[0]
    assert (row["dataset"], row["domain"]) == ("synthetic", "Synthetic")
    assert [row["freq"], row["start"], row["unit"]] == [None] * 3


def test_the_provenance_names_the_components_and_the_seed(rows):
    said = json.loads(rows[85]["provenance"])
    assert (said["group"], said["seed"], said["trend"]) == ("motif", 1026, "none")


def test_rubrics_are_those_that_a_judge_is_given(rows):
    given = rows[0]["rubrics"]
    assert [rubric["dimension"] for rubric in given] == [
        *("trend", "motif", "phase", "magnitude", "general", "without_knowledge")
    ]
    for entry in given:
        rubric = load_rubric(entry["rubric"].partition("@")[0])
        assert entry["rubric"] == rubric.identity
        assert entry["level"] == rubric.level
        assert entry["text"] in rubric.prompt()


def test_a_row_and_a_prediction_make_the_case_of_the_series(rows):
    series = make_series(2)
    made = series_case(rows[160], series.truth + 1, model="off")
    own = series.forecast(series.truth + 1, model="off")
    for name in ("history", "truth", "prediction"):
        assert np.array_equal(getattr(made, name), getattr(own, name))
    assert (made.label, made.dataset, made.season_length) == (
        *(own.label, own.dataset, own.season_length),
    )


def test_a_real_row_says_where_it_comes_from(files):
    first = next(series_rows("crypto", data_dir=files))
    assert (first["domain"], first["freq"], first["unit"]) == ("Finance", "D", "USD")
    assert first["start"].startswith("2020-01-01")
    assert first["components"] is None
    said = json.loads(first["provenance"])
    assert said["file"] == "Crypto/D/data-00000-of-00001.arrow"
    assert len(first["history"]) == said["cut"] - said["start"]
    assert first["rubrics"][-1]["rubric"] == load_rubric("crypto").identity


def test_a_real_configuration_is_read_from_data_dir(files, tmp_path):
    found = datasets.load_dataset(
        NAME, "crypto", split="test", data_dir=str(files), cache_dir=tmp_path
    )
    own = [row["id"] for row in series_rows("crypto", data_dir=files)]
    assert found["id"] == own
    assert len(own) == load_source("crypto").count  # of the 90 windows of ten coins
    assert found[0]["components"] in (None, dict.fromkeys(found[0]["components"] or ()))


def test_without_pictures_there_is_no_feature_for_them(rows):
    assert "image" not in rows.features


def test_a_picture_shows_three_horizons_and_the_truth_on_shaded_ground():
    row = next(series_rows("synthetic/motif", with_images=True))
    assert row["image"]["path"] is None
    picture = np.array(Image.open(io.BytesIO(row["image"]["bytes"])).convert("RGB"))
    assert picture.shape == (300, 1000, 3)
    shaded = np.all(picture == (247, 212, 212), axis=2).any(axis=0)
    drawn = np.flatnonzero((picture < 255).any(axis=(0, 2)))  # with the labels of the value axis
    assert shaded.sum() / np.ptp(drawn) == pytest.approx(1 / 4, abs=0.04)
    assert not shaded[: drawn[0] + np.ptp(drawn) // 2].any()


@pytest.mark.parametrize("config", ["crypto", "real", "all"])
def test_without_its_files_a_real_configuration_says_what_to_get(config, tmp_path):
    with pytest.raises(ValueError, match=r"^dataset '\w+': .* Either go online, .*`data_dir`"):
        datasets.load_dataset(NAME, config, data_dir=str(tmp_path))


def test_offline_and_without_data_dir_the_error_names_both_ways_out():
    with pytest.raises(ValueError, match=r"was not downloaded: .* Either go online, .*`data_dir`"):
        datasets.load_dataset(NAME, "crypto")


@pytest.mark.parametrize("streaming", [False, True])
def test_an_unknown_part_is_one_error_before_anything_is_made(streaming):
    with pytest.raises(ValueError, match="unknown part 'synthetic/fase'; did you mean"):
        datasets.load_dataset(NAME, parts=["synthetic/fase"], streaming=streaming)


def test_there_is_a_configuration_for_each_source_and_for_all_of_them():
    module = datasets.load_dataset_builder(NAME)
    configs = {config.name: [*config.parts] for config in module.BUILDER_CONFIGS}
    assert configs["all"] == configs["synthetic"] + configs["real"] == series_parts()
    assert {name: [name] for name in list_sources()}.items() <= configs.items()


def test_the_statistics_of_the_synthetic_series_are_those_of_table_3(rows):
    [found] = summarize_series(rows.with_format("arrow").iter(100))
    assert found == published_statistics("synthetic")
    assert found.differences() == []


def test_statistics_that_differ_say_so():
    row = {"dataset": "solar", "freq": "h", "history": [0.0] * 8328, "truth": [0.0] * 24}
    [found] = summarize_series(datasets.Dataset.from_list([row]).with_format("arrow").iter(1))
    assert found.differences() == [
        "input 8328 instead of 8328 – 8712",
        "horizon 24 instead of 48",
        "1 series instead of 400",
    ]


@pytest.mark.skipif(not TABLE_3.is_file(), reason="needs the table of the paper")
def test_the_published_statistics_are_those_of_the_paper():
    lines = TABLE_3.read_text(encoding="utf-8").splitlines()[1:]
    cells = {re.sub(r"\W+", "_", line.split(",")[0]).lower(): line for line in lines}
    assert set(cells) == {"synthetic", *list_sources()}
    for name, line in cells.items():
        own = published_statistics(name)
        numbers = [int(number) for number in re.findall(r"\d+", line.partition(",")[2])]
        ends = sorted({*own.input_length}) + sorted({*own.horizon})
        assert numbers[: len(ends)] == ends
        assert numbers[-1] == own.count


def built(files, folder, config):
    build_dataset(NAME, folder, config_name=config, data_dir=files)
    return front_matter(folder), (folder / "README.md").read_text(encoding="utf-8")


def test_a_copy_says_how_it_differs_from_table_3(files, tmp_path):
    front, text = built(files, tmp_path, "crypto")
    assert front["license"] == "other"
    assert "do_not_publish" not in front
    assert table_of(section(text, "This copy")) == [
        ["crypto", "27 – 267", "30", "D", "29", "input 27 – 267 instead of 2569 – 2809"]
    ]
    assert datasets.load_dataset(str(tmp_path), split="test").num_rows == 29


def test_a_copy_that_must_not_be_published_says_so(files, tmp_path):
    front, text = built(files, tmp_path, "fnspid")
    assert front["do_not_publish"] == ["fnspid"]
    assert "**Do not publish this copy.**" in section(text, "This copy")


def test_a_second_configuration_joins_the_statistics(files, tmp_path):
    built(files, tmp_path, "fnspid")
    front, text = built(files, tmp_path, "crypto")
    assert front["do_not_publish"] == ["fnspid"]
    assert [name for name, *_ in table_of(section(text, "This copy"))] == ["crypto", "fnspid"]


def test_the_synthetic_copy_is_equal_to_table_3_and_keeps_the_licence(tmp_path):
    front, text = built(None, tmp_path, "synthetic")
    assert front["license"] == "apache-2.0"
    assert "do_not_publish" not in front
    assert table_of(section(text, "This copy")) == [
        ["synthetic", "107 – 1720", "32 – 601", "–", "400", "none"]
    ]


def as_printed(span):
    return str(span[0]) if span[0] == span[1] else f"{span[0]} – {span[1]}"


def test_the_card_has_the_statistics_of_table_3():
    printed = {name: cells for name, *cells in table_of(section(CARD.read_text(), "Statistics"))}
    assert set(printed) == {"synthetic", *list_sources()}
    for name, (domain, *cells, _) in printed.items():
        paper = published_statistics(name)
        spans = [as_printed(paper.input_length), as_printed(paper.horizon)]
        assert cells == [*spans, ", ".join(paper.freqs) or "–", str(paper.count)]
        assert domain == ("Synthetic" if name == "synthetic" else load_source(name).domain)


def test_the_card_has_the_licences_of_the_catalog():
    printed = table_of(section(CARD.read_text(), "Licence"))
    assert printed == [
        [name, load_source(name).licence, "yes" if load_source(name).redistributable else "no"]
        for name in list_sources()
    ]


def test_the_card_cites_every_source():
    cited = section(CARD.read_text(), "Citation")
    for name in list_sources():
        assert f"- `{name}`: {load_source(name).citation}\n" in f"{cited}\n"
