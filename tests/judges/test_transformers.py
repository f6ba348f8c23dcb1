"""The judge that runs a model here: tiny ones with random weights, made for the test."""

import json
import shutil
import subprocess
import sys
from io import BytesIO

import numpy as np
import pytest
from PIL import Image
from tiny_vlm import SENTENCES, TEMPLATE, make_tokenizer, save_tiny_llm, save_tiny_vlm

from timevista_hf.cases import ForecastCase
from timevista_hf.judges import JudgeOptions, Request, Store, load_judge
from timevista_hf.judges.transformers import TransformersJudge
from timevista_hf.pipeline import judge_cases
from timevista_hf.rendering import Style
from timevista_hf.rubrics import UnparsableReplyError, select_rubrics

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
tensor_files = pytest.importorskip("safetensors.torch")

MICRO = select_rubrics("micro")
ONE_PASS = JudgeOptions(rationale=False)
SHORT = JudgeOptions(max_tokens=12)
CASES = [
    ForecastCase(id=str(number), history=[1, 2, 3], truth=[4, 5], prediction=[4, number])
    for number in range(3)
]


@pytest.fixture(scope="module", autouse=True)
def offline():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
        patch.delenv("TIMEVISTA_DEVICE", raising=False)
        yield


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return str(save_tiny_vlm(tmp_path_factory.mktemp("vlm")))


@pytest.fixture
def copied(folder, tmp_path):
    return shutil.copytree(folder, tmp_path / "model")


def picture(number=0, size=(96, 64)):
    pixels = np.random.default_rng(number).integers(0, 255, (size[1], size[0], 3), np.uint8)
    file = BytesIO()
    Image.fromarray(pixels).save(file, "PNG")
    return file.getvalue()


def questions(number=0, *, rubrics=MICRO, size=(96, 64), modality="vision", run=0):
    """Requests about one case, which differ in their last words only."""
    image = picture(number, size) if modality == "vision" else None
    prompts = [f"Here is case {number}. Judge its {rubric.name}." for rubric in rubrics]
    return [
        Request(CASES[number], rubric, prompt, image, run)
        for rubric, prompt in zip(rubrics, prompts, strict=True)
    ]


def answers(judge, requests):
    return [reply for _, reply in judge.ask(requests)]


def answers_one_by_one(judge, requests):
    return [reply for request in requests for _, reply in judge.ask([request])]


def expected_scores(replies):
    return [reply.expected_score for reply in replies]


def load_by_hand(folder):
    model = transformers.AutoModelForImageTextToText.from_pretrained(folder, dtype=torch.float32)
    return transformers.AutoProcessor.from_pretrained(folder), model.eval()


def chances_by_hand(folder, request, answer, spelled="12345"):
    """Probabilities that the five tokens follow an answer: one pass over all of it, no cache."""
    processor, model = load_by_hand(folder)
    conversation = [
        {"role": "system", "content": [{"type": "text", "text": request.question.system_prompt}]},
        {
            "role": "user",
            "content": [{"type": "image"}, {"type": "text", "text": request.prompt}],
        },
    ]
    text = processor.apply_chat_template(conversation, add_generation_prompt=True) + answer
    image = Image.open(BytesIO(request.image)).convert("RGB")
    inputs = processor(images=image, text=text, return_tensors="pt")
    with torch.no_grad():
        logits = model(**inputs).logits[0, -1].double().numpy()
    chances = np.exp(logits - logits.max())
    tokens = [processor.tokenizer.convert_tokens_to_ids(token) for token in spelled]
    return chances[tokens] / chances.sum()


def expectation(chances):
    return float(np.arange(1, 6) @ chances / chances.sum())


class Script:
    """Makes the model say what is written, one text a row, instead of what it would."""

    def __init__(self, judge, *texts, end=""):
        self.checkpoint = judge._checkpoint
        self.rows = [self.checkpoint.spell(text) + self.checkpoint.spell(end) for text in texts]
        self.original, self.checkpoint.generate = self.checkpoint.generate, self.generate

    def generate(self, context, *, most, **controls):
        if most > 1:
            self.start = context.ids.shape[1]
            controls["logits_processor"] = [self]
        return self.original(context, most=most, **controls)

    def __call__(self, ids, scores):
        forced = torch.zeros_like(scores)
        for row, tokens in enumerate(self.rows):
            step = min(ids.shape[1] - self.start, len(tokens) - 1)
            forced[row, tokens[step]] = 1.0
        return forced


