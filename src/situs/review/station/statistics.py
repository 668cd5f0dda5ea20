"""What the readings say: agreement by question and stratum,
key errors, catch trials, and readers against the key."""

from __future__ import annotations

import itertools
import statistics
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec
import numpy as np

from situs.base.collecting import collection_paused
from situs.bench import KeyReading, KeyVerdict
from situs.review.station.agreement import (
    Rating,
    coefficients,
    place_agreement,
    place_overlap,
    ratings_of,
)
from situs.review.station.protocol import ReadingProtocol
from situs.review.station.read_row import Decision, ReadRow
from situs.score import clopper_pearson, cluster_mean

__all__ = [
    "Decision",
    "ProjectStatistics",
    "ReadRow",
    "key_readings",
    "outcomes",
    "project_statistics",
]

_RANDOM_READERS = 5
_BOOTSTRAPS = 1000
_CHOSEN = {"yes_no": "yes or no", "choice": "one option"}
"""Forms whose answers are chosen, and can be compared by name."""


class ProjectStatistics(msgspec.Struct, frozen=True):
    """Everything the study desk and the export show."""

    readings: int
    readers: list[str]
    agreement: dict[str, dict[str, Any]]
    """Question → coefficients; `question/stratum` for each stratum."""
    pairs: dict[str, dict[str, Any]]
    """Question and two readers → coefficients."""
    within_reader: dict[str, dict[str, Any]]
    catch: dict[str, dict[str, Any]]
    key_errors: dict[str, Any]
    accuracy: dict[str, dict[str, Any]]
    place_overlap: dict[str, dict[str, Any]]
    """How far unaided boxes and slices overlap with the key's, by reader."""
    notes: list[str]


@collection_paused()
def project_statistics(
    rows: Sequence[ReadRow],
    decisions: Sequence[Decision],
    protocol: ReadingProtocol,
    *,
    seed: int = 0,
) -> ProjectStatistics:
    """All statistics of a project's finished reads; training is never counted."""
    counted = [row for row in rows if row.kind == "item"]
    readers = sorted({row.reader for row in counted})
    agreement: dict[str, dict[str, Any]] = {}
    pairs: dict[str, dict[str, Any]] = {}
    for name, (of_question, of_row) in _questions(protocol, rows).items():
        rated = ratings_of(of_question, of_row)
        ordered = name.endswith("score")
        agreement[name] = coefficients(rated, ordered, seed)
        strata = sorted(set(rated.strata))
        for stratum in strata if len(strata) > 1 else ():
            agreement[f"{name}/{stratum}"] = coefficients(rated.of(stratum), ordered, seed)
        # Two readers are one pair, which the whole already tells of.
        people = range(len(rated.readers) if len(rated.readers) > 2 else 0)
        for a, b in itertools.combinations(people, 2):
            title = f"{name}: {rated.readers[a]} – {rated.readers[b]}"
            pairs[title] = coefficients(rated.between(a, b), ordered, None)
    located = [row for row in counted if row.places]
    if located and protocol.stages == 2:
        agreement["place"] = place_agreement(located)
    notes = []
    if len(readers) < _RANDOM_READERS:
        notes.append(f"{len(readers)} readers: they are treated as fixed (random from 5 on)")
    return ProjectStatistics(
        readings=len([row for row in rows if row.kind != "training"]),
        readers=readers,
        agreement=agreement,
        pairs=pairs,
        within_reader=_within_reader(rows),
        catch=_catch(rows),
        key_errors=_key_errors(counted, decisions),
        accuracy=_accuracy(counted, readers, seed),
        place_overlap=place_overlap(located, readers) if protocol.stages == 2 else {},
        notes=notes,
    )


def _questions(
    protocol: ReadingProtocol, rows: Iterable[ReadRow]
) -> dict[str, tuple[list[ReadRow], Rating]]:
    """Every question that was rated: the rows it was put in, and how a reading answers it as a
    number."""
    items = [row for row in rows if row.kind == "item"]
    wordings = [row for row in rows if row.kind == "wording"]
    result: dict[str, tuple[list[ReadRow], Rating]] = {}
    for form, words in _CHOSEN.items() if protocol.stages == 2 else ():
        # Each form by itself: chance agreement depends on how many answers there are to choose
        # from, and nobody who is asked for yes or no could have said B.
        of_form = [row for row in items if row.form == form]
        if of_form:
            result[f"answer ({words})"] = of_form, _choice()
    if protocol.questions:
        for name in protocol.questions:
            result[name] = items, _verdict(name)
    else:
        result["score"] = items, lambda row: row.score
        result["key wrong"] = items, lambda row: float(row.says_wrong)
    if wordings:
        result["wording score"] = wordings, lambda row: row.score
    return result


