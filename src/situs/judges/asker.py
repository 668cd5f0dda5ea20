"""A model in a role beside the one under test: who it is, and how it may be asked."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

import msgspec

from situs.base.files import file_name
from situs.clients import (
    Asking,
    Client,
    Limits,
    Price,
    ResponseCache,
    Settings,
    Spec,
    Tally,
    check_kind,
    parse_spec,
    settings_for,
)
from situs.errors import SitusError

__all__ = ["Asker", "asker_of", "role_spec"]

_BATCH = 5
_LARGEST_BATCH = 100
_MAX_TOKENS = 4096


class Asker(msgspec.Struct, frozen=True):
    """Whom to ask, and within which bounds."""

    name: str
    """Short, and fit for a file name and for the metric `judge.<name>`."""
    make: Callable[[], Client]
    """A client; asked once per session of asking, since asking closes it."""
    spec: Spec
    settings: Settings
    remote: bool
    batch: int = _BATCH
    """How many at once; each has its id."""
    limits: Limits = Limits()
    cache: ResponseCache | None = None
    price: Price | None = None
    allow_remote: bool = False
    progress: Callable[[Tally, int, int], None] = lambda tally, before, total: None
    say: Callable[[str], None] = lambda text: None

    @property
    def identity(self) -> str:
        """What decides its answers: model, address and settings."""
        return str(self.spec)


def role_spec(text: str, option: str) -> tuple[Spec, str, int]:
    """The model a role's spec names, with `name=` and `batch=` taken out of it."""
    spec = parse_spec(text)
    check_kind(spec.kind, option)
    batch = spec.whole("batch", _BATCH)
    if not 1 <= batch <= _LARGEST_BATCH:
        raise SitusError(
            f"batch={batch} is not from 1 to {_LARGEST_BATCH}",
            where=option,
            fix=f"e.g. batch={_BATCH}",
        )
    named = spec.settings.get("name") or spec.name or spec.kind
    name = re.sub(r"[^\w.-]+", "-", named.rstrip("/").rpartition("/")[2]).strip("-.")
    if not name:
        raise SitusError(
            f"{named!r} cannot be used as a file name", where=option, fix="give one: ?name=judge"
        )
    other_settings = {
        key: value for key, value in spec.settings.items() if key not in ("batch", "name")
    }
    return Spec(spec.kind, spec.name, spec.url, other_settings), file_name(name), batch


def _roomy(settings: Settings, spec: Spec) -> Settings:
    """Room for a reply on a whole batch, unless the spec says how much."""
    return (
        settings
        if "max_tokens" in spec.settings
        else msgspec.structs.replace(settings, max_tokens=_MAX_TOKENS)
    )


def asker_of(
    text: str,
    option: str,
    asking: Asking,
    cache: ResponseCache | None,
    *,
    taken: Iterable[str] = (),
    progress: Callable[[Tally, int, int], None] = lambda tally, before, total: None,
    say: Callable[[str], None] = lambda text: None,
) -> Asker:
    """The asker a spec names; `taken` are names that others have."""
    spec, name, batch = role_spec(text, option)
    if name in set(taken):
        raise SitusError(
            f"{name!r} is given twice",
            where=option,
            fix="give each a name of its own: ?name=second",
        )
    first = asking.client(spec)
    waiting = [first]
    return Asker(
        name,
        lambda: waiting.pop() if waiting else asking.client(spec),
        spec,
        _roomy(settings_for(first, spec), spec),
        first.remote,
        batch,
        asking.limits(first),
        cache,
        asking.price(spec, first),
        asking.allow_remote,
        progress,
        say,
    )