class Watch:
    """Notes the tokens that a model is given, and how often it looks at images."""

    def __init__(self, judge):
        self.read, self.looks = [], 0
        model = judge._checkpoint.model
        model.register_forward_pre_hook(self.note, with_kwargs=True)
        model.model.vision_tower.register_forward_pre_hook(self.look)

    def note(self, model, arguments, named):
        self.read.append(named["input_ids"])

    @property
    def shapes(self):
        return [tuple(ids.shape) for ids in self.read]

    def look(self, tower, arguments):
        self.looks += 1


# One pass


def test_a_score_in_one_pass_is_the_softmax_over_the_five_tokens(folder):
    [request] = questions(rubrics=MICRO[:1])
    [reply] = answers(TransformersJudge(folder, ONE_PASS), [request])
    chances = chances_by_hand(folder, request, '{"score": ')
    assert reply.expected_score == pytest.approx(expectation(chances), abs=1e-5)
    assert json.loads(reply.text)["score"] == 1 + np.argmax(chances)


def test_the_mass_is_the_probability_of_the_five_tokens_among_all(folder):
    [request] = questions(rubrics=MICRO[:1])
    [reply] = answers(TransformersJudge(folder, ONE_PASS), [request])
    chances = chances_by_hand(folder, request, '{"score": ')
    assert 0 < reply.mass < 1
    assert reply.mass == pytest.approx(chances.sum(), abs=1e-6)


def test_one_pass_is_one_call_of_the_model(folder):
    judge = TransformersJudge(folder, ONE_PASS)
    watch = Watch(judge)
    [reply] = answers(judge, questions(rubrics=MICRO[:1]))
    assert watch.shapes == [(1, reply.input_tokens)]


def test_a_score_in_one_pass_says_so_and_gives_the_five_probabilities(folder):
    [request] = questions(rubrics=MICRO[:1])
    [reply] = answers(TransformersJudge(folder, ONE_PASS), [request])
    chances = chances_by_hand(folder, request, '{"score": ')
    rationale = request.question.parse(reply.text).rationale
    assert rationale.startswith("Scored in one pass")
    assert f"5: {chances[4] / chances.sum():.3f}." in rationale


def test_scores_that_are_tokens_with_a_space_before_them_are_found(tmp_path):
    # Without single digits, byte pairs merge the space and the digit: one token, spelled "Ġ3".
    sentences = [*SENTENCES, *(f'"score": {score}' for score in range(1, 6))]
    tokenizer = make_tokenizer(single_digits=False, sentences=sentences)
    folder = str(save_tiny_vlm(tmp_path, tokenizer=tokenizer))
    [request] = questions(rubrics=MICRO[:1])
    [reply] = answers(TransformersJudge(folder, ONE_PASS), [request])
    spaced = [f"Ġ{score}" for score in range(1, 6)]
    chances = chances_by_hand(folder, request, '{"score":', spelled=spaced)
    assert reply.expected_score == pytest.approx(expectation(chances), abs=1e-5)


def test_the_answer_is_spelled_as_inside_the_conversation_and_not_as_at_its_start(tmp_path):
    # A text of its own gets a space before it; after the line break of the template it has none.
    tokenizer = make_tokenizer(spaces="before")
    folder = str(save_tiny_vlm(tmp_path, tokenizer=tokenizer))
    [request] = questions(rubrics=MICRO[:1])
    [reply] = answers(TransformersJudge(folder, ONE_PASS), [request])
    chances = chances_by_hand(folder, request, '{"score": ')
    assert reply.expected_score == pytest.approx(expectation(chances), abs=1e-5)


@pytest.mark.parametrize("start", ["", "<s>"], ids=["tokenizer", "template"])
def test_a_prompt_starts_once_whoever_starts_it(start, tmp_path):
    tokenizer = make_tokenizer(starts=True)
    folder = save_tiny_vlm(tmp_path, tokenizer=tokenizer, template=start + TEMPLATE)
    judge = TransformersJudge(str(folder), ONE_PASS)
    watch = Watch(judge)
    answers(judge, questions(rubrics=MICRO[:1]))
    [row] = watch.read[0].tolist()
    assert [place for place, token in enumerate(row) if token == tokenizer.bos_token_id] == [0]


# Shared prefixes and batches


def test_the_rubrics_of_a_case_share_the_image_and_what_the_prompts_begin_with(folder):
    judge = TransformersJudge(folder, ONE_PASS)
    watch = Watch(judge)
    replies = answers(judge, questions())
    (rows, common), (branches, rest) = watch.shapes
    assert (rows, branches, watch.looks) == (1, 5, 1)
    assert common + rest == max(reply.input_tokens for reply in replies)
    assert rest < common / 10


