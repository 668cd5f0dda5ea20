"""How planted readers are named by `situs probe` on a bench with masks and images.

    python benchmarks/planted_readers.py BENCH WORK         all readers of tests/probe; one line each
    python benchmarks/planted_readers.py BENCH WORK 2/6     every sixth, from the second on
    python benchmarks/planted_readers.py BENCH WORK NAME …  those whose names hold one of the words

A reader is right if its kind and every finding it must have are named and none that is not true;
silent if something is missing or cannot be told; WRONG otherwise. WORK keeps the changed benches,
which take some minutes to make.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "probe"))

from benched import BenchCohort
from latest_readers import LATEST
from lone_readers import LONE
from mixed_readers import MIXED
from novel_readers import NOVEL
from odd_hours_readers import ODD_HOURS
from readers import MORE, READERS, Case
from stray_readers import STRAY
from sundry_readers import SUNDRY
from unfamiliar_readers import UNFAMILIAR
from unheard_readers import UNHEARD

from situs.probe import Diagnosis

OF_KINDS = {"looks_at_the_image", "text_only", "memorised", "guesses", "reacts_without_gain"}


def verdict_on(case: Case, diagnosis: Diagnosis) -> str:
    """How a reader was named."""
    made = {name for name, one in diagnosis.findings.items() if one.verdict == "yes"} - OF_KINDS
    named = diagnosis.kind in case.kind.split(" or ")
    if made - case.findings - case.may or not (named or diagnosis.kind in ("unclear", "too few")):
        return "WRONG"
    return "right" if named and case.findings <= made else "silent"


def selected(words: list[str]) -> list[tuple[str, Case]]:
    """All readers, every n-th of them, or those whose names hold one of the words."""
    lists = (
        MIXED, NOVEL, UNFAMILIAR, UNHEARD, READERS, MORE, LATEST, SUNDRY, STRAY, LONE, ODD_HOURS
    )  # fmt: skip
    cases = [case for one in lists for case in one.items()]
    if len(words) == 1 and "/" in words[0]:
        first, step = map(int, words[0].split("/"))
        return cases[first - 1 :: step]
    return [
        (name, case) for name, case in cases if not words or any(word in name for word in words)
    ]


def main() -> None:
    """Print a line for each reader, and the counts."""
    cohort = BenchCohort(Path(sys.argv[1]), Path(sys.argv[2]))
    counts: Counter[str] = Counter()
    for name, case in selected(sys.argv[3:]):
        reader = case.make(cohort)  # type: ignore[arg-type]
        diagnosis = cohort.probed(reader).diagnosis
        verdict = verdict_on(case, diagnosis)
        counts[verdict] += 1
        print(f"{verdict:7}{name}: {diagnosis.summary}", flush=True)
    print(dict(counts))


if __name__ == "__main__":
    main()
