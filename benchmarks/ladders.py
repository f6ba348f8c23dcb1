"""How well the built-in judge, errors and chance order the ladders of `meta_timevista`.

Run `python benchmarks/ladders.py`; it prints the table of the dataset's card.
"""

from timevista_hf.building import rated_parts, rated_rows
from timevista_hf.judges import load_judge
from timevista_hf.meta_evaluation import align_judge, format_alignments


def main() -> None:
    """Print the table."""
    parts = [part for part in rated_parts() if part.startswith("ladders/")]
    rows = (row for part in parts for row in rated_rows(part))
    print(format_alignments(align_judge(rows, load_judge("builtin"))))


if __name__ == "__main__":
    main()