def test_a_shared_prefix_gives_what_a_full_recompute_gives(folder):
    requests = questions()
    replies = answers(TransformersJudge(folder, ONE_PASS), requests)
    full = [expectation(chances_by_hand(folder, request, '{"score": ')) for request in requests]
    assert len(set(full)) == 5
    assert expected_scores(replies) == pytest.approx(full, abs=1e-5)


@pytest.mark.parametrize("options", [ONE_PASS, SHORT], ids=["one pass", "rationale"])
def test_a_batch_of_cases_gives_what_each_request_gives_alone(folder, options):
    requests = [
        *questions(0, rubrics=MICRO[:3]),
        *questions(1, rubrics=MICRO[:1], size=(64, 128)),
        *questions(2, rubrics=MICRO[3:], size=(200, 64)),
    ]
    judge = TransformersJudge(folder, options)
    together, alone = answers(judge, requests), answers_one_by_one(judge, requests)
    assert [reply.text for reply in together] == [reply.text for reply in alone]
    assert expected_scores(together) == pytest.approx(expected_scores(alone), abs=1e-5)
    spent = [(reply.input_tokens, reply.output_tokens) for reply in together]
    assert spent == [(reply.input_tokens, reply.output_tokens) for reply in alone]


def test_an_image_after_the_question_is_not_shared_and_judged_all_the_same(tmp_path, caplog):
    question, image = "{{ c.text }}", "<image>"
    late = TEMPLATE.replace("{% for c in m.content %}", "{% for c in m.content | reverse %}")
    assert late != TEMPLATE and question in late and image in late
    judge = TransformersJudge(str(save_tiny_vlm(tmp_path, template=late)), ONE_PASS)
    together = answers(judge, questions())
    alone = answers_one_by_one(judge, questions())
    assert expected_scores(together) == pytest.approx(expected_scores(alone), abs=1e-5)
    assert caplog.text == ""  # none failed and was asked again


def test_positions_that_a_model_keeps_for_each_image_follow_its_rows(folder):
    judge = TransformersJudge(folder, ONE_PASS)
    inner = judge._checkpoint.model.model
    inner.rope_deltas = torch.tensor([[0], [7]])  # as Qwen's models do
    answers(judge, questions(0, rubrics=MICRO[:2]) + questions(1, rubrics=MICRO[:3]))
    assert inner.rope_deltas.flatten().tolist() == [0, 0, 7, 7, 7]


def test_requests_are_taken_a_batch_at_a_time(folder):
    taken = []

    def requests():
        for request in questions() * 3:
            taken.append(request)
            yield Request(CASES[0], request.question, request.prompt, picture(len(taken)))

    judge = TransformersJudge(folder, JudgeOptions(rationale=False, concurrency=2))
    next(judge.ask(requests()))
    assert len(taken) <= 4


def test_requests_are_answered_in_turn_and_once(folder):
    requests = questions(0) + questions(1) + questions(2, rubrics=MICRO[:1])
    judge = TransformersJudge(folder, JudgeOptions(rationale=False, concurrency=3))
    assert [request for request, _ in judge.ask(iter(requests))] == requests


# Rationales

SAID = [
    "The forecast follows the trend",
    "Its peaks come at the same steps, and close to the truth",
    "poor",
]


def test_a_score_after_a_rationale_is_what_a_full_recompute_gives(folder):
    requests = questions(rubrics=MICRO[:3])
    judge = TransformersJudge(folder, JudgeOptions(max_tokens=64))
    Script(judge, *SAID, end='"')
    replies = answers(judge, requests)
    for request, reply, said in zip(requests, replies, SAID, strict=True):
        answer = f'{{"rationale": "{said}", "score": '
        chances = chances_by_hand(folder, request, answer)
        assert json.loads(reply.text)["rationale"] == said
        assert reply.expected_score == pytest.approx(expectation(chances), abs=1e-5)
        assert reply.mass == pytest.approx(chances.sum(), abs=1e-6)
        assert not reply.options["rationale_cut"]


