"""What a run will cost: counted before anything is asked, corrected by the first answers."""

import pytest
from billed import ROUND, TREND, Hosted, header, make_request, make_requests, text_of, used

from timevista_hf.costs import Calibration, Price, PriceTable, calibrate, estimate_cost
from timevista_hf.costs._estimate import CALIBRATION_ANSWERS, REPLY_TOKENS
from timevista_hf.judges import Reply, Request, Store, load_judge
from timevista_hf.rendering import Style, render_case
from timevista_hf.rubrics import JointRubric, load_rubric


@pytest.fixture(autouse=True)
def no_prices_of_ones_own(monkeypatch):
    monkeypatch.delenv("TIMEVISTA_PRICES", raising=False)


def estimate(requests, judge=None, price=ROUND, **options):
    judge = judge or Hosted()
    return estimate_cost(requests, judge, prices=PriceTable({judge.name: price}), **options)


def test_an_estimate_counts_pictures_texts_and_replies_of_every_call():
    requests = make_requests(3, image=header(1200, 500))
    texts = 3 * text_of(requests[0])
    found = estimate(requests)
    assert (found.calls, found.stored, found.image_tokens) == (3, 0, 3 * 774)
    assert (found.input_tokens, found.output_tokens) == (3 * 774 + texts, 3 * REPLY_TOKENS)


def test_an_estimate_is_priced_in_dollars_and_for_a_batch():
    found = estimate(make_requests(2, image=header(1200, 500)))
    dollars = (found.input_tokens * 1 + found.output_tokens * 10) / 1_000_000
    assert (found.usd, found.usd_batch) == pytest.approx((dollars, dollars / 2))
    assert found.price_date == "2026-01-02"


def test_the_size_is_read_from_a_real_picture():
    case = make_request().case
    image = render_case(case, style=Style(width=600, height=400))
    # 22 × 15 patches of 28 pixels.
    assert estimate([make_request(image=image)]).image_tokens == 22 * 15


def test_a_text_judge_is_sent_no_picture():
    assert estimate(make_requests(1), Hosted(modality="text")).image_tokens == 0


def test_a_joint_question_is_answered_once_for_each_of_its_rubrics():
    joint = JointRubric((TREND, load_rubric("phase"), load_rubric("motif")))
    found = estimate([make_request(rubric=joint)])
    assert (found.calls, found.output_tokens) == (1, 3 * REPLY_TOKENS)


def test_answers_in_the_store_cost_nothing():
    requests, judge = make_requests(5), Hosted()
    with Store(":memory:") as store:
        for request in requests[:2]:
            store.put(request.key(judge.identity), used(0, 0))
        found = estimate(requests, judge, store=store)
    assert (found.calls, found.stored) == (3, 2)
    assert found.input_tokens == 3 * text_of(requests[0])


def test_questions_that_are_alike_are_asked_once():
    assert estimate([make_request(1), make_request(1), make_request(2)]).calls == 2


def test_the_judge_is_not_asked():
    judge = Hosted()
    estimate(make_requests(3), judge)
    assert judge.asked == []


def test_requests_are_taken_a_few_at_a_time():
    alive = most = 0

    class Counted(Request):
        def __del__(self):
            nonlocal alive
            alive -= 1

    def stream():
        nonlocal alive, most
        for number in range(3000):
            alive += 1
            most = max(most, alive)
            one = make_request(number)
            yield Counted(one.case, one.question, one.prompt)

    assert estimate(stream()).calls == 3000
    assert most < 1500  # two batches of 512 and a few


def test_nothing_to_ask_costs_nothing():
    found = estimate([])
    assert (found.calls, found.input_tokens, found.output_tokens, found.usd) == (0, 0, 0, 0.0)


def test_the_builtin_judge_uses_no_tokens():
    found = estimate_cost(make_requests(4, image=header(1200, 500)), load_judge("builtin"))
    assert (found.calls, found.input_tokens, found.output_tokens, found.usd) == (4, 0, 0, 0.0)
    assert found.price_date is None


def test_a_local_judge_uses_tokens_that_cost_nothing():
    judge = Hosted(name="local:/models/Qwen3-VL-2B")
    found = estimate_cost(make_requests(1, image=header(1200, 500)), judge)
    assert (found.image_tokens, found.usd) == (608, 0.0)


