"""How well a judge ranks cases as people do: Spearman's rho and Kendall's tau, with intervals."""

import datasets
import evaluate

from timevista_hf.loading.module_inputs import evaluate_words, merge_options, split_options
from timevista_hf.metrics import bootstrap_interval

_INPUTS = """
Args:
    predictions: the judge's scores, one a case; None or nan where it gave none.
    references: the scores of people for the same cases.
    confidence: of the intervals, between 0 and 1. Default 0.95.
    resamples: draws of the bootstrap. Default 9999.
    seed: of the bootstrap. Default 0.
Returns:
    spearman, kendall: in [-1, 1]; 1 ranks the cases as people do. nan where undefined.
    spearman_interval, kendall_interval: [low, high], cases resampled.
    n: cases with both scores; coverage: the part that they are of all.
"""

_OPTIONS = {"confidence": 0.95, "resamples": 9999, "seed": 0}


class JudgeCorrelation(evaluate.Metric):
    """Correlate the ranks of a judge's scores with those of people."""

    def __init__(self, config_name=None, **options):
        self.options, options = split_options(_OPTIONS, options, config_name)
        super().__init__(config_name, **options)

    def _info(self):
        score = datasets.Value("float64")
        return evaluate.MetricInfo(
            description=__doc__,
            citation="",
            inputs_description=_INPUTS,
            features=datasets.Features({"predictions": score, "references": score}),
        )

    def _compute(self, predictions, references, **options):
        options = merge_options(self.options, options)
        found = {}
        for statistic in ("spearman", "kendall"):
            with evaluate_words():
                interval = bootstrap_interval(
                    references, predictions, statistic=statistic, **options
                )
            found[statistic] = interval.estimate
            found[f"{statistic}_interval"] = [interval.low, interval.high]
        rows = len(references)
        return {**found, "n": interval.n, "coverage": interval.n / rows if rows else float("nan")}