def _choice() -> Rating:
    """What was chosen, numbered as it comes: names have no order."""
    codes: dict[str, int] = {}

    def chosen(row: ReadRow) -> float | None:
        choice = row.choice
        return None if choice is None else codes.setdefault(choice, len(codes))

    return chosen


def _verdict(name: str) -> Rating:
    def said(row: ReadRow) -> float | None:
        return float(row.verdicts[name]) if name in row.verdicts else None

    return said


def _share(hits: int, n: int) -> dict[str, Any]:
    return {
        "value": hits / n if n else None,
        "n": n,
        "ci95": clopper_pearson(hits, n) if n else None,
    }


def _within_reader(rows: Sequence[ReadRow]) -> dict[str, dict[str, Any]]:
    """How often a reader answers a hidden repeat as the first time."""
    first = {(row.reader, row.unit): row for row in rows}
    same: dict[str, list[bool]] = defaultdict(list)
    for row in rows:
        before = first.get((row.reader, row.repeat_of)) if row.repeat_of is not None else None
        if before is not None:
            equal = row.choice == before.choice if row.choice else row.score == before.score
            same[row.reader].append(equal)
    return {reader: _share(sum(equal), len(equal)) for reader, equal in sorted(same.items())}


def _catch(rows: Sequence[ReadRow]) -> dict[str, dict[str, Any]]:
    """How often a reader sees that a planted key is wrong."""
    seen: dict[str, list[bool]] = defaultdict(list)
    for row in rows:
        if row.kind == "catch":
            seen[row.reader].append(row.says_wrong)
    return {reader: _share(sum(hits), len(hits)) for reader, hits in sorted(seen.items())}


def key_readings(
    rows: Sequence[ReadRow], decisions: Sequence[Decision], seed: int
) -> list[KeyReading]:
    """Every reader's verdicts on the keys of the random sample, and what was adjudicated, as the
    bench keeps them."""
    by_reader: dict[str, dict[str, KeyVerdict]] = defaultdict(dict)
    for row in rows:
        if row.kind == "item" and row.weight > 0:
            by_reader[row.reader][row.item_id] = _key_verdict(row)
    items = {row.unit: row.item_id for row in rows if row.kind == "item" and row.weight > 0}
    settled: dict[str, dict[str, KeyVerdict]] = defaultdict(dict)
    for decision in decisions:
        if decision.unit in items:
            verdict: KeyVerdict = "disagree" if decision.key_wrong else "agree"
            settled[decision.by][items[decision.unit]] = verdict
    profile = "reading station"
    return [
        KeyReading(code, profile, seed, len(items), verdicts, adjudicated)
        for adjudicated, of_code in ((False, by_reader), (True, settled))
        for code, verdicts in sorted(of_code.items())
    ]


def _key_verdict(row: ReadRow) -> KeyVerdict:
    if row.says_wrong:
        return "disagree"
    if "not visible" in row.flags or "image unusable" in row.flags:
        return "not_visible"
    return "agree"


def _settled(rows: Sequence[ReadRow], decisions: Sequence[Decision]) -> dict[int, bool | None]:
    """Unit → whether its key is wrong:
    as adjudicated, else by its readers; None where they split."""
    decided = {decision.unit: decision.key_wrong for decision in decisions}
    # By how many readers more the key is called wrong than right; who did not see it has no vote.
    lead: dict[int, int] = {}
    vote = {"disagree": 1, "agree": -1, "not_visible": 0}
    for row in rows:
        lead[row.unit] = lead.get(row.unit, 0) + vote[_key_verdict(row)]
    voted = {unit: votes > 0 if votes else None for unit, votes in lead.items()}
    return {unit: decided.get(unit, verdict) for unit, verdict in voted.items()}


def _key_errors(rows: Sequence[ReadRow], decisions: Sequence[Decision]) -> dict[str, Any]:
    """The rate over the random sample: plain with an exact interval, and weighted by stratum."""
    sample = [row for row in rows if row.weight > 0]
    settled = _settled(sample, decisions)
    about = {row.unit: row for row in sample}
    decided = {unit: wrong for unit, wrong in settled.items() if wrong is not None}
    errors = sum(decided.values())
    entry: dict[str, Any] = {"metric": "key-error rate", **_share(errors, len(decided))}
    entry["states"] = {"error": errors, "right": len(decided) - errors}
    entry["states"]["open"] = len(settled) - len(decided)
    units = sorted(decided)
    if units:
        weighted = cluster_mean(
            np.array([float(decided[unit]) for unit in units]),
            [about[unit].patient for unit in units],
            np.array([about[unit].weight for unit in units]),
        )
        entry["weighted"] = {"value": weighted.value, "ci95": weighted.ci95, "note": weighted.note}
    return entry


