"""What the blind rows answered, kept while the program runs:
all runs of a bench stand beside the same ones."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Generic, TypeVar

import msgspec

from situs.base.files import digest
from situs.bench import Bench
from situs.items import Item
from situs.profiles import Profile

__all__ = ["Memory", "asked_key"]

Value = TypeVar("Value", bound=object)


class Memory(Generic[Value]):
    """Values by key, up to a total weight; the one that was used longest ago is forgotten first."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._values: OrderedDict[object, tuple[Value, int]] = OrderedDict()

    def get(self, key: object, weight: int, make: Callable[[], Value]) -> Value:
        """The value of a key, made if it is not known; what weighs too much is not kept."""
        if key in self._values:
            self._values.move_to_end(key)
            return self._values[key][0]
        value = make()
        if weight <= self._most:
            self._values[key] = value, weight
            while sum(one for _, one in self._values.values()) > self._most:
                self._values.popitem(last=False)
        return value


def asked_key(
    bench: Bench,
    items: Iterable[Item],
    gives: Sequence[str] | None,
    profile: Profile | None,
    hidden: Mapping[str, Sequence[str]],
) -> str:
    """Names all that a blind row's answers and their scores depend on.

    That is the items that are asked and how they are shown, and the tables from which a row learns.
    Those are told by their files' sizes and times and not read: a table is never changed in place.
    """
    files = [entry.stat() for entry in sorted(bench.folder.glob("*.parquet"))]
    tables = [(file.st_ino, file.st_size, file.st_mtime_ns) for file in files]
    conditions = msgspec.json.encode([str(bench.folder.resolve()), tables, gives, profile, hidden])
    return digest(conditions, *(msgspec.msgpack.encode(item) for item in items))
