"""What a scoring run leaves in its folder, whatever happens on the way."""

import dataclasses
import json
import math
import re
import subprocess
import sys
import time
from functools import partial

import numpy as np
import pytest
from billed import Hosted

from timevista_hf.costs import load_prices
from timevista_hf.io import read_forecasts, read_judgments
from timevista_hf.judges import Reply, Store, load_judge
from timevista_hf.judges.mock import MockJudge
from timevista_hf.metrics import dtw, mae, mase
from timevista_hf.rendering import Renderer, Style, render_case
from timevista_hf.reports.forecasts import ReportSpool
from timevista_hf.rubrics import load_rubric, select_rubrics
from timevista_hf.runs import forecasts
from timevista_hf.runs.forecasts import score_forecasts

RUBRICS = [load_rubric("trend"), load_rubric("phase")]
STYLE = Style(width=600, height=400)
CONTENTS = ["judgments.parquet", "judgments.sqlite", "plots", "report.html", "scores.json"]


def scored(score):
    return Reply(text=json.dumps({"rationale": f"a {score}", "score": score}))


class Counting(MockJudge):
    """A mock judge that looks at the plot and counts what it was asked."""

    def __init__(self, answer=lambda request: scored(3)):
        super().__init__(answer)
        self.asked = 0

    def ask(self, requests):
        for request in requests:
            self.asked += 1
            yield from super().ask([request])


@pytest.fixture
def make_table(tmp_path):
    """Write windows, one a line, and read them; each series has two models."""

    def make(ids=("a", "b", "c"), name="forecasts.jsonl", **fields):
        lines = [
            {
                "id": id_,
                "history": [1, 2, 3, 2],
                "truth": [4, 5, 4],
                "predictions": {"ets": [4, 6, number], "naive": [3, 3, 3 + number / 7]},
                **fields,
            }
            for number, id_ in enumerate(ids)
        ]
        path = tmp_path / name
        path.write_text("\n".join(json.dumps(line) for line in lines))
        return read_forecasts(path)

    return make


def score(table, folder, judge=None, rubrics=RUBRICS, **options):
    return score_forecasts(table, rubrics, judge or Counting(), folder, style=STYLE, **options)


def contents(folder):
    return sorted(path.name for path in folder.iterdir())


def plots(folder):
    return sorted(path.name for path in (folder / "plots").iterdir())


def scores(folder):
    return json.loads((folder / "scores.json").read_text(encoding="utf-8"))


def test_the_folder_holds_the_results_and_nothing_else(make_table, tmp_path):
    score(make_table(), tmp_path / "out")
    assert contents(tmp_path / "out") == CONTENTS


def test_folders_on_the_way_to_the_output_are_made(make_table, tmp_path):
    score(make_table(), tmp_path / "deep" / "er" / "out")
    assert contents(tmp_path / "deep" / "er" / "out") == CONTENTS


def test_every_judgment_is_in_the_file_in_the_order_of_the_cases(make_table, tmp_path):
    run = score(make_table(), tmp_path / "out")
    found = [
        (judgment.case_id, judgment.model, judgment.dimension)
        for judgment in read_judgments(tmp_path / "out" / "judgments.parquet")
    ]
    expected = [(i, m, d) for i in "abc" for m in ("ets", "naive") for d in ("trend", "phase")]
    assert (found, run.judgments) == (expected, len(expected))


def test_models_are_ranked_by_their_scores(make_table, tmp_path):
    def answer(request):
        return scored(2 if request.case.model == "ets" else 5)

    run = score(make_table(), tmp_path / "out", Counting(answer))
    assert [(m.model, m.overall.mean) for m in run.models] == [("naive", 5.0), ("ets", 2.0)]


def test_the_scores_file_says_what_the_run_returned(make_table, tmp_path):
    run = score(make_table(), tmp_path / "out")
    said = scores(tmp_path / "out")
    assert said["run"] == run.run
    assert [model["model"] for model in said["models"]] == [model.model for model in run.models]


