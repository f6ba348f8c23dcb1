"""Change the code in one place, run its tests, and list the changes that no test sees.

    python benchmarks/mutants.py timevista_hf/io/_axis.py --tests tests/io --sample 20

A change is another comparison, a constant one higher, the other sign, `and` for `or`. It is made in
a copy of the project; the working tree stays as it is. A change that no test sees is either a test
that is missing or a line that is not needed. Ends with status 1 where there is one.
"""

import argparse
import ast
import copy
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
LONGEST = 600  # seconds for the tests of one change; a loop without an end counts as seen

_OTHER = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.And: ast.Or,
    ast.Or: ast.And,
}


def changes(tree: ast.Module) -> Iterator[tuple[ast.Module, int, str]]:
    """Give a tree for every single change, with its line and what it is."""
    for place, node in enumerate(ast.walk(tree)):
        changed = copy.deepcopy(tree)
        twin = next(one for at, one in enumerate(ast.walk(changed)) if at == place)
        if isinstance(node, ast.Compare) and type(node.ops[0]) in _OTHER:
            twin.ops[0] = _OTHER[type(node.ops[0])]()
        elif isinstance(node, (ast.BinOp, ast.BoolOp, ast.AugAssign)) and type(node.op) in _OTHER:
            twin.op = _OTHER[type(node.op)]()
        elif isinstance(node, ast.Constant) and type(node.value) in (int, float):
            twin.value = node.value + 1
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            twin.op = ast.UAdd()
        else:
            continue
        yield changed, node.lineno, f"{ast.unparse(node)}  ->  {ast.unparse(twin)}"


def seen(copied: Path, tests: list[str]) -> bool:
    """Tell whether the tests fail in that copy."""
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *tests]
    environment = {**os.environ, "PYTHONPATH": str(copied), "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(
            command, cwd=copied, env=environment, capture_output=True, timeout=LONGEST, check=False
        )
    except subprocess.TimeoutExpired:
        return True
    if done.returncode not in (0, 1, 2):  # 1 and 2: failed, or not even collected
        sys.exit(f"pytest ended with status {done.returncode}:\n{done.stdout.decode()[-2000:]}")
    return done.returncode != 0


def main() -> None:
    """Try the changes of each module and print those that no test sees."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("modules", nargs="+", help="files of the package, from the project's root")
    parser.add_argument("--tests", nargs="+", required=True, help="files or folders of tests")
    parser.add_argument("--sample", type=int, help="so many changes a module, drawn at random")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    missed = total = 0
    with tempfile.TemporaryDirectory() as home:
        copied = Path(home) / "project"
        shutil.copytree(ROOT, copied, ignore=shutil.ignore_patterns(".*", "__pycache__"))
        if (ROOT.parent / "shared").exists():  # real series, where the tests have some
            (Path(home) / "shared").symlink_to(ROOT.parent / "shared")
        if seen(copied, given.tests):
            sys.exit("the tests fail without any change")
        for module in given.modules:
            path = copied / module
            text = path.read_text(encoding="utf-8")
            found = list(changes(ast.parse(text)))
            if given.sample and given.sample < len(found):
                found = random.Random(given.seed).sample(found, given.sample)
            for changed, line, words in sorted(found, key=lambda one: one[1]):
                path.write_text(ast.unparse(changed), encoding="utf-8")
                total += 1
                if not seen(copied, given.tests):
                    missed += 1
                    print(f"{module}:{line}: {words}", flush=True)
            path.write_text(text, encoding="utf-8")
    print(f"{total - missed} of {total} changes seen")
    sys.exit(bool(missed))


if __name__ == "__main__":
    main()
