"""The paper's edition: every series and label as in the paper, by hash."""

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest

from timevista_hf.cases import AnomalyCase
from timevista_hf.synthesis._anomaly_paper import draw_splits
from timevista_hf.synthesis._bases import load_cases
from timevista_hf.synthesis.anomalies import list_subsets, make_anomalies

HASHES = json.loads(Path(__file__).with_name("paper_hashes.json").read_text())
BASES = Path(__file__).parents[3] / "shared" / "base_series"
QUIET_NAN = 0x7FF8000000000000


def hash_of_series(cases):
    digest = hashlib.sha256()
    for case in cases:
        bits = np.ascontiguousarray(case.values, dtype="<f8").view("<u8").copy()
        bits[np.isnan(case.values)] = QUIET_NAN
        digest.update(bits.tobytes())
    return digest.hexdigest()


def hash_of_labels(cases):
    labels = {
        "point": lambda case: case.events[:, 0].tolist(),
        "range": lambda case: case.events.tolist(),
        "variate": lambda case: [*case.variates],
    }
    written = json.dumps([labels[case.granularity](case) for case in cases], separators=(",", ":"))
    return hashlib.sha256(written.encode("ascii")).hexdigest()


def hashes_of(cases):
    return [hash_of_series(cases), hash_of_labels(cases)]


def draw_both_splits(subset, data_dir=None):
    """Draw the stream of a subset once: training, then test."""
    case = None if subset.is_synthetic else load_cases(subset.base, data_dir)[0]
    drawn = [
        AnomalyCase(
            id=subset.name,
            values=values,
            granularity=subset.granularity,
            events=events,
            variates=variates,
        )
        for values, events, variates in draw_splits(subset, case)
    ]
    return {"train": hashes_of(drawn[:100]), "test": hashes_of(drawn[100:])}


@pytest.mark.parametrize("subset", list_subsets(synthetic=True), ids=lambda one: one.name)
def test_synthetic_series_and_labels_equal_the_papers(subset):
    assert draw_both_splits(subset) == HASHES[subset.name]


@pytest.mark.skipif(not BASES.is_dir(), reason="the first cases of the archives are not here")
@pytest.mark.parametrize("subset", list_subsets(synthetic=False), ids=lambda one: one.name)
def test_series_and_labels_on_real_cases_equal_the_papers(subset):
    assert draw_both_splits(subset, BASES) == HASHES[subset.name]


@pytest.mark.parametrize("split", ["train", "test"])
@pytest.mark.parametrize("name", ["sine-global", "sine-trend-r10", "sine_cosine-square-m9"])
def test_a_split_is_its_half_of_the_stream(name, split):
    cases = [*make_anomalies(name, edition="paper", split=split)]
    assert hashes_of(cases) == HASHES[name][split]


@pytest.mark.skipif(not BASES.is_dir(), reason="the first cases of the archives are not here")
def test_real_cases_are_taken_from_the_folder():
    cases = [*make_anomalies("symbols-global", edition="paper", data_dir=BASES)]
    assert hashes_of(cases) == HASHES["symbols-global"]["test"]


def test_the_hashes_are_those_of_all_subsets_in_their_order():
    assert [*HASHES] == [one.name for one in list_subsets()]


def test_a_smaller_count_gives_the_first_series():
    few = [*make_anomalies("sine-contextual", edition="paper", count=2)]
    many = [*make_anomalies("sine-contextual", edition="paper", count=5)]
    assert hash_of_series(few) == hash_of_series(many[:2])
    assert len(few) == 2


def test_the_editions_share_no_id():
    [paper] = make_anomalies("sine-global", edition="paper", count=1)
    [corrected] = make_anomalies("sine-global", count=1)
    assert paper.id == f"paper-{corrected.id}"
    assert paper.subset == corrected.subset == "sine-global"


def test_a_count_beyond_the_papers_hundred_is_refused():
    with pytest.raises(ValueError, match="`count` must be an integer from 0 to 100, got 101"):
        make_anomalies("sine-global", edition="paper", count=101)


def test_another_length_is_refused():
    with pytest.raises(ValueError, match="their own length, got `steps` 500"):
        make_anomalies("sine-global", edition="paper", steps=500)


def test_a_subset_beyond_the_papers_is_refused():
    with pytest.raises(ValueError, match="sine-contextual-r5: is none of the paper's 124 subsets"):
        make_anomalies("sine-contextual-r5", edition="paper")


def test_another_first_case_is_refused(tmp_path):
    values = "\n".join(map(str, range(398)))
    (tmp_path / "symbols_test_0.csv").write_text(f"value\n{values}\n")
    with pytest.raises(ValueError, match="archive's first test case, and the file starts with"):
        make_anomalies("symbols-global", edition="paper", data_dir=tmp_path)
