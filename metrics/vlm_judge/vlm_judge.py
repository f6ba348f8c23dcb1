"""Scores from 1 to 5, with reasons, that a judge gives to the shape of forecasts."""

import math

import datasets
import evaluate

import timevista_hf as tv
from timevista_hf.loading.module_inputs import (
    evaluate_words,
    merge_options,
    one_a_row,
    split_options,
)
from timevista_hf.results.forecasts import Scoreboard, ScoreSummary

_INPUTS = """
Args:
    predictions: list of forecasts, each a list of numbers; None or nan is a missing step.
    references: list of truths, each as long as its forecast.
    history: list of what came before, one a row; the judge sees it.
    level: "micro" (trend, motif, phase, magnitude, general) or "macro" (the whole alone); also the
        configuration, as in evaluate.load("vlm_judge", "macro").
    judge: name of a judge, or a judge. Default "builtin": it measures, offline and free.
    dimensions: only these. Default: all of the level.
    dataset: adds, at the macro level, the rubric with knowledge of that dataset.
    season_length: steps in a season, where known.
Returns:
    overall and one mean for each dimension, from 1 (worst) to 5 (best);
    interval: of overall, 95 %, cases resampled; coverage: judged over asked; failures: by status;
    case_scores, rationales: one dict a row; judge, rubrics, version: what made them.
"""

_OPTIONS = {
    "level": None,
    "judge": "builtin",
    "dimensions": (),
    "dataset": None,
    "season_length": None,
}


class VlmJudge(evaluate.Metric):
    """Judge forecasts by rubrics, on their plots or on what the judge measures."""

    def __init__(self, config_name=None, **options):
        own, options = split_options(_OPTIONS, options, config_name, ("micro", "macro"))
        self.options = {**own, "level": own["level"] or config_name or "micro"}
        super().__init__(config_name, **options)

    def _info(self):
        series = datasets.List(datasets.Value("float64"))
        return evaluate.MetricInfo(
            description=__doc__,
            citation="",
            inputs_description=_INPUTS,
            features=datasets.Features({"predictions": series, "references": series}),
        )

    def _compute(self, predictions, references, history=None, **options):
        options = merge_options(self.options, options)
        pasts = one_a_row("history", history, len(references))
        cases = [
            _case(row, *arrays, options["season_length"])
            for row, arrays in enumerate(zip(pasts, references, predictions, strict=True))
        ]
        rubrics = tv.select_rubrics(
            options["level"], dimensions=options["dimensions"], dataset=options["dataset"]
        )
        judge = options["judge"]
        judge = tv.load_judge(judge) if isinstance(judge, str) else judge
        judged = [entry.judgments for entry in tv.judge_cases(cases, rubrics, judge)]
        return _summary(judged, rubrics, judge)


def _case(row, history, truth, prediction, season_length):
    with evaluate_words(row):
        return tv.ForecastCase(
            id=str(row),
            history=history,
            truth=truth,
            prediction=prediction,
            season_length=season_length,
        )


def _summary(judged, rubrics, judge):
    board = Scoreboard()
    for judgment in (judgment for row in judged for judgment in row):
        board.add(judgment)
    [model] = board.summarize() or [None]
    overall = model.overall if model else _NOTHING
    means = {rubric.dimension: math.nan for rubric in rubrics}
    if model:
        means |= {dimension: score.mean for dimension, score in model.dimensions.items()}
    return {
        "overall": overall.mean,
        **means,
        "interval": [overall.low, overall.high],
        "coverage": overall.coverage,
        "failures": dict(model.failures) if model else {},
        "case_scores": [{j.dimension: j.score for j in row} for row in judged],
        "rationales": [{j.dimension: j.rationale or j.reason for j in row} for row in judged],
        "judge": judge.name,
        "rubrics": [rubric.identity for rubric in rubrics],
        "version": tv.__version__,
    }


_NOTHING = ScoreSummary(math.nan, math.nan, math.nan, judged=0, asked=0)
