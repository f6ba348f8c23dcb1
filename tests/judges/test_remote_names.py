"""How a hosted judge is found by its name, and what its identity holds."""

import dataclasses
import json
import pickle
import re
import subprocess
import sys

import pytest
from billed import make_request

from timevista_hf.judges import JudgeOptions, list_presets, load_judge
from timevista_hf.judges._presets import load_presets

KEYS = (
    "OPENAI_API_KEY",
    "ANTHROPIC_API_KEY",
    "GEMINI_API_KEY",
    "GOOGLE_API_KEY",
    "HF_TOKEN",
    "TIMEVISTA_SERVER_KEY",
    "DASHSCOPE_API_KEY",
    "ARK_API_KEY",
)
URLS = (
    "OPENAI_BASE_URL",
    "ANTHROPIC_BASE_URL",
    "GOOGLE_GEMINI_BASE_URL",
    "HF_ROUTER_BASE_URL",
    "TIMEVISTA_PRESETS",
)


def ask(judge):
    return list(judge.ask([make_request(image=b"PNG")]))


@pytest.fixture(autouse=True)
def _keys_and_no_addresses(monkeypatch):
    for variable in KEYS:
        monkeypatch.setenv(variable, f"sk-{variable.lower()}")
    for variable in URLS:
        monkeypatch.delenv(variable, raising=False)


@pytest.mark.parametrize(
    ("name", "url"),
    [
        ("openai:gpt-4o", "https://api.openai.com/v1"),
        ("anthropic:claude-x", "https://api.anthropic.com"),
        ("gemini:gemini-x", "https://generativelanguage.googleapis.com"),
        ("hf:Qwen/Qwen3-VL-8B", "https://router.huggingface.co/v1"),
        ("server:http://localhost:8000/v1#Qwen/Qwen3-VL-8B", "http://localhost:8000/v1"),
    ],
)
def test_a_family_and_a_model_make_a_judge_that_bears_that_name(name, url):
    judge = load_judge(name)
    assert (judge.name, judge.base_url, judge.modality) == (name, url, "vision")
    assert name.endswith(judge.model)


@pytest.mark.parametrize(
    ("family", "variable"),
    [
        ("openai", "OPENAI_BASE_URL"),
        ("anthropic", "ANTHROPIC_BASE_URL"),
        ("gemini", "GOOGLE_GEMINI_BASE_URL"),
        ("hf", "HF_ROUTER_BASE_URL"),
    ],
)
def test_an_address_in_the_environment_comes_first_and_is_part_of_the_identity(
    monkeypatch, family, variable
):
    monkeypatch.setenv(variable, "http://127.0.0.1:9/")
    assert load_judge(f"{family}:m").identity["base_url"] == "http://127.0.0.1:9"


@pytest.mark.parametrize(
    ("preset", "model"),
    [
        ("gpt-5.4", "gpt-5.4"),
        ("claude-sonnet-4.6", "claude-sonnet-4-6"),
        ("gemini-3.1-pro", "gemini-3.1-pro-preview"),
        ("llama-4-maverick", "meta-llama/Llama-4-Maverick-17B-128E-Instruct"),
        ("qwen3.6-plus", "qwen3.6-plus"),
        ("seed-1.8", "doubao-seed-1-8-251228"),
    ],
)
def test_each_judge_of_the_paper_has_a_short_name(preset, model):
    judge = load_judge(preset)
    assert (judge.name, judge.model) == (preset, model)
    assert preset in list_presets()


def test_a_short_name_behind_its_family_means_the_same_model():
    judges = [load_judge(name) for name in ("claude-sonnet-4.6", "anthropic:claude-sonnet-4.6")]
    assert judges[0].identity == judges[1].identity


def test_a_short_name_behind_another_family_is_that_family_s_own_model():
    assert load_judge("openai:claude-sonnet-4.6").model == "claude-sonnet-4.6"


def test_presets_of_one_s_own_come_before_the_shipped_ones(monkeypatch, tmp_path):
    mine = {"gpt-5.4": {"family": "openai", "model": "gpt-5.4-2026-03-05"}}
    (tmp_path / "mine.json").write_text(json.dumps({"judges": mine}))
    monkeypatch.setenv("TIMEVISTA_PRESETS", str(tmp_path / "mine.json"))
    assert load_judge("gpt-5.4").model == "gpt-5.4-2026-03-05"
    assert load_judge("seed-1.8").model == "doubao-seed-1-8-251228"