def test_the_scores_file_says_what_made_it(make_table, tmp_path):
    score(make_table(), tmp_path / "out", seed=7)
    run = scores(tmp_path / "out")["run"]
    assert run["rubrics"] == [rubric.identity for rubric in RUBRICS]
    assert run["judges"] == {"mock": {"judge": "mock"}}
    found = [run[name] for name in ("input", "judge", "render", "seed")]
    assert found == ["forecasts.jsonl", "mock", STYLE.fingerprint, 7]


def test_the_scores_and_the_page_say_what_the_answers_used_failed_ones_too(make_table, tmp_path):
    def answer(request):
        if request.case.model == "ets":
            return Reply("", "truncated", input_tokens=100, output_tokens=1024)
        return dataclasses.replace(scored(3), input_tokens=1000, output_tokens=50)

    judge = Hosted(answer)
    score(make_table(), tmp_path / "out", judge)
    # 3 windows x 2 rubrics of each model.
    cost = load_prices().find(judge).usd(6 * 1100, 6 * 1074)
    assert scores(tmp_path / "out")["run"]["usage"] == {
        judge.name: {
            "input tokens": 6600,
            "output tokens": 6444,
            "tokens without a score": 6744,
            "US dollars": round(cost, 4),
        }
    }
    page = (tmp_path / "out" / "report.html").read_text()
    assert "tokens without a score" in page
    assert "6744" in page


def test_a_judge_that_measures_uses_no_tokens(make_table, tmp_path):
    score(make_table(), tmp_path / "out", load_judge("builtin"))
    assert scores(tmp_path / "out")["run"]["usage"] == {"builtin": {}}


def test_error_metrics_are_means_over_the_cases_of_a_model(make_table, tmp_path):
    table = make_table(season_length=2, history=[1, 2, 4, 8])
    score(table, tmp_path / "out")
    [errors] = [m["errors"] for m in scores(tmp_path / "out")["models"] if m["model"] == "ets"]
    pairs = [(c, c.truth, c.prediction) for c in table.cases(["ets"])]
    assert errors["mae"] == pytest.approx(np.mean([mae(t, p) for _, t, p in pairs]))
    assert errors["dtw"] == pytest.approx(np.mean([dtw(t, p) for _, t, p in pairs]))
    scaled = [mase(t, p, case.history, season_length=2) for case, t, p in pairs]
    assert errors["mase"] == pytest.approx(np.mean(scaled))


def test_mase_is_scaled_by_single_steps_where_no_season_is_known(make_table, tmp_path):
    # History 1 2 3 2: the mean absolute step is 1, so that MASE is MAE.
    score(make_table(), tmp_path / "out")
    for model in scores(tmp_path / "out")["models"]:
        assert math.isclose(model["errors"]["mase"], model["errors"]["mae"])


def test_the_batches_of_distances_do_not_mix_cases(make_table, tmp_path, monkeypatch):
    ids = [str(number) for number in range(5)]
    score(make_table(ids), tmp_path / "whole")
    monkeypatch.setattr(forecasts, "BATCH", 3)
    score(make_table(ids), tmp_path / "batched")
    assert scores(tmp_path / "batched") == scores(tmp_path / "whole")


def test_each_case_has_the_plot_that_the_judge_saw(make_table, tmp_path):
    table, shown = make_table(), []
    judge = Counting(lambda request: shown.append(request.image) or scored(3))
    score(table, tmp_path / "out", judge, RUBRICS[:1])
    files = [tmp_path / "out" / "plots" / name for name in plots(tmp_path / "out")]
    assert [file.read_bytes() for file in files] == shown


def test_a_plot_that_the_judge_saw_is_not_drawn_again(make_table, tmp_path, monkeypatch):
    class Refusing:
        def __init__(self, style):
            pass

        def render(self, case):
            raise AssertionError(f"{case.label} is drawn again")

    monkeypatch.setattr(forecasts, "Renderer", Refusing)
    score(make_table(), tmp_path / "out")
    assert len(plots(tmp_path / "out")) == 6


def test_each_case_has_a_plot_where_the_judge_saw_none(make_table, tmp_path):
    table = make_table()
    score(table, tmp_path / "out", MockJudge(modality="text"))
    files = [tmp_path / "out" / "plots" / name for name in plots(tmp_path / "out")]
    assert [f.read_bytes() for f in files] == [render_case(c, STYLE) for c in table.cases()]


