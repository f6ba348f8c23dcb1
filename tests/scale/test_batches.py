"""Batch files: what is written for each provider, and what of its results is kept."""

import json
import random
import re
from dataclasses import replace

import pytest

from timevista_hf import __version__
from timevista_hf.cases import ForecastCase
from timevista_hf.judges import JudgeOptions, Reply, Request, Store, load_judge
from timevista_hf.judges.mock import MockJudge
from timevista_hf.pipeline import judge_cases
from timevista_hf.rubrics import UnparsableReplyError, load_rubric
from timevista_hf.scale._batch_forms import FORMS
from timevista_hf.scale.batches import BatchCounts, missing_requests, read_batch, write_batch

CANARY = "sk-canary-0123456789"
NAMES = {
    "openai": "openai:gpt-5.4",
    "anthropic": "anthropic:claude-sonnet-4.6",
    "gemini": "gemini:gemini-3.1-pro",
}
RUBRICS = [load_rubric("trend"), load_rubric("phase")]
PNG = b"\x89PNG\r\n\x1a\n not drawn for these tests"


@pytest.fixture(autouse=True)
def keys(monkeypatch):
    for name in ("OPENAI", "ANTHROPIC", "GEMINI"):
        monkeypatch.setenv(f"{name}_API_KEY", CANARY)
        monkeypatch.delenv(f"{name}_BASE_URL", raising=False)


@pytest.fixture(params=NAMES)
def family(request):
    return request.param


@pytest.fixture
def judge(family):
    return load_judge(NAMES[family])


@pytest.fixture
def openai():
    return load_judge(NAMES["openai"])


@pytest.fixture
def store():
    with Store(":memory:") as opened:
        yield opened


def make_case(number):
    numbers = {"history": [1, 2, 3], "truth": [4, 5], "prediction": [4, number]}
    return ForecastCase(id=f"series {number}", **numbers)


def make_requests(count):
    return [
        Request(make_case(number), rubric, rubric.prompt(), PNG + bytes([number]))
        for number in range(count)
        for rubric in RUBRICS
    ]


def keys_of(requests, judge):
    return [request.key(judge.identity) for request in requests]


def entries_of(path):
    text = path.read_text()
    return (
        json.loads(text)["requests"]
        if path.suffix == ".json"
        else map(json.loads, text.splitlines())
    )


def written(files):
    """The ids and payloads of files, in order."""
    return [
        (entry.get("custom_id") or entry["key"], entry.get(_body(entry)))
        for path in files
        for entry in entries_of(path)
    ]


def _body(entry):
    return next(name for name in ("body", "params", "request") if name in entry)


def verdict(score):
    return json.dumps({"rationale": f"a {score}", "score": score})


def answered(family, key, text, stop="stop"):
    """A result line with a reply in it, as each provider documents it."""
    if family == "openai":
        message = {"role": "assistant", "content": text, "refusal": None}
        choice = {"index": 0, "message": message, "finish_reason": stop, "logprobs": None}
        usage = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
        body = {"id": "c", "object": "chat.completion", "model": "gpt-5.4-2026-03-05"}
        body |= {"choices": [choice], "usage": usage}
        response = {"status_code": 200, "request_id": "r", "body": body}
        return {"id": "b", "custom_id": key, "response": response, "error": None}
    if family == "anthropic":
        reason = {"stop": "end_turn", "length": "max_tokens"}[stop]
        message = {"id": "m", "type": "message", "role": "assistant", "model": "claude"}
        message |= {"content": [{"type": "text", "text": text}], "stop_reason": reason}
        message |= {"usage": {"input_tokens": 11, "output_tokens": 7}}
        return {"custom_id": key, "result": {"type": "succeeded", "message": message}}
    reason = {"stop": "STOP", "length": "MAX_TOKENS"}[stop]
    content = {"role": "model", "parts": [{"text": text}]}
    usage = {"promptTokenCount": 11, "candidatesTokenCount": 7, "totalTokenCount": 18}
    response = {"candidates": [{"content": content, "finishReason": reason}]}
    return {"key": key, "response": response | {"usageMetadata": usage}}


