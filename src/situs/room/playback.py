"""A session played back: its journal taken again,
every picture made anew and compared with what was shown."""

from __future__ import annotations

import base64
import io
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray

from situs.anatomy import term
from situs.base.files import read_json
from situs.clients import Message
from situs.errors import SitusError
from situs.items import Item
from situs.probe import volumes_of
from situs.profiles import Profile
from situs.room.files import load_room, shipped_rooms, with_tools
from situs.room.journal import FILE, Opened, Outcome, SessionRows, read_turns
from situs.room.looked import Looked, sessions_in, summed_up
from situs.room.schema import Room
from situs.room.session import Session, SessionSettings
from situs.room.tools.ladder import parse_tools
from situs.room.tools.measures import ToolWord, values_in_words
from situs.room.tools.segmentation import SegmentationTool
from situs.room.view.evidence import Target, slices_seen
from situs.room.view.opened import OpenScan, OpenScans
from situs.room.view.scan import Picture, shown_at
from situs.run import open_run

__all__ = ["PlayedSession", "Replayer", "SessionView", "TurnView", "drawn_picture", "view_of"]

_OUTLINE = {True: (64, 220, 120), False: (255, 170, 40)}
"""Of evidence that is clear on a picture, and of what is there but too small or too faint."""
_LINE = (255, 230, 60)


@dataclass(frozen=True)
class PlayedSession:
    """A session that has been taken again."""

    item: Item
    rows: SessionRows
    messages: tuple[Message, ...]
    """The whole conversation."""
    pictures: dict[int, Picture]
    """By number."""
    opened: OpenScan
    looked: Looked
    sent: tuple[tuple[Message, ...], ...] = ()
    """The conversation as it was sent before each reply, where older pictures may be told only."""


class Replayer:
    """Plays sessions of one run; series are opened as they are needed."""

    def __init__(self, run: Path, bench: Path | None = None, data: Path | None = None) -> None:
        self.folder = run
        self.info, self.bench = open_run(run, bench)
        self.room = _begun_as(room_of(run), self.info.profile)
        self._scans = OpenScans(
            self.bench, self.room, self.info.profile, volumes_of(self.bench, data)
        )
        self._tool = SegmentationTool(parse_tools(self.room.tools), self.bench, self._scans)

    def sessions(self, wanted: Iterable[str] | None = None) -> Iterator[PlayedSession]:
        """The sessions that have ended, of all items or of these, in the order they ended."""
        chosen = None if wanted is None else set(wanted)
        items = {
            item.item_id: item
            for item in self.bench.items()
            if chosen is None or item.item_id in chosen
        }
        for item_id, rows in sessions_in(self.folder):
            if item_id in items:
                yield self.play(items[item_id], rows)

    def session(self, item_id: str) -> PlayedSession:
        """One item's session, ended or not."""
        item = next(
            (one for one in self.bench.items() if item_id in (one.item_id, one.source_id)), None
        )
        if item is None:
            fix = "take an item_id from answers.jsonl or the report"
            raise SitusError(f"no item {item_id!r}", where=self.folder, fix=fix)
        rows = SessionRows()
        for row in read_turns(self.folder / FILE):
            if row.item_id == item.item_id:
                rows.add(row)
        if rows.opened is None:
            raise SitusError(
                f"no session on {item_id}", where=self.folder, fix="it was not asked in this run"
            )
        return self.play(item, rows)

    def play(self, item: Item, rows: SessionRows) -> PlayedSession:
        """Take the replies again; a picture that is not what was shown is refused."""
        begun = rows.opened or Opened(item.item_id)
        shown_item = begun.shown or item
        opened = self._scans.take(shown_item)
        try:
            withheld = "silent" if self.info.silent else "text" if self.info.withheld else ""
            # Journals of earlier versions do not say how actions were asked for.
            native = begun.native or any(row.tool_calls for row in rows.replies)
            how = SessionSettings(native=native, withheld=withheld)
            session = Session(
                item,
                opened,
                how,
                targets=begun.targets,
                shown=shown_item,
                segmentation=self._tool.for_item(item, opened),
            )
            sent = []
            for row in rows.replies:
                sent.append(session.messages)
                again = session.step(row.reply())
                stored = rows.outcomes[row.turn - 1] if row.turn <= len(rows.outcomes) else again
                if stored.digest != again.digest:
                    problem = f"turn {row.turn} of {item.item_id} shows a different picture now"
                    fix = "the scan, the profile or Situs has changed"
                    raise SitusError(problem, where=self.folder, fix=fix)
            pictures = dict(enumerate(session.pictures, start=1))
            for stored in rows.outcomes:
                if stored.picture and stored.picture not in pictures:
                    problem = f"turn {stored.turn} of {item.item_id} shows a picture that no reply"
                    fix = "the journal was changed: restore it, or run again"
                    raise SitusError(f"{problem} asked for", where=self.folder / FILE, fix=fix)
            return PlayedSession(
                item,
                rows,
                session.messages,
                pictures,
                opened,
                summed_up(item.item_id, rows),
                tuple(sent),
            )
        finally:
            self._scans.give_back(shown_item)


