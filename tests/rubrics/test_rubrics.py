"""A rubric's prompt, its reading of replies, and the errors of loading one."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from timevista_hf import rubric_files
from timevista_hf.rubrics import (
    MICRO_DIMENSIONS,
    JointRubric,
    Rubric,
    UnparsableReplyError,
    Verdict,
    list_rubrics,
    load_rubric,
    select_rubrics,
)

FILE = """\
---
name: mine
version: "2.1"
level: macro
dimension: with_knowledge
dataset: my_sensor
scale: {1: worst, 2: bad, 3: fair, 4: good, 5: best}
constraints:
  - {rule: minimum, value: 0, cap: 2, why: a length}
twin: {weights: {trend: 1}}
---
Look at the curve.
"""


@pytest.fixture
def rubric() -> Rubric:
    return Rubric(
        name="mine",
        version="2.1",
        level="micro",
        dimension="trend",
        body="Look at the curve.",
        scale=("worst", "bad", "fair", "good", "best"),
    )


@pytest.fixture
def load_text(tmp_path):
    def load(text: str) -> Rubric:
        path = tmp_path / "mine.md"
        path.write_text(text, encoding="utf-8")
        return load_rubric(path)

    return load


# prompt


def test_the_prompt_holds_view_body_scale_and_reply_format_in_this_order(rubric):
    prompt = rubric.prompt()
    parts = [
        "The plot shows",
        "Look at the curve.",
        "Scale:\n5: best\n4: good\n3: fair",
        '{"ration',
    ]
    places = [prompt.index(part) for part in parts]
    assert places == sorted(places)


def test_the_prompt_asks_for_the_rationale_before_the_score(rubric):
    ending = rubric.prompt().rpartition("{")[2]
    assert ending.index("rationale") < ending.index("score")


def test_a_text_prompt_shows_the_numbers_and_no_plot(rubric):
    prompt = rubric.prompt(modality="text", numbers="Truth: 1 2 3")
    assert "Truth: 1 2 3" in prompt
    assert "plot" not in prompt


def test_a_plot_prompt_shows_no_numbers_of_the_case(rubric):
    assert "Truth: 1 2 3" not in rubric.prompt(numbers="Truth: 1 2 3")


def test_all_rubrics_share_one_system_prompt():
    assert len({load_rubric(name).system_prompt for name in list_rubrics()}) == 1


def test_the_schema_has_rationale_then_score_of_1_to_5_and_nothing_else(rubric):
    schema = rubric.reply_schema
    assert list(schema["properties"]) == schema["required"] == ["rationale", "score"]
    assert schema["properties"]["score"]["enum"] == [1, 2, 3, 4, 5]
    assert schema["additionalProperties"] is False


# parse


@pytest.mark.parametrize(
    ("reply", "verdict"),
    [
        ('{"rationale": "same slope", "score": 4}', Verdict(4, "same slope")),
        ('{"score": 1, "rationale": "other order"}', Verdict(1, "other order")),
        ('{"rationale": "  spaces ", "score": 5}', Verdict(5, "spaces")),
        ('I looked. {"rationale": "a", "score": 2} That is all.', Verdict(2, "a")),
        ('```json\n{"rationale": "fenced",\n "score": 3}\n```', Verdict(3, "fenced")),
        ('{"rationale": "a", "score": 1} {"rationale": "b", "score": 5}', Verdict(5, "b")),
        ('{"rationale": "a", "score": 9}\n{"rationale": "b", "score": 2}', Verdict(2, "b")),
        ('Say {"score": n}. {"rationale": "b", "score": 2}', Verdict(2, "b")),
        ('{"rationale": "a {brace} \\"5\\"", "score": 3}', Verdict(3, 'a {brace} "5"')),
        ('{"rationale": "a", "score": 3, "detail": {"score": 5}}', Verdict(3, "a")),
        ('{"rationale": "früh — 遅い \\u00e9", "score": 3}', Verdict(3, "früh — 遅い é")),
        ('Score: 5 of 5. {{"rationale": "doubled", "score": 4}}', Verdict(4, "doubled")),
        ('[{"rationale": "in a list", "score": 4}]', Verdict(4, "in a list")),
        ('<think>{"score"</think>{"rationale": "a", "score": 4}', Verdict(4, "a")),
        ('{"rationale": "a", "score": 4.0}', Verdict(4, "a")),
        ('{"rationale": "a", "score": 4.000}', Verdict(4, "a")),
        ('{"rationale": "a", "score": 40e-1}', Verdict(4, "a")),
    ],
)  # fmt: skip
def test_a_reply_with_a_verdict_is_read(rubric, reply, verdict):
    assert rubric.parse(reply) == verdict


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ("", "holds no JSON object: ''"),
        ("I would give it a 4.", "no JSON object: 'I would"),
        ('{"rationale": "a", "score": 4', "no JSON object"),
        ('{"rationale": "cut off in the', "no JSON object"),
        ('["a", 4]', "no JSON object"),
        ("{'rationale': 'a', 'score': 4}", "no JSON object"),
        ("{}", "`score` must be an integer from 1 to 5, got None"),
        ('{"rationale": "a", "score": "4"}', "got '4'"),
        ('{"rationale": "a", "score": "4/5"}', "got '4/5'"),
        ('{"rationale": "a", "score": 7}', "got 7"),
        ('{"rationale": "a", "score": 0}', "got 0"),
        ('{"rationale": "a", "score": -3}', "got -3"),
        ('{"rationale": "a", "score": 4.5}', r"got 4\.5"),
        ('{"rationale": "a", "score": NaN}', "got nan"),
        ('{"rationale": "a", "score": Infinity}', "got inf"),
        ('{"rationale": "a", "score": 6.0}', r"got 6\.0"),
        ('{"rationale": "a", "score": "4.0"}', "got '4.0'"),
        ('{"rationale": "a", "score": 3.9999}', r"got 3\.9999"),
        ('{"rationale": "a", "score": null}', "got None"),
        ('{"rationale": "a", "score": true}', "got True"),
        ('{"rationale": "a", "score": [4]}', r"got \[4\]"),
        ('{"rationale": "a", "Score": 4}', "got None"),
        ('{"score": 4}', "`rationale` must be a text, got None"),
        ('{"rationale": " ", "score": 4}', "`rationale` must be a text, got ' '"),
        ('{"rationale": ["a"], "score": 4}', "`rationale` must be a text"),
        ('{"rationale": "a", "score": 4, "score": 5}', "holds a key twice"),
        ('{"rationale": "a", "score": 4} {"score": 5}', "`rationale` must be a text"),
        ('{"verdict": {"rationale": "a", "score": 4}}', "got None"),
        ('{"rationale": "a", "score": ' + "1" * 5000 + "}", "no JSON object"),
        ('{"a":' * 5000, "no JSON object"),
    ],
)
def test_a_reply_without_a_verdict_is_unparsable_with_the_reason(rubric, reply, reason):
    with pytest.raises(UnparsableReplyError, match=reason):
        rubric.parse(reply)


@settings(max_examples=50, deadline=None, derandomize=True)
@given(score=st.integers(1, 5), rationale=st.text(min_size=1), prose=st.text(alphabet="ab 45/.\n"))
def test_whatever_json_writes_is_read_back_between_prose(score, rationale, prose):
    reply = f"{prose}{json.dumps({'rationale': f'x{rationale}', 'score': score})}{prose}"
    verdict = load_rubric("trend").parse(reply)
    assert verdict == Verdict(score, f"x{rationale}".strip())


@settings(max_examples=100, deadline=None, derandomize=True)
@given(reply=st.text(alphabet='{}[]":,ascore 0123456789.-\\'))
def test_no_reply_raises_anything_but_unparsable(reply):
    try:
        verdict = load_rubric("trend").parse(reply)
    except UnparsableReplyError:
        return
    assert verdict.score in range(1, 6)


# identity and fingerprint


def test_the_fingerprint_is_the_same_for_the_same_file(load_text):
    assert load_text(FILE).fingerprint == load_text(FILE).fingerprint


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Look at", "Stare at"),
        ("best", "perfect"),
        ("cap: 2", "cap: 3"),
        ("value: 0", "value: 1"),
        ("trend: 1", "trend: 0.5"),
        ("my_sensor", "your_sensor"),
        ('"2.1"', '"2.2"'),
    ],
)
def test_an_edit_changes_the_fingerprint(load_text, old, new):
    assert load_text(FILE).fingerprint != load_text(FILE.replace(old, new)).fingerprint


def test_a_copy_under_another_name_has_another_fingerprint(rubric):
    assert replace(rubric, name="other").fingerprint != rubric.fingerprint


# load_rubric


def test_a_file_of_ones_own_is_read_in_full(load_text):
    rubric = load_text(FILE)
    assert (rubric.identity, rubric.dataset, rubric.body) == (
        "mine@2.1",
        "my_sensor",
        "Look at the curve.",
    )
    assert rubric.scale == ("worst", "bad", "fair", "good", "best")
    assert [constraint.rule for constraint in rubric.constraints] == ["minimum"]
    assert rubric.twin == {"weights": {"trend": 1}}


def test_dataset_constraints_and_twin_may_be_left_out(load_text):
    front, _, rest = FILE.partition("dataset:")
    rubric = load_text(
        f"{front}scale:{rest.partition('scale:')[2].partition('constraints')[0]}---\n"
    )
    assert (rubric.dataset, rubric.constraints, rubric.twin) == (None, (), {})


def test_an_unknown_name_gets_the_nearest_and_the_list():
    with pytest.raises(ValueError, match=r"unknown rubric 'phse'; did you mean 'phase'.*crypto"):
        load_rubric("phse")


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(ValueError, match=r"none\.md: cannot be read as a rubric file"):
        load_rubric(tmp_path / "none.md")


def test_a_file_in_another_encoding_is_refused(tmp_path):
    path = tmp_path / "mine.md"
    path.write_bytes(FILE.replace("best", "bést").encode("latin-1"))
    with pytest.raises(ValueError, match=r"mine\.md: cannot be read as a rubric file"):
        load_rubric(path)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("---\n", "", "starts with YAML front matter between two `---` lines"),
        ("\n---\nLook", "\nLook", "between two `---` lines"),
        ('version: "2.1"\n', "", "the front matter lacks `version`"),
        ("dataset:", "data_set:", "unknown field 'data_set'; did you mean 'dataset'"),
        ("level: macro", "level: makro", "unknown level 'makro'; did you mean 'macro'"),
        ("level: macro", "level: [macro]", "unknown level"),
        ("level: macro", "level: micro", "unknown dimension 'with_knowledge'"),
        ("with_knowledge", "with_knowlege", "did you mean 'with_knowledge'"),
        ("name: mine", "name: [mine", "the front matter is not valid YAML"),
        (", 5: best", "", "`scale` must give a text for each of 1 to 5"),
        ("{1: worst", "{0: none, 1: worst", "`scale` must give a text for each of 1 to 5"),
        ("scale: {", "scale: [{", "not valid YAML"),
        ("3: fair", "3:", "`scale` 3 must be a text, got None"),
        ("rule: minimum", "rule: minimm", r"mine\.md: unknown rule 'minimm'"),
        ("cap: 2", "cap: 5", r"mine\.md, constraint 'minimum': `cap`"),
        ("constraints:\n  - {", "constraints:\n  {", "`constraints` must be a list, got {"),
        ("twin: {weights: {trend: 1}}", "twin:", "`twin` must be a dict, got None"),
    ],
)
def test_a_flawed_file_is_refused_with_its_place_and_field(load_text, old, new, message):
    assert old in FILE
    with pytest.raises(ValueError, match=message) as caught:
        load_text(FILE.replace(old, new))
    assert "mine.md" in str(caught.value)


def test_front_matter_that_is_no_mapping_is_refused(load_text):
    with pytest.raises(ValueError, match="the front matter must be a mapping, got 'a word'"):
        load_text("---\na word\n---\nLook.\n")


# list_rubrics and select_rubrics


def test_rubrics_are_listed_micro_level_first():
    assert list_rubrics()[:5] == list(MICRO_DIMENSIONS)


def test_the_micro_level_has_its_five_dimensions():
    assert [rubric.name for rubric in select_rubrics("micro")] == list(MICRO_DIMENSIONS)


def test_the_macro_level_without_a_dataset_is_blind():
    assert [rubric.name for rubric in select_rubrics("macro")] == ["without_knowledge"]


@pytest.mark.parametrize("dataset", ["loop_seattle", "Loop Seattle", "LOOP-SEATTLE"])
def test_a_dataset_adds_its_knowing_rubric_however_it_is_spelt(dataset):
    names = [rubric.name for rubric in select_rubrics("macro", dataset=dataset)]
    assert names == ["without_knowledge", "loop_seattle"]


def test_the_dimensions_asked_for_come_in_the_order_asked():
    chosen = select_rubrics("micro", dimensions=["phase", "trend"])
    assert [rubric.dimension for rubric in chosen] == ["phase", "trend"]


@pytest.mark.parametrize(
    ("level", "options", "message"),
    [
        ("mikro", {}, "unknown level 'mikro'; did you mean 'micro'"),
        ("micro", {"dimensions": ["phases"]}, "level 'micro' 'phases'; did you mean 'phase'"),
        ("macro", {"dimensions": ["with_knowledge"]}, "'with_knowledge'"),
        (
            "macro",
            {"dataset": "solr"},
            "unknown dataset with a rubric 'solr'; did you mean 'solar'",
        ),
        ("macro", {"dataset": "trend"}, "unknown dataset with a rubric 'trend'"),
    ],
)
def test_an_unknown_choice_is_refused_with_the_nearest(level, options, message):
    with pytest.raises(ValueError, match=message):
        select_rubrics(level, **options)


def test_a_rubric_file_in_a_wheel_is_found_beside_the_package(tmp_path, monkeypatch):
    (tmp_path / "micro").mkdir()
    (tmp_path / "micro" / "mine.md").write_text(FILE, encoding="utf-8")
    monkeypatch.setattr(rubric_files, "__path__", [str(tmp_path)])
    assert list_rubrics() == ["mine"]


JOINT = JointRubric((load_rubric("trend"), load_rubric("phase")))


def test_a_joint_question_holds_every_instruction_and_scale_once():
    prompt = JOINT.prompt()
    for part in JOINT.parts:
        for text in part.instruction:
            assert prompt.count(text) == 1


def test_a_joint_schema_asks_for_each_dimension():
    assert JOINT.reply_schema["required"] == ["trend", "phase"]
    assert JOINT.reply_schema["properties"]["phase"] == load_rubric("phase").reply_schema


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ('{"trend": {"rationale": "r", "score": 5}, "phase": 3}', "phase: must be an object"),
        (
            '{"trend": {"rationale": "r", "score": 5}, "phase": {"rationale": "r", "score": 0}}',
            "phase: `score` must be an integer from 1 to 5, got 0",
        ),
        ('{"rationale": "r", "score": 5}', "must hold trend, phase"),
    ],
)
def test_a_joint_reply_that_is_off_the_form_is_unparsable(reply, reason):
    with pytest.raises(UnparsableReplyError, match=reason):
        JOINT.parse_parts(reply)


def test_a_joint_question_needs_different_dimensions():
    with pytest.raises(ValueError, match="different dimensions"):
        JointRubric((load_rubric("trend"), load_rubric("trend")))
