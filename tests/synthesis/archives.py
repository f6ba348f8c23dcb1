"""Files as those of the archives, filled with other series."""

import numpy as np

SIZES = {"Symbols": (398, 1), "ArticularyWordRecognition": (144, 9)}


def draw_cases(title, count, seed=0):
    """Draw smooth cases [N, T, C] with few digits."""
    rng = np.random.default_rng(seed)
    walks = np.cumsum(rng.standard_normal((count, *SIZES[title])), axis=1)
    return walks.round(4)


def write_arff(title, cases):
    lines = [f"@relation '{title}'", "", "@attribute att0 numeric", "@data"]
    for case in cases:
        rows = [",".join(map(str, row)) for row in case.T.tolist()]
        lines.append(f"{rows[0]},1" if len(rows) == 1 else "'" + r"\n".join(rows) + "',1.0")
    return "\n".join(lines) + "\n"


def write_ts(title, cases):
    rows = [":".join(",".join(map(str, row)) for row in case.T.tolist()) for case in cases]
    head = f"# from the archive\n@problemName {title}\n@classLabel true 1 2\n@data\n"
    return head + "".join(f"{row}:1\n" for row in rows)


def write_tsv(title, cases):
    return "".join("6\t" + "\t".join(map(str, case[:, 0].tolist())) + "\n" for case in cases)


def write_csv(title, cases):
    names = ",".join(f"dim{at}" for at in range(cases.shape[2]))
    return names + "\n" + "".join(",".join(map(str, row)) + "\n" for row in cases[0].tolist())
