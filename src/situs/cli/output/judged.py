"""How judged free text reads in a terminal: judges and jury, the published rule beside the correct one, wording."""

from __future__ import annotations

from typing import TYPE_CHECKING

from situs.cli.output.numbers import entry_of, interval_text, value_text
from situs.cli.output.printing import print_table

if TYPE_CHECKING:
    from situs.score import Calibration, Entry, JurySummary, PublishedScores, Scores

__all__ = ["print_judged"]

_WORDING = ("bleu", "rouge1", "rouge2", "rougeL", "meteor", "sbert", "exact", "token_f1")


def print_judged(name: str, scores: Scores) -> None:
    """The tables that free-text answers have; nothing where there are none."""
    if scores.jury is not None:
        _print_judges(name, scores, scores.jury)
        _print_agreement(scores.jury)
    if scores.published is not None:
        _print_categories(scores, scores.published)
    _print_wording(name, scores)


def _print_judges(name: str, scores: Scores, jury: JurySummary) -> None:
    published = scores.published is not None
    rows = []
    for judge in jury.judges:
        entry = entry_of(scores.overall, f"judge.{judge.judge}")
        rule = entry_of(scores.overall, f"judge.{judge.judge}.published")
        row = [
            judge.judge,
            _percent(entry),
            _interval(entry),
            f"{entry.n if entry else 0:,}",
            f"{judge.unjudged_items:,}",
        ]
        rows.append(row + ([_percent(rule), _mark(entry, rule)] if published else []))
    entry, rule = entry_of(scores.overall, "jury"), entry_of(scores.overall, "jury.published")
    row = [
        "jury",
        _percent(entry),
        _interval(entry),
        f"{entry.n if entry else 0:,}",
        f"{jury.undecided:,}",
    ]
    rows.append(row + ([_percent(rule), _mark(entry, rule)] if published else []))
    columns = ["judge", f"{name} %", "95 % interval", "judged", "unjudged"]
    columns += ["published rule %", ""] if published else []
    caption = f"Jury: {jury.rule}."
    if scores.published is not None and scores.published.notes:
        caption = (
            "THE PUBLISHED RULE IS WRONG HERE: "
            + "; ".join(scores.published.notes)
            + ".\n"
            + caption
        )
    print_table("judges", columns, rows, caption)


def _print_agreement(jury: JurySummary) -> None:
    if not jury.pairs:
        return
    rows = [
        [
            f"{pair.a} – {pair.b}",
            f"{pair.n:,}",
            _number(pair.percent, 3),
            _number(pair.kappa, 3),
            _bounds(pair.kappa_ci95),
        ]
        for pair in jury.pairs
    ]
    rows.append(["all, Krippendorff's α", "", "", _number(jury.alpha, 3), _bounds(jury.alpha_ci95)])
    without = ", ".join(f"{name} {100 * value:.2f} %" for name, value in jury.without.items())
    lengths = ", ".join(
        f"{judge.judge} {_number(judge.length_correlation, 2)}" for judge in jury.judges
    )
    caption = (
        f"Jury without one judge: {without}. Spearman's correlation of an answer's length with being called right: "
        f"jury {_number(jury.length_correlation, 2)}, {lengths}."
    )
    print_table(
        "agreement of judges", ["judges", "n", "equal", "κ or α", "95 % interval"], rows, caption
    )
    if jury.calibration:
        rows = [
            [
                held.judge,
                f"{held.n:,}",
                _number(held.sensitivity, 3),
                _number(held.specificity, 3),
                _number(held.accuracy, 3),
                _number(held.corrected_accuracy, 3),
                _bounds(held.corrected_ci95),
                *_powered(held),
            ]
            for held in jury.calibration
        ]
        columns = [
            "judge",
            "n human",
            "sensitivity",
            "specificity",
            "accuracy",
            "corrected",
            "95 % interval",
        ]
        columns += ["prediction-powered", "95 % interval", "λ"]
        caption = (
            "Corrected: Rogan and Gladen, answers taken as independent. Prediction-powered: human verdicts, and the "
            "judge's elsewhere less its bias; interval over patients. Use it if the human sample was drawn at random."
        )
        print_table("judges against human verdicts", columns, rows, caption)


def _powered(held: Calibration) -> list[str]:
    found = held.prediction_powered
    if found is None:
        return ["–", "–", "–"]
    return [_number(found.value, 3), _bounds(found.ci95), _number(found.power, 2)]


def _print_categories(scores: Scores, published: PublishedScores) -> None:
    rows = []
    for tag, table in scores.by_tag.items():
        entry, rule = entry_of(table, "jury"), entry_of(table, "jury.published")
        if entry is not None and rule is not None:
            rows.append(
                [
                    tag,
                    f"{entry.n:,}",
                    _percent(entry),
                    _interval(entry),
                    _percent(rule),
                    _mark(entry, rule),
                ]
            )
    caption = "An item counts in every category it carries; items without a cell count as wrong in the published rule."
    if published.changed:
        caption += (
            f" The published matrix gives {published.changed:,} items a verdict that is not theirs."
        )
    columns = ["jury by tag", "n", "correct join %", "95 % interval", "published rule %", ""]
    print_table("categories", columns, rows, caption)


def _print_wording(name: str, scores: Scores) -> None:
    controls = {
        row: table.overall
        for row, table in scores.baselines.items()
        if entry_of(table.overall, "fact_f1")
    }
    shown = [
        entry
        for entry in scores.overall
        if entry.metric in _WORDING or entry.metric.startswith("fact_f1")
    ]
    if not shown:
        return
    rows = [
        [
            entry.metric,
            value_text(entry),
            interval_text(entry),
            f"{entry.n:,}",
            *(value_text(entry_of(table, entry.metric)) for table in controls.values()),
        ]
        for entry in shown
    ]
    caption = (
        "Wording never ranks: `side-flipped` is the gold answer with left and right swapped (where it names a side), "
        "`other-patient` another patient's gold answer; both are wrong. BLEU is 0–100, the others 0–1."
    )
    print_table("wording", ["", name, "95 % interval", "n", *controls], rows, caption)
    for missing in scores.not_computed:
        if missing.metric in _WORDING:
            print_table(
                f"not computed: {missing.metric}",
                ["why", "remedy"],
                [[missing.reason, missing.fix]],
            )


def _percent(entry: Entry | None) -> str:
    return "–" if entry is None or entry.value is None else f"{100 * entry.value:.2f}"


def _interval(entry: Entry | None) -> str:
    return (
        "–"
        if entry is None or entry.ci95 is None
        else f"{100 * entry.ci95[0]:.2f} – {100 * entry.ci95[1]:.2f}"
    )


def _bounds(interval: tuple[float, float] | None) -> str:
    return "–" if interval is None else f"{interval[0]:.3f} – {interval[1]:.3f}"


def _number(value: float | None, digits: int) -> str:
    return "–" if value is None else f"{value:.{digits}f}"


def _mark(entry: Entry | None, rule: Entry | None) -> str:
    """A loud mark where the published rule and the correct one differ in the printed digits."""
    if entry is None or rule is None or entry.value is None or rule.value is None:
        return ""
    return (
        f"DIFFERS {100 * (rule.value - entry.value):+.2f}"
        if round(100 * entry.value, 2) != round(100 * rule.value, 2)
        else ""
    )