def test_a_rationale_is_what_the_model_finds_most_probable(folder):
    [request] = questions(rubrics=MICRO[:1])
    judge = TransformersJudge(folder, SHORT)
    [reply] = answers(judge, [request])
    processor, model = load_by_hand(folder)
    text = judge._checkpoint.write(request.question.system_prompt, request.prompt)
    image = Image.open(BytesIO(request.image)).convert("RGB")
    inputs = processor(images=image, text=f'{text}{{"rationale": "', return_tensors="pt")
    pixels = {name: inputs[name] for name in ("pixel_values", "image_sizes")}
    ids, start = inputs["input_ids"], inputs["input_ids"].shape[1]
    while ids.shape[1] - start < reply.output_tokens - 1:
        with torch.no_grad():
            logits = model(input_ids=ids, use_cache=False, **pixels).logits[0, -1]
        ids = torch.cat([ids, logits.argmax().view(1, 1)], dim=1)
    written = processor.tokenizer.decode(ids[0, start:], skip_special_tokens=True)
    assert written.startswith(judge_text := json.loads(reply.text)["rationale"])
    assert len(judge_text) >= 3


def test_a_reply_with_a_rationale_parses_by_the_rubric(folder):
    [request] = questions(rubrics=MICRO[:1])
    judge = TransformersJudge(folder, JudgeOptions(max_tokens=64))
    Script(judge, 'rises \\"late\\"\\nand é too', end='"')
    [reply] = answers(judge, [request])
    verdict = request.question.parse(reply.text)
    assert verdict.rationale == 'rises "late"\nand é too'
    assert 1 <= verdict.score <= 5


def test_an_escape_that_json_does_not_know_is_kept_as_it_is(folder):
    judge = TransformersJudge(folder, JudgeOptions(max_tokens=24))
    Script(judge, r"down to \mu", end='"')
    [reply] = answers(judge, questions(rubrics=MICRO[:1]))
    assert json.loads(reply.text)["rationale"] == r"down to \mu"


# Thoughts

OPEN = TEMPLATE.replace("assistant\n{% endif %}", "assistant\n<think>\n{% endif %}")


def test_a_thought_that_the_template_opens_is_closed_before_the_answer(tmp_path):
    folder = str(save_tiny_vlm(tmp_path, template=OPEN))
    [request] = questions(rubrics=MICRO[:1])
    judge = TransformersJudge(folder, ONE_PASS)
    [reply] = answers(judge, [request])
    chances = chances_by_hand(folder, request, '\n</think>\n\n{"score": ')
    assert reply.expected_score == pytest.approx(expectation(chances), abs=1e-5)


def test_the_identity_tells_that_a_thought_was_closed_and_of_other_models_nothing(folder, tmp_path):
    closing = TransformersJudge(str(save_tiny_vlm(tmp_path, template=OPEN)), ONE_PASS)
    assert closing.identity["thoughts"] == "closed"
    assert "thoughts" not in TransformersJudge(folder, ONE_PASS).identity


@pytest.mark.parametrize(
    ("written", "rationale"),
    [
        ("<think>A 1? No.</think> It rises", "It rises"),
        ("A 1? No.[/THINK] It rises", "It rises"),
        ("It rises <thinking>or not</thinking>", "It rises"),
    ],
)
def test_thoughts_in_a_rationale_are_cut_from_it(folder, written, rationale):
    [request] = questions(rubrics=MICRO[:1])
    judge = TransformersJudge(folder, JudgeOptions(max_tokens=64))
    Script(judge, written, end='"')
    [reply] = answers(judge, [request])
    assert request.question.parse(reply.text).rationale == rationale


def test_a_rationale_that_is_an_unclosed_thought_is_left_to_the_rubric_to_refuse(folder):
    [request] = questions(rubrics=MICRO[:1])
    judge = TransformersJudge(folder, JudgeOptions(max_tokens=64))
    Script(judge, "<think>Perhaps a 1", end='"')
    [reply] = answers(judge, [request])
    with pytest.raises(UnparsableReplyError, match="`rationale` must be a text, got ''"):
        request.question.parse(reply.text)


def test_marks_of_thoughts_that_are_special_tokens_are_seen(tmp_path):
    tokenizer = make_tokenizer()
    tokenizer.add_special_tokens({"additional_special_tokens": ["[THINK]", "[/THINK]"]})
    folder = str(save_tiny_vlm(tmp_path, tokenizer=tokenizer))
    [request] = questions(rubrics=MICRO[:1])
    judge = TransformersJudge(folder, JudgeOptions(max_tokens=64))
    Script(judge, "[THINK]A 1? No.[/THINK]It rises", end='"')
    [reply] = answers(judge, [request])
    assert request.question.parse(reply.text).rationale == "It rises"
    spelled = judge._checkpoint.spell("a[THINK]b</s>")
    assert judge._checkpoint.decode(spelled) == "a[THINK]b"


