"""Protocols: how a project is read, as data with a hash."""

from __future__ import annotations

import hashlib
import statistics
import tomllib
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Literal

import msgspec

from situs.base.files import canonical_json, parse_toml, read_text
from situs.errors import SitusError, did_you_mean

__all__ = ["FLAGS", "TRIGGERS", "ReadingProtocol", "load_protocol", "shipped_protocols"]

FLAGS = (
    "key wrong",
    "two answers right",
    "not visible",
    "mask fault",
    "side doubt",
    "wording",
    "textbook",
    "not useful",
    "image unusable",
)
"""What a reader may tick beside a score."""
TRIGGERS = (
    "key wrong",
    "answers differ",
    "scores differ by 2",
    "side doubt",
    "verdicts differ",
)
"""What may open an adjudication."""
Keep = Literal["median at least 1", "mean above 1", "mean at least 1", "all yes"]
_SHARE_LIMIT = 0.5


class ReadingProtocol(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How a project is read."""

    name: str
    about: str
    reads: int
    stages: Literal[1, 2]
    keep: Keep
    adjudicate: tuple[str, ...] = ()
    questions: tuple[str, ...] = ()
    """Yes/no questions asked beside the key instead of a score."""
    share_all: float = 0.12
    catch: float = 0.06
    repeat: float = 0.05
    repeat_gap_cases: int = 100
    repeat_gap_days: float = 14.0
    """A repeat is shown after so many cases, or so many days, whichever comes first."""
    block: int = 25
    pair_units: int = 20
    """Every two readers should share as many units; the plan warns where they do not."""

    @property
    def hash(self) -> str:
        """The hash it is frozen under."""
        return hashlib.sha256(canonical_json(self)).hexdigest()

    def keeps(self, scores: Sequence[int], key_wrong: bool, verdicts: Sequence[bool] = ()) -> bool:
        """Whether an item stays, from its readers' scores; `key_wrong` as it stands after
        adjudication.

        (2, 2, 0) passes both of SpatialMed's rules; (1, 1, 1) only that of its data card.
        """
        if self.keep == "all yes":
            return bool(verdicts) and all(verdicts)
        if not scores:
            return False
        mean = sum(scores) / len(scores)
        if self.keep == "mean above 1":
            return mean > 1
        if self.keep == "mean at least 1":
            return mean >= 1
        return not key_wrong and statistics.median(scores) >= 1


def shipped_protocols() -> dict[str, ReadingProtocol]:
    """The protocols that ship, by name."""
    text = files("situs.review.station").joinpath("data", "protocols.toml").read_text("utf-8")
    return {name: _protocol(name, body, name) for name, body in tomllib.loads(text).items()}


def load_protocol(name: str) -> ReadingProtocol:
    """A shipped protocol by its name, or one of a TOML file with one table."""
    shipped = shipped_protocols()
    if name in shipped:
        return shipped[name]
    path = Path(name)
    if path.suffix != ".toml":
        fix = did_you_mean(name, shipped)
        raise SitusError(f"unknown protocol {name!r}", where="--protocol", fix=fix)
    try:
        tables = parse_toml(read_text(path))
    except ValueError as error:
        raise SitusError(f"is not valid TOML ({error})", where=path, fix="correct it") from error
    if len(tables) != 1 or not isinstance(next(iter(tables.values())), dict):
        raise SitusError(
            "does not hold exactly one protocol", where=path, fix="write one table, [name]"
        )
    ((name_in_file, body),) = tables.items()
    return _protocol(name_in_file, body, path)


def _protocol(name: str, body: object, where: str | Path) -> ReadingProtocol:
    try:
        made = msgspec.convert({"name": name, **dict(body)}, ReadingProtocol)  # type: ignore[call-overload]
    except msgspec.ValidationError as error:
        raise SitusError(str(error), where=where, fix="see docs/review-coordinator.md") from error
    problems = [f"unknown trigger {t!r}" for t in made.adjudicate if t not in TRIGGERS]
    if made.reads < 1 or made.block < 1:
        problems.append("reads and block are at least 1")
    shares = (made.share_all, made.catch, made.repeat)
    if not all(0 <= share <= _SHARE_LIMIT for share in shares):
        problems.append(f"shares lie between 0 and {_SHARE_LIMIT}")
    if (made.keep == "all yes") != bool(made.questions):
        problems.append('questions require keep = "all yes", and the reverse')
    if problems:
        raise SitusError("; ".join(problems), where=where, fix="correct the protocol")
    return made
