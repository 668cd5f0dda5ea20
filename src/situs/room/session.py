"""One session: a question, a viewer, and a model that acts turn by turn.

A session is a pure function of the item, the scan, the room and the replies: the same replies give
the same messages and the same pictures, bit for bit. So a journal of replies is all that resuming
and playing back need.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from situs.base.files import canonical_json
from situs.clients import Image, Message, Reply, Request, Settings, ToolCall
from situs.clients.turns import Action, ActionKind, Misread, read_action
from situs.errors import SitusError
from situs.items import Item
from situs.room.actions import Offer, action_kinds, answer_kind
from situs.room.desk import Desk, Done
from situs.room.journal import Outcome
from situs.room.tools.measures import Segmentation
from situs.room.view.evidence import Target, sightings_on
from situs.room.view.opened import OpenScan
from situs.room.view.scan import Picture
from situs.room.view.used import Used
from situs.room.words import must_answer_words, opening, picture_words

__all__ = ["Session", "SessionSettings"]

_MOST_MISREAD = 3
"""Replies in a row that are no action, after which only an answer is accepted."""
_MOST_ALIKE = 3
"""The same action in a row."""
_LAST_TRIES = 2
"""Replies that may still fail to answer when only an answer is accepted."""
_LONGEST_ECHO = 4000
"""Characters of a reply that stay in the conversation: some run on for ever."""

_REASONS = {
    "looks": "No looks are left.",
    "turns": "No turns are left.",
    "pixels": "No pixels are left for another picture.",
    "tokens": "No tokens are left.",
    "repeats": "You repeat the same action.",
    "invalid": "Your replies are no actions.",
    "cut": "Your replies are cut off.",
}
_ENDS = {"repeats": "no_progress", "invalid": "invalid", "cut": "cut"}
"""Why only an answer was accepted → how a session ends that gave none;
`over_budget` for the rest."""


class SessionSettings(msgspec.Struct, frozen=True):
    """What is the same for all sessions of a run."""

    settings: Settings = Settings()
    native: bool = False
    """Whether actions are native tool calls."""
    withheld: str = ""
    """No picture can be had: `text` (it is said so) or `silent`."""


class Session:
    """The state of one session. It ends when `end` is set."""

    def __init__(
        self,
        item: Item,
        opened: OpenScan,
        how: SessionSettings,
        *,
        targets: tuple[Target, ...] = (),
        shown: Item | None = None,
        segmentation: Segmentation | None = None,
    ) -> None:
        """`shown` is the item as the scan has it, where a probe shows another patient."""
        self.item = item
        self._opened = opened
        self._how = how
        self.scan = opened.scan
        self.targets = targets
        self._shown = shown or item
        self._budget = opened.scan.room.budget
        self._desk = Desk(opened.scan, self._shown, segmentation)
        self._only_answer = _only_answer(opened)
        self._offer = self._only_answer if how.withheld else _offer_of(opened)
        words = opening(item, opened.scan, self._offer.kinds, how.withheld, how.native)
        self._messages: list[Message] = [Message("user", (words,))]
        self.turn = 0
        self._used = Used(self._budget)
        self._tokens = 0.0
        self._misread = 0
        self._alike = 0
        self._last: bytes = b""
        self._must_answer = ""
        self._tries = 0
        self.end = ""
        self.response = ""

    @property
    def pictures(self) -> tuple[Picture, ...]:
        """What was shown, in order."""
        return tuple(self._desk.pictures)

    @property
    def looks(self) -> int:
        """How many pictures were shown."""
        return self._used.looks

    @property
    def messages(self) -> tuple[Message, ...]:
        """The conversation so far, older pictures told
        instead of shown where the room keeps few."""
        most = self.scan.room.pictures_kept
        if most is None:
            return tuple(self._messages)
        result: list[Message] = []
        pictures = 0
        for message in reversed(self._messages):
            if any(isinstance(part, Image) for part in message.parts):
                pictures += 1
                if pictures > most:
                    words = tuple(part for part in message.parts if isinstance(part, str))
                    parts = (*words, "(This picture is no longer shown.)")
                    message = msgspec.structs.replace(message, parts=parts)
            result.append(message)
        return tuple(reversed(result))

    def request(self) -> Request:
        """What is asked next."""
        offer = self._offer_now()
        asked = Request(f"{self.item.item_id}#{self.turn + 1}", self.messages, self._how.settings)
        if self._how.native:
            return msgspec.structs.replace(asked, tools=offer.tools)
        return msgspec.structs.replace(asked, schema=offer.schema)

    def kinds(self) -> tuple[ActionKind, ...]:
        """The actions that are possible now."""
        return self._offer_now().kinds

    def _offer_now(self) -> Offer:
        return self._only_answer if self._must_answer else self._offer

    def step(self, reply: Reply) -> Outcome:
        """Take a reply, do what it asks for, and put the result into the conversation."""
        self.turn += 1
        used = reply.usage
        self._tokens += used.get("prompt_tokens", 0) + used.get("completion_tokens", 0)
        if reply.state == "refused":
            return self._ended(
                Outcome(self.item.item_id, self.turn, "refused"), "refused", reply.text
            )
        read = self._read(reply)
        self._echo(reply, read)
        if isinstance(read, Misread):
            return self._misread_turn(read)
        self._misread = 0
        outcome = Outcome(self.item.item_id, self.turn, "done", read.name, read.arguments)
        if read.name == "answer":
            return self._ended(outcome, "answered", read.arguments["answer"])
        return self._act(read, outcome)

    def _read(self, reply: Reply) -> Action | Misread:
        read = read_action(reply, self.kinds())
        plain = reply.text.strip()
        only_answer = (
            len(self.kinds()) == 1 and isinstance(read, Misread) and read.state == "invalid"
        )
        # Asked for nothing but an answer, a reply in plain words is one.
        return Action("answer", {"answer": plain}) if only_answer and _is_plain(plain) else read

    def _act(self, action: Action, outcome: Outcome) -> Outcome:
        self._count_alike(action)
        try:
            over = self._used.exceeded_by(self._desk.look_of(action), self.scan)
            done = Done() if over else self._desk.do(action)
        except SitusError as error:
            words = error.problem + (f"; {error.fix}" if error.fix else "")
            outcome = msgspec.structs.replace(outcome, state="invalid")
            return self._report_back(
                action, msgspec.structs.replace(outcome, words=f"{words}."), Done()
            )
        if over:
            self._require_answer(over)
        outcome = msgspec.structs.replace(
            outcome,
            words=done.words,
            points=done.points,
            length_mm=done.length_mm,
            tool=done.tool,
        )
        if done.picture is not None:
            outcome = self._looked(done.picture, outcome)
        return self._report_back(action, outcome, done)

    def _looked(self, picture: Picture, outcome: Outcome) -> Outcome:
        """Count a picture and what it shows of the evidence."""
        self._used.add(picture)
        image = picture.image
        masks = self._opened.masks if self.targets else None
        return msgspec.structs.replace(
            outcome,
            words=picture_words(self.looks, picture, self.scan, self._used.looks_left),
            look=picture.look,
            picture=self.looks,
            digest=image.digest,
            size=(image.width, image.height),
            sightings=tuple(sightings_on(picture, self._shown, self.targets, self.scan, masks)),
        )

    def _count_alike(self, action: Action) -> None:
        key = canonical_json([action.name, action.arguments])
        self._alike = self._alike + 1 if key == self._last else 1
        self._last = key
        if self._alike >= _MOST_ALIKE:
            self._require_answer("repeats")

    def _misread_turn(self, read: Misread) -> Outcome:
        self._misread += 1
        if self._must_answer:
            self._tries += 1
        elif self._misread >= _MOST_MISREAD:
            self._require_answer(read.state)
        outcome = Outcome(self.item.item_id, self.turn, read.state, words=f"{read.reason}.")
        if self._tries >= _LAST_TRIES:
            return self._ended(outcome, _ENDS.get(self._must_answer, "over_budget"), "")
        return self._report_back(None, outcome, Done(outcome.words))

    def _require_answer(self, reason: str) -> None:
        self._must_answer = self._must_answer or reason

    def _report_back(self, action: Action | None, outcome: Outcome, done: Done) -> Outcome:
        """Put what came of a turn into the conversation,
        with the demand for an answer where that is due."""
        if self.turn >= self._budget.turns - 1:
            self._require_answer("turns")
        if self._budget.tokens is not None and self._tokens >= self._budget.tokens:
            self._require_answer("tokens")
        words = outcome.words
        if self._must_answer:
            demand = must_answer_words(_REASONS[self._must_answer])
            words = f"{words} {demand}".strip()
        images = () if done.picture is None else (done.picture.image,)
        if action is not None and action.call_id:
            self._messages.append(Message("tool", (words,), tool_call_id=action.call_id))
            if images:
                self._messages.append(Message("user", (*images, f"Picture {self.looks}.")))
        else:
            self._messages.append(Message("user", (*images, words)))
        return msgspec.structs.replace(outcome, words=words, must_answer=self._must_answer)

    def _echo(self, reply: Reply, read: Action | Misread) -> None:
        """The model's own words; of native calls only the one that is answered."""
        text = reply.text[:_LONGEST_ECHO]
        calls: Sequence[ToolCall] = ()
        if isinstance(read, Action) and read.call_id:
            calls = reply.tool_calls[:1]
        parts = (text,) if text.strip() or calls else ("(nothing)",)
        self._messages.append(Message("assistant", parts, tuple(calls)))

    def _ended(self, outcome: Outcome, end: str, response: str) -> Outcome:
        self.end, self.response = end, response
        return msgspec.structs.replace(
            outcome, must_answer=self._must_answer, end=end, response=response
        )


def _offer_of(opened: OpenScan) -> Offer:
    """What is offered at a scan; the same for all of its sessions."""
    scan = opened.scan
    return opened.once("offer", lambda: Offer(action_kinds(scan.room, scan)))


def _only_answer(opened: OpenScan) -> Offer:
    """What is left when nothing but an answer is accepted."""
    return opened.once("only answer", lambda: Offer((answer_kind(opened.scan),)))


def _is_plain(text: str) -> bool:
    """Whether it is words and not an attempt at an object."""
    return bool(text) and "{" not in text
