"""Writing a report: read, score, choose, embed, render."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path

import msgspec

from situs import __version__
from situs.base.collecting import give_memory_back
from situs.base.files import write_all
from situs.base.page import script_parts
from situs.base.text import counted
from situs.bench import Bench, Locations, read_readings
from situs.errors import SitusError
from situs.facts import Fact
from situs.items import Item
from situs.probe import source_of_made, volumes_of
from situs.report.causes import budget_table
from situs.report.charts.figures import Chart, board_chart, charts_of
from situs.report.charts.vector_files import chart_files, check_charts_folder
from situs.report.covered import CoveredItem, series_key
from situs.report.page import Page, render_page
from situs.report.pictures.choice import in_picture_order, worth
from situs.report.pictures.embedded import Embedded, embed_pictures, pictured_series
from situs.report.pictures.strips import StripStore
from situs.report.scored import ReportedRun, read_runs
from situs.report.sessions import sessions_of, tables_of_rooms
from situs.report.tables.leaderboard import Board, board_of, grid_of
from situs.report.tables.paper import paper_table
from situs.report.tables.standing import standings_of
from situs.report.tables.verdicts import verdicts_of, with_probed_gains
from situs.report.tables.wording import wording_of
from situs.report.viewer.counterfactuals import counterfactuals_of, diagnosis_table
from situs.report.viewer.payload import Detail, FactsShown, Payload, build_payload
from situs.score import HEADLINE, key_errors, published_beside
from situs.tables import check_tables_folder, csv_text, table_files

__all__ = ["ReportResult", "facts_for", "write_report"]

_FILE_BYTES = 30_000_000
_SLACK_BYTES = 200_000
"""Page, style, script and tables."""
_SHOWN_FIRST = 200
"""Items whose details are shown whatever there is no room for."""

_FEW_PATIENTS = 30
_TOO_FEW_PATIENTS = 10


class ReportResult(msgspec.Struct, frozen=True):
    """What was written."""

    path: Path
    runs: int
    items: int
    pictures_embedded: int
    """Items with pictures."""
    left_out: str
    bytes: int
    tables: int = 0
    """Files of tables written beside it."""
    charts: int = 0
    """Files of charts written beside it."""


class ReportOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What a report shows, and what is written beside it."""

    bench: Path | None = None
    """The runs' bench, if it was moved."""
    data: Path | None = None
    """The folder the volumes are in, if they were moved."""
    pictures: int = 12
    """So many items get pictures, wrong answers first, as far as `max_bytes` reach."""
    allow_pixels: bool = False
    """Without it a restricted bench embeds no pixels and no quotes of reports."""
    max_bytes: int = _FILE_BYTES
    tables: Path | None = None
    """A folder for every table as Markdown, LaTeX and CSV."""
    charts: Path | None = None
    """A folder for every chart as SVG and PDF."""
    names: Sequence[str] = ()
    """What the runs are called, in their order."""
    published: str | None = None
    """A paper whose numbers stand beside those of the runs."""
    seed: int = 0
    stratum: str = HEADLINE


_PLAIN = ReportOptions()


