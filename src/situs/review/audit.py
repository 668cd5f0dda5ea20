"""Human audits: sheets of items for raters, their agreement, and how many items an audit needs."""

from __future__ import annotations

import csv
import io
import itertools
import math
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray

from situs.base.files import digest
from situs.bench import as_known
from situs.errors import SitusError
from situs.items import Choice, Item, Number, Text, YesNo, plain_words
from situs.profiles import options_text
from situs.run import released_rows
from situs.score import Estimate, agreement, clopper_pearson, cluster_of
from situs.score.stats.agreement import STATISTICS, Ratings

__all__ = [
    "AUDIT_QUESTIONS",
    "AuditAgreement",
    "AuditPlan",
    "AuditResult",
    "AuditRow",
    "audit_agreement",
    "audit_plan",
    "audit_sheet",
    "draw_items",
    "read_audit",
]

AUDIT_QUESTIONS = ("spatial", "relevant", "correct")
"""What a rater says yes or no to: is it spatial, is it worth asking, is the key right."""
_TRUE, _FALSE = {"yes", "y", "true", "1", "1.0"}, {"no", "n", "false", "0", "0.0"}
_FEWEST = 2
_PUBLISHED = ("spatial", "relevant")
"""The questions of CT-SpatialVQA's audit."""
_BOTH = "spatial and relevant"

Flags = NDArray[np.bool_]


class AuditRow(msgspec.Struct, frozen=True):
    """One rater's word on one item; None where a question was left open."""

    item: str
    rater: str
    spatial: bool | None = None
    relevant: bool | None = None
    correct: bool | None = None
    note: str = ""
    validator: bool = False
    """Whether it is the model's that vetted the items, and no person's."""


class AuditAgreement(msgspec.Struct, frozen=True):
    """How two or more raters agree on one question."""

    question: str
    raters: str
    items: int
    """Rated by two or more of them."""
    percent: float | None
    percent_ci95: tuple[float, float] | None
    kappa: float | None
    """Cohen's; of two raters only."""
    kappa_ci95: tuple[float, float] | None
    ac1: float | None
    ac1_ci95: tuple[float, float] | None
    alpha: float | None
    alpha_ci95: tuple[float, float] | None
    note: str = ""


class AuditResult(msgspec.Struct, frozen=True):
    """What an audit found."""

    rows: int
    items: int
    raters: dict[str, int]
    strangers: list[str]
    """Rows that name no item of the bench."""
    open_cells: int
    """Questions left unanswered."""
    shares: dict[str, tuple[int, int, float, float]]
    """Question → yes, answered, and the exact 95 % interval of the share; one vote an item, by its
    readers' majority.

    `spatial and relevant` counts items that are both. A validator has no vote where people read.
    """
    tied: dict[str, int]
    """Items whose readers split evenly;
    they count as no, since an item is good only if most say so."""
    agreement: list[AuditAgreement]
    warnings: list[str]


class AuditPlan(msgspec.Struct, frozen=True):
    """How many items to read."""

    expected: float
    half_width: float
    items: int
    interval: tuple[float, float]
    """The exact interval if the expected share is found."""
    population: int | None


_USUAL_DRAW = 20


def draw_items(items: Sequence[Item], count: int | None, seed: int) -> list[Item]:
    """A random sample that depends on seed and ids only, in the order of the bench.

    A `count` of None is twenty, or all where there are fewer.
    """
    if count is None:
        count = min(_USUAL_DRAW, len(items))
    if count > len(items):
        raise SitusError(
            f"{count} items were asked for, the bench has {len(items)}",
            where="--items",
            fix=f"ask for {len(items)} or fewer",
        )
    ranked = sorted(items, key=lambda item: digest("audit", str(seed), item.item_id))
    chosen = {item.item_id for item in ranked[:count]}
    return [item for item in items if item.item_id in chosen]


def audit_sheet(
    items: Sequence[Item],
    raters: Sequence[str],
    *,
    overlap: int,
    seed: int,
    form: str,
    quotes: Mapping[str, str] | None = None,
    pictures: Mapping[str, str] | None = None,
) -> bytes:
    """A sheet with a row per item and rater, for a spreadsheet (`csv`) or a program (`json`).

    `overlap` raters read each item, so that agreement can be told; items are dealt evenly.
    `quotes`, where answers rest on a text: item → the sentence that proves it, for the rater to
    read. `pictures`: item → where it can be seen.
    """
    if not raters or len(set(raters)) != len(raters) or not all(name.strip() for name in raters):
        raise SitusError(
            "raters need names of their own", where="--raters", fix="e.g. --raters anna,ben"
        )
    if not 1 <= overlap <= len(raters):
        raise SitusError(
            f"{overlap} raters per item of {len(raters)}", where="--overlap", fix="give more raters"
        )
    turns = itertools.cycle(random.Random(seed).sample(list(raters), len(raters)))
    rows = []
    for item in items:
        for rater in itertools.islice(turns, overlap):
            rows.append(
                {
                    "item": item.item_id,
                    "source": item.source_id,
                    "study": item.study_id,
                    "rater": rater,
                    "question": item.question,
                    "options": options_text(item).replace("\n", "; "),
                    "answer": _key_line(item),
                    **({"quote": quotes.get(item.item_id, "")} if quotes else {}),
                    **({"picture": pictures.get(item.item_id, "")} if pictures else {}),
                    **dict.fromkeys(AUDIT_QUESTIONS, ""),
                    "note": "",
                }
            )
    if form == "json":
        return msgspec.json.format(msgspec.json.encode(rows), indent=1) + b"\n"
    out = io.StringIO()
    # A cell that begins like a formula is read as one by spreadsheets.
    safe = [
        {key: f"'{v}" if v[:1] in ("=", "+", "-", "@") else v for key, v in row.items()}
        for row in rows
    ]
    table = csv.DictWriter(out, list(rows[0]) if rows else [], lineterminator="\n")
    table.writeheader()
    table.writerows(safe)
    return out.getvalue().encode("utf-8-sig")


