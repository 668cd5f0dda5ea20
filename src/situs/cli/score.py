"""`situs score`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from situs.cli.options.asking import ask_options, asking_from
from situs.cli.options.judges import ask_judges, print_asked
from situs.cli.output.forecast import dry_run_option, print_forecast
from situs.cli.output.numbers import STRATUM_HELP
from situs.cli.output.paths import INPUT, OUTPUT, writes
from situs.cli.output.printing import json_option, print_json, warn
from situs.cli.output.progress import working

if TYPE_CHECKING:
    from situs.room import RoomScores
    from situs.score import Scores
    from situs.score.scored_run import ScoredRun
    from situs.tables import Table


@click.command("score")
@click.argument("bench", type=INPUT)
@click.argument("answers", metavar="RUN|ANSWERS.jsonl", type=INPUT)
@click.option(
    "--metrics", help="Only these, comma-separated; sbert is computed only if named here."
)
@click.option(
    "--verdicts",
    multiple=True,
    metavar="NAME=FILE",
    help="A judge's verdicts on free-text answers; repeatable.",
)
@click.option(
    "--judge",
    "judges",
    multiple=True,
    metavar="SPEC",
    help=(
        "A model to judge free-text answers (all others are read by rule), e.g."
        " openai:MODEL@URL?batch=5&name=gpt; repeat for a jury."
    ),
)
@click.option(
    "--protocol", help="Also score by the rules a paper released: ct-spatialvqa or sgmri-vqa."
)
@click.option(
    "--profile",
    help=(
        "For ANSWERS.jsonl: what was shown, a name or a TOML file. Default: every frame at its own"
        " pixels."
    ),
)
@click.option(
    "--reply-language",
    metavar="LANG",
    help="The language of the replies: en, de, fr, es or zh. Default: the profile's, usually en.",
)
@click.option(
    "--human",
    type=INPUT,
    help="Human verdicts on some answers, to calibrate judges.",
)
@click.option(
    "--beside",
    multiple=True,
    type=INPUT,
    metavar="RUN",
    help=(
        "For a run in a room: other runs of the bench to compare with, e.g. without scrolling;"
        " repeatable."
    ),
)
@click.option(
    "--truthful",
    type=INPUT,
    metavar="RUN",
    help="For a run with a lying tool: the same room with truthful tools, to measure the damage.",
)
@click.option("--stratum", default="headline", show_default=True, help=STRATUM_HELP)
@click.option(
    "--breakdowns",
    "break_down",
    is_flag=True,
    help=(
        "Below the headline: by structure, system, side, size, difficulty and more. The other"
        " tables are shown without this option."
    ),
)
@click.option(
    "--signatures",
    "explain",
    is_flag=True,
    help="Below the headline: why answers are wrong, and whether stated steps hold.",
)
@click.option(
    "--compare-published",
    "published",
    is_flag=False,
    flag_value="",
    metavar="[PAPER]",
    help=(
        "Show a paper's numbers alongside: sgmri-vqa, ct-spatialvqa, spatialmed, 3dreasonknee."
        " Default: by the bench."
    ),
)
@click.option(
    "--tables",
    type=OUTPUT,
    metavar="DIR",
    help="Write every table as CSV, Markdown and LaTeX.",
)
@click.option(
    "--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of the bootstrap."
)
@dry_run_option
@writes()
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
    dry_run: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Score a run on BENCH, beside rows that show how much of the score needs no image.

    The headline, shown first, is accuracy on the questions of --stratum that have options, with
    chance and the blind rows on the same items. Every table, report and comparison shows this same
    number. Numeric answers are reported separately, as skill over the prior.

    Accuracy = right / all answerable items. Unparsed and refused answers count as not right; a
    number is right inside its fact's interval; a box is right if it overlaps the true one by half,
    label by label. Free text is right if more than half of all judges say so; text metrics compare
    wording and never rank. Intervals are over patients, not items.

    For a run in a room, score also reports how much of the evidence it saw, what a look was worth,
    and what a lying tool did to it. Verdicts of --judge are kept in the run, under verdicts/: a
    second call asks only for those that are missing. Writes scores.json into the run; --tables
    makes its own folder.
    """
    import msgspec

    from situs.base.files import write_atomic
    from situs.errors import SitusError
    from situs.profiles import load_profile
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
        raise SitusError("a run has its own profile", where="--profile", fix="leave it out")
    shown_profile = None if profile is None else load_profile(profile)
    paper = paper_of(bench, published)
    chosen = choose_metrics(metrics)
    if dry_run:
        from situs.judges import forecast_judges

        forecast = forecast_judges(
            bench,
            answers,
            judges,
            asking_from(options),
            taken=[name for name, _ in files],
            protocol=protocol,
        )
        print_forecast(forecast, as_json)
        return
    asked = ask_judges(
        bench, answers, judges, [name for name, _ in files], protocol, asking_from(options)
    )
    all_verdicts = Verdicts((*files, *asked.files), protocol, human, models=dict(asked.models))
    replies = open_replies(answers, bench, profile=shown_profile, reply_language=reply_language)
    with working("reading and scoring replies"):
        run, scores = tables_of_run(
            replies,
            metrics=chosen,
            seed=seed,
            verdicts=all_verdicts,
            rates=asked.rates,
            stratum=stratum,
        )
    with working("breaking the score down"):
        extras = extras_of(
            run,
            scores,
            answers.name,
            seed=seed,
            break_down=break_down or tables is not None,
            explain=explain,
            paper=paper,
        )
    room, of_room = _in_room(run, beside, truthful)
    if tables is not None:
        write_tables(tables, [*score_tables(scores), *of_room, *extra_tables(extras)])
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
    of_score = score_tables(scores, answers.name, brief=True)
    # With all other tables, the answers to "where?" and "why?" would be off the screen.
    for table in [*(of_score[:1] if break_down or explain else of_score), *of_room]:
        print_table(table)
    if extras.signatures is not None:
        for text in extras.signatures.warnings:
            warn(text)
    if not break_down:
        extras = msgspec.structs.replace(extras, breakdowns=None)
    for table in extra_tables(extras, brief=True):
        print_table(table)


def _in_room(
    run: ScoredRun, beside: tuple[Path, ...], truthful: Path | None
) -> tuple[RoomScores | None, list[Table]]:
    """What a run in a room saw, and its tables; nothing for any other run, which loads no room."""
    info = run.replies.info
    if (info is None or not info.room) and not beside and truthful is None:
        return None, []
    from situs.room import room_scores, room_tables

    room = room_scores(run, beside, truthful)
    return room, [] if room is None else room_tables(room)


def _of_room(room: RoomScores | None) -> dict[str, object]:
    """The keys that a run in a room adds."""
    if room is None:
        return {}
    about = {
        "name": room.room,
        "tools": room.tools_name,
        "undecided": room.undecided,
        "unjudged": room.unjudged,
    }
    sections = {"evidence": room.evidence, "looks": room.looks, "tools": room.tools, "room": about}
    return sections | ({"beside": room.beside} if room.beside else {})


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
        "same_patient": scores.same_patient,
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