def _accuracy(
    rows: Sequence[ReadRow], readers: Sequence[str], seed: int
) -> dict[str, dict[str, Any]]:
    """How often unaided answers fit the key: each reader, and all;
    from five readers on with readers random."""
    verdicts = ((row, row.is_right) for row in rows)
    judged = [(row, right) for row, right in verdicts if right is not None]
    by_reader: dict[str, list[tuple[ReadRow, bool]]] = {reader: [] for reader in readers}
    for row, right in judged:
        by_reader[row.reader].append((row, right))
    result = {reader: _mean(by_reader[reader]) for reader in readers}
    everybody = _mean(judged)
    if len(readers) >= _RANDOM_READERS and judged:
        everybody["ci95_readers_random"] = _both_random(judged, readers, seed)
    result["all readers"] = everybody
    return result


def _mean(judged: Sequence[tuple[ReadRow, bool]]) -> dict[str, Any]:
    if not judged:
        return {"value": None, "n": 0, "ci95": None}
    values = np.array([float(right) for _, right in judged])
    mean = cluster_mean(values, [row.patient for row, _ in judged])
    return {"value": mean.value, "n": mean.n, "ci95": mean.ci95, "note": mean.note}


def _both_random(
    judged: Sequence[tuple[ReadRow, bool]], readers: Sequence[str], seed: int
) -> tuple[float, float] | None:
    """Percentile interval over resampled readers and
    patients (multi-reader multi-case bootstrap)."""
    line = {reader: n for n, reader in enumerate(readers)}
    patients = sorted({row.patient for row, _ in judged})
    column = {patient: n for n, patient in enumerate(patients)}
    right = np.zeros((len(readers), len(patients)))
    count = np.zeros_like(right)
    for row, is_right in judged:
        at = line[row.reader], column[row.patient]
        right[at] += is_right
        count[at] += 1
    draw = np.random.default_rng(seed)
    values = []
    for _ in range(_BOOTSTRAPS):
        chosen = np.ix_(
            draw.integers(len(readers), size=len(readers)),
            draw.integers(len(patients), size=len(patients)),
        )
        if count[chosen].sum():
            values.append(right[chosen].sum() / count[chosen].sum())
    low, high = np.quantile(values, (0.025, 0.975)) if values else (np.nan, np.nan)
    return (float(low), float(high)) if values else None


def outcomes(
    rows: Sequence[ReadRow], decisions: Sequence[Decision], protocol: ReadingProtocol
) -> dict[int, dict[str, Any]]:
    """What becomes of every unit: keep, fix or drop,
    by the adjudicator or else by the protocol's rule."""
    decided = {decision.unit: decision for decision in decisions}
    by_unit: dict[int, list[ReadRow]] = defaultdict(list)
    for row in rows:
        if row.kind == "item":
            by_unit[row.unit].append(row)
    result = {}
    for unit, unit_rows in sorted(by_unit.items()):
        scores = [row.score for row in unit_rows if row.score is not None]
        entry: dict[str, Any] = {
            "item": unit_rows[0].item_id,
            "verified_by": sorted(row.reader for row in unit_rows),
            "scores": scores,
        }
        if unit in decided:
            entry |= {"decision": decided[unit].decision, "reason": decided[unit].reason}
            entry |= {"adjudicated": True, "adjudicated_by": decided[unit].by}
        else:
            wrong = any(row.says_wrong for row in unit_rows)
            verdicts = [v for row in unit_rows for v in row.verdicts.values()]
            stays = protocol.keeps(scores, wrong, verdicts)
            entry |= {"decision": "keep" if stays else "drop", "adjudicated": False}
            entry["reason"] = "" if stays else _why(unit_rows, scores, protocol)
        result[unit] = entry
    return result


def _why(rows: Sequence[ReadRow], scores: Sequence[int], protocol: ReadingProtocol) -> str:
    flags = Counter(flag for row in rows for flag in row.flags)
    words = [f"{flag} ({n} of {len(rows)})" for flag, n in sorted(flags.items())]
    if scores:
        words.append(f"median score {statistics.median(scores):g}")
    return "; ".join([f"not kept by rule “{protocol.keep}”", *words])
