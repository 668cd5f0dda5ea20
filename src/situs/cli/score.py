"""`situs score`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from situs.cli.options.asking import ask_options, asking_from
from situs.cli.options.judges import ask_judges, print_asked
from situs.cli.output.numbers import STRATUM_HELP
from situs.cli.output.printing import json_option, print_json, warn

if TYPE_CHECKING:
    from situs.room import RoomScores
    from situs.score import Scores


@click.command("score")
@click.argument("bench", type=click.Path(path_type=Path))
@click.argument("answers", metavar="RUN|ANSWERS.jsonl", type=click.Path(path_type=Path))
@click.option(
    "--metrics", help="Only these, comma-separated; sbert is computed only if named here."
)
@click.option(
    "--verdicts",
    multiple=True,
    metavar="NAME=FILE",
    help="A judge's verdicts on free-text answers; repeat.",
)
@click.option(
    "--judge",
    "judges",
    multiple=True,
    metavar="SPEC",
    help="A model to judge free-text answers (all others are read by rule), e.g. openai:MODEL@URL?batch=5&name=gpt; "
    "repeat for a jury.",
)
@click.option(
    "--protocol", help="Also by the released rules of a paper: ct-spatialvqa or sgmri-vqa."
)
@click.option(
    "--profile",
    help="For ANSWERS.jsonl: what was shown, a name or a TOML file. Default: every frame at its own pixels.",
)
@click.option(
    "--reply-language",
    metavar="LANG",
    help="The language of the replies: en, de, fr, es or zh. Default: the profile's, which is en unless it says other.",
)
@click.option(
    "--human",
    type=click.Path(path_type=Path),
    help="Human verdicts on some answers, to calibrate judges.",
)
@click.option(
    "--beside",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="RUN",
    help="Of a run in a room: other runs of the bench beside it, e.g. without scrolling; repeat.",
)
@click.option(
    "--truthful",
    type=click.Path(path_type=Path),
    metavar="RUN",
    help="Of a run with a lying tool: the same room with truthful tools, to tell the damage.",
)
@click.option("--stratum", default="headline", show_default=True, help=STRATUM_HELP)
@click.option(
    "--breakdowns",
    "break_down",
    is_flag=True,
    help="By structure, system, side, size, difficulty and more.",
)
@click.option(
    "--signatures",
    "explain",
    is_flag=True,
    help="Why answers are wrong, and whether stated steps hold.",
)
@click.option(
    "--compare-published",
    "published",
    is_flag=False,
    flag_value="",
    metavar="[PAPER]",
    help="The papers' numbers beside: sgmri-vqa, ct-spatialvqa, spatialmed, 3dreasonknee. Default: by the bench.",
)
@click.option(
    "--tables",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Write every table as CSV, Markdown and LaTeX.",
)
@click.option(
    "--seed", type=click.IntRange(0), default=0, show_default=True, help="Of the bootstrap."
)
@ask_options
@json_option
def command(
    bench: Path,
    answers: Path,
    metrics: str | None,
    verdicts: tuple[str, ...],
    judges: tuple[str, ...],
    protocol: str | None,
    profile: str | None,
    reply_language: str | None,
    human: Path | None,
    stratum: str,
    break_down: bool,
    explain: bool,
    published: str | None,
    tables: Path | None,
    seed: int,
    beside: tuple[Path, ...],
    truthful: Path | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Score a run on BENCH, beside rows that show how much of the score needs no image.

    The headline, shown first, is accuracy on the questions with options of --stratum, with chance and the blind rows
    on the same items; numbers stand apart, as skill over the mean of other patients. Every table, report and
    comparison shows this number, with this n and chance.

    Accuracy = right / all answerable items: unparsed and refused answers count as not right, a number is right inside
    its fact's interval, and boxes are if they overlap the true ones by half, label by label. Intervals are over
    patients, not items. Free text is right if more than half of all judges say so; text metrics compare wording and
    never rank. A run in a room also gets what it saw of the evidence, what a look was worth, and what a lying tool
    did to it. Verdicts of --judge are kept in the run, under verdicts/: a second call asks only what is left. Writes
    scores.json into the run; --tables makes its own folder.
    """
    import msgspec

    from situs.base.files import write_atomic
    from situs.errors import SitusError
    from situs.profiles import load_profile
    from situs.room import room_scores, room_tables
    from situs.score import (
        Verdicts,
        choose_metrics,
        open_replies,
        parse_verdicts_option,
        score_tables,
        tables_of_run,
    )
    from situs.score.on_request import extra_tables, extras_of, paper_of
    from situs.tables import check_tables_folder, print_table, write_tables

    check_tables_folder(tables)
    files = tuple(parse_verdicts_option(text) for text in verdicts)
    if profile is not None and answers.is_dir():
        raise SitusError("a run knows its profile", where="--profile", fix="drop it")
    shown = None if profile is None else load_profile(profile)
    paper = paper_of(bench, published)
    chosen = choose_metrics(metrics)
    asked = ask_judges(
        bench, answers, judges, [name for name, _ in files], protocol, asking_from(options)
    )
    given = Verdicts((*files, *asked.files), protocol, human, models=dict(asked.models))
    replies = open_replies(answers, bench, profile=shown, reply_language=reply_language)
    run, scores = tables_of_run(
        replies, metrics=chosen, seed=seed, verdicts=given, rates=asked.rates, stratum=stratum
    )
    extras = extras_of(
        run,
        scores,
        answers.name,
        seed=seed,
        break_down=break_down or tables is not None,
        explain=explain,
        paper=paper,
    )
    room = room_scores(run, beside, truthful)
    if tables is not None:
        own = [] if room is None else room_tables(room)
        write_tables(tables, [*score_tables(scores), *own, *extra_tables(extras)])
    if answers.is_dir():
        write_atomic(
            answers / "scores.json",
            msgspec.json.format(
                msgspec.json.encode(msgspec.structs.asdict(scores) | _of_room(room)), indent=1
            )
            + b"\n",
        )
    if as_json:
        more = {
            name: value
            for name, value in msgspec.structs.asdict(extras).items()
            if value is not None
        }
        judged = {"judges": asked.asked} if judges else {}
        print_json(_contract(scores) | judged | more | _of_room(room))
        return
    print_asked(asked.asked)
    for text in scores.warnings:
        warn(text)
    told = [] if room is None else room_tables(room)
    for table in [*score_tables(scores, answers.name, brief=True), *told]:
        print_table(table)
    if extras.signatures is not None:
        for text in extras.signatures.warnings:
            warn(text)
    if not break_down:
        extras = msgspec.structs.replace(extras, breakdowns=None)
    for table in extra_tables(extras):
        print_table(table)