@pytest.fixture
def few_picks(monkeypatch):
    """Let the page open with the worst case and a sample of one."""
    monkeypatch.setattr(forecasts, "ReportSpool", partial(ReportSpool, worst=1, sample=1))


@pytest.fixture
def drawn(monkeypatch):
    """List the cases that the run draws itself."""
    labels = []

    class Listing(Renderer):
        def render(self, case):
            labels.append(case.label)
            return super().render(case)

    monkeypatch.setattr(forecasts, "Renderer", Listing)
    return labels


def page(folder):
    return (folder / "report.html").read_text(encoding="utf-8")


def test_a_judge_that_measures_draws_what_the_page_opens_with(
    make_table, tmp_path, few_picks, drawn
):
    score(make_table(), tmp_path / "out", load_judge("builtin"))
    shown = page(tmp_path / "out").count("data:image/png;base64,")
    assert len(drawn) == len(plots(tmp_path / "out")) == shown <= 2


def test_of_a_judge_that_looks_the_same_plots_are_kept(make_table, tmp_path, few_picks, drawn):
    table, shown = make_table(), {}

    def answer(request):
        shown[request.image] = request.case
        return scored(1 if request.case.id == "b" else 4)

    score(table, tmp_path / "out", Counting(answer))
    kept = {(tmp_path / "out" / "plots" / name).read_bytes() for name in plots(tmp_path / "out")}
    assert drawn == []
    assert "b" in {shown[image].id for image in kept}
    assert len(kept) <= 2


@pytest.mark.parametrize("judge", [Counting(), MockJudge(modality="text")])
def test_all_plots_are_kept_on_demand_and_the_page_knows_where(
    make_table, tmp_path, few_picks, judge
):
    score(make_table(), tmp_path / "out", judge, plots="all")
    assert len(plots(tmp_path / "out")) == 6
    assert "The plots of the others are in <code>plots/</code>" in page(tmp_path / "out")


@pytest.mark.parametrize("judge", [Counting(), MockJudge(modality="text")])
def test_no_plot_is_drawn_or_kept_where_none_is_wanted(make_table, tmp_path, drawn, judge):
    score(make_table(), tmp_path / "out", judge, plots="none")
    assert drawn == []
    assert contents(tmp_path / "out") == [name for name in CONTENTS if name != "plots"]
    assert "data:image" not in page(tmp_path / "out")


def test_plots_of_an_earlier_run_are_gone_where_none_is_wanted(make_table, tmp_path):
    score(make_table(), tmp_path / "out")
    score(make_table(), tmp_path / "out", plots="none")
    assert "plots" not in contents(tmp_path / "out")


def test_plots_can_be_had_later_without_asking_again(make_table, tmp_path):
    score(make_table(), tmp_path / "out", plots="none")
    judge = Counting()
    score(make_table(), tmp_path / "out", judge, plots="all")
    assert (judge.asked, len(plots(tmp_path / "out"))) == (0, 6)


@pytest.mark.parametrize("kept", ["worst", "all", "none"])
def test_which_plots_are_kept_changes_no_score(make_table, tmp_path, kept):
    score(make_table(), tmp_path / "out", plots=kept)
    score(make_table(), tmp_path / "plain")
    assert scores(tmp_path / "out") == scores(tmp_path / "plain")


def test_an_unknown_choice_of_plots_is_refused_before_anything_is_done(make_table, tmp_path):
    with pytest.raises(ValueError, match=r"unknown plots 'some'. Known: worst, all, none"):
        score(make_table(), tmp_path / "out", plots="some")
    assert not (tmp_path / "out").exists()


def test_a_plot_is_named_by_its_place_its_series_and_its_model(make_table, tmp_path):
    score(make_table(["a/b", "Süd 3"], cutoff="2024-01-31"), tmp_path / "out")
    assert plots(tmp_path / "out") == [
        "000001_a-b_2024-01-31_ets.png",
        "000002_a-b_2024-01-31_naive.png",
        "000003_S-d-3_2024-01-31_ets.png",
        "000004_S-d-3_2024-01-31_naive.png",
    ]


