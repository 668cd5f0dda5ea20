"""The one gate before anything is sent: whose data it is, and whose money."""

from __future__ import annotations

import msgspec

from situs.clients.asking.budget import Spent
from situs.clients.asking.limits import Limits
from situs.clients.asking.prices import Price
from situs.clients.protocol import Client
from situs.errors import SitusError

__all__ = ["Terms", "check_may_ask", "check_terms"]


class Terms(msgspec.Struct, frozen=True):
    """On which terms a model is asked:
    whose data it sees, how much at once, and what it may cost."""

    restricted: bool
    """Whether the data must stay on this machine, unless `allow_remote`."""
    allow_remote: bool = False
    limits: Limits = Limits()
    price: Price | None = None
    """What tokens cost; None where nobody knows."""
    spent: Spent = Spent()
    """What earlier sessions used of the limits."""


def check_may_ask(client: Client, terms: Terms) -> None:
    """Refuse to hand restricted data to a client that sends it off this machine,
    or to watch a cost nobody knows."""
    check_terms(client.name, terms, remote=client.remote)


def check_terms(name: str, terms: Terms, *, remote: bool) -> None:
    """The same for a model by its name, before there is a client."""
    if remote and terms.restricted and not terms.allow_remote:
        raise SitusError(
            "the data is restricted and this model is not on this machine",
            where=name,
            fix="use a server on loopback (127.0.0.1), or add --allow-remote if you may send it",
        )
    is_priced = terms.price is not None and terms.price != Price(0.0, 0.0)
    if terms.limits.max_cost is not None and not is_priced:
        fix = "add it to a price file (--prices FILE), or leave --max-cost out"
        raise SitusError("the price of this model is not known", where=name, fix=fix)
