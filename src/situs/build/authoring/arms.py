"""Are authored questions better than templates?

Four arms on the same studies, and what can be said of each.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

import msgspec
import numpy as np

from situs.base.files import read_csv
from situs.bench import Bench, open_bench
from situs.bench.readings import read_readings
from situs.build.debiasing import blind_row
from situs.errors import SitusError
from situs.items.programs import program_of
from situs.score import KeyErrors, clopper_pearson, key_errors

__all__ = ["ARM_NAMES", "UNFINISHED", "Arm", "ArmsCompared", "compare_arms"]

ARM_NAMES = ("T", "P", "W", "PW")
UNFINISHED = ".unfinished"
"""Stands beside the arms until all of them are made."""
_DRAWS = 4000
_ERROR = 0.05
_FEWEST = 10
"""Patients with ratings in both arms, below which nothing is said."""
_MARGIN = 0.05
"""Key errors beyond those of T that an arm must be shown not to have."""


class Arm(msgspec.Struct, frozen=True):
    """One arm."""

    items: int
    programs: int
    kinds: int
    """Operators that are asked: coverage of the language."""
    blind: str
    """The best baseline without the scan, on the headline; empty if there is none."""
    blind_accuracy: float | None
    chance: float | None
    leaks: bool
    rated: int
    rating: float | None
    """Mean of readers' 0, 1, 2 ("would you ask this?"), over patients."""
    p_holm: float | None
    """That it is rated above T by luck, after Holm's correction."""
    p_below_holm: float | None
    """That it is rated below T by luck, likewise."""
    keys_wrong: int
    """Keys that readers found wrong (`situs audit import`), and of how many."""
    keys_read: int
    keys_hold: bool | None
    """Whether key errors are shown to be at most 5 points above T's;
    None if the keys of one were not read."""
    verdict: str
    """`reference`, `better`, `no difference`, `disqualified: leaks` or `not shown`."""


class ArmsCompared(msgspec.Struct, frozen=True):
    """All arms, and a sentence."""

    arms: dict[str, Arm]
    statement: str


def compare_arms(folder: Path, ratings: Path | None = None) -> ArmsCompared:
    """Compare the benches T, P, W and PW of a folder;
    `ratings` is a CSV with the columns item, rating (0, 1, 2) and, where arms word an item
    differently, arm."""
    if (folder / UNFINISHED).exists():
        fix = "repeat the command that made it: it resumes"
        raise SitusError("is not finished: situs author --arms was stopped", where=folder, fix=fix)
    benches = {name: open_bench(folder / name) for name in ARM_NAMES if (folder / name).is_dir()}
    if "T" not in benches or len(benches) < 2:
        fix = "give the --out folder of situs author --arms"
        raise SitusError("has no arm T next to other arms", where=folder, fix=fix)
    rated = read_ratings(ratings) if ratings is not None else {}
    if ratings is not None:
        _check_rated(benches, rated, ratings)
    by_patient = {name: _by_patient(name, bench, rated) for name, bench in benches.items()}
    paired = [
        name
        for name in benches
        if name != "T" and len(by_patient[name].keys() & by_patient["T"].keys()) >= _FEWEST
    ]
    above = _holm({name: _p_above(by_patient[name], by_patient["T"]) for name in paired})
    below = _holm({name: _p_above(by_patient["T"], by_patient[name]) for name in paired})
    keys = {name: key_errors(read_readings(bench.folder)) for name, bench in benches.items()}
    arms = {
        name: _arm(
            bench,
            by_patient[name],
            name,
            (above.get(name), below.get(name)),
            (keys[name], keys["T"]),
        )
        for name, bench in benches.items()
    }
    return ArmsCompared(arms, _statement(arms))


Rated = dict[tuple[str, str], list[float]]
"""Arm and item → readers' ratings; of no arm where a row names none."""


def read_ratings(path: Path) -> Rated:
    """Readers' ratings by arm and item."""
    ratings: Rated = defaultdict(list)
    for number, row in read_csv(path)[1]:
        rating, arm = ((row.get(name) or "").strip() for name in ("rating", "arm"))
        if rating not in ("0", "1", "2") or not row.get("item"):
            problem = f"line {number} has no item with a rating of 0, 1 or 2"
            raise SitusError(problem, where=path, fix="columns: item, rating, arm")
        ratings[arm, row["item"]].append(float(rating))
    return dict(ratings)


def _check_rated(benches: Mapping[str, Bench], rated: Rated, path: Path) -> None:
    """Refuse a rating that is of no question of the arms, or of several.

    An item has the same id in every arm, however it is worded: what a reader rated is the wording.
    """
    wordings: dict[str, set[str]] = defaultdict(set)
    known: set[tuple[str, str]] = set()
    for name, bench in benches.items():
        for item in bench.items(steps=False):
            known |= {(name, item.item_id), ("", item.item_id)}
            wordings[item.item_id].add(item.question)
    for arm, item_id in rated:
        if (arm, item_id) not in known:
            problem = f"rates {item_id}, which {f'{arm} does not ask' if arm else 'no arm asks'}"
            fix = f"give item ids of {', '.join(benches)}, and in the column arm one of these"
            raise SitusError(problem, where=path, fix=fix)
        if not arm and len(wordings[item_id]) > 1:
            problem = f"rates {item_id}, which the arms word differently, and names no arm"
            raise SitusError(problem, where=path, fix=f"add the column arm: {', '.join(benches)}")


