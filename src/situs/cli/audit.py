"""`situs audit`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from situs.base.text import counted
from situs.cli.output.paths import INPUT, LOCAL, out_option
from situs.cli.output.printing import echo, json_option, print_json, print_table, warn

if TYPE_CHECKING:
    from situs.review import AuditResult


@click.group("audit")
def command() -> None:
    """Have people rate a sample of a bench:
    plan it, hand out sheets, and measure how far they agree."""


@command.command("plan")
@click.option(
    "--expected",
    type=float,
    default=0.95,
    show_default=True,
    help="The share you expect to be right.",
)
@click.option(
    "--half-width",
    type=float,
    default=0.03,
    show_default=True,
    help="Half the width that the 95 % interval may have.",
)
@click.option("--bench", type=INPUT, help="Correct for the size of this bench.")
@json_option
def _plan(expected: float, half_width: float, bench: Path | None, as_json: bool) -> None:
    """Print how many items should be read."""
    from situs.bench import open_bench
    from situs.review import audit_plan

    size = None if bench is None else sum(1 for _ in open_bench(bench).items(steps=False))
    plan = audit_plan(expected, half_width, size)
    if as_json:
        print_json(plan)
        return
    interval = f"{plan.interval[0]:.3f} – {plan.interval[1]:.3f}"
    rows = [[f"{expected:.3f}", f"± {half_width:.3f}", f"{plan.items:,}", interval]]
    caption = (
        "Items drawn at random, each settled by its raters; the interval is Clopper and Pearson's."
    )
    print_table(
        "audit plan", ["expected share", "half-width", "items", "95 % interval then"], rows, caption
    )


@command.command("export")
@click.argument("bench", type=INPUT)
@click.option(
    "--items", "count", type=click.IntRange(1), required=True, help="How many, drawn at random."
)
@click.option("--raters", required=True, help="Names, comma-separated.")
@click.option(
    "--overlap", type=click.IntRange(1), default=2, show_default=True, help="Raters per item."
)
@click.option(
    "--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of the draw."
)
@click.option(
    "--pictures",
    type=LOCAL,
    metavar="FILE.html",
    help="Also write a page with the pictures, to which each row of the sheet links.",
)
@click.option(
    "--profile",
    default="default",
    show_default=True,
    help="What the pictures show: a name or a TOML file.",
)
@click.option(
    "--data",
    type=INPUT,
    help="The folder the volumes are in, if they were moved.",
)
@click.option(
    "--allow-restricted", is_flag=True, help="Embed pictures of restricted data, under a banner."
)
@out_option("the sheet (.csv or .json)")
@json_option
def _export(
    bench: Path,
    count: int,
    raters: str,
    overlap: int,
    seed: int,
    pictures: Path | None,
    profile: str,
    data: Path | None,
    allow_restricted: bool,
    out: Path,
    as_json: bool,
) -> None:
    """Write a sheet to fill in: yes or no under spatial, relevant and correct.

    Each row has the study, the question, its options and the key. If answers come from a report, it
    also has the sentence that proves each; with --pictures, a link to what can be seen.
    """
    from situs.base.files import write_atomic
    from situs.bench import open_bench
    from situs.errors import SitusError
    from situs.facts import Quoted
    from situs.review import QuizDraw, audit_sheet, draw_items, write_quiz

    form = out.suffix.lower().removeprefix(".")
    if form not in ("csv", "json"):
        raise SitusError(
            f"cannot write {out.suffix or 'this'}", where=out, fix="end the name in .csv or .json"
        )
    opened = open_bench(bench)
    chosen = draw_items(list(opened.items()), count, seed)
    names = [name.strip() for name in raters.split(",")]
    quote_of = {
        fact.fact_id: fact.derivation.quote
        for fact in opened.facts()
        if isinstance(fact.derivation, Quoted)
    }
    quotes = {
        item.item_id: " ".join(
            quote_of[fact_id] for fact_id in item.fact_ids if fact_id in quote_of
        )
        for item in chosen
    }
    seen = None
    if pictures is not None:
        seen = write_quiz(
            bench,
            pictures,
            QuizDraw(count, seed),
            profile=profile,
            verify=True,
            data=data,
            allow_restricted=allow_restricted,
        )
    sheet = audit_sheet(
        chosen,
        names,
        overlap=overlap,
        seed=seed,
        form=form,
        quotes=quotes if any(quotes.values()) else None,
        pictures=_links(pictures, out, seen.item_ids) if pictures and seen else None,
    )
    write_atomic(out, sheet)
    summary = {"items": count, "rows": count * overlap, "raters": names, "out": str(out)}
    if seen is not None:
        summary |= {"pictures": str(pictures), "with_pictures": seen.items}
    if as_json:
        print_json(summary)
        return
    print_table(
        f"{out}: {counted(count * overlap, 'row')}",
        ["items", "raters per item"],
        [[f"{count:,}", str(overlap)]],
    )
    if seen is not None:
        echo(f"{pictures}: {seen.items:,} items with pictures, {seen.bytes / 1e6:.1f} MB")


def _links(page: Path, sheet: Path, items: Sequence[str]) -> dict[str, str]:
    """Item → its place on the page, as seen from the sheet: both may be sent on together."""
    from urllib.parse import quote

    path = Path(os.path.relpath(page.absolute(), sheet.absolute().parent)).as_posix()
    return {item: f"{quote(path)}#{quote(item)}" for item in items}


@command.command("import")
@click.argument("bench", type=INPUT)
@click.argument("sheets", nargs=-1, required=True, type=INPUT)
@click.option(
    "--validator",
    metavar="RATER",
    help="The rater that is a model which vetted the items; it has no vote.",
)
@click.option(
    "--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of the bootstrap."
)
@json_option
def _import(
    bench: Path, sheets: tuple[Path, ...], validator: str | None, seed: int, as_json: bool
) -> None:
    """Read filled-in sheets and print shares and agreement. A validator's sheet is recognised by
    its column `role`.

    A folder of `situs review export` counts as a sheet; its readers' verdicts on the keys also go
    into the bench, and the key-error rate onto its card.
    """
    from situs.bench import open_bench
    from situs.review import audit_agreement, read_audit
    from situs.review.station.results import is_export, keep_key_readings, read_results

    opened = open_bench(bench)
    exports = {sheet: read_results(sheet) for sheet in sheets if is_export(sheet)}
    files = [exports[sheet].audit_sheet if sheet in exports else sheet for sheet in sheets]
    rows = [row for file in files for row in read_audit(file)]
    result = audit_agreement(rows, list(opened.items()), validator=validator, seed=seed)
    for results in exports.values():
        sentence = keep_key_readings(bench, opened.info.content_hash, results)
        if not as_json:
            echo(f"reader-verified: {sentence}")
    if as_json:
        print_json(result)
        return
    for text in result.warnings:
        warn(text)
    _print(result)


def _print(result: AuditResult) -> None:
    rows = [
        [
            question,
            f"{yes:,} of {n:,}",
            f"{yes / n:.3f}",
            f"{low:.3f} – {high:.3f}",
            str(result.tied.get(question, "")),
        ]
        for question, (yes, n, low, high) in result.shares.items()
    ]
    raters = ", ".join(f"{name} {count:,}" for name, count in result.raters.items())
    caption = f"{result.items:,} items read by {raters}; {result.open_cells:,} cells left open. "
    caption += (
        "One vote per item, by the majority of its readers; a tie counts as no. "
        "A validator has no vote where people read."
    )
    print_table("shares", ["question", "yes", "share", "95 % interval", "tied"], rows, caption)
    rows = [
        [
            row.question,
            row.raters,
            f"{row.items:,}",
            *(
                "–"
                if value is None
                else f"{value:.3f}" + ("" if ci is None else f" ({ci[0]:.2f} – {ci[1]:.2f})")
                for value, ci in (
                    (row.percent, row.percent_ci95),
                    (row.kappa, row.kappa_ci95),
                    (row.ac1, row.ac1_ci95),
                    (row.alpha, row.alpha_ci95),
                )
            ),
        ]
        for row in result.agreement
    ]
    print_table("agreement", ["question", "raters", "items", "equal", "κ", "AC1", "α"], rows)