FAILED = {
    "openai": lambda key: {
        "custom_id": key,
        "response": {"status_code": 400, "body": {"error": {"message": "too bad"}}},
        "error": None,
    },
    "anthropic": lambda key: {
        "custom_id": key,
        "result": {
            "type": "errored",
            "error": {
                "type": "error",
                "error": {"type": "invalid_request_error", "message": "too bad"},
            },
        },
    },
    "gemini": lambda key: {"key": key, "error": {"code": 3, "message": "too bad"}},
}
EXPIRED = {
    "openai": lambda key: {
        "custom_id": key,
        "response": None,
        "error": {"code": "batch_expired", "message": "no time"},
    },
    "anthropic": lambda key: {"custom_id": key, "result": {"type": "expired"}},
    "gemini": lambda key: {"key": key, "error": {"code": 4, "message": "no time"}},
}


def save(path, lines):
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


@pytest.fixture
def batch(tmp_path, judge):
    """A written batch of 12 requests, and the keys in it."""
    requests = make_requests(6)
    write_batch(requests, judge, tmp_path / "batch")
    return tmp_path / "batch", keys_of(requests, judge)


def test_a_file_holds_every_request_once_as_the_judge_would_send_it(tmp_path, judge):
    requests = make_requests(3)
    [path] = write_batch(requests, judge, tmp_path / "batch")
    payloads = [json.loads(json.dumps(judge.payload(request))) for request in requests]
    assert written([path]) == list(zip(keys_of(requests, judge), payloads, strict=True))


def test_a_line_for_openai_names_method_and_endpoint(tmp_path, openai):
    [path] = write_batch(make_requests(1), openai, tmp_path / "batch")
    for line in path.read_text().splitlines():
        entry = json.loads(line)
        assert set(entry) == {"custom_id", "method", "url", "body"}
        assert (entry["method"], entry["url"]) == ("POST", "/v1/chat/completions")


def test_a_server_of_ones_own_takes_the_files_of_openai(tmp_path, monkeypatch):
    server = load_judge("server:http://127.0.0.1:9/v1#some/model")
    [path] = write_batch(make_requests(1), server, tmp_path / "batch")
    assert next(iter(entries_of(path)))["body"]["model"] == "some/model"


def test_ids_are_within_what_every_provider_takes(tmp_path, judge):
    files = write_batch(make_requests(2), judge, tmp_path / "batch")
    # The narrowest is Anthropic's: 1 to 64 letters, digits, hyphens and underscores.
    assert all(re.fullmatch("[a-zA-Z0-9_-]{1,64}", key) for key, _ in written(files))


@pytest.mark.parametrize(
    ("spare", "most", "counts"),
    [
        (0, None, [4, 4, 4]),
        (-1, None, [3, 3, 3, 3]),
        (0, 3, [3, 3, 3, 3]),
        (0, 4, [4, 4, 4]),
        (0, 5, [4, 4, 4]),
    ],
)
def test_files_are_filled_up_to_the_limits_and_never_over(tmp_path, judge, spare, most, counts):
    # Two rubrics in turn: any four requests in a row need the same number of bytes.
    requests = make_requests(6)
    [four] = write_batch(requests[:4], judge, tmp_path / "four")
    limit = four.stat().st_size + spare
    files = write_batch(requests, judge, tmp_path / "batch", max_bytes=limit, max_requests=most)
    assert [len(written([path])) for path in files] == counts
    assert max(path.stat().st_size for path in files) <= limit
    assert [key for key, _ in written(files)] == keys_of(requests, judge)


@pytest.mark.parametrize(
    ("family", "megabytes", "requests"),
    [("openai", 200, 50_000), ("anthropic", 256, 100_000), ("gemini", 2_000, 1_000_000)],
)
def test_a_limit_may_be_lower_than_the_providers_not_higher(tmp_path, family, megabytes, requests):
    judge = load_judge(NAMES[family])
    for name, most in (("max_bytes", megabytes * 10**6), ("max_requests", requests)):
        for value in (0, most + 1):
            with pytest.raises(ValueError, match=f"`{name}` must be from 1 to {most}, got {value}"):
                write_batch([], judge, tmp_path / "batch", **{name: value})


def test_a_request_that_no_file_can_hold_is_refused_with_its_series(tmp_path, judge):
    with pytest.raises(ValueError, match=r"series 'series 0'.*more than the 100 allowed"):
        write_batch(make_requests(1), judge, tmp_path / "batch", max_bytes=100)
    assert list(tmp_path.iterdir()) == []