def _key_line(item: Item) -> str:
    """The key in one line of the sheet; what has no plain words there, as files have it."""
    answer = item.answer
    if isinstance(answer, Text | YesNo | Choice | Number):
        return plain_words(item, answer)
    return msgspec.json.encode(answer).decode()


def read_audit(path: Path) -> list[AuditRow]:
    """A filled sheet; cells left empty stay open, anything but yes and no is refused."""
    result, problems = [], []
    seen: set[tuple[str, str]] = set()
    for where, row in released_rows(path):
        item, rater = (
            str(row.get("item") or row.get("item_id") or ""),
            str(row.get("rater") or "").strip(),
        )
        if not item or not rater:
            problems.append(f"{where}: has no {'item' if not item else 'rater'}")
            continue
        if (item, rater) in seen:
            problems.append(f"{where}: {rater} rates {item} twice")
            continue
        seen.add((item, rater))
        cells = {}
        for name in AUDIT_QUESTIONS:
            word = str(row.get(name) if row.get(name) is not None else "").strip().lower()
            if word and word not in _TRUE | _FALSE:
                problems.append(f"{where}: {name} is {word[:30]!r}, not yes or no")
            cells[name] = None if not word else word in _TRUE
        vetted = str(row.get("role") or "").strip().lower() == "validator"
        result.append(
            AuditRow(item, rater, **cells, note=str(row.get("note") or ""), validator=vetted)
        )
    if problems:
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        raise SitusError(
            problems[0] + more,
            where=path,
            fix="item, rater, and yes, no or nothing in each question",
        )
    return result


def audit_agreement(
    rows: Sequence[AuditRow], items: Sequence[Item], *, validator: str | None = None, seed: int = 0
) -> AuditResult:
    """Shares, and the agreement of all raters together, of every pair, and of people with the
    validator.

    The last counts every judgement of a person once, as CT-SpatialVQA does; `pooled` is over both
    of its questions.
    """
    known = {name: item for item in items for name in (item.source_id, item.item_id) if name}
    rows = [msgspec.structs.replace(row, item=as_known(row.item, known)) for row in rows]
    known_rows = [row for row in rows if row.item in known]
    _refuse_bad_sheets(known_rows, known, validator)
    raters = sorted({row.rater for row in known_rows})
    models = {row.rater for row in known_rows if row.validator} | (
        {validator} if validator is not None else set()
    )
    # Sheets of nobody but a validator are its own.
    people = [name for name in raters if name not in models] or raters
    order = sorted({known[row.item].item_id for row in known_rows})
    row_of = {name: n for n, name in enumerate(order)}
    clusters = [cluster_of(known[name]) for name in order]
    ratings = {question: np.full((len(order), len(raters)), np.nan) for question in AUDIT_QUESTIONS}
    for row in known_rows:
        for question in AUDIT_QUESTIONS:
            value = getattr(row, question)
            if value is not None:
                ratings[question][row_of[known[row.item].item_id], raters.index(row.rater)] = float(
                    value
                )
    columns = [raters.index(name) for name in people]
    shares, tied, result = {}, {}, []
    votes = {question: _votes(table[:, columns]) for question, table in ratings.items()}
    for question, (good, rated, even) in votes.items():
        tied[question] = int(even.sum())
        if rated.any():
            shares[question] = _share(good, rated)
        result += _agreements(question, ratings[question], raters, clusters, seed)
    (spatial, first, _), (relevant, second, _) = votes["spatial"], votes["relevant"]
    if (first & second).any():
        shares[_BOTH] = _share(spatial & relevant, first & second)
    for name in sorted(models - set(people)):
        result += _with_validator(ratings, columns, raters.index(name), name, clusters, seed)
    counts = Counter(row.rater for row in known_rows)
    open_cells = sum(
        getattr(row, question) is None for row in known_rows for question in AUDIT_QUESTIONS
    )
    strangers = [row.item for row in rows if row.item not in known]
    warnings = []
    if strangers:
        warnings.append(f"{len(strangers)} rows name no item of this bench, e.g. {strangers[0]}")
    if not result:
        warnings.append("no item was read by two raters: agreement cannot be computed")
    return AuditResult(
        len(rows),
        len(order),
        dict(sorted(counts.items())),
        strangers,
        open_cells,
        shares,
        tied,
        result,
        warnings,
    )


