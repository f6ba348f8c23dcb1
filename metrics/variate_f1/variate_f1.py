"""Precision, recall and F1 of sets of ids, such as the anomalous variates of a series."""

import math

import datasets
import evaluate

from timevista_hf.loading.module_inputs import evaluate_words, merge_options, split_options
from timevista_hf.metrics import set_precision_recall_f1

_INPUTS = """
Args:
    predictions: list of answers, each a list of ids from 0 to n_labels - 1; an empty list predicts
        nothing, None is an answer that could not be read and counts as one that predicts nothing.
    references: list of truths, each a list of ids.
    n_labels: how many ids there are.
    invalid: "raise" (default) or "drop" predicted ids that can be none.
Returns:
    precision, recall, f1: means over the rows where they are defined, in [0, 1]; 1 is perfect.
    micro_precision, micro_recall, micro_f1: of the ids of all rows taken together.
    rows, unparsable, coverage, rejected: rows, None among them, the rest in parts, ids dropped.
"""


class VariateF1(evaluate.Metric):
    """Compare sets of predicted and true ids."""

    def __init__(self, config_name=None, **options):
        defaults = {"n_labels": None, "invalid": "raise"}
        self.options, options = split_options(defaults, options, config_name)
        super().__init__(config_name, **options)

    def _info(self):
        ids = datasets.List(datasets.Value("float64"))  # int64 would cast 2.7 without a word
        return evaluate.MetricInfo(
            description=__doc__,
            citation="",
            inputs_description=_INPUTS,
            features=datasets.Features({"predictions": ids, "references": ids}),
        )

    def _compute(self, predictions, references, **options):
        options = merge_options(self.options, options)
        with evaluate_words():
            scores = set_precision_recall_f1(_ids(references), _ids(predictions), **options)
        rows, unparsable = len(predictions), predictions.count(None)
        return {
            "precision": scores.mean_precision,
            "recall": scores.mean_recall,
            "f1": scores.mean_f1,
            "micro_precision": scores.micro_precision,
            "micro_recall": scores.micro_recall,
            "micro_f1": scores.micro_f1,
            "rows": rows,
            "unparsable": unparsable,
            "coverage": (rows - unparsable) / rows if rows else math.nan,
            "rejected": int(scores.rejected.sum()),
        }


def _ids(rows):
    return [[_whole(value) for value in row or ()] for row in rows]


def _whole(value):
    return int(value) if value is not None and value.is_integer() else value
