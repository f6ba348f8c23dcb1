"""The dataset `visual_time_anomaly`: its rows, editions and card."""

import hashlib
import re
from pathlib import Path

import datasets
import numpy as np
import pytest

from timevista_hf import dataset_scripts
from timevista_hf.building import anomaly_case, anomaly_rows
from timevista_hf.metrics import affiliation_precision_recall, chance_affiliation, chance_set
from timevista_hf.rendering import AnomalyStyle, render_anomalies
from timevista_hf.synthesis.anomalies import find_subset, list_subsets, make_anomalies

NAME = "visual_time_anomaly"
SUBSETS = ["sine-global", "sine-trend-r25", "sine_cosine-square-m4", "sine_cosine-triangle-m5-r10"]
BASES = Path(__file__).parents[3] / "shared" / "base_series"
CARD = next(
    Path(root, NAME, "README.md") for root in dataset_scripts.__path__ if Path(root, NAME).is_dir()
)
each_subset = pytest.mark.parametrize("subset", SUBSETS)


@pytest.fixture(scope="module")
def rows():
    return datasets.load_dataset(NAME, subsets=SUBSETS, split="test", with_images=False)


def same(case, other):
    arrays = ((case.values, other.values), (case.events, other.events))
    plain = [(one.id, one.granularity, one.variates, one.subset) for one in (case, other)]
    return plain[0] == plain[1] and all(
        np.array_equal(*pair, equal_nan=pair[0].dtype.kind == "f")
        and pair[0].shape == pair[1].shape
        for pair in arrays
    )


@pytest.mark.parametrize(
    "options", [{}, {"type": "numpy", "dtype": np.float64}], ids=["plain", "numpy"]
)
def test_a_row_becomes_the_case_that_it_was_made_of(rows, options):
    cases = [case for subset in SUBSETS for case in make_anomalies(subset)]
    back = [anomaly_case(row) for row in rows.with_format(**options)]
    assert all(same(*pair) for pair in zip(cases, back, strict=True))


def test_a_row_says_what_its_subset_says(rows):
    for row in rows.select(range(0, 400, 50)):
        subset = find_subset(row["subset"])
        for name in ("scenario", "granularity", "anomaly", "num_variates", "irregularity", "base"):
            assert row[name] == getattr(subset, name)


def test_what_is_missing_is_nan_in_the_series_and_flagged(rows):
    for row in rows.select(range(0, 400, 25)):
        series = np.array(row["series"])
        assert series.shape[1] == row["num_variates"]
        assert np.array_equal(np.isnan(series), row["missing"])
        assert np.mean(row["missing"]) == row["irregularity"] / 100


def test_the_last_of_each_ten_series_is_clean(rows):
    clean = [not row["events"] and not row["variates"] for row in rows]
    assert clean == [index % 10 == 9 for index in range(400)]


def test_the_seed_of_a_row_makes_its_series():
    *_, row = anomaly_rows("corrected/sine-trend", "train", count=10, with_images=False)  # clean
    digest = hashlib.sha256(row["seed"].encode()).digest()
    rng = np.random.default_rng(int.from_bytes(digest, "big"))
    smooth = 1.5 * np.sin(2 * np.pi * (0.04 * np.arange(400) + rng.random()))
    noise = 0.05 * np.ptp(smooth) / 2 * rng.standard_normal(400)
    assert np.array(row["series"])[:, 0] == pytest.approx(smooth + noise, abs=1e-9)


@each_subset
def test_the_picture_is_the_one_without_marks(subset):
    row = next(anomaly_rows(f"corrected/{subset}", "test"))
    assert row["image"] == {"bytes": render_anomalies(anomaly_case(row)), "path": None}


def test_in_the_papers_edition_the_grid_is_that_of_its_code():
    # With the paper's numbers of variates, all squares, both grids agree.
    row = next(anomaly_rows("paper/sine_cosine-square-m4", "test"))
    style = AnomalyStyle(grid="paper_code")
    assert row["image"]["bytes"] == render_anomalies(anomaly_case(row), style)
    assert row["seed"] == "0"


