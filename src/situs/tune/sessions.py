"""Training data from sessions in a room: every action of those that were right and had seen what
they answered.

A turn is an example of its own: the conversation as it was sent, then the reply. So only replies
are supervised that were actions, and a prompt is what `situs run --room` sends in that turn, also
where older pictures are told instead of shown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from situs.base.files import canonical_json, write_atomic
from situs.base.publish import new_folder
from situs.clients import Image, Message
from situs.errors import SitusError
from situs.export import Trace, traces_of
from situs.room.playback import room_of
from situs.run import open_run
from situs.tune.dataset import BuildChoices, Built, built_of, check_splits, refuse_restricted
from situs.tune.record import FORMAT, MARKER, Example, Manifest, Turn
from situs.tune.selection import check_patients
from situs.tune.writer import ExampleWriter

__all__ = ["SESSIONS", "build_from_sessions", "is_room_run", "session_examples"]

SESSIONS = "sessions"
"""The target of such data."""
Progress = Callable[[int, int], None]
_AS_THEY_WERE = ("target", "box_form", "profile", "frames", "size", "mix", "negatives")
"""Choices about examples that sessions have made already."""


def is_room_run(folder: Path) -> bool:
    """Whether a folder is a run in a room."""
    return (folder / "room.json").is_file()


def build_from_sessions(
    run: Path,
    out: Path,
    choices: BuildChoices,
    *,
    data: Path | None = None,
    allow_restricted: bool = False,
    overwrite: bool = False,
    progress: Progress = lambda done, total: None,
) -> Built:
    """Write the training data of a run's sessions; refused if nothing of them may be learnt."""
    check_splits(choices.splits)
    _refuse_choices(choices)
    room = room_of(run)
    info, bench = open_run(run)
    refuse_restricted(bench, allow_restricted)
    check_patients(bench)
    with new_folder(out, marker=MARKER, overwrite=overwrite) as scratch:
        writer = ExampleWriter(scratch, "json", max_length=choices.max_length, model=choices.model)
        examples = session_examples(run, choices.splits, data=data, left_out=writer.left_out)
        for number, (example, images) in enumerate(examples, start=1):
            sizes = [(float(image.width), float(image.height)) for image in images]
            if reason := writer.add(example, images, sizes):
                writer.left_out[reason] += 1
            progress(number, number)
        about = Manifest(
            format=FORMAT,
            bench=bench.info.name,
            bench_hash=bench.info.content_hash,
            source=bench.info.source,
            licence=bench.info.licence,
            restricted=bench.info.restricted,
            target=SESSIONS,
            box_form="json",
            frames=f"the pictures asked for in the room {room.name}",
            seed=choices.seed,
            room=room.hash,
            notes=(f"sessions of {info.client}, one example per turn",),
        )
        manifest = writer.finish(
            about,
            info.profile,
            source=run,
            needed=choices.splits[0],
            fix="only right sessions of train or val that saw the evidence are learnt from",
        )
        write_atomic(scratch / "room.json", (run / "room.json").read_bytes())
        places = {"bench": str(bench.folder.resolve()), "run": str(run.resolve())}
        write_atomic(scratch / "locations.json", canonical_json(places) + b"\n", private=True)
    return built_of(manifest, out)


def _refuse_choices(choices: BuildChoices) -> None:
    usual = BuildChoices()
    for name in _AS_THEY_WERE:
        if getattr(choices, name) != getattr(usual, name):
            raise SitusError(
                "sessions are taken as they are",
                where=f"--{name.replace('_', '-')}",
                fix="leave it out",
            )
    if not choices.pictures:
        raise SitusError("sessions have pictures", where="--no-pictures", fix="leave it out")


def session_examples(
    run: Path,
    splits: tuple[str, ...],
    *,
    bench: Path | None = None,
    data: Path | None = None,
    left_out: Counter[str] | None = None,
) -> Iterator[tuple[Example, tuple[Image, ...]]]:
    """The turns of successful sessions that saw the evidence, each with its pictures; train before
    val.

    `left_out` counts why sessions and turns make no example.
    """
    counts = Counter[str]() if left_out is None else left_out
    for split in splits:
        others = Counter[str]()
        for trace in traces_of(run, bench=bench, data=data, splits=(split,), left_out=others):
            for turn in trace.turns:
                if turn.is_action:
                    yield _example(trace, turn.number, turn.sent, turn.reply)
                else:
                    counts["a reply was no action that could be done"] += 1
        # The sessions of the other splits are passed over here and looked at in their own turn.
        mine = {why: n for why, n in others.items() if not why.startswith("of the split ")}
        counts.update(mine)


def _example(
    trace: Trace, number: int, sent: tuple[Message, ...], reply: str
) -> tuple[Example, tuple[Image, ...]]:
    images = tuple(part for message in sent for part in message.parts if isinstance(part, Image))
    turns = tuple(_turn(message) for message in sent)
    example = Example(
        item_id=f"{trace.item_id}#{number}",
        patient_id=trace.patient_id,
        study_id=trace.study_id,
        series=trace.series,
        split=trace.split,
        task=trace.task,
        form=trace.form,
        prompt=sent[-1].text(),
        completion=reply,
        pictures=(),
        shown=len(images),
        boxes=-1,
        turns=turns,
    )
    return example, images


def _turn(message: Message) -> Turn:
    """A message as it is stored.

    Rooms put pictures before words; any other order cannot be written.
    """
    kinds = [isinstance(part, Image) for part in message.parts]
    if kinds != sorted(kinds, reverse=True) or message.tool_calls or message.role == "tool":
        raise SitusError(
            "a message has pictures after words, or calls a tool",
            where="sessions",
            fix="use sessions without native tool calls",
        )
    texts = tuple(part for part in message.parts if not isinstance(part, Image))
    return Turn(message.role, sum(kinds), texts)