def test_what_the_store_answers_is_left_out(tmp_path, judge, store):
    requests = make_requests(40)
    keys = keys_of(requests, judge)
    for key in keys[::3]:
        store.put(key, Reply(verdict(3)))
    files = write_batch(requests, judge, tmp_path / "batch", store=store)
    assert [key for key, _ in written(files)] == [k for n, k in enumerate(keys) if n % 3]


def test_equal_requests_are_written_once(tmp_path, judge):
    requests = make_requests(50)
    other = [replace(r, case=replace(r.case, id="other", model="other")) for r in requests]
    files = write_batch([*requests, *other], judge, tmp_path / "batch")
    assert [key for key, _ in written(files)] == keys_of(requests, judge)


def test_nothing_to_ask_writes_nothing(tmp_path, judge):
    assert write_batch([], judge, tmp_path / "batch") == []
    assert list(tmp_path.iterdir()) == []


def test_a_folder_in_use_is_refused_and_left_alone(tmp_path, judge):
    (tmp_path / "batch").mkdir()
    (tmp_path / "batch" / "mine").write_text("mine")
    with pytest.raises(ValueError, match="batch: holds files already"):
        write_batch(make_requests(1), judge, tmp_path / "batch")
    assert [path.name for path in tmp_path.rglob("*")] == ["batch", "mine"]


def test_a_file_is_no_folder_to_write_to(tmp_path, openai):
    (tmp_path / "batch").write_text("mine")
    with pytest.raises(ValueError, match="batch: cannot be used as the folder"):
        write_batch(make_requests(1), openai, tmp_path / "batch")


def test_an_empty_folder_is_filled(tmp_path, openai):
    (tmp_path / "batch").mkdir()
    [path] = write_batch(make_requests(1), openai, tmp_path / "batch")
    assert path == tmp_path / "batch" / "batch-0001.jsonl"


def test_a_batch_that_is_not_finished_is_not_there(tmp_path, openai):
    def broken():
        yield from make_requests(40)
        raise RuntimeError("no more memory")

    with pytest.raises(RuntimeError):
        write_batch(broken(), openai, tmp_path / "batch", max_requests=3)
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_run_has_left_is_no_hindrance(tmp_path, openai):
    (tmp_path / ".batch.partial").mkdir()
    (tmp_path / ".batch.partial" / "batch-0009.jsonl").write_text("{}")
    write_batch(make_requests(1), openai, tmp_path / "batch")
    names = sorted(path.name for path in tmp_path.rglob("*"))
    assert names == ["batch", "batch-0001.jsonl", "manifest.json"]


def test_requests_are_taken_as_they_are_written(tmp_path, openai):
    taken = []

    def requests():
        for request in make_requests(100):
            files = list((tmp_path / ".batch.partial").glob("batch-*.jsonl"))
            taken.append(len(files))
            yield request

    write_batch(requests(), openai, tmp_path / "batch", max_requests=10)
    # 200 requests make 20 files; those before the last window of 64 are there when it is taken.
    assert taken[-1] >= (200 - 64 - 10) // 10


@pytest.mark.parametrize("name", ["builtin", "mock"])
def test_a_judge_without_batch_files_is_refused(tmp_path, name):
    with pytest.raises(ValueError, match=rf"judge '{name}' takes no batch files; .* openai:MODEL"):
        write_batch([], load_judge(name), tmp_path / "batch")


def test_the_manifest_says_what_was_asked_and_how(tmp_path, judge, family):
    files = write_batch(make_requests(3), judge, tmp_path / "batch", max_requests=4)
    manifest = json.loads((tmp_path / "batch" / "manifest.json").read_text())
    assert manifest["files"] == [
        {"file": path.name, "requests": count, "bytes": path.stat().st_size}
        for path, count in zip(files, [4, 2], strict=True)
    ]
    assert (manifest["family"], manifest["judge"]) == (family, judge.name)
    assert manifest["identity"] == json.loads(json.dumps(dict(judge.identity)))
    assert manifest["decoding"]["model"] == judge.model == manifest["model"]
    assert manifest["rubrics"] == sorted(rubric.identity for rubric in RUBRICS)
    assert (manifest["requests"], manifest["version"]) == (6, __version__)


def test_no_key_is_in_a_file(batch):
    folder, _ = batch
    assert not any(CANARY in path.read_text() for path in folder.iterdir())


