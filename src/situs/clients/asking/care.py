"""The one gate before anything is sent: whose data it is, and whose money."""

from __future__ import annotations

from situs.clients.asking.limits import Limits
from situs.clients.asking.prices import Price
from situs.clients.protocol import Client
from situs.errors import SitusError

__all__ = ["check_may_ask"]


def check_may_ask(
    client: Client, *, restricted: bool, allow_remote: bool, limits: Limits, price: Price | None
) -> None:
    """Refuse to hand restricted data to a client that sends it off this machine, or to watch a cost nobody knows."""
    if client.remote and restricted and not allow_remote:
        raise SitusError(
            "the data is restricted and this model is not on this machine",
            where=client.name,
            fix="use a server on loopback (127.0.0.1), or add --allow-remote if you may send it",
        )
    if limits.max_cost is not None and (price is None or price == Price(0.0, 0.0)):
        fix = "add it to a price file (--prices FILE), or leave --max-cost out"
        raise SitusError("the price of this model is not known", where=client.name, fix=fix)
