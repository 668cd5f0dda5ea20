"""Sessions as training examples: whole conversations with their pictures,
only where the model saw what it answered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from situs.base.files import file_name
from situs.clients import Image, Message
from situs.export.about import About
from situs.export.written import JsonLines, Written, write_readme
from situs.room.playback import PlayedSession, Replayer
from situs.score import open_replies, read_run

__all__ = ["Trace", "TracedTurn", "traces_of", "write_traces"]

_REFUSED_SPLITS = ("test",)


class TracedTurn(msgspec.Struct, frozen=True):
    """One turn of a session, as it was asked and answered."""

    number: int
    sent: tuple[Message, ...]
    """The conversation as the model got it."""
    reply: str
    is_action: bool
    """Whether the reply was an action that could be done; a mistake is no example."""


class Trace(msgspec.Struct, frozen=True):
    """One right session whose evidence was seen: an example for multi-turn training."""

    item_id: str
    study_id: str
    patient_id: str
    split: str
    messages: tuple[Message, ...]
    """From the question to the answer."""
    looks: int
    decided_at: int
    """The look by which all of the evidence had been seen."""
    task: str = ""
    form: str = ""
    series: str = ""
    turns: tuple[TracedTurn, ...] = ()


def traces_of(
    run: Path,
    *,
    bench: Path | None = None,
    data: Path | None = None,
    splits: tuple[str, ...] | None = None,
    left_out: Counter[str] | None = None,
) -> Iterator[Trace]:
    """The successful, saw-it sessions of a run in a room, played back; never one that was right
    unseen.

    `splits` are those that may be trained on; None: all but `test`, unless the bench has no other.
    `left_out` counts reasons.
    """
    counts = Counter[str]() if left_out is None else left_out
    replayer = Replayer(run, bench, data)
    right = {
        item_id
        for item_id, outcome in (
            read_run(open_replies(run, replayer.bench.folder)).outcomes().items()
        )
        if outcome.right
    }
    allowed = _splits(replayer, splits)
    for played in replayer.sessions():
        reason = _why_not(played, played.item.item_id in right, allowed)
        if reason:
            counts[reason] += 1
        else:
            yield _trace(played)


def _splits(replayer: Replayer, splits: tuple[str, ...] | None) -> set[str]:
    if splits is not None:
        return set(splits)
    known = {study.split for study in replayer.bench.studies()}
    return known - set(_REFUSED_SPLITS) or known


def _why_not(played: PlayedSession, right: bool, allowed: set[str]) -> str:
    looked = played.looked
    if played.item.split not in allowed:
        return f"of the split {played.item.split}"
    if not right:
        return "not right"
    if not looked.known:
        return "right, but what has to be seen is not known"
    if not looked.saw_all:
        return "right without having seen the evidence"
    if looked.end != "answered" or looked.heard:
        return "it did not end by itself" if looked.end != "answered" else "a tool lied to it"
    return ""


def _trace(played: PlayedSession) -> Trace:
    item, looked = played.item, played.looked
    assert looked.decided_at is not None
    return Trace(
        item.item_id,
        item.study_id,
        item.patient_id,
        item.split,
        played.messages,
        looked.looks,
        looked.decided_at,
        item.task,
        item.form,
        item.series,
        tuple(
            TracedTurn(number, sent, reply.text, outcome.state == "done" and not reply.tool_calls)
            for number, (sent, reply, outcome) in enumerate(
                zip(played.sent, played.rows.replies, played.rows.outcomes), start=1
            )
        ),
    )


def write_traces(traces: Iterator[Trace], folder: Path, about: About) -> Written:
    """`traces.jsonl` in the chat form that trainers read (`messages` with image paths),
    and `images/` beside it."""
    items = pictures = 0
    written: set[str] = set()
    with JsonLines(folder / "traces.jsonl") as lines:
        for trace in traces:
            items += 1
            images: list[str] = []
            messages = [_plain(message, folder, images) for message in trace.messages]
            pictures += len(set(images) - written)
            written |= set(images)
            lines.add(
                {
                    "id": trace.item_id,
                    "split": trace.split,
                    "messages": messages,
                    "images": images,
                    "looks": trace.looks,
                    "evidence_complete_at": trace.decided_at,
                }
            )
    write_readme(
        folder,
        about,
        [
            (
                "Each line of `traces.jsonl` is a session that was answered correctly after all of"
                " its evidence had been"
            ),
            "seen: `messages` in chat form, `images` in the order of their places.",
        ],
    )
    return Written(items, pictures, 'datasets.load_dataset("json", data_files="traces.jsonl")')


def _plain(message: Message, folder: Path, images: list[str]) -> dict[str, Any]:
    content: list[dict[str, Any]] = []
    for part in message.parts:
        if isinstance(part, Image):
            suffix = "jpg" if part.media_type == "image/jpeg" else "png"
            name = f"images/{file_name(part.digest)}.{suffix}"
            path = folder / name
            path.parent.mkdir(exist_ok=True)
            if not path.exists():
                path.write_bytes(part.data)
            images.append(name)
            content.append({"type": "image", "image": name})
        else:
            content.append({"type": "text", "text": str(part)})
    plain: dict[str, Any] = {"role": message.role, "content": content}
    if message.tool_calls:
        plain["tool_calls"] = [msgspec.to_builtins(call) for call in message.tool_calls]
    if message.tool_call_id:
        plain["tool_call_id"] = message.tool_call_id
    return plain