def test_an_estimate_for_a_judge_without_a_price_is_refused():
    with pytest.raises(ValueError, match="no price is known for judge 'hf:x'"):
        estimate_cost([], Hosted(name="hf:x"))


def test_a_picture_that_is_no_png_is_refused():
    with pytest.raises(ValueError, match=r"must be a PNG, got b'\\xff\\xd8"):
        estimate([make_request(image=b"\xff\xd8" * 20)])


def test_a_price_file_can_say_how_pictures_are_counted():
    price = Price(input=1, output=1, images="qwen3-vl")
    judge = Hosted(name="hf:someone/unheard-of")
    found = estimate(make_requests(1, image=header(1200, 500)), judge, price)
    assert found.image_tokens == 608
    assert not any("not known" in note for note in found.notes)


def test_the_notes_say_what_was_assumed():
    price = Price(input=1, output=1, date="2026-01-02", source="X", example=True, note="mind it")
    judge = Hosted(name="hf:someone/unheard-of")
    notes = estimate(make_requests(1, image=header(9, 9)), judge, price).notes
    assert notes[0] == "price of 2026-01-02: X"
    assert "an example" in notes[1]
    assert notes[2] == "mind it"
    assert "one token a patch of 28×28 pixels is assumed" in notes[3]
    assert "thoughts are billed too" in notes[4]


def test_a_free_judge_is_said_to_be_free():
    [note] = estimate_cost(make_requests(1), load_judge("builtin")).notes
    assert note == "judge 'builtin' costs nothing, unless a price file says otherwise"


def test_calibration_corrects_input_by_its_ratio_and_output_by_its_mean():
    # Expected 300 input tokens, billed 330; 100 and 300 output tokens.
    learnt = Calibration().learn(100, used(110, 100)).learn(200, used(220, 300))
    assert (learnt.input_factor, learnt.output_mean) == (1.1, 200.0)


def test_nothing_learnt_changes_nothing():
    assert (Calibration().input_factor, Calibration().output_mean) == (1.0, REPLY_TOKENS)


def test_an_answer_without_usage_teaches_nothing():
    assert Calibration().learn(100, used(0, 0)) == Calibration()


def test_a_failure_that_was_billed_teaches_too():
    reply = Reply("", "truncated", input_tokens=50, output_tokens=900)
    assert Calibration().learn(100, reply).output_mean == 900.0


def test_calibration_takes_the_first_twenty_answers_and_no_more():
    taken = []

    def answers():
        for number, request in enumerate(make_requests(100)):
            taken.append(number)
            yield request, used(0, 0) if number < 5 else used(10, number)

    learnt = calibrate(answers(), Hosted())
    assert learnt.complete
    assert len(taken) == 5 + CALIBRATION_ANSWERS
    assert learnt.output_mean == sum(range(5, 25)) / 20


def test_a_calibration_that_is_complete_learns_no_more():
    learnt = calibrate(((request, used(9, 9)) for request in make_requests(20)), Hosted())
    assert learnt.learn(100, used(1, 4000)) == learnt


def test_an_estimate_of_the_rest_uses_what_was_learnt():
    requests = make_requests(10)
    text = text_of(requests[0])
    learnt = calibrate(((request, used(2 * text, 700)) for request in requests[:4]), Hosted())
    found = estimate(requests[4:], calibration=learnt)
    assert (found.input_tokens, found.output_tokens) == (6 * 2 * text, 6 * 700)
    assert found.notes[-1] == "corrected by 4 real answers: input ×2.00, 700 output tokens each"


def test_answers_in_the_store_correct_the_estimate_of_the_rest(tmp_path):
    requests, judge = make_requests(10), Hosted()
    text = text_of(requests[0])
    with Store(tmp_path / "answers.sqlite") as store:
        for request in requests[:4]:
            store.put(request.key(judge.identity), used(2 * text, 700))
        found = estimate(requests, store=store)
    assert (found.stored, found.input_tokens, found.output_tokens) == (4, 6 * 2 * text, 6 * 700)
    assert found.notes[-1] == "corrected by 4 real answers: input ×2.00, 700 output tokens each"