def _of_room(room: RoomScores | None) -> dict[str, object]:
    """The keys that a run in a room adds."""
    if room is None:
        return {}
    about = {"name": room.room, "tools": room.tools_name, "undecided": room.undecided}
    told = {"evidence": room.evidence, "looks": room.looks, "tools": room.tools, "room": about}
    return told | ({"beside": room.beside} if room.beside else {})


def _contract(scores: Scores) -> dict[str, object]:
    """The keys the command line promises; each baseline as its list of entries."""
    return {
        "headline": scores.headline,
        "baselines_headline": {
            name: table.headline for name, table in scores.baselines.items() if table.headline
        },
        "overall": scores.overall,
        "by_task": scores.by_task,
        "by_tag": scores.by_tag,
        "by_stratum": scores.by_stratum,
        "baselines": {name: table.overall for name, table in scores.baselines.items()},
        "baselines_by_task": {name: table.by_task for name, table in scores.baselines.items()},
        "baselines_by_stratum": {
            name: table.by_stratum for name, table in scores.baselines.items()
        },
        "over_best_shortcut": scores.over_best_shortcut,
        "not_computed": scores.not_computed,
        "warnings": scores.warnings,
        "unread": scores.unread,
        "by_subscore": scores.by_subscore,
        "baselines_by_tag": {
            name: table.by_tag for name, table in scores.baselines.items() if table.by_tag
        },
        "baselines_by_subscore": {
            name: table.by_subscore for name, table in scores.baselines.items()
        },
        "jury": scores.jury,
        "published": scores.sgmri or scores.published,
    }