def test_the_papers_edition_of_a_subset_has_the_papers_series():
    found = datasets.load_dataset(NAME, "sine-trend", edition="paper", with_images=False)
    for split in ("train", "test"):
        [case] = make_anomalies("sine-trend", edition="paper", split=split, count=1)
        assert same(anomaly_case(found[split][0]), case)


def test_without_pictures_there_is_no_feature_for_them(rows):
    assert "image" not in rows.features
    assert "image" in datasets.load_dataset(NAME, "sine-trend", streaming=True)["test"].features


@pytest.mark.parametrize(
    ("config", "names", "edition"),
    [
        ("default", [subset.name for subset in list_subsets(synthetic=True)], "corrected"),
        ("all", [subset.name for subset in list_subsets()], "corrected"),
        ("paper", [subset.name for subset in list_subsets()], "paper"),
        ("symbols-trend-r5", ["symbols-trend-r5"], "corrected"),
    ],
)
def test_a_configuration_holds_its_subsets_in_an_edition(config, names, edition):
    found = datasets.load_dataset_builder(NAME, config).config
    assert list(found.subsets) == names
    assert found.edition == edition


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"subsets": ["sine-trent"]}, "unknown subset 'sine-trent'; did you mean 'sine-trend'"),
        ({"edition": "papers"}, "unknown edition 'papers'; did you mean 'paper'"),
        ({"subsets": ["sine_cosine-square-m7"], "edition": "paper"}, "none of the paper's 124"),
    ],
)
@pytest.mark.parametrize("streaming", [False, True])
def test_a_wrong_option_is_one_error_before_anything_is_made(options, message, streaming):
    with pytest.raises(ValueError, match=message):
        datasets.load_dataset(NAME, streaming=streaming, **options)


@pytest.mark.parametrize("config", ["all", "paper", "symbols-global"])
def test_without_the_real_series_the_error_says_what_to_get(config, tmp_path):
    with pytest.raises(ValueError, match=r"holds no file of 'Symbols' cases; put one of Symbols_"):
        datasets.load_dataset(NAME, config, data_dir=str(tmp_path))


@pytest.mark.skipif(not BASES.is_dir(), reason="needs the cases of the real bases")
@pytest.mark.parametrize("edition", ["corrected", "paper"])
def test_the_real_series_are_read_from_data_dir(edition):
    found = datasets.load_dataset(
        NAME,
        subsets=["symbols-trend", "articulary_word_recognition-square-m36"],
        edition=edition,
        data_dir=str(BASES),
        with_images=False,
    )
    shapes = {(len(row["series"]), len(row["series"][0])) for row in found["test"]}
    assert shapes == {(398, 1), (144, 36)}


def chance_rows():
    table = CARD.read_text(encoding="utf-8").split("## Chance")[1].split("\n## ")[0]
    return re.findall(r"^\| `(.+?)` \| (.+?) \| (.+?) \| (.+?) \| (.+?) \|$", table, re.MULTILINE)


def test_the_card_has_chance_for_each_anomaly():
    anomalies = [find_subset(name).anomaly for name, *_ in chance_rows()]
    assert sorted(anomalies) == sorted({subset.anomaly for subset in list_subsets()})


@pytest.mark.parametrize("row", chance_rows(), ids=lambda row: row[0])
def test_chance_in_the_card_is_what_the_metrics_give(row):
    name, *printed = row
    cases = [case for case in make_anomalies(name) if case.events.size or case.variates]
    if find_subset(name).granularity == "variate":
        truth = [case.variates for case in cases]
        everything = chance_set(truth, n_labels=9, size=9)
        one = chance_set(truth, n_labels=9, size=1).mean_f1
        precision, f1 = everything.mean_precision, everything.mean_f1
    else:
        truth = [case.events.tolist() for case in cases]
        whole = affiliation_precision_recall(truth, [[(0, 400)]] * len(cases), ranges=(0, 400))
        one = chance_affiliation(truth, ranges=(0, 400), size=1).f1.mean()
        precision, f1 = whole.precision.mean(), whole.f1.mean()
    count = np.mean([len(labels) for labels in truth])
    assert printed == [f"{count:.1f}", *(f"{100 * score:.1f}" for score in (precision, f1, one))]