@pytest.mark.parametrize(
    ("content", "rule"),
    [
        ("{", "cannot be read as presets"),
        ("[]", "must be a mapping with `judges`"),
        ('{"judges": []}', "must be a mapping with `judges`"),
        ('{"judges": {"a": {"family": "openai"}}}', "preset 'a': must have `family` and `model`"),
        ('{"judges": {"a": 3}}', "preset 'a': must have `family` and `model`"),
        ('{"judges": {"a": {"family": "x", "model": "m"}}}', "`family` must be one of openai"),
        ('{"judges": {"a": {"family": "server", "model": "m"}}}', "a server needs `base_url`"),
        ('{"judges": {"a": {"family": "hf", "model": 3}}}', "preset 'a': `model` must be a text"),
        (
            '{"judges": {"a": {"family": "hf", "model": "m", "max_token": 3}}}',
            "preset 'a': unknown field 'max_token'; did you mean 'max_tokens'",
        ),
        (
            '{"judges": {"a": {"family": "hf", "model": "m", "max_tokens": "3"}}}',
            "preset 'a': judge option `max_tokens` must be an integer of at least 1, got '3'",
        ),
        (
            '{"judges": {"a": {"family": "hf", "model": "m", "timeout": "3"}}}',
            "preset 'a': judge option `timeout` must be above 0, got '3'",
        ),
        (
            '{"judges": {"a": {"family": "hf", "model": "m", "body": []}}}',
            "preset 'a': judge option `body` must be a JSON object, got []",
        ),
    ],
)
def test_a_file_of_presets_that_is_none_is_refused(monkeypatch, tmp_path, content, rule):
    (tmp_path / "mine.json").write_text(content)
    monkeypatch.setenv("TIMEVISTA_PRESETS", str(tmp_path / "mine.json"))
    with pytest.raises(ValueError, match=re.escape(rule)):
        load_judge("gpt-5.4")


@pytest.fixture
def ours(monkeypatch, tmp_path):
    """A preset that holds options, by every family."""
    entry = {"model": "m", "max_tokens": 6000, "timeout": 9, "temperature": 1}
    entry |= {"concurrency": 3, "attempts": 2, "body": {"enable_thinking": False}}
    families = {name: {"family": name} for name in ("openai", "anthropic", "gemini", "hf")}
    families["server"] = {"family": "server", "base_url": "http://localhost/v1"}
    (tmp_path / "mine.json").write_text(
        json.dumps({"judges": {f"our-{name}": one | entry for name, one in families.items()}})
    )
    monkeypatch.setenv("TIMEVISTA_PRESETS", str(tmp_path / "mine.json"))
    return [f"our-{name}" for name in families]


def test_a_preset_holds_options_and_fields_of_the_provider_s_own(ours):
    for name in ours:
        judge = load_judge(name)
        options = judge.options
        assert (options.timeout, options.concurrency, options.attempts) == (9, 3, 2)
        assert (judge.decoding.max_tokens, judge.decoding.temperature) == (6000, 1)
        assert judge.payload(make_request(image=b"PNG"))["enable_thinking"] is False
        assert judge.identity["body"] == {"enable_thinking": False}


def test_what_is_chosen_comes_before_the_preset_and_the_rest_is_the_preset_s(ours):
    for name in ours:
        judge = load_judge(name, options=JudgeOptions(max_tokens=1024, timeout=120.0))
        assert (judge.decoding.max_tokens, judge.options.timeout) == (1024, 120.0)
        assert (judge.options.attempts, judge.decoding.temperature) == (2, 1)


def test_options_remember_what_was_chosen_in_another_process_too():
    chosen = pickle.loads(pickle.dumps(JudgeOptions(max_tokens=1024)))
    assert chosen.over(JudgeOptions(max_tokens=9, attempts=2)) == JudgeOptions(
        max_tokens=1024, attempts=2
    )


def test_without_fields_of_the_provider_s_own_the_identity_has_no_place_for_them():
    assert "body" not in load_judge("openai:m").identity


BODIES = {
    "openai:m": {"reasoning_effort": "low", "provider": {"order": ["x"]}},
    "anthropic:m": {"thinking": {"type": "disabled"}, "output_config": {"effort": "low"}},
    "gemini:m": {"generationConfig": {"thinkingConfig": {"thinkingBudget": 0}}},
}


