"""The entries are complete, and agree with Table 3 and the rubrics."""

import pandas as pd
import pytest

from timevista_hf.rubrics import load_rubric
from timevista_hf.sources import Hub, list_sources, load_source


def test_the_thirteen_datasets_have_the_series_of_table_3():
    # Table 3: 5,563 series, of them 400 synthetic.
    assert len(list_sources()) == 13
    assert sum(load_source(name).count for name in list_sources()) == 5563 - 400


def test_the_datasets_span_the_eight_domains_of_table_3():
    assert len({load_source(name).domain for name in list_sources()}) == 8


@pytest.mark.parametrize("name", list_sources())
def test_a_dataset_has_a_rubric_with_knowledge_of_it(name):
    assert load_rubric(load_source(name).rubric).dataset == name


@pytest.mark.parametrize("name", list_sources())
def test_an_entry_says_where_its_files_are_and_what_may_be_done_with_them(name):
    source = load_source(name)
    assert source.url.startswith(("https://", "http://"))
    assert source.licence
    assert source.citation
    assert isinstance(source.origin, Hub) or "{path}" in source.origin.pattern
    assert len({part.name for part in source.parts}) == len(source.parts) == len(source.files)


@pytest.mark.parametrize("name", list_sources())
def test_a_step_is_known_to_pandas(name):
    for part in load_source(name).parts:
        assert pd.tseries.frequencies.to_offset(part.freq).freqstr == part.freq


def test_series_without_a_licence_to_pass_them_on_are_marked():
    closed = [name for name in list_sources() if not load_source(name).redistributable]
    assert closed == ["cpsc2019", "fnspid", "loop_seattle"]


def test_an_unknown_dataset_is_refused_with_the_nearest_name():
    with pytest.raises(ValueError, match="unknown dataset 'ptbdb'; did you mean 'ptb'"):
        load_source("ptbdb")