def test_results_in_any_order_answer_the_whole_run(tmp_path, judge, family):
    cases = [make_case(number) for number in range(5)]
    options = {"style": None, "runs": 2}
    with Store(tmp_path / "answers.sqlite") as store:
        questions = missing_requests(cases, RUBRICS, judge, store=store, **options)
        asked = list(questions)
        scores = {
            key: 1 + int(request.case.prediction[1]) % 5
            for key, request in zip(keys_of(asked, judge), asked, strict=True)
        }
        files = write_batch(asked, judge, tmp_path / "batch", store=store, max_requests=7)
        lines = [answered(family, key, verdict(scores[key])) for key, _ in written(files)]
        random.Random(0).shuffle(lines)
        parts = [save(tmp_path / "b", lines[:6]), save(tmp_path / "a", lines[6:])]
        assert read_batch(parts, store, tmp_path / "batch") == BatchCounts(stored=20)

        judge.ask = lambda requests: iter([] if not list(requests) else 1 / 0)
        judged = list(judge_cases(cases, RUBRICS, judge, store=store, **options))
    assert [j.score for entry in judged for j in entry.judgments] == [
        score for score in range(1, 6) for _ in range(4)
    ]
    assert {(j.input_tokens, j.output_tokens) for e in judged for j in e.judgments} == {(11, 7)}


def test_what_has_no_answer_yet_is_in_the_next_batch(tmp_path, judge, family, batch, store):
    folder, keys = batch
    lines = [answered(family, key, verdict(2)) for key in keys[:3]]
    lines += [FAILED[family](keys[3]), EXPIRED[family](keys[4]), answered(family, keys[5], "?")]
    read_batch([save(tmp_path / "results", lines)], store, folder)
    files = write_batch(make_requests(6), judge, tmp_path / "next", store=store)
    assert [key for key, _ in written(files)] == keys[3:]


def test_failures_are_counted_by_kind_with_their_reasons(tmp_path, family, batch, store):
    folder, keys = batch
    lines = [FAILED[family](key) for key in keys[:3]]
    lines += [EXPIRED[family](key) for key in keys[3:5]]
    counts = read_batch([save(tmp_path / "results", lines)], store, folder)
    assert (counts.error, counts.expired, counts.stored, len(store)) == (3, 2, 0, 0)
    assert counts.reasons["too bad"] == 3
    assert sum(counts.reasons.values()) == 5


def test_replies_without_a_verdict_are_counted_and_not_kept(tmp_path, family, batch, store):
    folder, keys = batch
    lines = [
        answered(family, keys[0], "It is a 4/5."),
        answered(family, keys[1], verdict(7)),
        answered(family, keys[2], '{"rationale": "and', stop="length"),
    ]
    counts = read_batch([save(tmp_path / "results", lines)], store, folder)
    assert (counts.unparsable, counts.truncated, counts.stored, len(store)) == (2, 1, 0, 0)


DRAFT = json.dumps({"rationale": "first idea", "score": 1})


@pytest.mark.parametrize("said", [f"<think>{DRAFT}", f"[THINK]{DRAFT}[/THINK] None.", "</think>"])
def test_a_draft_among_thoughts_is_counted_and_not_kept(tmp_path, family, batch, store, said):
    folder, keys = batch
    path = save(tmp_path / "results", [answered(family, keys[0], said)])
    counts = read_batch([path], store, folder)
    assert (counts.unparsable, len(store)) == (1, 0)
    assert "beside the model's thoughts" in next(iter(counts.reasons))


def test_an_answer_after_its_thoughts_is_kept_with_what_the_thoughts_cost(tmp_path, openai, store):
    [request] = make_requests(1)[:1]
    write_batch([request], openai, tmp_path / "batch")
    key = request.key(openai.identity)
    line = answered("openai", key, f"<think>{DRAFT}</think>{verdict(4)}")
    line["response"]["body"]["usage"]["total_tokens"] = 5011
    read_batch([save(tmp_path / "results", [line])], store, tmp_path / "batch")
    reply = store.get([key])[key]
    assert (reply.input_tokens, reply.output_tokens) == (11, 5000)
    assert request.question.parse(reply.text).score == 4


