"""A run in parts: every case in one part, and the parts joined again."""

import hashlib
import json
import sqlite3
import subprocess
import sys
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from timevista_hf.cases import ForecastCase
from timevista_hf.judges import Reply, Request, Store
from timevista_hf.judges.mock import MockJudge
from timevista_hf.pipeline import judge_cases
from timevista_hf.rubrics import load_rubric, select_rubrics
from timevista_hf.scale.shards import (
    MergeCounts,
    Shard,
    merge_stores,
    select_cases,
    select_requests,
    shard_of,
)

RUBRICS = select_rubrics("micro")
MEMBERS = st.lists(st.text(), unique=True)


def key(number):
    return hashlib.sha256(str(number).encode()).hexdigest()


def make_cases(count):
    return [
        ForecastCase(id=str(n), history=[1, 2], truth=[3, 4], prediction=[3, n])
        for n in range(count)
    ]


def fill(path, entries):
    with Store(path) as store:
        for number, text in entries.items():
            store.put(key(number), Reply(text=text))
    return path


def texts(path, numbers):
    with Store(path) as store:
        found = store.get([key(number) for number in numbers])
    return {number: found[key(number)].text for number in numbers if key(number) in found}


def test_a_shard_is_the_hash_of_the_key_modulo_the_count():
    # SHA-256 of "abc" is ba7816bf 8f01cfea 414140de ... (FIPS 180-4); its first eight bytes
    # are the number below.
    assert shard_of("abc", 1000) == 0xBA7816BF8F01CFEA % 1000


@given(MEMBERS, st.integers(1, 9))
def test_every_key_belongs_to_exactly_one_shard(keys, count):
    shards = [Shard(number, count) for number in range(1, count + 1)]
    assert [sum(shard.holds(one) for shard in shards) for one in keys] == [1] * len(keys)


def test_shards_are_of_equal_size_up_to_chance():
    # 8,000 keys in 8 shards: 1,000 each, with a standard deviation of sqrt(8000·1/8·7/8) = 29.6
    sizes = Counter(shard_of(key(number), 8) for number in range(8000))
    assert max(abs(sizes[shard] - 1000) for shard in range(8)) < 5 * 29.6


def test_half_an_emoji_in_a_key_has_a_shard_too():
    assert 0 <= shard_of("rising \ud83d", 5) < 5


@pytest.mark.parametrize("count", [0, -1])
def test_no_shards_are_refused(count):
    with pytest.raises(ValueError, match=f"`count` must be at least 1, got {count}"):
        shard_of("a", count)


def test_a_shard_is_read_as_it_is_written():
    assert Shard.parse(str(Shard(3, 8))) == Shard(3, 8)


@pytest.mark.parametrize("text", ["", "3", "a/b", "1/2/3", "-1/2", "1.0/2", "1 / 2", "٣/٨"])
def test_other_text_is_no_shard(text):
    with pytest.raises(ValueError, match="NUMBER/COUNT, such as 2/8, got"):
        Shard.parse(text)


@pytest.mark.parametrize("text", ["0/4", "5/4", "0/0", "1/0"])
def test_a_number_outside_of_the_count_is_no_shard(text):
    with pytest.raises(ValueError, match=f"one of 1/N to N/N, got '{text}'"):
        Shard.parse(text)


def test_the_shards_of_some_cases_are_those_cases_each_in_its_order():
    cases = make_cases(50)
    parts = [[case.id for case in select_cases(cases, Shard(number, 3))] for number in (1, 2, 3)]
    found = sorted((name for part in parts for name in part), key=int)
    assert found == [case.id for case in cases]
    assert all(part == sorted(part, key=int) and len(part) > 5 for part in parts)


def test_cases_that_show_the_same_share_a_shard():
    for case in make_cases(20):
        twin = replace(case, id="other", model="other", cutoff="2024", dataset="other")
        shards = [Shard(number, 7) for number in range(1, 8)]
        assert [list(select_cases([case, twin], shard)) for shard in shards].count(
            [case, twin]
        ) == 1


def test_cases_are_taken_as_they_are_needed():
    def endless():
        for number in range(1000):
            assert number < 100
            yield make_cases(number + 1)[number]

    assert next(select_cases(endless(), Shard(1, 2))).id.isdigit()


def test_requests_are_placed_by_the_key_of_their_answer():
    judge = MockJudge()
    requests = [Request(case, rubric, "?") for case in make_cases(9) for rubric in RUBRICS]
    part = list(select_requests(requests, judge, Shard(2, 3)))
    assert part == [r for r in requests if shard_of(r.key(judge.identity), 3) == 1]
    assert 0 < len(part) < len(requests)


def test_shards_judged_apart_and_merged_leave_nothing_to_ask(tmp_path):
    cases, judge = make_cases(40), MockJudge(modality="numbers")
    stores = [tmp_path / f"{number}.sqlite" for number in (1, 2, 3)]
    for number, path in enumerate(stores, 1):
        with Store(path) as store:
            list(judge_cases(select_cases(cases, Shard(number, 3)), RUBRICS, judge, store=store))
    merge_stores(tmp_path / "all.sqlite", stores)

    def asked(request):
        raise AssertionError("asked again")

    with Store(tmp_path / "all.sqlite") as store:
        again = MockJudge(asked, "numbers")
        merged = list(judge_cases(cases, RUBRICS, again, store=store))
    assert [entry.judgments for entry in merged] == [
        entry.judgments for entry in judge_cases(cases, RUBRICS, judge)
    ]