@pytest.mark.parametrize(("name", "body"), BODIES.items())
def test_fields_of_the_provider_s_own_are_merged_into_the_payload(name, body):
    plain = load_judge(name).payload(make_request(image=b"PNG"))
    sent = load_judge(name, options=JudgeOptions(body=body)).payload(make_request(image=b"PNG"))
    for field, value in body.items():
        both = isinstance(plain.get(field), dict)
        assert sent.pop(field) == ({**plain[field], **value} if both else value)
    assert sent == {field: value for field, value in plain.items() if field not in body}


@pytest.mark.parametrize(
    ("name", "body", "field"),
    [
        ("openai:m", {"temperature": 1}, "temperature"),
        ("openai:m", {"stream": True}, "stream"),
        ("openai:m", {"messages": []}, "messages"),
        ("anthropic:m", {"output_config": {"format": {}}}, "output_config.format"),
        ("anthropic:m", {"max_tokens": 5}, "max_tokens"),
        (
            "gemini:m",
            {"generationConfig": {"maxOutputTokens": 5}},
            "generationConfig.maxOutputTokens",
        ),
    ],
)
def test_what_other_options_say_is_not_taken_twice(name, body, field):
    with pytest.raises(ValueError, match=rf"`body` must not hold '{re.escape(field)}'"):
        load_judge(name, options=JudgeOptions(body=body))


@pytest.mark.parametrize("family", ["openai", "anthropic", "gemini", "hf", "server"])
@pytest.mark.parametrize("model", ["gpt-5", "org/Qwen3-VL-8B-Thinking", "deepseek-reasoner"])
def test_a_model_that_thinks_gets_its_floor_in_every_family(family, model):
    name = f"server:http://localhost/v1#{model}" if family == "server" else f"{family}:{model}"
    for most, left in ((100, 4096), (9000, 9000)):
        judge = load_judge(name, options=JudgeOptions(max_tokens=most))
        assert judge.decoding.max_tokens == judge.identity["max_tokens"] == left


def test_every_shipped_preset_can_be_made():
    for name, preset in load_presets().items():
        assert load_judge(name).identity["model"] == preset.model


@pytest.mark.parametrize(
    ("name", "variable"),
    [
        ("openai:m", "OPENAI_API_KEY"),
        ("anthropic:m", "ANTHROPIC_API_KEY"),
        ("hf:m", "HF_TOKEN"),
        ("qwen3.6-plus", "DASHSCOPE_API_KEY"),
    ],
)
@pytest.mark.parametrize("value", [None, "", "  "])
def test_a_missing_key_is_an_error_that_names_the_variable(monkeypatch, name, variable, value):
    if value is None:
        monkeypatch.delenv(variable)
    else:
        monkeypatch.setenv(variable, value)
    rule = f"judge {name!r} needs a key: set the environment variable {variable}"
    with pytest.raises(ValueError, match=f"^{re.escape(rule)}$"):
        ask(load_judge(name))


def test_a_key_is_not_needed_where_nothing_is_asked(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY")
    assert list(load_judge("openai:m").ask([])) == []


@pytest.mark.parametrize("name", ["openai:m", "anthropic:m", "gemini:m", "hf:m"])
def test_a_copy_in_another_process_is_the_same_judge_and_holds_no_key(monkeypatch, name):
    for variable in KEYS:
        monkeypatch.setenv(variable, "sk-canary")
    written = pickle.dumps(load_judge(name))
    assert b"sk-canary" not in written
    assert pickle.loads(written).identity == load_judge(name).identity


def test_gemini_takes_either_of_its_two_keys(monkeypatch):
    monkeypatch.delenv("GEMINI_API_KEY")
    assert load_judge("gemini:m").model == "m"
    monkeypatch.delenv("GOOGLE_API_KEY")
    with pytest.raises(ValueError, match="GEMINI_API_KEY or GOOGLE_API_KEY"):
        ask(load_judge("gemini:m"))


def test_a_server_of_one_s_own_needs_no_key(monkeypatch):
    monkeypatch.delenv("TIMEVISTA_SERVER_KEY")
    assert load_judge("server:http://localhost/v1#m").model == "m"


@pytest.mark.parametrize(
    ("name", "package", "extra"),
    [("anthropic:m", "anthropic", "anthropic"), ("gemini:m", "google-genai", "gemini")],
)
def test_a_missing_package_is_an_error_with_the_line_that_installs_it(
    monkeypatch, name, package, extra
):
    module = "google.genai" if extra == "gemini" else "anthropic"
    monkeypatch.setitem(sys.modules, module, None)
    rule = f"judge {name!r} needs the package `{package}`: pip install 'timevista-hf[{extra}]'"
    with pytest.raises(ValueError, match=f"^{re.escape(rule)}$"):
        load_judge(name)


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("openia:gpt-4o", "openai:gpt-4o"),
        ("antropic", "anthropic:MODEL"),
        ("gpt-5.5", "gpt-5.4"),
        ("claude-sonet-4.6", "claude-sonnet-4.6"),
    ],
)
def test_an_unknown_name_is_refused_with_the_nearest_one(name, meant):
    rule = f"unknown judge {name!r}; did you mean {meant!r}?"
    with pytest.raises(ValueError, match=f"^{re.escape(rule)}"):
        load_judge(name)