def write_report(
    runs: Sequence[Path],
    out: Path,
    options: ReportOptions = _PLAIN,
) -> ReportResult:
    """Write one self-contained HTML file about the runs, which must be of one bench."""
    if options.pictures < 0:
        raise SitusError(
            f"cannot show {options.pictures} pictures", where="--pictures", fix="give 0 or more"
        )
    check_tables_folder(options.tables)
    check_charts_folder(options.charts)
    covered, scored = read_runs(runs, options.bench, options.seed, options.names, options.stratum)
    opened = covered.bench
    studies = {study.study_id: study for study in opened.studies()}
    withheld = opened.info.restricted and not options.allow_pixels
    available = set() if withheld or not options.pictures else _pictured(opened, options.data)
    ordered = in_picture_order(covered, lambda item: worth(item, scored), options.seed)
    candidates = [item for item in ordered if series_key(item) in available]
    drawable = candidates or [item for item in ordered if item.series and item.has_boxes]
    beside = counterfactuals_of(runs, scored, opened.info.content_hash, options.data)
    drawn_first = [item.item_id for item in drawable[: options.pictures]]
    shown_first = ordered[: max(options.pictures, _SHOWN_FIRST)]
    first = {item.item_id for item in shown_first}
    # Only these are shown with their steps of reasoning, which take most of the room.
    detailed = covered.items({*first, *drawn_first})
    chosen = [detailed[item_id] for item_id in drawn_first]
    facts = facts_for(opened, detailed.values())
    foremost = [item for item_id, item in detailed.items() if item_id in first]
    payload = build_payload(
        opened,
        chain(foremost, covered.others(first)),
        scored,
        FactsShown(opened, facts, first),
        studies,
        quotes=not withheld,
        covered=covered,
        changed=beside.twins(),
    )
    give_memory_back()  # of the items that were gone through
    figures = charts_of(scored, covered)
    drawn = sum(len(picture) for figure in figures for _, picture in figure.pictures) + sum(
        3 * len(csv_text(figure.table)) for figure in figures
    )
    budget = max(0, options.max_bytes - _SLACK_BYTES - drawn - sum(map(len, script_parts(payload))))
    volumes = volumes_of(opened, options.data)
    strips = StripStore(opened, scored, volumes, pixels=not withheld)
    embedded = embed_pictures(
        opened, chosen, studies, facts, volumes, budget - budget // 10, strips, available
    )
    left_out = _left_out(
        payload,
        embedded,
        len(covered),
        len(candidates),
        options.pictures,
        withheld,
        options.max_bytes,
    )
    payload = _with_pictures(payload, embedded, withheld)
    if not withheld:
        _add_twin_pictures(payload, beside.pictures(embedded.items, budget // 10))
    standings = standings_of(scored, covered, opened.info.by_stratum, options.stratum)
    standings = with_probed_gains(standings, runs, scored)
    board, grid, wording = board_of(scored, standings), grid_of(scored), wording_of(scored)
    budgets = {
        run.name: run.budget
        for run in scored
        if run.budget is not None and run.baseline != "oracle"
    }
    causes = budget_table(budgets)
    extra = [table for table in (diagnosis_table(runs, scored), causes) if table is not None]
    extra += tables_of_rooms(scored)
    if options.published is not None:
        extra += published_beside(
            {run.name: run.kept or run.scores for run in scored}, options.published
        )
    page = Page(
        title=opened.info.name,
        facts=_header(opened, covered, scored),
        warnings=_warnings(opened, covered, scored),
        banner=_banner(opened, embedded, withheld),
        verdicts=verdicts_of(runs, scored),
        board=board,
        grid=grid,
        wording=wording,
        extra=extra,
        charts=figures,
        sessions=(
            []
            if withheld
            else sessions_of(scored, candidates, options.pictures, budget // 4, options.data)
        ),
        left_out=left_out,
        version=__version__,
    )
    html = render_page(page, payload)
    paper = paper_table(board)
    all_tables = [
        *([paper] if paper is not None else []),
        board.table,
        grid.table,
        *([wording] if wording is not None else []),
        *extra,
    ]
    tables = (
        {}
        if options.tables is None
        else table_files(options.tables, [*all_tables, *(f.table for f in figures)])
    )
    charts = (
        {} if options.charts is None else chart_files(options.charts, _with_board(board, figures))
    )
    write_all({out: html, **tables, **charts})
    return ReportResult(
        out,
        len(scored),
        len(covered),
        len(embedded.items),
        left_out,
        sum(map(len, html)),
        len(tables),
        len(charts),
    )


def _with_board(board: Board, figures: Sequence[Chart]) -> list[Chart]:
    first = board_chart(board)
    return [*([first] if first is not None else []), *figures]


def _pictured(bench: Bench, data: Path | None) -> set[str]:
    """Series with an image at hand;
    a probe's bench draws on the images of the bench it was made from."""
    made = source_of_made(bench.folder)
    home = bench if made is None else made[0]
    return pictured_series(home.studies(), Locations.read(home.folder, data))


def facts_for(bench: Bench, items: Iterable[Item]) -> Mapping[str, Fact]:
    """All facts of the items' studies by id:
    those they name, those these come from, centres and boxes."""
    studies = {item.study_id for item in items}
    return {fact.fact_id: fact for fact in bench.facts(study_id=studies)} if studies else {}


def _with_pictures(payload: Payload, embedded: Embedded, withheld: bool) -> Payload:
    pictured = set(embedded.items)
    rows = [
        msgspec.structs.replace(row, pictured=True) if row.item_id in pictured else row
        for row in payload.rows
    ]
    note = (
        "No pictures: the data are restricted."
        if withheld
        else "No pictures of this item are embedded. The text below is complete."
    )
    return msgspec.structs.replace(payload, rows=rows, shared=embedded.shared, picture_note=note)


def _add_twin_pictures(
    payload: Payload, pictures: Mapping[tuple[str, str], tuple[str, str]]
) -> None:
    """Put a picture of the changed scan beside each counterfactual twin."""
    payload.shared.frames.update(dict(pictures.values()))
    for item_id in {item_id for item_id, _ in pictures}:
        detail = msgspec.json.decode(payload.details[item_id], type=Detail)
        twins = tuple(
            (
                msgspec.structs.replace(twin, picture=pictures[item_id, twin.probe][0])
                if (item_id, twin.probe) in pictures
                else twin
            )
            for twin in detail.changed
        )
        own = msgspec.structs.replace(detail, changed=twins)
        payload.details[item_id] = msgspec.Raw(msgspec.json.encode(own))


def _left_out(
    payload: Payload,
    embedded: Embedded,
    items: int,
    candidates: int,
    asked: int,
    withheld: bool,
    max_bytes: int,
) -> str:
    without = items - len(embedded.items)
    parts = []
    if withheld:
        parts.append("no pixels and no report quotes are embedded, because the bench is restricted")
    elif without:
        parts.append(f"pictures of {without:,} of {items:,} items ({asked:,} were asked for)")
        if candidates < items and candidates < asked:
            parts.append(f"{counted(items - candidates, 'item')} without an image at hand")
    if embedded.unreadable:
        parts.append(
            f"the image of {counted(embedded.unreadable, 'item')} could not be read, verified or"
            " fitted in"
        )
    if embedded.items:
        parts.append(
            "pictured items show at most about 40 slices per plane, those around their structures"
        )
    if embedded.shortened:
        parts.append(
            f"{counted(embedded.shortened, 'view')} shortened, to keep the file under"
            f" {max_bytes / 1e6:.0f} MB"
        )
    if payload.rows_left_out:
        parts.append(f"{counted(payload.rows_left_out, 'item')} not listed, to keep the file small")
    if payload.details_left_out:
        parts.append(
            f"derivations of {counted(payload.details_left_out, 'item')}, to keep the file small"
        )
    text = "; ".join(parts)
    return f"Left out: {text}." if text else "Nothing was left out."


def _header(
    bench: Bench, items: Sequence[CoveredItem], runs: Sequence[ReportedRun]
) -> list[tuple[str, str]]:
    info = bench.info
    errors = key_errors(read_readings(bench.folder))
    patients = len({item.cluster for item in items})
    strata = Counter(item.stratum for item in items)
    spread = ", ".join(
        f"{count:,} {name or 'no stratum'}" for name, count in sorted(strata.items())
    )
    items_words = (
        f"{len(items):,}"
        if len(items) == info.counts.get("items")
        else (f"{len(items):,} of {info.counts.get('items', 0):,}")
    )
    return [
        ("Source", info.source),
        ("Patients", f"{patients:,}"),
        ("Items", f"{items_words} ({spread})"),
        ("Runs", f"{len(runs):,}"),
        ("Seed", str(info.seed)),
        ("Key", errors.words if errors is not None else "not reader-verified"),
        ("Licence", info.licence or "not stated"),
        ("Content hash", info.content_hash[:12]),
    ]


def _warnings(bench: Bench, items: Sequence[CoveredItem], runs: Sequence[ReportedRun]) -> list[str]:
    patients = len({item.cluster for item in items})
    words = []
    so_many = counted(patients, "patient")
    if patients < _TOO_FEW_PATIENTS:
        words.append(
            f"Only {so_many}: too few for intervals (10 needed). Read the accuracies as examples."
        )
    elif patients < _FEW_PATIENTS:
        words.append(f"Only {so_many}: intervals are wide and approximate (30 advised).")
    incomplete: dict[str, list[str]] = defaultdict(list)
    for run in runs:
        if run.incomplete:
            lost = {
                s: n for s, n in run.states.items() if s in ("failed", "missing", "unjudged") and n
            }
            why = ", ".join(f"{n:,} {state}" for state, n in sorted(lost.items()))
            incomplete[f"incomplete ({why} of {run.items:,}) and not ranked"].append(run.name)
    for why, names in incomplete.items():
        words.append(f"{', '.join(names)} {'is' if len(names) == 1 else 'are'} {why}.")
    if any(run.states["unjudged"] for run in runs):
        words.append(
            "Free-text answers have not been judged yet: run situs score with --verdicts, then"
            " write the report again."
        )
    if len({run.items for run in runs}) > 1:
        words.append(
            "The runs cover different numbers of items; blind rows are worked out on the widest."
        )
    if bench.info.restricted:
        words.append(
            "The bench is restricted: share this file only with people who may see the data."
        )
    return words


def _banner(bench: Bench, embedded: Embedded, withheld: bool) -> str:
    if bench.info.restricted and not withheld:
        contents = "pixels of patients" if embedded.items else "restricted data of patients"
        return f"RESTRICTED DATA: this file holds {contents}. Do not share it."
    return ""