def room_of(run: Path) -> Room:
    """The room of a run."""
    if not (run / "room.json").is_file():
        raise SitusError(
            "is not a run in a room", where=run, fix="give the --out of situs run --room"
        )
    room = read_json(run / "room.json", Room)
    if room.name in shipped_rooms():
        # Earlier versions stored windows by name, not in the order in which the model was told
        # them.
        shipped = with_tools(load_room(room.name), room.tools)
        return shipped if shipped.hash == room.hash else room
    return room


def _begun_as(room: Room, profile: Profile) -> Room:
    """The room with the window first in which its sessions began.

    Earlier versions stored windows by name; of a user's own room, the profile of the run still
    holds the first ones.
    """
    windows = {
        modality: dict(
            sorted(rules.items(), key=lambda rule: rule[1] != profile.window.get(modality))
        )
        for modality, rules in room.windows.items()
    }
    return msgspec.structs.replace(room, windows=windows)


class TurnView(msgspec.Struct, frozen=True):
    """One turn as a person reads it."""

    turn: int
    action: str
    words: str
    """What came back."""
    picture: str = ""
    """A data URI."""
    evidence: tuple[str, ...] = ()
    """What the picture showed of the evidence."""
    complete: bool = False
    """All of the evidence had been seen by now."""
    lie: str = ""
    truth: str = ""
    bad: bool = False


class SessionView(msgspec.Struct, frozen=True):
    """A session as a person follows it."""

    item_id: str
    question: str
    options: tuple[str, ...]
    right_answer: str
    said: str
    end: str
    verdict: str
    turns: tuple[TurnView, ...]
    evidence: tuple[str, ...]
    """What had to be seen."""


def view_of(
    played: PlayedSession, *, right: bool | None, truth: str, longest_px: int = 512
) -> SessionView:
    """The session for people. `right`: whether the answer counts as right, where that is known."""
    looked, rows = played.looked, played.rows
    views = [_turn(played, outcome, longest_px) for outcome in rows.outcomes]
    saw = "saw all of the evidence" if looked.saw_all else "did not see all of the evidence"
    known = saw if looked.known else "what has to be seen is not known"
    answer = "" if right is None else "right, " if right else "wrong, "
    targets = (rows.opened or Opened(played.item.item_id)).targets
    return SessionView(
        played.item.item_id,
        played.item.question,
        tuple(option.text for option in played.item.options),
        truth,
        rows.outcomes[-1].response if rows.outcomes else "",
        rows.end,
        f"{answer}{known}",
        tuple(views),
        tuple(_how_far_seen(targets, rows.outcomes)),
    )


def _how_far_seen(targets: Iterable[Target], outcomes: Iterable[Outcome]) -> Iterator[str]:
    """What had to be seen, and on how many of the slices it takes it was."""
    seen = slices_seen(sighting for one in outcomes for sighting in one.sightings)
    for target in targets:
        count = min(seen[target.name], target.needed)
        slices = "slice" if target.needed == 1 else "slices"
        yield f"{plain_name(target.name)} (seen on {count} of {target.needed} {slices})"


def _turn(played: PlayedSession, outcome: Outcome, longest_px: int) -> TurnView:
    picture, at = "", played.looked.decided_at
    if outcome.picture:
        picture = _uri(drawn_picture(played, outcome.picture), longest_px)
    tool = outcome.tool
    seen = tuple(
        f"{plain_name(one.target)}: {'seen' if one.is_clear else 'too small or too faint'}"
        for one in outcome.sightings
    )
    return TurnView(
        outcome.turn,
        _action_words(outcome),
        outcome.words,
        picture,
        tuple(dict.fromkeys(seen)),
        at is not None and outcome.picture >= at > 0,
        tool.lie if tool is not None else "",
        _what_is_true(tool) if tool is not None else "",
        outcome.state != "done",
    )


