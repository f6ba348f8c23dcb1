"""How far annotators agree: Krippendorff's alpha, rank correlations, kappa and Gwet's AC2."""

import math
from itertools import combinations

import datasets
import evaluate
import numpy as np

from timevista_hf.loading.module_inputs import evaluate_words, merge_options, split_options
from timevista_hf.metrics import (
    gwet_ac2,
    krippendorff_alpha,
    pairwise_agreement,
    weighted_kappa,
)

_INPUTS = """
Args:
    predictions: list of cases, each a list with one rating an annotator, in the same order; None
        or nan is a missing rating. There are no references: nobody is right by definition.
    levels: the rating scale, ascending, for kappa and ac2. Default [1, 2, 3, 4, 5].
    weights: of kappa and ac2: "quadratic" (default), "linear" or "none".
Returns:
    alpha_nominal, alpha_ordinal, alpha_interval: Krippendorff's alpha at each level.
    spearman, kendall, kappa: means over the pairs of annotators; ac2: Gwet's.
    All are at most 1, which is perfect; 0 is chance. nan where undefined.
    rows, annotators, missing: cases, annotators, and ratings that are not there.
"""


class AnnotatorAgreement(evaluate.Metric):
    """Measure the agreement among annotators of the same cases."""

    def __init__(self, config_name=None, **options):
        defaults = {"levels": (1, 2, 3, 4, 5), "weights": "quadratic"}
        self.options, options = split_options(defaults, options, config_name)
        super().__init__(config_name, **options)

    def _info(self):
        ratings = datasets.List(datasets.Value("float64"))
        return evaluate.MetricInfo(
            description=__doc__,
            citation="",
            inputs_description=_INPUTS,
            features=datasets.Features({"predictions": ratings}),
        )

    def _compute(self, predictions, **options):
        options = merge_options(self.options, options)
        ratings = _by_annotator(predictions)
        with evaluate_words():
            kappas = [weighted_kappa(*pair, **options) for pair in combinations(ratings, 2)]
            return {
                **_correlations(ratings),
                "kappa": _mean([kappa for kappa in kappas if not math.isnan(kappa)]),
                "ac2": gwet_ac2(ratings, **options),
                "rows": ratings.shape[1],
                "annotators": ratings.shape[0],
                "missing": int(np.isnan(ratings).sum()),
            }


def _by_annotator(rows):
    size = len(rows[0] or ()) if rows else 0
    for row, ratings in enumerate(rows):
        if ratings is None or len(ratings) != size:
            found = "none" if ratings is None else len(ratings)
            raise ValueError(f"row {row}: must hold {size} ratings, as row 0 does, got {found}")
    return np.array(rows, dtype=np.float64).reshape(len(rows), size).T  # [annotators, cases]


def _correlations(ratings):
    levels = ("nominal", "ordinal", "interval")
    statistics = ("spearman", "kendall")
    alphas = {f"alpha_{name}": krippendorff_alpha(ratings, level=name) for name in levels}
    return alphas | {name: pairwise_agreement(ratings, statistic=name) for name in statistics}


def _mean(values):
    return math.fsum(values) / len(values) if values else math.nan
