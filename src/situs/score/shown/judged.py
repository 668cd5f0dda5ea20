"""Tables of judged free text: judges and jury,
the published rule beside the correct one, wording."""

from __future__ import annotations

from collections.abc import Container

from situs.score.shown.entries import entry_of
from situs.score.stats.calibration import Calibration
from situs.score.table import Scores
from situs.score.table_entries import Entry
from situs.score.text.jury import JurySummary
from situs.tables import INTERVAL, Cell, Style, Table

__all__ = ["judged_tables", "not_computed_tables"]

_WORDING = ("bleu", "rouge1", "rouge2", "rougeL", "meteor", "sbert", "exact", "token_f1")
_INTERVAL = "95 % interval"
_PERCENT = Style(digits=2, scale=100.0)
_PERCENTS = Style(digits=2, scale=100.0, ends=("low", "high"))


def judged_tables(scores: Scores, name: str) -> list[Table]:
    """The tables that free-text answers have; nothing where there are none."""
    tables = []
    if scores.jury is not None:
        tables.append(_judge_table(scores, scores.jury, f"{name} %"))
        tables += _agreement_tables(scores.jury)
    if scores.published is not None:
        tables.append(_category_table(scores))
    return tables + _wording_tables(scores, name)


def not_computed_tables(scores: Scores, metrics: Container[str]) -> list[Table]:
    """Why a metric has no value, and what gives it one."""
    return [
        Table(
            f"not_computed_{missing.metric}",
            f"Not computed: {missing.metric}",
            ("why", "remedy"),
            ((missing.reason, missing.fix),),
        )
        for missing in scores.not_computed
        if missing.metric in metrics
    ]


def _judge_table(scores: Scores, jury: JurySummary, name: str) -> Table:
    rows = [
        _judge_row(scores, judge.judge, f"judge.{judge.judge}", judge.unjudged_items)
        for judge in jury.judges
    ]
    rows.append(_judge_row(scores, "jury", "jury", jury.undecided))
    columns: tuple[str, ...] = ("judge", name, _INTERVAL, "judged", "unjudged")
    published, caption = scores.published, f"Jury: {jury.rule}."
    if published is None:
        rows = [row[: len(columns)] for row in rows]
    else:
        columns = (*columns, "published rule %", "differs")
        if published.notes:
            wrong = "; ".join(published.notes)
            caption = f"THE PUBLISHED RULE IS WRONG HERE: {wrong}.\n{caption}"
    styles = {name: _PERCENT, _INTERVAL: _PERCENTS, "published rule %": _PERCENT, **_DIFFERS}
    return Table("judges", "Judges", columns, tuple(rows), caption, styles)


_DIFFERS = {"differs": Style(absent="")}


def _judge_row(scores: Scores, name: str, metric: str, unjudged: int) -> tuple[Cell, ...]:
    entry, rule = (entry_of(scores.overall, one) for one in (metric, f"{metric}.published"))
    judged = entry.n if entry else 0
    return (name, *_measured(entry), judged, unjudged, _value(rule), _mark(entry, rule))


def _agreement_tables(jury: JurySummary) -> list[Table]:
    if not jury.pairs:
        return []
    rows: list[tuple[Cell, ...]] = [
        (f"{pair.a} – {pair.b}", pair.n, pair.percent, pair.kappa, pair.kappa_ci95)
        for pair in jury.pairs
    ]
    rows.append(("all, Krippendorff's α", None, None, jury.alpha, jury.alpha_ci95))
    without = ", ".join(f"{name} {100 * value:.2f} %" for name, value in jury.without.items())
    lengths = ", ".join(
        f"{judge.judge} {_correlation(judge.length_correlation)}" for judge in jury.judges
    )
    caption = (
        f"Jury without one judge: {without}. Spearman's correlation of an answer's length with"
        f" being called right: jury {_correlation(jury.length_correlation)}, {lengths}."
    )
    columns = ("judges", "items", "equal", "κ or α", _INTERVAL)
    table = Table(
        "agreement_of_judges",
        "Agreement of judges",
        columns,
        tuple(rows),
        caption,
        {_INTERVAL: INTERVAL},
    )
    return [table, *_calibration_tables(jury)]


