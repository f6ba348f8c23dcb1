"""Small cases with judgments, and the page that is written of them."""

import io

from PIL import Image

from timevista_hf.cases import ForecastCase
from timevista_hf.reports.cases import CaseReport
from timevista_hf.reports.forecasts import write_report
from timevista_hf.results.forecasts import Scoreboard
from timevista_hf.rubrics import Judgment

RUN = {"judge": "builtin", "input": "forecasts.csv"}


def png(width=12, height=5) -> bytes:
    stream = io.BytesIO()
    Image.new("RGB", (width, height), "white").save(stream, "PNG")
    return stream.getvalue()


def judgment(case, dimension="trend", score=3, status="ok", **fields):
    given = {
        "case_id": case.id,
        "cutoff": case.cutoff,
        "model": case.model,
        "dataset": None,
        "level": "micro",
        "dimension": dimension,
        "rubric": f"{dimension}@1",
        "judge": "builtin",
        "status": status,
        "score": score if status == "ok" else None,
        "expected_score": None,
        "rationale": f"Why {score}.",
    }
    return Judgment(**{**given, **fields})


def report(series="a", model="naive", *, score=3, errors=None, cutoff=None, **fields):
    case = ForecastCase(
        id=series, model=model, cutoff=cutoff, history=[1, 2], truth=[3, 4], prediction=[3, 5]
    )
    measured = {"mae": 0.5, "mase": 0.25, "dtw": 1.0} if errors is None else errors
    return CaseReport(case, png(), [judgment(case, score=score, **fields)], measured)


def write(folder, reports, *, run=RUN, **options) -> str:
    reports = list(reports)
    board = Scoreboard()
    for entry in reports:
        for given in entry.judgments:
            board.add(given)
        board.add_errors(entry.case.model, entry.errors)
    path = folder / "report.html"
    write_report(path, run=run, models=board.summarize(), cases=reports, **options)
    return path.read_text(encoding="utf-8")