def test_a_rationale_is_cut_where_the_tokens_run_out_and_scored_all_the_same(folder):
    [request] = questions(rubrics=MICRO[:1])
    judge = TransformersJudge(folder, JudgeOptions(max_tokens=3))
    script = Script(judge, SAID[0])
    [reply] = answers(judge, [request])
    said = judge._checkpoint.decode(script.rows[0][:3])
    chances = chances_by_hand(folder, request, f'{{"rationale": "{said}", "score": ')
    assert json.loads(reply.text)["rationale"] == said
    assert reply.options["rationale_cut"]
    assert (reply.status, reply.output_tokens) == ("ok", 4)
    assert reply.expected_score == pytest.approx(expectation(chances), abs=1e-5)


def test_a_rationale_ends_where_the_model_ends_its_answer(folder):
    [request] = questions(rubrics=MICRO[:1])
    judge = TransformersJudge(folder, JudgeOptions(max_tokens=64))
    Script(judge, SAID[0], end="</s>")
    [reply] = answers(judge, [request])
    chances = chances_by_hand(folder, request, f'{{"rationale": "{SAID[0]}", "score": ')
    assert json.loads(reply.text)["rationale"] == SAID[0]
    assert reply.options["rationale_cut"]
    assert reply.expected_score == pytest.approx(expectation(chances), abs=1e-5)


@pytest.mark.parametrize("end", ['"', "</s>"], ids=["quote", "end"])
def test_rationales_that_end_sooner_than_others_are_read_up_to_there(end, folder):
    requests = questions(rubrics=MICRO[:3])
    judge = TransformersJudge(folder, JudgeOptions(max_tokens=64))
    script = Script(judge, *SAID, end=end)
    replies = answers(judge, requests)
    assert [reply.output_tokens for reply in replies] == [len(row) + 1 for row in script.rows]
    full = [
        expectation(chances_by_hand(folder, request, f'{{"rationale": "{said}", "score": '))
        for request, said in zip(requests, SAID, strict=True)
    ]
    assert expected_scores(replies) == pytest.approx(full, abs=1e-5)


def test_a_score_after_a_rationale_is_read_from_the_same_cache(folder):
    judge = TransformersJudge(folder, JudgeOptions(max_tokens=64))
    script, watch = Script(judge, SAID[0], end='"'), Watch(judge)
    [reply] = answers(judge, questions(rubrics=MICRO[:1]))
    prompt, *steps, slot = [length for _, length in watch.shapes]
    assert prompt == reply.input_tokens
    assert steps == [1] * (len(script.rows[0]) - 1)  # the closing quote is not read back
    assert slot == len(judge._checkpoint.spell('", "score": 1')) - 1


def test_an_empty_rationale_is_left_to_the_rubric_to_refuse(folder):
    judge = TransformersJudge(folder, SHORT)
    Script(judge, "", end='"')
    [judged] = judge_cases(CASES[:1], MICRO[:1], judge, style=Style(width=600, height=400))
    assert judged.judgments[0].status == "unparsable"
    assert "`rationale` must be a text" in judged.judgments[0].reason


def test_two_judges_of_one_model_answer_the_same(folder):
    first, second = (answers(TransformersJudge(folder, SHORT), questions()) for _ in range(2))
    assert first == second


def test_at_a_temperature_runs_differ_and_can_be_repeated(folder):
    options = JudgeOptions(max_tokens=12, temperature=1.0)
    runs = [questions(rubrics=MICRO[:1], run=run)[0] for run in range(3)]
    together = answers(TransformersJudge(folder, options), runs)
    alone = answers_one_by_one(TransformersJudge(folder, options), runs)
    assert len({reply.text for reply in together}) == 3
    assert [reply.text for reply in together] == [reply.text for reply in alone]


# What else is shown, and recorded


@pytest.mark.parametrize("save", [save_tiny_vlm, save_tiny_llm], ids=["sees", "reads only"])
def test_a_model_can_read_the_numbers_instead(save, tmp_path):
    options = JudgeOptions(modality="text", max_tokens=8)
    judge = TransformersJudge(str(save(tmp_path)), options)
    requests = questions(modality="text")
    together, alone = answers(judge, requests), answers_one_by_one(judge, requests)
    assert {reply.status for reply in together} == {"ok"}
    assert expected_scores(together) == pytest.approx(expected_scores(alone), abs=1e-5)


