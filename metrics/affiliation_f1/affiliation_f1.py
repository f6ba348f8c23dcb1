"""How near predicted events lie to the true ones: affiliation precision, recall and F1."""

import datasets
import evaluate

from timevista_hf.loading.module_inputs import evaluate_words, merge_options, split_options
from timevista_hf.metrics import summarize_affiliation

_INPUTS = """
Args:
    predictions: list of answers, each a list of events [start, stop), in the unit of the ranges;
        an empty list predicts nothing, None is an answer that could not be read.
    references: list of truths, each a list of events.
    ranges: the time that was searched, [start, stop], once for all rows or one a row.
    convention: "honest" (default) counts None as predicting nothing; "paper" leaves it out, and
        rounds each row, as the authors of VisualTimeAnomaly do.
    empty_truth: "raise" (default) or "skip" rows without a true event.
    merge: join events that overlap or touch, and clip them to the range. Default False.
Returns:
    precision, recall, f1: means over rows, in [0, 1]; 1 is perfect.
    asked, judged, coverage, empty_predictions, unparsable, skipped: what they rest on.
"""

_OPTIONS = {"ranges": None, "convention": "honest", "empty_truth": "raise", "merge": False}


class AffiliationF1(evaluate.Metric):
    """Score events by their distance in time, with chance at a precision of about a half."""

    def __init__(self, config_name=None, **options):
        self.options, options = split_options(_OPTIONS, options, config_name)
        super().__init__(config_name, **options)

    def _info(self):
        events = datasets.List(datasets.List(datasets.Value("float64")))
        return evaluate.MetricInfo(
            description=__doc__,
            citation=_CITATION,
            inputs_description=_INPUTS,
            features=datasets.Features({"predictions": events, "references": events}),
        )

    def _compute(self, predictions, references, **options):
        options = merge_options(self.options, options)
        if options["ranges"] is None:
            raise ValueError("`ranges` must be given: the time that was searched, [start, stop]")
        with evaluate_words():
            return summarize_affiliation(references, predictions, **options)


_CITATION = """\
@inproceedings{huet2022affiliation,
  title = {Local Evaluation of Time Series Anomaly Detection Algorithms},
  author = {Huet, Alexis and Navarro, Jose Manuel and Rossi, Dario},
  booktitle = {KDD},
  year = {2022},
  doi = {10.1145/3534678.3539339}
}"""
