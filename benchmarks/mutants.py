"""Which changes to a formula does no test notice?

Draws seeded changes to the formulas of `measure`, `score` and `facts` (an operator, a comparison, a sign, a constant),
one at a time in a copy of the source, runs the tests most likely to notice, and prints the changes that lived:

    python benchmarks/mutants.py --count 300 --seed 1 --jobs 2
"""

from __future__ import annotations

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
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
STAGES = {
    "measure": (
        ["tests/measure"],
        ["tests/facts", "tests/laws/test_phantom.py", "tests/laws/test_pose.py"],
    ),
    "facts": (["tests/facts"], ["tests/items", "tests/laws", "tests/build/test_gate.py"]),
    "score": (
        ["tests/score/test_golden.py"],
        ["tests/score", "tests/cli/test_score.py", "tests/cli/test_one_number.py"],
    ),
}
"""For each package the tests that notice most, and those that are tried if they notice nothing."""
OPERATORS = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.Pow: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
}
LONGEST_S = 1200.0


@dataclass(frozen=True)
class Mutant:
    """One change to one file."""

    path: Path
    place: int
    """Which of the file's nodes that can be changed."""
    line: int
    before: str
    after: str

    @property
    def package(self) -> str:
        """`measure`, `score` or `facts`."""
        return self.path.relative_to(ROOT / "src" / "situs").parts[0]


def changeable(tree: ast.Module) -> Iterator[ast.AST]:
    """The nodes of formulas inside functions: arithmetic, comparisons of order, signs, numbers that are not 0 or 1."""
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef):
            continue
        for node in ast.walk(function):
            arithmetic = isinstance(node, ast.BinOp) and type(node.op) in OPERATORS
            order = isinstance(node, ast.Compare) and type(node.ops[0]) in OPERATORS
            sign = isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub)
            number = (
                isinstance(node, ast.Constant)
                and type(node.value) is float
                and node.value not in (0.0, 1.0)
            )
            if arithmetic or order or sign or number:
                yield node


def change(node: ast.AST) -> None:
    """Change a node in place."""
    match node:
        case ast.BinOp():
            node.op = OPERATORS[type(node.op)]()
        case ast.Compare():
            node.ops[0] = OPERATORS[type(node.ops[0])]()
        case ast.UnaryOp():
            node.op = ast.UAdd()
        case ast.Constant(value=float(value)):
            node.value = value * 1.5


def candidates() -> list[Mutant]:
    """Every change that can be drawn."""
    found = []
    for package in STAGES:
        for path in sorted((ROOT / "src" / "situs" / package).rglob("*.py")):
            for place, node in enumerate(changeable(ast.parse(path.read_text("utf-8")))):
                changed = copy.deepcopy(node)
                change(changed)
                before, after = ast.unparse(node), ast.unparse(changed)
                found.append(Mutant(path, place, getattr(node, "lineno", 0), before, after))
    return found


def outcome(mutant: Mutant) -> str:
    """`killed` by a test, or `LIVED`; one that never ends is noticed as well."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "src"
        shutil.copytree(ROOT / "src", source, ignore=shutil.ignore_patterns("__pycache__"))
        copied = source / mutant.path.relative_to(ROOT / "src")
        tree = ast.parse(copied.read_text("utf-8"))
        change(list(changeable(tree))[mutant.place])
        copied.write_text(ast.unparse(tree), encoding="utf-8")
        for number, tests in enumerate(STAGES[mutant.package]):
            command = [
                sys.executable,
                "-m",
                "pytest",
                "-x",
                "-q",
                "-n0",
                "-p",
                "no:cacheprovider",
                *tests,
            ]
            command += ["--sample-seed=1", f"--basetemp={folder}/t{number}"]
            environment = os.environ | {
                "PYTHONPATH": str(source),
                "NUMBA_CACHE_DIR": f"{folder}/numba",
            }
            try:
                done = subprocess.run(
                    command,
                    cwd=ROOT,
                    env=environment,
                    capture_output=True,
                    timeout=LONGEST_S,
                    check=False,
                )
            except subprocess.TimeoutExpired:
                return "killed"
            if done.returncode == 1:
                return "killed"
            if done.returncode != 0:
                return "killed" if b"rror" in done.stdout + done.stderr else "not run"
    return "LIVED"


def main() -> None:
    """Draw, run, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--package", choices=STAGES, default=None, help="only of this package")
    given = parser.parse_args()
    known = [mutant for mutant in candidates() if given.package in (None, mutant.package)]
    drawn = random.Random(given.seed).sample(known, min(given.count, len(known)))
    print(f"{len(drawn)} of {len(known):,} changes, seed {given.seed}", flush=True)
    killed = 0
    with ThreadPoolExecutor(given.jobs) as pool:
        for number, (mutant, end) in enumerate(zip(drawn, pool.map(outcome, drawn)), start=1):
            killed += end == "killed"
            where = f"{mutant.path.relative_to(ROOT)}:{mutant.line}"
            print(f"{number:4} {end:7} {where}  {mutant.before}  →  {mutant.after}", flush=True)
    print(f"killed {killed} of {len(drawn)} ({killed / max(1, len(drawn)):.1%})")


if __name__ == "__main__":
    main()