STRANGE = ["../../etc/passwd", "a/b", "a\\b", "a b", "😀", "x" * 300, "..", "CON", "nul\0", "-rf"]


def test_whatever_a_series_is_called_its_plot_has_a_plain_name(make_table, tmp_path):
    score(make_table(STRANGE), tmp_path / "out")
    names = plots(tmp_path / "out")
    assert len(names) == 2 * len(STRANGE)
    assert not [name for name in names if not re.fullmatch(r"\d{6}_[A-Za-z0-9_-]{3,90}\.png", name)]


def test_nothing_is_written_outside_the_folder(make_table, tmp_path):
    score(make_table(STRANGE), tmp_path / "deep" / "out")
    assert contents(tmp_path) == ["deep", "forecasts.jsonl"]
    assert contents(tmp_path / "deep") == ["out"]


def test_a_series_without_a_name_has_a_plot_too(make_table, tmp_path):
    table = make_table()
    nameless = [dataclasses.replace(case, id="") for case in table.cases()]
    table.cases = lambda models, limit: iter(nameless)
    score(table, tmp_path / "out")
    assert plots(tmp_path / "out")[0] == "000001_ets.png"


def test_series_whose_names_look_alike_keep_their_own_plots(make_table, tmp_path):
    table = make_table(["a/b", "a b", "a-b"])
    score(table, tmp_path / "out")
    files = [tmp_path / "out" / "plots" / name for name in plots(tmp_path / "out")]
    assert [f.read_bytes() for f in files] == [render_case(c, STYLE) for c in table.cases()]


def test_a_rerun_in_the_same_folder_asks_nothing(make_table, tmp_path):
    score(make_table(), tmp_path / "out")
    judge = Counting()
    run = score(make_table(), tmp_path / "out", judge)
    assert (judge.asked, run.reused) == (0, run.judgments)


def test_a_first_run_reuses_nothing(make_table, tmp_path):
    assert score(make_table(), tmp_path / "out").reused == 0


@pytest.mark.parametrize("name", ["scores.json", "judgments.parquet", "report.html"])
def test_a_rerun_leaves_the_same_bytes(make_table, tmp_path, name):
    file = tmp_path / "out" / name
    score(make_table(), tmp_path / "out")
    first = file.read_bytes()
    score(make_table(), tmp_path / "out")
    assert file.read_bytes() == first


def test_without_resume_everything_is_judged_anew(make_table, tmp_path):
    score(make_table(), tmp_path / "out")
    judge = Counting(lambda request: scored(1))
    run = score(make_table(), tmp_path / "out", judge, resume=False)
    assert (judge.asked, run.reused, run.models[0].overall.mean) == (12, 0, 1.0)


def test_what_was_judged_without_resume_is_resumed_later(make_table, tmp_path):
    score(make_table(), tmp_path / "out", resume=False)
    assert score(make_table(), tmp_path / "out").reused == 12


def test_plots_of_an_earlier_and_larger_run_are_gone(make_table, tmp_path):
    score(make_table(["a", "b", "c"]), tmp_path / "out")
    score(make_table(["c"]), tmp_path / "out")
    assert plots(tmp_path / "out") == ["000001_c_ets.png", "000002_c_naive.png"]


def test_a_folder_of_plots_that_no_run_made_is_refused_and_left_alone(make_table, tmp_path):
    mine = tmp_path / "out" / "plots" / "holiday.png"
    mine.parent.mkdir(parents=True)
    mine.write_bytes(b"mine")
    with pytest.raises(ValueError, match="plots: would be replaced but is not from an earlier run"):
        score(make_table(), tmp_path / "out")
    assert mine.read_bytes() == b"mine"


def test_other_files_in_the_folder_are_left_alone(make_table, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "notes.txt").write_text("mine")
    score(make_table(), tmp_path / "out")
    assert (tmp_path / "out" / "notes.txt").read_text() == "mine"


def test_an_output_that_is_a_file_is_refused_by_name_and_left_alone(make_table, tmp_path):
    (tmp_path / "out").write_text("mine")
    with pytest.raises(ValueError, match="out: cannot be used as the output folder"):
        score(make_table(), tmp_path / "out")
    assert (tmp_path / "out").read_text() == "mine"