def _by_patient(name: str, bench: Bench, rated: Rated) -> dict[str, float]:
    """Patient → mean rating of the arm's items: the patient is the unit."""
    patient_ratings: dict[str, list[float]] = defaultdict(list)
    for item in bench.items(steps=False):
        for arm in (name, ""):
            patient_ratings[item.patient_id] += rated.get((arm, item.item_id), [])
    return {patient: sum(r) / len(r) for patient, r in patient_ratings.items() if r}


def _p_above(one: Mapping[str, float], reference: Mapping[str, float]) -> float:
    """One-sided: patients' differences keep their signs
    by luck, of those whom both arms have."""
    both = sorted(one.keys() & reference.keys())
    differences = np.array([one[patient] - reference[patient] for patient in both])
    signs = np.random.default_rng(0).choice([-1.0, 1.0], size=(_DRAWS, len(both)))
    by_luck = (signs * differences).mean(axis=1)
    return float((1 + (by_luck >= differences.mean() - 1e-12).sum()) / (1 + _DRAWS))


def _holm(tests: Mapping[str, float]) -> dict[str, float]:
    largest, corrected = 0.0, {}
    for rank, (name, p) in enumerate(sorted(tests.items(), key=lambda pair: (pair[1], pair[0]))):
        largest = max(largest, min(1.0, p * (len(tests) - rank)))
        corrected[name] = largest
    return corrected


def keys_hold(one: KeyErrors | None, reference: KeyErrors | None) -> bool | None:
    """Whether an arm's key errors are shown to be within the margin of T's; None if there is
    nothing to tell by.

    The upper limit of the difference is Newcombe's (1998, method 10), from exact one-sided 95 %
    limits of both rates.
    """
    if one is None or reference is None or not (one.decided and reference.decided):
        return None
    rate, other = one.errors / one.decided, reference.errors / reference.decided
    above = clopper_pearson(one.errors, one.decided, 1 - 2 * _ERROR)[1] - rate
    below = other - clopper_pearson(reference.errors, reference.decided, 1 - 2 * _ERROR)[0]
    return rate - other + math.hypot(above, below) <= _MARGIN


def _verdict(
    name: str, leaks: bool, p: tuple[float | None, float | None], hold: bool | None
) -> str:
    above, below = p
    if leaks:
        return "disqualified: leaks"
    if name == "T":
        return "reference"
    if above is None or below is None or below <= _ERROR:
        # An arm that is rated below T is not shown to be better; the statement says that it is.
        return "not shown"
    if above > _ERROR:
        return "no difference"
    return "better" if hold else "not shown"


def _arm(
    bench: Bench,
    ratings: Mapping[str, float],
    name: str,
    p: tuple[float | None, float | None],
    keys: tuple[KeyErrors | None, KeyErrors | None],
) -> Arm:
    """One arm; `p` of being rated above T and below it by luck, `keys` its key errors and T's."""
    programs = {str(program_of(item)) for item in bench.items(steps=False)}
    row = blind_row(bench, "headline")
    leaks = row is not None and row[3]
    key_errors, hold = keys[0], keys_hold(*keys)
    return Arm(
        items=bench.info.counts["items"],
        programs=len(programs),
        kinds=len({program.partition("(")[0] for program in programs}),
        blind=row[0] if row is not None else "",
        blind_accuracy=None if row is None else round(row[1], 4),
        chance=None if row is None else round(row[2], 4),
        leaks=leaks,
        rated=len(ratings),
        rating=round(sum(ratings.values()) / len(ratings), 4) if ratings else None,
        p_holm=p[0],
        p_below_holm=p[1],
        keys_wrong=0 if key_errors is None else key_errors.errors,
        keys_read=0 if key_errors is None else key_errors.decided,
        keys_hold=hold,
        verdict=_verdict(name, leaks, p, hold),
    )


def _statement(arms: Mapping[str, Arm]) -> str:
    better = [name for name, arm in arms.items() if arm.verdict == "better"]
    leaking = [name for name, arm in arms.items() if arm.leaks]
    parts = []
    if better:
        parts.append(f"{', '.join(better)}: rated above the templates.")
    worse = [n for n, a in arms.items() if a.p_below_holm is not None and a.p_below_holm <= _ERROR]
    if worse:
        parts.append(f"{', '.join(worse)}: rated below the templates.")
    if leaking:
        parts.append(f"{', '.join(leaking)}: disqualified, answered above chance without the scan.")
    if not better:
        above = {n: a for n, a in arms.items() if a.p_holm is not None and a.p_holm <= _ERROR}
        if all(arm.rating is None for arm in arms.values()):
            why = "there are no readers' ratings"
        elif any(arm.keys_hold is None and not arm.leaks for arm in above.values()):
            why = "an arm is rated above T, but the keys of both were not read"
        elif any(arm.keys_hold is False and not arm.leaks for arm in above.values()):
            why = "an arm is rated above T, but may have more than 5 points more wrong keys"
        else:
            why = "no arm is rated above T"
        parts.append(f"It is not shown that agents write better questions: {why}.")
    return " ".join(parts)