@pytest.mark.parametrize("name", ["openai:", "server:", "local:", "hf"])
def test_a_family_without_a_model_is_refused(name):
    with pytest.raises(ValueError, match=re.escape(name)):
        load_judge(name)


@pytest.mark.parametrize(
    ("address", "rule"),
    [
        ("http://localhost:8000/v1", "must name a model, as server:http://localhost:8000/v1#MODEL"),
        ("localhost:8000#m", "must start with http:// or https://, got 'localhost:8000'"),
        ("ftp://localhost#m", "must start with http:// or https://"),
        ("http://#m", "must start with http:// or https://"),
    ],
)
def test_an_address_that_is_none_is_refused(address, rule):
    with pytest.raises(ValueError, match=re.escape(rule)):
        load_judge(f"server:{address}")


def test_all_that_can_change_an_answer_is_in_the_identity():
    first = load_judge("openai:m").identity
    for change in (
        {"modality": "text"},
        {"temperature": 0.7},
        {"temperature": None},
        {"max_tokens": 99},
        {"schema": "prompt"},
        {"logprobs": False},
    ):
        assert load_judge("openai:m", options=JudgeOptions(**change)).identity != first
    assert load_judge("openai:n").identity != first
    assert load_judge("hf:m").identity != first


def test_how_fast_and_how_often_it_asks_is_not_in_the_identity():
    options = JudgeOptions(timeout=1.0, concurrency=2, attempts=3)
    assert load_judge("openai:m", options=options).identity == load_judge("openai:m").identity


def test_the_identity_of_a_preset_does_not_depend_on_its_short_name():
    assert load_judge("gpt-5.4").identity == load_judge("openai:gpt-5.4").identity


@pytest.mark.parametrize("name", ["openai:m", "anthropic:m", "gemini:m"])
def test_a_hosted_judge_cannot_leave_out_the_rationale(name):
    with pytest.raises(ValueError, match="only local judges can score without a rationale"):
        load_judge(name, options=JudgeOptions(rationale=False))


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("modality", "sound"),
        ("schema", "xml"),
        ("max_tokens", 0),
        ("max_tokens", 1.5),
        ("concurrency", 0),
        ("attempts", True),
        ("timeout", 0),
        ("timeout", float("nan")),
        ("temperature", -0.1),
        ("temperature", 2.1),
        ("temperature", float("nan")),
        ("timeout", "9"),
        ("temperature", "hot"),
        ("body", []),
        ("body", {"a": float("nan")}),
        ("body", {"a": {1, 2}}),
        ("body", {1: 2}),
    ],
)
def test_an_option_outside_its_range_is_refused_by_its_name(option, value):
    with pytest.raises(
        ValueError, match=rf"^judge option `{option}` must be .*got {re.escape(repr(value))}$"
    ):
        JudgeOptions(**{option: value})


def test_finding_a_judge_imports_no_client():
    script = (
        "import os, sys; os.environ['OPENAI_API_KEY'] = 'sk-x'; from timevista_hf.judges import *; "
        "load_judge('openai:m'); assert not {'openai', 'anthropic', 'google.genai', 'httpx2', "
        "'matplotlib', 'pandas', 'pyarrow', 'scipy'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def test_options_cannot_be_changed_afterwards():
    with pytest.raises(dataclasses.FrozenInstanceError):
        JudgeOptions().temperature = 1.0