def test_an_answer_in_parts_is_kept(tmp_path, openai, store):
    [request] = make_requests(1)[:1]
    write_batch([request], openai, tmp_path / "batch")
    parts = [{"type": "thinking", "thinking": DRAFT}, {"type": "text", "text": verdict(4)}]
    line = answered("openai", request.key(openai.identity), parts)
    counts = read_batch([save(tmp_path / "results", [line])], store, tmp_path / "batch")
    assert counts == BatchCounts(stored=1)


def test_fields_of_the_provider_s_own_are_in_the_files(tmp_path):
    options = JudgeOptions(max_tokens=7000, body={"reasoning_effort": "low"})
    judge = load_judge(NAMES["openai"], options=options)
    [path] = write_batch(make_requests(1), judge, tmp_path / "batch")
    body = next(iter(entries_of(path)))["body"]
    assert (body["reasoning_effort"], body["max_completion_tokens"]) == ("low", 7000)


def test_a_refusal_is_counted_and_not_kept(tmp_path, openai, store):
    [request] = make_requests(1)[:1]
    write_batch([request], openai, tmp_path / "batch")
    line = answered("openai", request.key(openai.identity), None)
    line["response"]["body"]["choices"][0]["message"]["refusal"] = "I cannot judge this."
    counts = read_batch([save(tmp_path / "results", [line])], store, tmp_path / "batch")
    assert (counts.refused, counts.stored, len(store)) == (1, 0, 0)


def test_results_that_come_twice_are_harmless(tmp_path, family, batch, store):
    folder, keys = batch
    path = save(tmp_path / "results", [answered(family, key, verdict(4)) for key in keys])
    assert read_batch([path], store, folder) == BatchCounts(stored=12)
    before = store.get(keys)
    assert read_batch([path, path], store, folder) == BatchCounts(known=24)
    assert store.get(keys) == before


def test_an_answer_that_the_store_has_stays(tmp_path, family, batch, store):
    folder, keys = batch
    store.put(keys[0], Reply(verdict(1)))
    lines = [answered(family, keys[0], verdict(5)), answered(family, keys[1], verdict(5))]
    read_batch([save(tmp_path / "results", lines)], store, folder)
    texts = {key: reply.text for key, reply in store.get(keys).items()}
    assert texts == {keys[0]: verdict(1), keys[1]: verdict(5)}


def test_a_failure_and_an_answer_in_another_file_is_an_answer(tmp_path, family, batch, store):
    folder, keys = batch
    files = [
        save(tmp_path / "errors", [FAILED[family](keys[0])]),
        save(tmp_path / "results", [answered(family, keys[0], verdict(4))]),
    ]
    read_batch(files, store, folder)
    assert list(store.get(keys)) == [keys[0]]


def test_a_stored_answer_records_what_was_really_sent(tmp_path, openai, store):
    requests = make_requests(1)[:1]
    refused = (*openai.decoding.refused, "temperature=0.0")
    openai.decoding = replace(openai.decoding, temperature=None, refused=refused)
    write_batch(requests, openai, tmp_path / "batch")
    [key] = keys_of(requests, openai)
    path = save(tmp_path / "results", [answered("openai", key, verdict(4))])
    read_batch([path], store, tmp_path / "batch")
    options = store.get([key])[key].options
    assert options["temperature"] is None
    assert "temperature=0.0" in options["refused"]


def test_results_can_be_read_without_a_key(tmp_path, family, batch, store, monkeypatch):
    folder, keys = batch
    for name in ("OPENAI", "ANTHROPIC", "GEMINI"):
        monkeypatch.delenv(f"{name}_API_KEY")
    path = save(tmp_path / "results", [answered(family, keys[0], verdict(4))])
    assert read_batch([path], store, folder).stored == 1


@pytest.mark.parametrize("tail", ['{"custom_id": "0', "\xff\xfe", "[" * 100_000, "null", "\n \n"])
def test_a_cut_download_gives_what_it_holds(tmp_path, family, batch, store, tail):
    folder, keys = batch
    path = save(tmp_path / "results", [answered(family, key, verdict(4)) for key in keys[:4]])
    with path.open("ab") as file:
        file.write(tail.encode("latin-1"))
    counts = read_batch([path], store, folder)
    assert (counts.stored, counts.unreadable) == (4, int(bool(tail.strip())))


