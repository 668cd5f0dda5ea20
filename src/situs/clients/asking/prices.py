"""What tokens cost: a small file the user can edit."""

from __future__ import annotations

import os
from fnmatch import fnmatchcase
from importlib.resources import files
from pathlib import Path

import msgspec

from situs.base.files import parse_toml, read_text
from situs.clients.spec import Spec
from situs.errors import SitusError

__all__ = ["Price", "price_of"]


class Price(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Dollars per million tokens."""

    input: float
    output: float
    cached: float | None = None
    """Of prompt tokens that the server had in its cache; as `input` if not given."""
    cache_written: float | None = None
    """Of prompt tokens that it put there; as `input` if not given."""

    def of(
        self, prompt: float, completion: float, cached: float = 0.0, cache_written: float = 0.0
    ) -> float:
        """Dollars for so many tokens; those of the cache are part of the prompt."""
        read = self.input if self.cached is None else self.cached
        written = self.input if self.cache_written is None else self.cache_written
        usual = prompt - cached - cache_written
        prompt_price = self.input * usual + read * cached + written * cache_written
        return (prompt_price + self.output * completion) / 1e6

    def times(self, factor: float) -> Price:
        """The price at a discount."""
        cached = None if self.cached is None else self.cached * factor
        written = None if self.cache_written is None else self.cache_written * factor
        return Price(self.input * factor, self.output * factor, cached, written)

    def is_sensible(self) -> bool:
        """Whether all of it are sums of money."""
        sums = (self.input, self.output, self.cached or 0.0, self.cache_written or 0.0)
        return all(0 <= value < 1e6 for value in sums)


def price_of(spec: Spec, *, remote: bool, prices: Path | None = None) -> Price | None:
    """The model's price: from the given file, else the user's, else the shipped one; None if nobody
    knows.

    A model on this machine costs nothing unless a file of the user prices it.
    """
    price_files = [path for path in (prices, _users_file()) if path is not None]
    for path in price_files:
        price = _find(spec.name, read_text(path), str(path))
        if price is not None:
            return price
    if not remote:
        return Price(0.0, 0.0)
    return _find(
        spec.name,
        files("situs.clients").joinpath("data", "prices.toml").read_text("utf-8"),
        "prices.toml",
    )


def _users_file() -> Path | None:
    base = os.environ.get("XDG_CONFIG_HOME")
    path = (Path(base) if base else Path.home() / ".config") / "situs" / "prices.toml"
    return path if path.is_file() else None


def _find(model: str, text: str, where: str) -> Price | None:
    """The entry of this name, else the longest pattern (`gpt-*`) that fits."""
    try:
        table = msgspec.convert(parse_toml(text), dict[str, Price])
    except (ValueError, RecursionError) as error:
        fix = (
            'write ["model name"] and below it input = 1.0 and output = 2.0, dollars per million'
            " tokens"
        )
        raise SitusError(str(error), where=where, fix=fix) from error
    bad = next((name for name, price in table.items() if not price.is_sensible()), "")
    if bad:
        raise SitusError(
            f"the price of {bad!r} is not an amount of money",
            where=where,
            fix="dollars per million tokens",
        )
    if model in table:
        return table[model]
    fitting = [name for name in table if fnmatchcase(model, name)]
    return table[max(fitting, key=len)] if fitting else None
