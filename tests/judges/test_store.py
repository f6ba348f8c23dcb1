"""What the store keeps, for whom, and what it refuses to open."""

import hashlib
import sqlite3
import subprocess
import sys
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from timevista_hf.judges import Reply, Store

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
FLOATS = st.floats(allow_nan=False)
OPTIONS = st.dictionaries(
    TEXTS, st.none() | st.booleans() | st.integers() | FLOATS | TEXTS | st.lists(TEXTS)
)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "judgments.sqlite"


def key(number):
    return hashlib.sha256(str(number).encode()).hexdigest()


@given(TEXTS, st.none() | FLOATS, OPTIONS)
def test_a_reply_comes_back_exactly(text, expected_score, options):
    reply = Reply(text=text, expected_score=expected_score, options=options)
    with Store(":memory:") as store:
        store.put(key(1), reply)
        assert store.get([key(1)]) == {key(1): reply}


def test_half_an_emoji_comes_back_as_it_was(path):
    with Store(path) as store:
        store.put(key(1), Reply(text="rising \ud83d"))
        assert store.get([key(1)])[key(1)].text == "rising \ud83d"


def test_keys_that_were_never_put_are_left_out(path):
    with Store(path) as store:
        store.put(key(1), Reply(text="one"))
        assert list(store.get([key(0), key(1), key(2)])) == [key(1)]


def test_no_keys_find_nothing(path):
    with Store(path) as store:
        store.put(key(1), Reply(text="one"))
        assert store.get([]) == {}


@pytest.mark.parametrize("count", [499, 500, 501, 1733])
def test_any_number_of_keys_is_found_in_one_call(count):
    with Store(":memory:") as store:
        for number in range(count):
            store.put(key(number), Reply(text=str(number)))
        found = store.get([key(number) for number in range(count)])
    assert {name: reply.text for name, reply in found.items()} == {
        key(number): str(number) for number in range(count)
    }


def test_a_key_that_is_put_again_holds_the_later_reply(path):
    with Store(path) as store:
        store.put(key(1), Reply(text="first"))
        store.put(key(1), Reply(text="second"))
        assert (len(store), store.get([key(1)])[key(1)].text) == (1, "second")


def test_a_store_that_is_opened_again_holds_what_was_put(path):
    with Store(path) as store:
        store.put(key(1), Reply(text="one"))
    with Store(path) as store:
        assert store.get([key(1)]) == {key(1): Reply(text="one")}


def test_a_closed_store_is_one_file(path):
    with Store(path) as store:
        store.put(key(1), Reply(text="one"))
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]


def test_a_reply_is_on_disk_before_the_store_is_closed(path):
    with Store(path) as writer, Store(path) as reader:
        writer.put(key(1), Reply(text="one"))
        assert len(reader) == 1


def test_two_stores_in_memory_share_nothing():
    with Store(":memory:") as first, Store(":memory:") as second:
        first.put(key(1), Reply(text="one"))
        assert len(second) == 0


WRITE = """
import sys
from timevista_hf.judges import Reply, Store

path, name = sys.argv[1:]
print("ready", flush=True)
sys.stdin.readline()
with Store(path) as store:
    for number in range(200):
        store.put(f"{name} {number}", Reply(text=name))
"""


def test_two_processes_that_make_and_write_one_store_at_once_lose_nothing(path):
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITE, str(path), name], text=True, **pipes)
        for name in ("a", "b")
    ]
    for writer in writers:
        assert writer.stdout.readline() == "ready\n"
    for writer in writers:
        writer.stdin.write("go\n")
        writer.stdin.flush()
    assert [writer.communicate(timeout=60)[1] for writer in writers] == ["", ""]
    with Store(path) as store:
        assert len(store) == 400


def test_a_store_waits_while_another_process_is_making_the_same_file(path):
    other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    release = threading.Timer(0.1, other.execute, ["COMMIT"])
    release.start()
    with Store(path) as store:
        store.put(key(1), Reply(text="one"))
        assert len(store) == 1
    release.join()
    other.close()


@pytest.mark.parametrize("content", [b"unique_id,ds,y\n" * 100, b"\x89PNG\r\n" * 200])
def test_a_file_that_is_no_database_is_refused_by_name_and_left_alone(path, content):
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"judgments\.sqlite: cannot be used as a store"):
        Store(path)
    assert path.read_bytes() == content


def test_a_database_with_another_table_of_that_name_is_refused(path):
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE replies (id INTEGER, answer TEXT)")
    connection.close()
    with pytest.raises(ValueError, match=r"judgments\.sqlite: .* no such column: key"):
        Store(path)


def test_a_folder_is_refused_by_name(tmp_path):
    with pytest.raises(ValueError, match="cannot be used as a store of judgments"):
        Store(tmp_path)


def test_a_folder_that_does_not_exist_is_refused_by_name(tmp_path):
    with pytest.raises(ValueError, match=r"missing.store\.sqlite: cannot be used as a store"):
        Store(tmp_path / "missing" / "store.sqlite")


def test_a_file_that_was_cut_short_is_refused(path):
    with Store(path) as store:
        for number in range(300):
            store.put(key(number), Reply(text="x" * 100))
    path.write_bytes(path.read_bytes()[:5000])
    with pytest.raises(ValueError, match=r"judgments\.sqlite: cannot be used as a store"):
        Store(path)


def test_an_empty_file_becomes_a_store(path):
    path.touch()
    with Store(path) as store:
        assert len(store) == 0