def test_a_merge_adds_what_the_target_lacks(tmp_path):
    target = fill(tmp_path / "t", {1: "one"})
    sources = [fill(tmp_path / "a", {1: "one", 2: "two"}), fill(tmp_path / "b", {3: "three"})]
    assert merge_stores(target, sources) == MergeCounts(added=2, known=1, conflicts=0)
    assert texts(target, range(5)) == {1: "one", 2: "two", 3: "three"}


def test_the_first_answer_to_a_question_wins(tmp_path):
    target = fill(tmp_path / "t", {1: "kept"})
    sources = [fill(tmp_path / "a", {1: "a", 2: "first"}), fill(tmp_path / "b", {2: "second"})]
    assert merge_stores(target, sources) == MergeCounts(added=1, known=0, conflicts=2)
    assert texts(target, [1, 2]) == {1: "kept", 2: "first"}


def test_a_merge_that_is_run_again_changes_nothing(tmp_path):
    source = fill(tmp_path / "a", {1: "one", 2: "two"})
    merge_stores(tmp_path / "t", [source])
    assert merge_stores(tmp_path / "t", [source]) == MergeCounts(added=0, known=2, conflicts=0)


def test_a_reply_comes_through_a_merge_exactly(tmp_path):
    reply = Reply("rising \ud83d", expected_score=3.25, options={"seed": 1}, mass=0.5)
    with Store(tmp_path / "a") as store:
        store.put(key(1), reply)
    merge_stores(tmp_path / "t", [tmp_path / "a"])
    with Store(tmp_path / "t") as store:
        assert store.get([key(1)]) == {key(1): reply}


@pytest.mark.parametrize("count", [0, 500, 1201])
def test_any_number_of_answers_is_merged(tmp_path, count):
    source = fill(tmp_path / "a", {number: str(number) for number in range(count)})
    assert merge_stores(tmp_path / "t", [source]).added == count
    assert texts(tmp_path / "t", range(count)) == {number: str(number) for number in range(count)}


def test_a_source_in_use_by_another_process_is_read_and_left_as_it_is(tmp_path):
    with Store(tmp_path / "a b?#%.sqlite") as store:
        store.put(key(1), Reply(text="one"))
        assert merge_stores(tmp_path / "t", [store.path]).added == 1
        store.put(key(2), Reply(text="two"))
        assert len(store) == 2


def test_a_killed_shard_whose_log_was_not_written_back_is_merged_whole(tmp_path):
    script = (
        "import os, sys; from timevista_hf.judges import Reply, Store\n"
        "store = Store(sys.argv[1])\n"
        "for key in sys.argv[2:]: store.put(key, Reply(text=key))\n"
        "os._exit(9)\n"
    )
    keys = [key(number) for number in range(20)]
    subprocess.run([sys.executable, "-c", script, tmp_path / "a", *keys], timeout=60, check=False)
    assert (tmp_path / "a-wal").stat().st_size > 0
    assert merge_stores(tmp_path / "t", [tmp_path / "a"]).added == 20


def test_nothing_to_merge_is_refused(tmp_path):
    with pytest.raises(ValueError, match="there is no store to merge"):
        merge_stores(tmp_path / "t", [])


def test_a_source_that_is_missing_is_refused_and_not_made(tmp_path):
    with pytest.raises(ValueError, match="no such store"):
        merge_stores(tmp_path / "t", [tmp_path / "a"])
    assert list(tmp_path.iterdir()) == []


def test_the_target_is_no_source(tmp_path):
    target = fill(tmp_path / "t", {1: "one"})
    with pytest.raises(ValueError, match="is the store to merge into"):
        merge_stores(target, [tmp_path / "." / "t"])


def other_table(path):
    with sqlite3.connect(path) as file:
        file.execute("CREATE TABLE answers (id, text)")
    file.close()


def other_rows(key, reply):
    def make(path):
        Store(path).close()
        with sqlite3.connect(path) as file:
            file.execute("INSERT INTO replies VALUES (?, ?)", (key, reply))
        file.close()

    return make


@pytest.mark.parametrize(
    "make",
    [
        lambda path: path.write_text("ds,y\n2024,1\n" * 100),
        lambda path: path.write_bytes(b"SQLite format 3\0" + b"\xff" * 4000),
        other_table,
        other_rows("a name", json.dumps({"text": "?"})),
        other_rows("0" * 64, "no json"),
        other_rows("0" * 64, json.dumps({"answer": "?"})),
        other_rows("0" * 64, json.dumps([1, 2])),
    ],
)
def test_a_foreign_source_is_refused_before_anything_is_copied(tmp_path, make):
    good = fill(tmp_path / "good", {1: "one"})
    make(tmp_path / "foreign")
    with pytest.raises(ValueError, match=r"foreign: cannot be read as a store of judgments"):
        merge_stores(tmp_path / "t", [good, tmp_path / "foreign"])
    assert not (tmp_path / "t").exists()


def test_a_foreign_target_is_refused(tmp_path):
    source = fill(tmp_path / "a", {1: "one"})
    (tmp_path / "t").write_text("ds,y\n" * 100)
    with pytest.raises(ValueError, match="t: cannot be used as a store of judgments"):
        merge_stores(tmp_path / "t", [source])


def test_a_rubric_changes_the_shard_of_a_request_but_not_of_its_case():
    case, judge = make_cases(1)[0], MockJudge()
    keys = {Request(case, load_rubric(r.name), "?").key(judge.identity) for r in RUBRICS}
    assert len({shard_of(one, 1000) for one in keys}) == len(RUBRICS)
    shards = [Shard(number, 5) for number in range(1, 6)]
    assert sum(len(list(select_cases([case], shard))) for shard in shards) == 1
