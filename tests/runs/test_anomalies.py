"""What a run of detection leaves in its folder, whatever happens on the way."""

import csv
import json
import re
import signal
import subprocess
import sys
import time

import pytest
from oracles import Stored, first_only, named, truth

from timevista_hf.io import read_detections
from timevista_hf.judges import Reply, load_judge
from timevista_hf.reports.charts import draw_effect
from timevista_hf.reports.texts import explain_run, to_csv, to_markdown
from timevista_hf.results.anomalies import METRICS
from timevista_hf.runs.anomalies import detect_subsets
from timevista_hf.synthesis.anomalies import find_subset

CONTENTS = {
    "detections.parquet",
    "detections.sqlite",
    "examples",
    "report.html",
    "scores.csv",
    "scores.json",
    "tables.md",
}


def run(folder, judge=None, subsets=("sine-trend",), **options):
    chosen = [find_subset(name) for name in subsets]
    return detect_subsets(chosen, judge or Stored(), folder, **{"count": 4, **options})


def contents(folder):
    """All files but the store, whose pages hold times."""
    return {
        path.relative_to(folder): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.name.startswith("detections.sqlite")
    }


def saved(folder):
    return json.loads((folder / "scores.json").read_text(encoding="utf-8"))


def page(folder):
    return (folder / "report.html").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def several(tmp_path_factory):
    """A run over subsets that differ in variates and in missing steps."""
    folder = tmp_path_factory.mktemp("several") / "out"
    subsets = ["sine-trend", "sine-trend-r5", "sine_cosine-square-m4", "sine_cosine-square-m9"]
    return folder, run(folder, subsets=subsets, count=2)


def test_the_folder_holds_the_results_and_nothing_else(tmp_path):
    run(tmp_path / "out")
    assert {path.name for path in (tmp_path / "out").iterdir()} == CONTENTS


def test_figures_are_drawn_where_subsets_differ(several):
    folder, _ = several
    assert {path.name for path in folder.iterdir()} == {*CONTENTS, "figure4.png", "figure5.png"}
    assert page(folder).count('class="chart"') == 2


def test_figures_of_an_earlier_run_do_not_stay(several, tmp_path):
    run(tmp_path / "out", subsets=["sine-trend", "sine-trend-r5"], count=1)
    assert (tmp_path / "out" / "figure5.png").exists()
    run(tmp_path / "out", count=1)
    assert not (tmp_path / "out" / "figure5.png").exists()


def test_every_detection_is_in_the_file_in_the_order_of_the_series(tmp_path):
    run(tmp_path / "out", subsets=["sine-trend", "sine-global"], count=2)
    found = [one.case_id for one in read_detections(tmp_path / "out" / "detections.parquet")]
    names = ("sine-trend-test-0000", "sine-trend-test-0001")
    assert found == [*names, "sine-global-test-0000", "sine-global-test-0001"]


def test_the_scores_file_says_what_made_it(tmp_path):
    run(tmp_path / "out", edition="paper", convention="paper", example="paper", seed=3, count=2)
    made = saved(tmp_path / "out")["run"]
    told = ("judge", "subsets", "edition", "split", "count", "convention", "questions", "seed")
    assert [made[name] for name in told] == [
        *("mock", ["sine-trend"], "paper", "test", 2, "paper"),
        *(["detect_range_example_paper@1.0"], 3),
    ]


def test_the_scores_file_holds_what_the_run_returned(several):
    folder, found = several
    records = saved(folder)["subsets"]
    assert [one["subset"] for one in records] == [one.subset for one in found.scores]
    assert [one["rows"][0]["f1"]["mean"] for one in records] == [1, 1, 1, 1]


def test_tokens_and_their_price_are_told(tmp_path):
    def answer(case):
        return named(truth(case), input_tokens=100, output_tokens=7)

    run(tmp_path / "out", Stored(answer), count=3)
    usage = saved(tmp_path / "out")["run"]["usage"]
    assert (usage["input tokens"], usage["output tokens"]) == (300, 21)