@pytest.mark.parametrize(
    "stop",
    ["{{ raise_exception('System role not supported') }}", "{% continue %}"],
    ids=["refuses", "drops"],
)
def test_a_template_without_a_system_role_is_given_the_instruction_before_the_question(
    stop, tmp_path
):
    branch = f"{{% if m.role == 'system' %}}{stop}{{% endif %}}"
    template = TEMPLATE.replace("<turn>{{ m.role", f"{branch}<turn>{{{{ m.role", 1)
    judge = TransformersJudge(str(save_tiny_vlm(tmp_path, template=template)), ONE_PASS)
    written = judge._checkpoint.write("Be strict.", "How good?")
    assert written == "<turn>user\n<image>Be strict.\n\nHow good?</s>\n<turn>assistant\n"


def test_a_reply_records_the_model_and_how_it_was_run(folder):
    judge = TransformersJudge(folder, SHORT)
    [reply] = answers(judge, questions(rubrics=MICRO[:1]))
    assert reply.options == {
        "device": "cpu",
        "dtype": "float32",
        "mode": "rationale",
        "temperature": 0.0,
        "max_tokens": 12,
        "rationale_cut": reply.options["rationale_cut"],
        "transformers": transformers.__version__,
        "weights": judge.identity["weights"],
    }


def test_the_tokens_of_a_reply_are_those_of_its_own_prompt_and_answer(folder):
    [request] = questions(rubrics=MICRO[:1])
    judge = TransformersJudge(folder, JudgeOptions(max_tokens=64))
    script = Script(judge, SAID[0], end='"')
    [reply] = answers(judge, [request])
    processor = transformers.AutoProcessor.from_pretrained(folder)
    text = judge._checkpoint.write(request.question.system_prompt, request.prompt)
    image = Image.open(BytesIO(request.image)).convert("RGB")
    prompt = processor(images=image, text=f'{text}{{"rationale": "', return_tensors="pt")
    assert reply.input_tokens == prompt["input_ids"].shape[1]
    assert reply.output_tokens == len(script.rows[0]) + 1  # the score


def test_the_identity_tells_other_weights_in_the_same_folder_apart(copied):
    before = TransformersJudge(str(copied)).identity
    weights = copied / "model.safetensors"
    tensors = tensor_files.load_file(weights)
    tensors[sorted(tensors)[0]] += 1
    tensor_files.save_file(tensors, weights, metadata={"format": "pt"})
    assert TransformersJudge(str(copied)).identity != before


def test_the_identity_does_not_see_what_a_download_leaves_behind(copied):
    before = TransformersJudge(str(copied)).identity
    (copied / ".cache").mkdir()
    (copied / ".cache" / "config.json.metadata").write_text("today")
    assert TransformersJudge(str(copied)).identity == before


def test_the_identity_holds_what_can_change_an_answer_and_nothing_else(folder):
    def identity(**options):
        return TransformersJudge(folder, JudgeOptions(**options)).identity

    plain, one_pass = identity(), identity(rationale=False)
    assert identity(concurrency=1, timeout=1.0, attempts=1, logprobs=False) == plain
    assert identity(temperature=None) == plain
    others = [identity(max_tokens=9), identity(temperature=0.5), identity(modality="text")]
    assert len({json.dumps(dict(one)) for one in (plain, one_pass, *others)}) == 5
    assert identity(rationale=False, max_tokens=9, temperature=0.5) == one_pass


def test_the_judge_is_loaded_by_its_family_and_keeps_the_name(folder):
    judge = load_judge(f"local:{folder}", options=ONE_PASS)
    assert isinstance(judge, TransformersJudge)
    assert (judge.name, judge.modality) == (f"local:{folder}", "vision")


def test_a_run_with_a_store_asks_once_and_never_again(folder, tmp_path, monkeypatch):
    def judge_all():
        judge = TransformersJudge(folder, ONE_PASS)
        with Store(tmp_path / "store.sqlite") as store:
            style = Style(width=600, height=400)
            return list(judge_cases(CASES[:2], MICRO, judge, store=store, style=style))

    first = judge_all()
    monkeypatch.setattr(TransformersJudge, "ask", lambda self, requests: iter(list(requests)[:0]))
    again = judge_all()
    judgments = [one for case in first for one in case.judgments]
    assert [one for case in again for one in case.judgments] == judgments
    assert {(one.status, one.judge) for one in judgments} == {("ok", f"local:{folder}")}
    assert all(one.expected_score and one.mass and one.render for one in judgments)


def test_where_all_answers_are_kept_no_weights_are_loaded(folder):
    judge = TransformersJudge(folder, ONE_PASS)
    assert list(judge.ask([])) == []
    assert "model" not in vars(judge._checkpoint)