def _what_is_true(tool: ToolWord) -> str:
    """The measures that a truthful tool would have told otherwise."""
    others = {name: value for name, value in tool.truth.items() if tool.values.get(name) != value}
    return values_in_words(others) if others or not tool.truth else "the same"


def _action_words(outcome: Outcome) -> str:
    if not outcome.action:
        return "(no action)"
    arguments = dict(outcome.arguments)
    if outcome.action in ("note", "answer"):
        return f"{outcome.action}: {' '.join(map(str, arguments.values()))}"
    words = [str(arguments.pop("plane"))] if "plane" in arguments else []
    words += [f"{name} {_short(value)}" for name, value in arguments.items()]
    return f"{outcome.action}: {', '.join(words)}".removesuffix(": ")


def _short(value: object) -> str:
    """An argument as a person would write it."""
    if isinstance(value, list):
        return f"({', '.join(map(_short, value))})"
    return f"{value:g}" if isinstance(value, float) else str(value)


def plain_name(target: str) -> str:
    """A target's name for people."""
    if target.startswith("largest:*"):
        return "the largest lesion"
    known = term(target)
    if known.known:
        return known.plain
    return re.sub(r"^(largest|second):", r"the \1 ", target).replace("_", " ")


def drawn_picture(played: PlayedSession, number: int) -> NDArray[np.uint8]:
    """A picture with the evidence outlined and what was measured on it drawn; for people only."""
    picture, opened = played.pictures[number], played.opened
    grey = picture.pixels
    canvas: NDArray[np.uint8] = np.stack([grey] * 3, axis=2) if grey.ndim == 2 else grey.copy()
    outcome = next(one for one in played.rows.outcomes if one.picture == number)
    clear = {one.target: False for one in outcome.sightings}
    for one in outcome.sightings:
        clear[one.target] = clear[one.target] or one.is_clear
    for name, is_clear in clear.items():
        _outline(canvas, picture, played.item, name, opened, _OUTLINE[is_clear])
    for measured in played.rows.outcomes:
        if len(measured.points) == 2:
            _line(canvas, picture, measured.points)
    return canvas


def _outline(
    canvas: NDArray[np.uint8],
    picture: Picture,
    item: Item,
    name: str,
    opened: OpenScan,
    colour: tuple[int, int, int],
) -> None:
    from scipy.ndimage import binary_erosion

    region = None if opened.masks is None else opened.masks.region(name, item)
    if region is None:
        return
    for tile in picture.tiles:
        mask = region.on(picture.layout, tile)
        if mask is not None:
            width, height = tile.size
            rows = (np.arange(height) * mask.shape[0] // height).astype(int)
            columns = (np.arange(width) * mask.shape[1] // width).astype(int)
            scaled_mask = mask[np.ix_(rows, columns)]
            left, top = tile.corner
            part = canvas[top : top + height, left : left + width]
            part[scaled_mask & ~binary_erosion(scaled_mask)] = colour


def _line(
    canvas: NDArray[np.uint8], picture: Picture, points: tuple[tuple[float, ...], ...]
) -> None:
    """What was measured, where both ends lie on this picture."""
    from PIL import Image, ImageDraw

    for tile in picture.tiles:
        half = 0.5 * float(picture.layout.lattice.spacing[tile.screen.through]) + 1e-6
        ends = [shown_at(tile, np.array(point), half) for point in points]
        if None not in ends:
            drawn = Image.fromarray(canvas)
            ImageDraw.Draw(drawn).line([end for end in ends if end], fill=_LINE, width=2)
            canvas[:] = np.asarray(drawn)


def _uri(pixels: NDArray[np.uint8], longest_px: int) -> str:
    from PIL import Image

    picture = Image.fromarray(pixels)
    picture.thumbnail((longest_px, longest_px))
    stream = io.BytesIO()
    picture.save(stream, "JPEG", quality=82)
    return "data:image/jpeg;base64," + base64.b64encode(stream.getvalue()).decode()