def test_a_subset_that_is_named_twice_counts_once(tmp_path):
    judge = Stored()
    found = run(tmp_path / "out", judge, subsets=["sine-trend", "sine-trend"])
    assert (len(found.scores), judge.asked) == (1, 4)


def test_a_second_run_asks_for_nothing_and_writes_the_same(tmp_path):
    run(tmp_path / "out")
    before, judge = contents(tmp_path / "out"), Stored()
    again = run(tmp_path / "out", judge)
    assert (judge.asked, again.reused) == (0, 4)
    assert contents(tmp_path / "out") == before


def test_without_resume_everything_is_asked_again(tmp_path):
    run(tmp_path / "out")
    judge = Stored()
    run(tmp_path / "out", judge, resume=False)
    assert judge.asked == 4


def test_a_failure_is_asked_again(tmp_path):
    run(tmp_path / "out", Stored(lambda case: Reply("", "error", reason="HTTP 500")))
    found = run(tmp_path / "out")
    assert (found.reused, found.scores[0].judge.failures) == (0, {})


SLOW = """
import sys, time
sys.path.insert(0, {tests!r})
from oracles import Stored, first_only
from timevista_hf.runs.anomalies import detect_subsets
from timevista_hf.synthesis.anomalies import find_subset

def answer(case):
    time.sleep(0.1)
    return first_only(case)

detect_subsets([find_subset("sine-global"), find_subset("sine-trend")], Stored(answer), {folder!r})
"""


def test_a_killed_run_goes_on_and_gives_the_same_bytes(tmp_path, request):
    subsets = ["sine-global", "sine-trend"]
    code = SLOW.format(tests=str(request.path.parents[1]), folder=str(tmp_path / "out"))
    killed = subprocess.Popen([sys.executable, "-c", code])
    store = tmp_path / "out" / "detections.sqlite-wal"
    while not store.exists() or store.stat().st_size < 20_000:  # some answers are kept
        assert killed.poll() is None
        time.sleep(0.02)
    killed.send_signal(signal.SIGKILL)
    assert killed.wait(timeout=60) == -signal.SIGKILL
    assert not (tmp_path / "out" / "scores.json").exists()
    again = run(tmp_path / "out", Stored(first_only), subsets, count=6)
    assert again.reused > 0
    run(tmp_path / "whole", Stored(first_only), subsets, count=6)
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")


def test_the_judge_is_shown_pictures_without_marks_and_the_page_with(tmp_path):
    judge = Stored(modality="vision")
    run(tmp_path / "out", judge, count=1)
    names = sorted(path.name for path in (tmp_path / "out" / "examples").iterdir())
    assert names == ["sine-trend-test-0000_answer.png", "sine-trend-test-0000_truth.png"]
    [detection] = read_detections(tmp_path / "out" / "detections.parquet")
    assert detection.render == saved(tmp_path / "out")["run"]["render"] != ""


def test_the_papers_edition_is_drawn_in_the_grid_of_the_papers_code(tmp_path):
    judge = Stored(modality="vision")
    for edition, grid in (("paper", "paper_code"), ("corrected", "near_square")):
        run(tmp_path / edition, judge, ["sine_cosine-square-m4"], edition=edition, count=1)
        assert grid in saved(tmp_path / edition)["run"]["render"]


def test_examples_are_the_worst_the_middle_and_the_best(tmp_path):
    def answer(case):
        number = int(case.id[-1])
        return named(truth(case) if number == 2 else [] if number == 1 else [[0, 399]])

    run(tmp_path / "out", Stored(answer), count=3)
    shown = re.findall(r"<h3><bdi>(.*?)</bdi>.*?<span>F1</span> ([\d.]+)", page(tmp_path / "out"))
    assert [name[-1] for name, _ in shown] == ["1", "0", "2"]
    assert (shown[0][1], shown[2][1]) == ("0.00", "100.00")


def test_the_page_is_one_file_that_loads_nothing(several):
    text = page(several[0])
    assert "default-src 'none'" in text
    assert not re.search(r"(src|href)=\"(?!data:|#)", text)


