"""What goes over the wire: everything a page may send,
and everything it may be told, field by field."""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from situs.review.station.protocol import FLAGS
from situs.review.station.store.accounts import ROLES

__all__ = [
    "AmendBody",
    "BlockView",
    "BlocksView",
    "CaseView",
    "DecisionBody",
    "DraftBody",
    "EventView",
    "FreezeBody",
    "ImportBody",
    "InviteBody",
    "InvitedBody",
    "LoginBody",
    "MeView",
    "NextView",
    "PasswordBody",
    "RatingBody",
    "ReadBody",
    "ReleaseBody",
    "Reveal",
    "SeriesView",
    "UserBody",
]

Short = Annotated[str, Field(max_length=200)]
Words = Annotated[str, Field(max_length=4000)]
Code = Annotated[str, Field(pattern=r"^[A-Za-z0-9._@-]{1,40}$")]
"""Of an account that is chosen, never typed: a message may name it, and repeats nothing odd."""
Flag = Annotated[str, Field(pattern=f"^({'|'.join(FLAGS)})$")]
Role = Annotated[str, Field(pattern=f"^({'|'.join(ROLES)})$")]


class _In(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    @model_validator(mode="before")
    @classmethod
    def _refuse_unstorable(cls, sent: Any) -> Any:
        """PostgreSQL stores no NUL, no half of a character and no number that is none:
        refused here, it is no failure of the server."""
        if not _is_storable(sent):
            raise ValueError("holds something that cannot be stored")
        return sent


_DEEPEST = 8
"""No form nests its answers deeper; a page that is sent more than some hundred levels breaks."""


def _is_storable(sent: Any, depth: int = 0) -> bool:
    match sent:
        case _ if depth > _DEEPEST:
            return False
        case str():
            return not any(c == "\0" or "\ud800" <= c <= "\udfff" for c in sent)
        case float():
            return math.isfinite(sent)
        case int():
            return abs(sent) < _TOO_LARGE
        case dict():
            return all(
                _is_storable(key) and _is_storable(value, depth + 1) for key, value in sent.items()
            )
        case list():
            return all(_is_storable(value, depth + 1) for value in sent)
    return True


_TOO_LARGE = 2**63
"""A number of the reply that a database or a browser could not hold."""


class LoginBody(_In):
    """Sign in."""

    code: Short
    password: Short


class InviteBody(_In):
    """Use an invitation."""

    token: Short
    password: Short


class PasswordBody(_In):
    """Unlock the screen."""

    password: Short


class DraftBody(_In):
    """Unfinished work; whatever the form holds."""

    draft: Annotated[dict[str, Any], Field(max_length=20)]


class _LookedAt(_In):
    active_ms: Annotated[int, Field(ge=0, le=86_400_000)] = 0
    slices_seen: Annotated[int, Field(ge=0, le=100_000)] = 0


class ReadBody(_LookedAt):
    """Stage 1: the answer, or why it cannot be told."""

    answers: Annotated[dict[Short, Words], Field(max_length=20)] = {}
    cannot: Words = ""
    confidence: Literal[1, 2, 3]


class RatingBody(_LookedAt):
    """Stage 2: the score, or the verdicts an audit asks for."""

    score: Literal[0, 1, 2] | None = None
    flags: Annotated[list[Flag], Field(max_length=20)] = []
    verdicts: Annotated[dict[Short, bool], Field(max_length=10)] = {}
    comment: Words = ""


class AmendBody(RatingBody):
    """A corrected rating."""

    reason: Words


class DecisionBody(_In):
    """An adjudicator's decision."""

    decision: Literal["keep", "fix", "drop"]
    key_wrong: bool
    reason: Words


class FreezeBody(_In):
    """Hand out the lists."""

    readers: Annotated[list[Code], Field(max_length=200)]


class ImportBody(_In):
    """Take in a sample of a bench that the administrator offers."""

    project: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9 ._-]{0,39}$")]
    bench: Short
    protocol: Short = "default"
    items: Annotated[int, Field(ge=1, le=100_000)] = 200
    seed: Annotated[int, Field(ge=0, lt=2**31)] = 0
    training: Annotated[int, Field(ge=0, le=1000)] = 0
    wordings: bool = False


class UserBody(_In):
    """A new account."""

    code: Short
    roles: Annotated[list[Role], Field(min_length=1, max_length=4)]


class InvitedBody(_In):
    """A fresh invitation for an account."""

    code: Code


class ReleaseBody(_In):
    """A reader leaves."""

    reader: Code


class MeView(BaseModel):
    """Who is signed in."""

    code: str
    roles: list[str]
    token: str
    idle_seconds: int


class BlockView(BaseModel):
    """One block of the reader's own list."""

    project: str
    """Its random id, and the name people know it by."""
    project_name: str
    block: int
    name: str
    done: int
    cases: int
    signed: bool
    can_sign: bool = False
    """Something is unsigned, and nothing can be read now."""


class BlocksView(BaseModel):
    """A page of the reader's own list, and how far the whole of it is."""

    blocks: list[BlockView]
    first: int
    """Which of all blocks the page begins with, from 0."""
    of: int
    """How many blocks there are."""
    done: int
    cases: int


class NextView(BaseModel):
    """The next case; empty if nothing is due."""

    id: str = ""
    waiting: int = 0
    """Open cases that come later (hidden repeats wait for their time)."""


class SeriesView(BaseModel):
    """What the viewer draws, and where its slices are."""

    token: str
    shape: tuple[int, int, int]
    spacing: tuple[float, float, float]
    modality: str
    slope: float
    intercept: float
    planes: list[str]
    frames: dict[str, dict[str, Any]]
    windows: list[tuple[str, float, float]]
    large: str
    oriented: bool
    oblique_degrees: float


class Reveal(BaseModel):
    """What stage 2 adds."""

    key: str
    right: list[str]
    detail: dict[str, Any]
    facts: list[Any]
    notes: list[Any]
    structures: list[dict[str, Any]]
    jumps: dict[str, list[int]]
    overlay: dict[str, Any] | None
    places: dict[str, dict[str, Any]] = {}


class CaseView(BaseModel):
    """A case as its reader may see it at the stage it is at."""

    id: str
    version: int
    state: str
    stage: int
    stages: int
    purpose: str
    kind: Literal["item", "wording", "training"]
    form: str
    question: str = ""
    wordings: list[str] = []
    parts: list[dict[str, Any]] = []
    options: list[Any] = []
    marks: list[Any] = []
    frames: list[int] = []
    questions: list[str] = []
    flags: list[str] = []
    series: SeriesView | None = None
    draft: dict[str, Any] = {}
    answer: dict[str, Any] | None = None
    rating: dict[str, Any] | None = None
    decision: dict[str, Any] | None = None
    """The adjudicator's own, once it is made."""
    reveal: Reveal | None = None
    readings: list[dict[str, Any]] | None = None
    feedback: str = ""
    feedback_right: bool | None = None
    """None where nobody but the reader can compare answer and key."""
    block: int = 0
    done: int = 0
    cases: int = 0


class EventView(BaseModel):
    """One link of the chain."""

    sequence: int
    at: float
    actor: str
    kind: str
    body: dict[str, Any]
    hash: str