# What goes wrong with a request


def starve(judge, rows):
    """Let the model run out of memory where it is given more rows than that."""

    def check(model, arguments, named):
        if len(named["input_ids"]) > rows:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB.\nDetails")

    judge._checkpoint.model.register_forward_pre_hook(check, with_kwargs=True)


def test_a_batch_that_is_out_of_memory_is_halved_and_so_are_the_next(folder, caplog):
    judge = TransformersJudge(folder, ONE_PASS)
    reference = expected_scores(answers(judge, questions(0) + questions(1)))
    starve(judge, rows=2)
    watch = Watch(judge)
    assert expected_scores(answers(judge, questions(0))) == pytest.approx(reference[:5], abs=1e-5)
    assert "asking in halves" in caplog.text
    caplog.clear()
    assert expected_scores(answers(judge, questions(1))) == pytest.approx(reference[5:], abs=1e-5)
    assert caplog.text == ""
    assert max(rows for rows, _ in watch.shapes) == 2


def test_a_request_that_is_out_of_memory_alone_is_an_error_with_the_reason(folder):
    judge = TransformersJudge(folder, ONE_PASS)
    starve(judge, rows=0)
    replies = answers(judge, questions(rubrics=MICRO[:2]))
    assert [reply.status for reply in replies] == ["error", "error"]
    assert replies[0].reason == (
        "out of memory on cpu: CUDA out of memory. Tried to allocate 2 GiB."
    )
    assert replies[0].expected_score is None


def test_an_image_that_cannot_be_read_is_an_error_of_its_own_request_only(folder):
    [broken] = questions(1, rubrics=MICRO[:1])
    broken = Request(broken.case, broken.question, broken.prompt, b"no PNG")
    judge = TransformersJudge(folder, ONE_PASS)
    replies = answers(judge, [*questions(0, rubrics=MICRO[:2]), broken, *questions(2)])
    assert [reply.status for reply in replies] == ["ok", "ok", "error", *["ok"] * 5]
    assert "cannot identify image file" in replies[2].reason


def test_a_prompt_longer_than_the_model_can_take_is_an_error_that_gives_the_numbers(folder):
    [request] = questions(rubrics=MICRO[:1])
    long = Request(request.case, request.question, "z " * 5000, request.image)
    [reply] = answers(TransformersJudge(folder, ONE_PASS), [long])
    assert reply.status == "error"
    assert reply.reason.endswith("but the model takes 8192 together.")


def test_a_request_without_an_image_is_an_error(folder):
    [request] = questions(rubrics=MICRO[:1], modality="text")
    [reply] = answers(TransformersJudge(folder, ONE_PASS), [request])
    assert (reply.status, reply.mass) == ("error", None)
    assert "holds no image" in reply.reason


def test_scores_that_overflow_are_an_error_and_no_score(folder):
    judge = TransformersJudge(folder, ONE_PASS)
    with torch.no_grad():
        judge._checkpoint.model.lm_head.weight.fill_(float("nan"))
    [reply] = answers(judge, questions(rubrics=MICRO[:1]))
    assert (reply.status, reply.text, reply.mass) == ("error", "", None)
    assert reply.reason == "the scores have no finite probability in float32"


# What goes wrong with a model


def test_a_folder_that_does_not_exist_is_named():
    with pytest.raises(ValueError, match=r"judge 'local:./none': .*\(there is no such folder\)"):
        TransformersJudge("./none")


def test_an_id_that_is_not_on_this_machine_says_how_to_fetch_it_while_offline():
    with pytest.raises(ValueError, match="HF_HUB_OFFLINE is set: `hf download someone/judge`"):
        TransformersJudge("someone/judge")


def test_an_id_in_the_cache_is_known_by_its_commit(folder, tmp_path, monkeypatch):
    commit = "0123456789abcdef0123456789abcdef01234567"
    repository = tmp_path / "models--someone--judge"
    shutil.copytree(folder, repository / "snapshots" / commit)
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text(commit)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    judge = TransformersJudge("someone/judge", ONE_PASS)
    assert judge.identity["weights"] == commit
    assert [reply.status for reply in answers(judge, questions(rubrics=MICRO[:1]))] == ["ok"]


def test_a_folder_without_a_model_says_what_it_must_hold(tmp_path):
    with pytest.raises(ValueError, match="a folder must hold all that `save_pretrained`"):
        TransformersJudge(str(tmp_path))


