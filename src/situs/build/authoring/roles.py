"""Who plays which role, what was asked of each, and what it cost."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from situs.base.files import canonical_json, write_atomic
from situs.clients import Terms, check_terms
from situs.errors import SitusError
from situs.judges import AskedByID, Asker, Role, Subject, ask_by_id

__all__ = ["AuthorRoles", "Desk", "Purse", "RoleState", "check_roles"]


class AuthorRoles(msgspec.Struct, frozen=True):
    """The models of each role; a role that is left out degrades, and the card says so."""

    planner: Asker | None = None
    librarian: Asker | None = None
    writer: Asker | None = None
    critics: tuple[Asker, ...] = ()
    panel: tuple[Asker, ...] = ()

    def all(self) -> dict[str, Asker]:
        """Every role by name."""
        named = {"planner": self.planner, "librarian": self.librarian, "writer": self.writer}
        named |= {f"critic {one.name}": one for one in self.critics}
        named |= {f"panel {one.name}": one for one in self.panel}
        return {name: asker for name, asker in named.items() if asker is not None}


class RoleState(msgspec.Struct):
    """How a role fared."""

    asks: int = 0
    state: str = "absent"
    """`done`, `absent`, `stopped`, `over_budget`, `switched_off`, `no_progress`."""
    why: str = ""
    model: str = ""
    """Kind and name of who plays it: `openai:qwen3`."""
    cost: float | None = 0.0
    seconds: float = 0.0
    invalid: int = 0
    """Turns in which nothing readable came back, asked twice."""
    cut: int = 0
    """Turns whose replies ended at the limit of tokens, or ran on with blanks."""
    failed: int = 0
    """Turns without a reply, after every attempt: the server was away, or refused."""


class Purse(msgspec.Struct):
    """What all roles together may use, of all sessions and of all arms."""

    max_cost: float | None = None
    cost: float = 0.0
    tokens: float = 0.0

    def within(self, asker: Asker) -> Asker:
        """The asker with what is left as its limits; what its own journal cost is in them."""
        limits = asker.limits
        if self.max_cost is not None:
            left = max(1e-9, self.max_cost - self.cost)
            limits = msgspec.structs.replace(limits, max_cost=left)
        if limits.max_tokens is not None:
            left_tokens = max(1, int(limits.max_tokens - self.tokens))
            limits = msgspec.structs.replace(limits, max_tokens=left_tokens)
        return msgspec.structs.replace(asker, limits=limits)

    def pay(self, asker: Asker, asked: AskedByID) -> None:
        """Count what a journal cost, earlier sessions included."""
        self.cost += asked.spent.cost(asker.price) or 0.0
        self.tokens += asked.spent.tokens


def check_roles(roles: AuthorRoles, purse: Purse, *, restricted: bool) -> None:
    """Refuse models that may not be asked, before anything is measured and anybody is paid."""
    for asker in map(purse.within, roles.all().values()):
        terms = Terms(restricted, asker.allow_remote, asker.limits, asker.price)
        check_terms(str(asker.spec), terms, remote=asker.remote)


class Desk:
    """Asks the roles, one durable journal each, within one budget."""

    def __init__(
        self,
        folder: Path,
        *,
        restricted: bool,
        purse: Purse,
        ended: Callable[[AskedByID], None] = lambda asked: None,
    ) -> None:
        self._folder = folder
        self._restricted = restricted
        self._purse = purse
        self._ended = ended
        self.states: dict[str, RoleState] = {}

    def ask(
        self,
        name: str,
        asker: Asker,
        role: Role,
        subject_fields: Mapping[str, Mapping[str, Any]],
        journal: str,
    ) -> dict[str, dict[str, Any]]:
        """Id → entry of every subject that got one.

        A role that stops gives what it has, and is named.
        """
        state = self.states.setdefault(name, RoleState(state="done", model=_model_of(asker)))
        if state.state in ("stopped", "over_budget") or not subject_fields:
            return {}
        asker = self._purse.within(asker)
        subjects = [Subject(id_, dict(fields)) for id_, fields in subject_fields.items()]
        entries, asked = ask_by_id(
            asker, role, subjects, self._folder / f"{journal}.jsonl", restricted=self._restricted
        )
        self._note(state, asked)
        self._purse.pay(asker, asked)
        self._ended(asked)
        return entries

    def _note(self, state: RoleState, asked: AskedByID) -> None:
        state.asks += asked.requests
        state.seconds += asked.seconds
        state.invalid += asked.given_up - asked.cut
        state.cut += asked.cut
        state.failed += asked.failed
        known = asked.cost is not None and state.cost is not None
        state.cost = (state.cost or 0.0) + (asked.cost or 0.0) if known else None
        if asked.stopped and not asked.interrupted:
            over = "--max-cost" in asked.stopped or "--max-tokens" in asked.stopped
            state.state, state.why = "over_budget" if over else "stopped", asked.stopped

    def absent(self, names: Sequence[str]) -> None:
        """Roles that nobody plays."""
        for name in names:
            self.states.setdefault(name, RoleState())

    def claim(self, roles: AuthorRoles, settings: str) -> None:
        """Refuse to go on with the work of other models or settings."""
        if not roles.all():
            return
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        about = self._folder / "author.json"
        identities = {name: asker.identity for name, asker in roles.all().items()}
        text = canonical_json({"roles": identities, "settings": settings}) + b"\n"
        if about.is_file() and about.read_bytes() != text:
            fix = "give the same roles and options, another --out, or remove the folder"
            raise SitusError("was begun with other models or options", where=self._folder, fix=fix)
        write_atomic(about, text)


def _model_of(asker: Asker) -> str:
    """Kind and name, without the address: a bench names no machine."""
    return ":".join(part for part in (asker.spec.kind, asker.spec.name) if part)