def _refuse_bad_sheets(
    rows: Sequence[AuditRow], known: Mapping[str, Item], validator: str | None
) -> None:
    """Rows that cannot be counted: one twice, nobody's, empty ones."""
    counts = Counter((known[row.item].item_id, row.rater) for row in rows)
    twice = next((pair for pair, n in counts.items() if n > 1), None)
    if twice is not None:
        problem = f"{twice[1]} rates {twice[0]} twice"
        raise SitusError(problem, where="audit import", fix="keep one of the rows")
    raters = sorted({row.rater for row in rows})
    if validator is not None and validator not in raters:
        fix = f"the raters are {', '.join(raters)}"
        raise SitusError(f"no row is by {validator!r}", where="--validator", fix=fix)
    if rows and all(getattr(row, question) is None for row in rows for question in AUDIT_QUESTIONS):
        fix = "write yes or no under the questions"
        raise SitusError("no cell is filled in", where="audit import", fix=fix)


def _votes(ratings: Ratings) -> tuple[Flags, Flags, Flags]:
    """Of every item whether most say yes,
    whether anyone said anything, and whether they split evenly."""
    yes, no = (ratings == 1).sum(axis=1), (ratings == 0).sum(axis=1)
    return yes > no, yes + no > 0, (yes == no) & (yes > 0)


def _share(good: Flags, rated: Flags) -> tuple[int, int, float, float]:
    right, n = int((good & rated).sum()), int(rated.sum())
    return right, n, *clopper_pearson(right, n)


def _with_validator(
    ratings: Mapping[str, Ratings],
    people: Sequence[int],
    validator: int,
    name: str,
    clusters: list[str],
    seed: int,
) -> list[AuditAgreement]:
    """Every judgement of a person beside the validator's word on the same item."""
    result, pooled, shared = [], [], list[str]()
    for question, table in ratings.items():
        pairs = np.vstack([table[:, [column, validator]] for column in people])
        both = np.isfinite(pairs).all(axis=1)
        pair_clusters = [clusters[n % len(clusters)] for n in np.flatnonzero(both).tolist()]
        if question in _PUBLISHED:
            pooled.append(pairs[both])
            shared += pair_clusters
        result += _agreements(question, pairs[both], ["people", name], pair_clusters, seed)
    return result + _agreements("pooled", np.vstack(pooled), ["people", name], shared, seed)


def _agreements(
    question: str, ratings: Ratings, raters: list[str], clusters: list[str], seed: int
) -> list[AuditAgreement]:
    groups = [("all", list(range(len(raters))))] if len(raters) > _FEWEST else []
    groups += [
        (f"{raters[a]} – {raters[b]}", [a, b])
        for a, b in itertools.combinations(range(len(raters)), 2)
    ]
    result = []
    for name, columns in groups:
        part = ratings[:, columns]
        several = np.isfinite(part).sum(axis=1) >= _FEWEST
        count = int(several.sum())
        if not count:
            continue
        places = np.flatnonzero(several).tolist()
        estimates: dict[str, Estimate] = {
            statistic: agreement(statistic, part[several], [clusters[n] for n in places], seed=seed)
            for statistic in STATISTICS
            if statistic != "kappa" or len(columns) == _FEWEST
        }
        kappa = estimates.get("kappa")
        result.append(
            AuditAgreement(
                question,
                name,
                count,
                estimates["percent"].value,
                estimates["percent"].ci95,
                kappa.value if kappa else None,
                kappa.ci95 if kappa else None,
                estimates["ac1"].value,
                estimates["ac1"].ci95,
                estimates["alpha"].value,
                estimates["alpha"].ci95,
                estimates["percent"].note,
            )
        )
    return result


_NARROWEST = 0.001
"""Half a million readings and more for a narrower interval: nobody plans that."""


def audit_plan(expected: float, half_width: float, population: int | None = None) -> AuditPlan:
    """The fewest items whose exact interval is no wider than wished, if the expected share is
    found.

    With a `population` (the size of the bench) the finite-population correction n / (1 + (n − 1) /
    N) is applied.
    """
    if not 0 <= expected <= 1 or not _NARROWEST <= half_width < 0.5:
        fix = f"--expected is between 0 and 1, --half-width between {_NARROWEST} and 0.5"
        raise SitusError(f"cannot plan for {expected} ± {half_width}", where="audit plan", fix=fix)
    if population == 0:
        raise SitusError("the bench has no items", where="audit plan", fix="give another --bench")

    def wide(n: int) -> bool:
        low, high = clopper_pearson(round(expected * n), n)
        return high - low > 2 * half_width

    # From the normal approximation on, upward: the exact interval is never narrower for long.
    low = max(1, math.floor(1.959963984540054**2 * expected * (1 - expected) / half_width**2))
    n = low
    while wide(n) or wide(n + 1):
        n += 1
    needed = n if population is None else min(population, math.ceil(n / (1 + (n - 1) / population)))
    return AuditPlan(
        expected, half_width, needed, clopper_pearson(round(expected * n), n), population
    )