def _calibration_tables(jury: JurySummary) -> list[Table]:
    if not jury.calibration:
        return []
    columns = (
        "judge",
        "human verdicts",
        "sensitivity",
        "specificity",
        "accuracy",
        "corrected",
        "corrected, 95 %",
        "prediction-powered",
        "prediction-powered, 95 %",
        "λ",
    )
    caption = (
        "Corrected: Rogan and Gladen, answers taken as independent. Prediction-powered: human"
        " verdicts, and the judge's elsewhere less its bias; interval over patients. Use it if the"
        " human sample was drawn at random."
    )
    styles = {
        "corrected, 95 %": Style(ends=("corrected low", "corrected high")),
        "prediction-powered, 95 %": Style(ends=("powered low", "powered high")),
        "λ": Style(digits=2),
    }
    rows = tuple(_calibration_row(judge) for judge in jury.calibration)
    title = "Judges against human verdicts"
    return [Table("judges_against_humans", title, columns, rows, caption, styles)]


def _calibration_row(judge: Calibration) -> tuple[Cell, ...]:
    powered = judge.prediction_powered
    shares = (judge.sensitivity, judge.specificity, judge.accuracy, judge.corrected_accuracy)
    more = (None, None, None) if powered is None else (powered.value, powered.ci95, powered.power)
    return (judge.judge, judge.n, *shares, judge.corrected_ci95, *more)


def _category_table(scores: Scores) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for tag, table in scores.by_tag.items():
        entry, rule = entry_of(table, "jury"), entry_of(table, "jury.published")
        if entry is not None and rule is not None:
            rows.append((tag, entry.n, *_measured(entry), rule.value, _mark(entry, rule)))
    caption = (
        "An item counts in every category it carries; items without a cell count as wrong in the "
        "published rule."
    )
    if scores.published is not None and scores.published.changed:
        count = f"{scores.published.changed:,}"
        caption += f" The published matrix gives {count} items a verdict that is not theirs."
    shares = ("correct join %", "published rule %")
    columns = ("jury by tag", "items", shares[0], _INTERVAL, shares[1], "differs")
    styles = {**dict.fromkeys(shares, _PERCENT), _INTERVAL: _PERCENTS, **_DIFFERS}
    return Table("categories", "Categories", columns, tuple(rows), caption, styles)


def _wording_tables(scores: Scores, name: str) -> list[Table]:
    wording_entries = [
        e for e in scores.overall if e.metric in _WORDING or e.metric.startswith("fact_f1")
    ]
    if not wording_entries:
        return []
    controls = {
        row: table.overall
        for row, table in scores.baselines.items()
        if entry_of(table.overall, "fact_f1")
    }
    rows: list[tuple[Cell, ...]] = []
    for entry in wording_entries:
        others = (_value(entry_of(table, entry.metric)) for table in controls.values())
        rows.append((entry.metric, entry.value, entry.ci95, entry.n, *others))
    caption = (
        "Wording never ranks: `side-flipped` is the gold answer with left and right swapped (where"
        " it names a side), `other-patient` another patient's gold answer; both are wrong. BLEU is"
        " 0–100, the others 0–1."
    )
    columns = ("metric", name, _INTERVAL, "items", *controls)
    styles = {_INTERVAL: INTERVAL}
    table = Table("wording", "Wording", columns, tuple(rows), caption, styles)
    return [table, *not_computed_tables(scores, _WORDING)]


def _measured(entry: Entry | None) -> tuple[Cell, Cell]:
    return (None, None) if entry is None else (entry.value, entry.ci95)


def _value(entry: Entry | None) -> float | None:
    return None if entry is None else entry.value


def _correlation(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def _mark(entry: Entry | None, rule: Entry | None) -> str | None:
    """A loud mark where the published rule and the correct one differ in the printed digits."""
    if entry is None or rule is None or entry.value is None or rule.value is None:
        return None
    correct, published = 100 * entry.value, 100 * rule.value
    if round(correct, 2) == round(published, 2):
        return None
    return f"DIFFERS {published - correct:+.2f}"