def test_an_output_within_a_file_is_refused(make_table, tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(ValueError, match="cannot be used as the output folder"):
        score(make_table(), tmp_path / "file" / "out")


def test_a_folder_that_cannot_be_written_to_is_refused_by_name(make_table, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / ".plots.partial").touch()  # stands in the way, as a permission would
    with pytest.raises(ValueError, match="out: cannot be written to: "):
        score(make_table(), tmp_path / "out")


def test_a_store_that_is_none_is_refused_and_left_alone(make_table, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "judgments.sqlite").write_bytes(b"mine" * 50)
    with pytest.raises(ValueError, match=r"judgments\.sqlite: cannot be used as a store"):
        score(make_table(), tmp_path / "out")
    assert contents(tmp_path / "out") == ["judgments.sqlite"]


@pytest.mark.parametrize(("limit", "windows"), [(1, 1), (2, 2), (9, 3), (None, 3)])
def test_a_limit_takes_the_first_windows_with_all_models(make_table, tmp_path, limit, windows):
    run = score(make_table(), tmp_path / "out", limit=limit)
    assert (run.judgments, len(plots(tmp_path / "out"))) == (windows * 4, windows * 2)


def test_only_the_chosen_models_are_judged(make_table, tmp_path):
    run = score(make_table(), tmp_path / "out", models=["naive"])
    assert ([model.model for model in run.models], run.judgments) == (["naive"], 6)


def test_an_unknown_model_is_refused_with_the_known_ones(make_table, tmp_path):
    with pytest.raises(ValueError, match=r"unknown model 'naiv'; .*naive"):
        score(make_table(), tmp_path / "out", models=["naiv"])


@pytest.mark.parametrize("options", [{"limit": 0}, {"models": []}])
def test_nothing_to_judge_is_an_error(make_table, tmp_path, options):
    with pytest.raises(ValueError, match="out: there is no case to judge"):
        score(make_table(), tmp_path / "out", **options)


def test_nothing_to_judge_leaves_the_earlier_results_whole(make_table, tmp_path):
    score(make_table(), tmp_path / "out")
    before = files(tmp_path / "out")
    with pytest.raises(ValueError, match="no case to judge"):
        score(make_table(), tmp_path / "out", limit=0)
    assert files(tmp_path / "out") == before


def files(folder):
    return {
        path.relative_to(folder): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.name != "judgments.sqlite"
    }


def test_rubrics_may_differ_from_case_to_case(make_table, tmp_path):
    def rubrics_for(case):
        return RUBRICS[:1] if case.id == "a" else RUBRICS

    # Two models: one judgment each for "a", two each for "b" and "c".
    assert score(make_table(), tmp_path / "out", rubrics=rubrics_for).judgments == 2 + 4 + 4


def test_failures_are_in_the_results_and_are_asked_again(make_table, tmp_path):
    failing = Counting(lambda request: Reply(text="", status="error", reason="HTTP 500"))
    run = score(make_table(), tmp_path / "out", failing)
    assert [dict(model.failures) for model in run.models] == [{"error": 6}, {"error": 6}]
    again = Counting()
    score(make_table(), tmp_path / "out", again)
    assert again.asked == 12


def test_the_page_shows_every_case(make_table, tmp_path):
    score(make_table(["first one", "second one"]), tmp_path / "out")
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "first one" in page
    assert "second one" in page


def test_progress_sees_each_judged_case_once(make_table, tmp_path):
    seen = []

    def progress(judged):
        for entry in judged:
            seen.append((entry.case.id, entry.case.model, len(entry.judgments)))
            yield entry

    score(make_table(["a", "b"]), tmp_path / "out", progress=progress)
    assert seen == [("a", "ets", 2), ("a", "naive", 2), ("b", "ets", 2), ("b", "naive", 2)]


def breaking_after(count):
    left = iter(range(count))

    def answer(request):
        if next(left, None) is None:
            raise RuntimeError("the judge is gone")
        return scored(3)

    return Counting(answer)


def test_an_exception_in_the_middle_leaves_the_answers_and_no_part(make_table, tmp_path):
    with pytest.raises(RuntimeError, match="the judge is gone"):
        score(make_table(), tmp_path / "out", breaking_after(5))
    assert contents(tmp_path / "out") == ["judgments.sqlite"]


def test_an_exception_after_the_first_plots_leaves_no_part(make_table, tmp_path, monkeypatch):
    monkeypatch.setattr("timevista_hf.pipeline._asking.WINDOW", 2)
    monkeypatch.setattr(forecasts, "BATCH", 2)
    with pytest.raises(RuntimeError, match="the judge is gone"):
        score(make_table(), tmp_path / "out", breaking_after(5))
    assert contents(tmp_path / "out") == ["judgments.sqlite"]


def test_a_run_after_an_exception_goes_on_from_there(make_table, tmp_path):
    with pytest.raises(RuntimeError, match="the judge is gone"):
        score(make_table(), tmp_path / "out", breaking_after(5))
    assert score(make_table(), tmp_path / "out").reused == 5
    assert contents(tmp_path / "out") == CONTENTS


def test_an_exception_leaves_the_earlier_results_whole(make_table, tmp_path):
    score(make_table(["a", "b"]), tmp_path / "out")
    before = files(tmp_path / "out")
    with pytest.raises(RuntimeError, match="the judge is gone"):
        score(make_table(["a", "b", "c"]), tmp_path / "out", breaking_after(1))
    assert files(tmp_path / "out") == before


def test_an_exception_while_the_page_is_written_leaves_no_part(make_table, tmp_path, monkeypatch):
    def fail(spool, path, **_):
        raise OSError("no space left")

    monkeypatch.setattr(ReportSpool, "write", fail)
    with pytest.raises(OSError, match="no space left"):
        score(make_table(), tmp_path / "out")
    assert not [name for name in contents(tmp_path / "out") if name.startswith(".")]


SCRIPT = """
import sys

from timevista_hf import Style, load_judge, read_forecasts, score_forecasts, select_rubrics

table = read_forecasts(sys.argv[1])
style = Style(width=600, height=400)
judge = load_judge("builtin")
score_forecasts(table, select_rubrics("micro"), judge, sys.argv[2], style=style, plots="all")
"""


def write_walks(path, series=70, history=24, horizon=12):
    """Random walks, as truth, with a noisy forecast and a flat one."""
    rng = np.random.default_rng(0)
    lines = ["unique_id,ds,y,noisy,flat"]
    for number in range(series):
        walk = rng.normal(size=history + horizon).cumsum()
        noisy = walk + rng.normal(size=walk.size)
        for step, (value, forecast) in enumerate(zip(walk, noisy, strict=True)):
            told = f"{forecast:.4f},{walk[history - 1]:.4f}" if step >= history else ","
            lines.append(f"s{number},{step + 1},{value:.4f},{told}")
    path.write_text("\n".join(lines) + "\n")


def kill_once_plots_are_drawn(command, folder, count):
    process = subprocess.Popen(command)
    deadline = time.monotonic() + 60
    while len(list(folder.glob(".plots.partial/*.png"))) < count:
        assert process.poll() is None, "the run ended before it could be killed"
        assert time.monotonic() < deadline, "the run does not come forward"
        time.sleep(0.005)
    process.kill()
    process.wait()


def test_a_run_that_is_killed_and_run_again_gives_what_an_uninterrupted_one_gives(tmp_path):
    forecasts, folder = tmp_path / "walks.csv", tmp_path / "killed"
    write_walks(forecasts)
    kill_once_plots_are_drawn([sys.executable, "-c", SCRIPT, forecasts, folder], folder, 10)
    with Store(folder / "judgments.sqlite") as store:
        kept = len(store)
    assert 0 < kept < 700
    assert "scores.json" not in contents(folder)

    table, rubrics, judge = (
        read_forecasts(forecasts),
        select_rubrics("micro"),
        load_judge("builtin"),
    )
    resumed = score(table, folder, judge, rubrics, plots="all")
    score(table, tmp_path / "whole", judge, rubrics, plots="all")
    assert (resumed.reused, resumed.judgments) == (kept, 700)
    assert files(folder) == files(tmp_path / "whole")
    assert contents(folder) == CONTENTS
