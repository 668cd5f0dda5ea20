"""Opaque ids and splits."""

from __future__ import annotations

import hashlib
import hmac
import os
import re
import secrets
from collections.abc import Container, Iterable
from typing import Literal

import msgspec

from situs.base.files import digest, write_once
from situs.base.folders import config_home
from situs.errors import SitusError
from situs.facts import Recipe

__all__ = [
    "IdKind",
    "IdRule",
    "as_known",
    "known_as",
    "opaque_id",
    "split_of",
    "split_patients",
    "visit_of",
]

_VISIT = re.compile(
    r"(?:v|visit|tp?|time ?point|day|week|month|year)?[ _-]?\d{1,3}"
    r" ?(?:d|w|m|y|days?|weeks?|months?|years?)?"
    r"|baseline|screening|follow-?up",
    re.IGNORECASE,
)

_SHORTEST_KEY = 16


def _key() -> bytes:
    """The user's own key: from SITUS_ID_KEY, else a private file made on first use."""
    # Its bytes as they were given: characters would differ by locale, and ids with them.
    from_environment = os.fsencode(os.environ.get("SITUS_ID_KEY", ""))
    if from_environment:
        if len(from_environment) < _SHORTEST_KEY:
            fix = f"a key has at least {_SHORTEST_KEY} bytes; `openssl rand -hex 32` makes one"
            raise SitusError("is too short to keep ids opaque", where="SITUS_ID_KEY", fix=fix)
        return from_environment
    path = config_home() / "situs" / "id.key"
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not path.exists():
            write_once(path, secrets.token_hex(32))
        key = path.read_bytes()
        if len(key) < _SHORTEST_KEY:
            raise SitusError(
                "the key for opaque ids is too short",
                where=path,
                fix="delete it, or set SITUS_ID_KEY",
            )
        return key
    except OSError as error:
        raise SitusError(
            f"cannot read or create the key for opaque ids ({error.strerror})",
            where=path,
            fix="set SITUS_ID_KEY",
        ) from error


IdKind = Literal["opaque", "table", "stem"]
"""`opaque`: names that a public dataset gave; `table`:
also those of a table or an imported file; `stem`: all."""


class IdRule(msgspec.Struct, frozen=True):
    """Which names of studies and patients may stand in a bench as they are."""

    kind: IdKind = "opaque"

    def study(self, name: str, *, of_table: bool = False, public: bool = False) -> str:
        """The id of a study that is called `name` in a table, or else by a file or folder."""
        return name if public or self._keeps(of_table) else opaque_id("s", name)

    def patient(self, name: str, *, of_table: bool = False, public: bool = False) -> str:
        """The id of a patient, likewise."""
        return name if public or self._keeps(of_table) else opaque_id("p", name)

    def item(self, name: str, *, public: bool = False) -> str:
        """The id that a published set gave to a question."""
        return name if not name or public or self._keeps(True) else opaque_id("i", name)

    def _keeps(self, of_table: bool) -> bool:
        return self.kind == "stem" or (of_table and self.kind == "table")


def known_as(name: str) -> tuple[str, ...]:
    """What a bench may call a study or question that another file calls `name`: as it is, or
    hashed.

    An id may end in a position, `volume::3`; that part stays readable.
    """
    base, separator, position = name.partition("::")
    hashed = (opaque_id("s", base) + separator + position, opaque_id("i", name))
    return (name, *hashed)


def as_known(name: str, known: Container[str]) -> str:
    """The name by which a bench knows what another file calls `name`;
    the name itself if it does not."""
    if not name or name in known:
        return name
    return next((alias for alias in known_as(name) if alias in known), name)


def opaque_id(prefix: str, name: str) -> str:
    """A name nobody can read back: a keyed hash,
    the same for the same user, so that rebuilding keeps ids."""
    return prefix + hmac.new(_key(), name.encode(), hashlib.blake2b).hexdigest()[:12]


def visit_of(time: str) -> str:
    """A visit by number or month (`00m`, `V06`, `24 months`, `baseline`);
    empty for anything else, such as a date."""
    return time if _VISIT.fullmatch(time) else ""


def split_patients(patients: Iterable[str], recipe: Recipe, seed: int) -> dict[str, str]:
    """The split of every patient of a cohort; one too small for the recipe is not split."""
    cohort = set(patients)
    shares = recipe.splits_of(len(cohort))
    return {patient_id: split_of(patient_id, shares, seed) for patient_id in cohort}


def split_of(patient_id: str, shares: dict[str, float], seed: int) -> str:
    """The split of a patient: by hash, so that adding patients moves nobody."""
    drawn = int(digest("split", str(seed), patient_id, size=8), 16) / 2**64
    for name, share in sorted(shares.items()):
        drawn -= share
        if drawn < 0:
            return name
    return max(shares)