def test_weights_that_are_cut_short_are_an_error(copied):
    weights = copied / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:5000])
    with pytest.raises(ValueError, match=r"judge 'local:.*cannot be loaded: "):
        answers(TransformersJudge(str(copied), ONE_PASS), questions())


def test_weights_that_are_missing_are_never_made_up(copied):
    weights = copied / "model.safetensors"
    tensors = tensor_files.load_file(weights)
    lost = next(name for name in sorted(tensors) if name.endswith("lm_head.weight"))
    del tensors[lost]
    tensor_files.save_file(tensors, weights, metadata={"format": "pt"})
    with pytest.raises(ValueError, match=r"1 of the model's weights are missing.*lm_head"):
        answers(TransformersJudge(str(copied), ONE_PASS), questions())


def test_a_model_that_does_not_see_is_refused_for_plots(tmp_path):
    with pytest.raises(ValueError, match=r"no place for an image.*modality 'text'"):
        TransformersJudge(str(save_tiny_llm(tmp_path)))


def test_a_template_that_drops_the_image_is_refused_for_plots(tmp_path):
    blind = save_tiny_vlm(tmp_path, template=TEMPLATE.replace("<image>", ""))
    with pytest.raises(ValueError, match="no place for an image"):
        TransformersJudge(str(blind))


def test_a_model_without_a_chat_template_is_refused(tmp_path):
    with pytest.raises(ValueError, match="has no chat template"):
        TransformersJudge(str(save_tiny_vlm(tmp_path, template=None)))


def test_a_template_that_fails_is_refused_with_its_reason(tmp_path):
    failing = save_tiny_vlm(tmp_path, template="{{ raise_exception('no chat today') }}")
    with pytest.raises(ValueError, match="the chat template fails on a question: no chat today"):
        TransformersJudge(str(failing))


@pytest.mark.parametrize("replacement", ["three", "4"], ids=["several tokens", "another's token"])
def test_a_score_that_is_not_a_token_of_its_own_is_refused(replacement, tmp_path):
    tokenizer = make_tokenizer(replace=("3", replacement))
    with pytest.raises(ValueError, match=r"after '\{\"score\": ', but 3 is not"):
        TransformersJudge(str(save_tiny_vlm(tmp_path, tokenizer=tokenizer)), ONE_PASS)


def test_code_that_comes_with_a_checkpoint_is_not_run(copied):
    config = json.loads((copied / "config.json").read_text())
    config["auto_map"] = {"AutoConfig": "evil.Config"}
    config["model_type"] = "evil"
    (copied / "config.json").write_text(json.dumps(config))
    (copied / "evil.py").write_text("raise SystemExit('this was run')")
    with pytest.raises(ValueError, match="cannot be loaded"):
        TransformersJudge(str(copied))


def test_a_repetition_penalty_of_the_checkpoint_does_not_bend_the_rationale(folder, copied):
    [request] = questions(rubrics=MICRO[:1])
    settings = copied / "generation_config.json"
    wanted = {"repetition_penalty": 5.0, "do_sample": True, "temperature": 9.0}
    settings.write_text(json.dumps({**json.loads(settings.read_text()), **wanted}))
    [bent] = answers(TransformersJudge(str(copied), SHORT), [request])
    [plain] = answers(TransformersJudge(folder, SHORT), [request])
    assert bent.text == plain.text


# Packages and devices


@pytest.mark.parametrize("package", ["torch", "transformers"])
def test_a_missing_package_is_an_error_with_the_line_that_installs_it(package, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ValueError, match=rf"'{package}': pip install 'timevista-hf\[local\]'"):
        TransformersJudge("./none")


def test_a_device_that_is_not_there_is_an_error_that_names_the_variable(folder, monkeypatch):
    monkeypatch.setenv("TIMEVISTA_DEVICE", "abacus")
    with pytest.raises(ValueError, match="TIMEVISTA_DEVICE: 'abacus' is no device"):
        TransformersJudge(folder)


def test_a_device_can_be_chosen_where_there_is_a_gpu(folder, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setenv("TIMEVISTA_DEVICE", "cpu")
    [reply] = answers(TransformersJudge(folder, ONE_PASS), questions(rubrics=MICRO[:1]))
    assert (reply.options["device"], reply.options["dtype"]) == ("cpu", "float32")


def test_importing_the_judge_loads_neither_torch_nor_transformers():
    code = (
        "import sys, timevista_hf.judges.transformers; "
        "sys.exit(bool({'torch', 'transformers', 'PIL', 'jinja2'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], timeout=60).returncode == 0