def test_a_file_without_results_is_refused_with_its_line(tmp_path, family, batch, store):
    folder, _ = batch
    other = next(name for name in NAMES if name != family and name != "gemini")
    lines = [answered("gemini" if family != "gemini" else other, "0" * 64, verdict(4))]
    path = save(tmp_path / "results", lines)
    with pytest.raises(ValueError, match="results, line 1: is no result of a batch: it lacks '"):
        read_batch([path], store, folder)


def test_the_questions_are_no_results(tmp_path, openai, store):
    [path] = write_batch(make_requests(1), openai, tmp_path / "batch")
    with pytest.raises(ValueError, match=r"batch-0001.jsonl, line 1: is no result of a batch"):
        read_batch([path], store, tmp_path / "batch")


def test_ids_of_other_batches_are_not_stored(tmp_path, family, batch, store):
    folder, keys = batch
    lines = [answered(family, key, verdict(4)) for key in ("request-1", keys[0])]
    counts = read_batch([save(tmp_path / "results", lines)], store, folder)
    assert (counts.unreadable, counts.stored) == (1, 1)
    [reason] = counts.reasons
    assert "the id 'request-1' is not from a batch of this package" in reason


def test_a_missing_file_of_results_is_refused(tmp_path, batch, store):
    with pytest.raises(ValueError, match="results: cannot be read"):
        read_batch([tmp_path / "results"], store, batch[0])


@pytest.mark.parametrize("text", [None, "{", "[]", "{}", '{"family": "x", "decoding": {}}'])
def test_a_folder_without_its_manifest_is_refused(tmp_path, store, text):
    if text is not None:
        (tmp_path / "manifest.json").write_text(text)
    with pytest.raises(ValueError, match=r"manifest.json: is not the manifest of a batch"):
        read_batch([], store, tmp_path)


def test_a_body_that_is_no_response_is_an_error(tmp_path, openai, store):
    write_batch(make_requests(1), openai, tmp_path / "batch")
    [key, _] = keys_of(make_requests(1), openai)
    line = {"custom_id": key, "response": {"status_code": 200, "body": {"choices": 5}}}
    counts = read_batch([save(tmp_path / "results", [line])], store, tmp_path / "batch")
    assert (counts.error, counts.stored) == (1, 0)


def test_only_so_many_reasons_are_kept(tmp_path, openai, store):
    requests = make_requests(30)
    write_batch(requests, openai, tmp_path / "batch")
    lines = [FAILED["openai"](key) for key in keys_of(requests, openai)]
    for number, line in enumerate(lines):
        line["response"]["body"]["error"]["message"] = f"{number} " + "x" * 500
    counts = read_batch([save(tmp_path / "results", lines)], store, tmp_path / "batch")
    assert (counts.error, len(counts.reasons), counts.reasons["other reasons"]) == (60, 21, 40)
    assert max(map(len, counts.reasons)) == 200


def test_a_grammar_of_ones_own_decides_what_is_kept(tmp_path, family, batch, store):
    folder, keys = batch

    def only_yes(text):
        if text != "yes":
            raise UnparsableReplyError("no yes")

    lines = [answered(family, keys[0], "yes"), answered(family, keys[1], verdict(4))]
    path = save(tmp_path / "results", lines)
    counts = read_batch([path], store, folder, parse=only_yes)
    assert counts == BatchCounts(stored=1, unparsable=1, reasons={"no yes": 1})


def test_the_missing_requests_are_those_that_a_run_would_ask(store):
    cases = [make_case(number) for number in range(70)]
    asked = []

    class Recorder(MockJudge):
        def ask(self, requests):
            for request in requests:
                asked.append(request)
                yield from super().ask([request])

    judge = Recorder(modality="numbers")
    list(judge_cases(cases[:10], RUBRICS, judge, store=store))
    missing = list(missing_requests(cases, RUBRICS, judge, store=store, runs=2))
    assert len(store) == len(asked) == 20
    list(judge_cases(cases, RUBRICS, judge, store=store, runs=2))
    assert keys_of(missing, judge) == keys_of(asked[20:], judge)


def test_cases_are_taken_as_their_requests_are_needed():
    taken = []

    def cases():
        for number in range(1000):
            taken.append(number)
            yield make_case(number)

    next(missing_requests(cases(), RUBRICS, MockJudge(modality="numbers")))
    assert len(taken) == 64  # a window of the pipeline


def test_every_form_has_a_judge_that_is_tested():
    assert set(FORMS) == {*NAMES, "server"}