def test_what_a_judge_says_is_text_in_the_page(tmp_path):
    said = "<script>alert(1)</script> & \ud83d"
    run(
        tmp_path / "out",
        Stored(lambda case: Reply(json.dumps({"rationale": said, "anomalies": [[3, 9]]}))),
        count=1,
    )
    text = page(tmp_path / "out")
    assert "<script" not in text
    assert "&lt;script&gt;alert(1)&lt;/script&gt; &amp;" in text


def test_a_judge_below_chance_is_marked(tmp_path):
    run(tmp_path / "out", Stored(lambda case: named([])))
    assert 'title="not above chance"' in page(tmp_path / "out")


def test_chance_and_published_rows_stand_beside_the_judge_in_the_page(several):
    text = page(several[0])
    for rater in ("mock", "everything", "random", "grid", "echo", "GPT-4o"):
        assert f"<bdi>{rater}</bdi>" in text
    assert text.count('<small class="kind">published</small>') > 8


def test_the_csv_has_a_row_a_rater_and_the_numbers_of_the_scores(several):
    folder, found = several
    with (folder / "scores.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 4 * 13
    assert float(rows[1]["precision"]) == found.scores[0].chance[0].precision.mean
    assert (rows[0]["asked"], rows[1]["asked"], rows[1]["f1_low"]) == ("2", "", "")


def test_the_markdown_has_the_tables_of_the_paper(several):
    folder, found = several
    text = (folder / "tables.md").read_text(encoding="utf-8")
    heads = [line for line in text.splitlines() if line.startswith("## ")]
    assert [head.split(":")[0] for head in heads] == [
        *("## Table 3", "## Table 4", "## Table 5", "## Table 6", "## Table 10")
    ]
    numbers = [100 * getattr(found.scores[0].chance[0], name).mean for name in METRICS]
    assert f"| everything | chance | {' | '.join(f'{one:.2f}' for one in numbers)} |" in text


def test_a_pipe_in_a_name_does_not_break_the_markdown(tmp_path):
    judge = Stored()
    judge.name = "a|b"
    found = run(tmp_path / "out", judge, count=1)
    assert "| a¦b | judge |" in to_markdown(found.scores, found.run)


@pytest.mark.parametrize(
    ("edition", "convention", "said"),
    [
        ("paper", "honest", "subsets share series"),
        ("corrected", "honest", "compare nothing"),
        ("corrected", "honest", "counts as one that names nothing"),
        ("corrected", "paper", "a judge may gain by failing"),
    ],
)
def test_notes_say_what_may_be_compared(edition, convention, said):
    assert any(said in note for note in explain_run({"edition": edition, "convention": convention}))


def test_without_scores_there_are_a_header_and_no_figure():
    assert len(to_csv([]).splitlines()) == 1
    assert draw_effect([], "num_variates") is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"subsets": []}, "nothing to ask: 0 subsets"),
        ({"count": 0}, "nothing to ask"),
        ({"subsets": ["sine_cosine-square-m7"], "edition": "paper"}, "none of the paper's 124"),
    ],
)
def test_a_run_without_series_is_refused_before_anything_is_made(options, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        run(tmp_path / "out", **options)
    assert not (tmp_path / "out").exists()


def test_a_folder_without_the_real_series_is_refused_before_anything_is_asked(tmp_path):
    judge = Stored()
    with pytest.raises(ValueError, match="holds no file of 'Symbols' cases"):
        run(tmp_path / "out", judge, ["sine-trend", "symbols-trend"], data_dir=tmp_path)
    assert judge.asked == 0


def test_plots_that_are_not_from_a_run_are_not_replaced(tmp_path):
    (tmp_path / "examples").mkdir()
    (tmp_path / "examples" / "mine.png").write_bytes(b"mine")
    with pytest.raises(ValueError, match="would be replaced but is not from an earlier run"):
        run(tmp_path)
    assert (tmp_path / "examples" / "mine.png").read_bytes() == b"mine"


def test_the_built_in_judge_beats_chance(tmp_path):
    found = run(tmp_path / "out", load_judge("builtin"), ["sine-global"], count=5).scores[0]
    assert all(found.judge.f1.mean > row.f1.mean for row in found.chance)
