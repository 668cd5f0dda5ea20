"""How a record's fields become Arrow columns, and back.

Numbers are stored as numbers, lists as lists and records as structs, so that pandas, polars and
DuckDB read a table without Situs. Two shapes need a rule, because Arrow has no column that holds
values of different types:

- one of several records (an answer): a struct with `kind` and one field a kind, all but one of
  them empty, as in
  `answer.number.value`;
- one of several plain values (a fact's value): a struct with the fields `boolean`, `integer`,
  `number`, `text`
  and `numbers`, all but one of them empty.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Protocol

from msgspec import inspect

from situs.errors import SitusError

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Column", "cells", "column_of"]


class Column(Protocol):
    """One field of a record as a column."""

    def arrow_type(self) -> pa.DataType:
        """The type the column is stored as."""
        ...

    def plain(self, value: Any) -> Any:
        """A value as pyarrow takes it: dicts for records, lists of pairs for mappings."""
        ...

    def values(self, array: pa.Array) -> list[Any]:
        """The values of a stored column; those of empty cells are meaningless."""
        ...


class _Scalar:
    """A column of text, numbers or truth values."""

    def __init__(self, kind: str) -> None:
        self._kind = kind

    def arrow_type(self) -> pa.DataType:
        import pyarrow as pa

        return {
            "boolean": pa.bool_(),
            "integer": pa.int64(),
            "number": pa.float64(),
            "text": pa.string(),
        }[self._kind]

    def plain(self, value: Any) -> Any:
        return value

    def values(self, array: pa.Array) -> list[Any]:
        import pyarrow as pa

        wanted = self.arrow_type()
        # Another program may store the same values as large strings or smaller numbers; other
        # types would be turned into words or numbers that nobody wrote.
        is_text = pa.types.is_string(array.type) or pa.types.is_large_string(array.type)
        is_number = pa.types.is_integer(array.type) or pa.types.is_floating(array.type)
        fits = {"text": is_text, "integer": is_number, "number": is_number}
        if not fits.get(self._kind, array.type == wanted):
            raise SitusError(f"is stored as {array.type}, not as {wanted}")
        cast = array if array.type == wanted else array.cast(wanted)
        values: list[Any] = _shared_words(cast) if self._kind == "text" else cast.to_pylist()
        return values


def _shared_words(words: pa.Array) -> list[Any]:
    """A column of text; rows with the same words share one string,
    since questions and tags come thousands of times."""
    encoded = words.dictionary_encode()
    if 2 * len(encoded.dictionary) > len(words) or words.null_count:
        return list(words.to_pylist())
    distinct = encoded.dictionary.to_pylist()
    return [distinct[number] for number in encoded.indices.to_pylist()]


class _Optional:
    """A column whose cells may be empty."""

    def __init__(self, column: Column) -> None:
        self._column = column

    def arrow_type(self) -> pa.DataType:
        return self._column.arrow_type()

    def plain(self, value: Any) -> Any:
        return None if value is None else self._column.plain(value)

    def values(self, array: pa.Array) -> list[Any]:
        if array.null_count == 0:
            return self._column.values(array)
        filled = iter(self._column.values(array.drop_null()))
        return [next(filled) if valid else None for valid in array.is_valid().to_pylist()]


class _List:
    """A column of lists of one type."""

    def __init__(
        self, column: Column, make: Callable[[list[Any]], Any], length: int | None
    ) -> None:
        self._column = column
        self._make = make
        self._length = length

    def arrow_type(self) -> pa.DataType:
        import pyarrow as pa

        return pa.list_(self._column.arrow_type())

    def plain(self, value: Any) -> Any:
        return [self._column.plain(entry) for entry in value]

    def values(self, array: pa.Array) -> list[Any]:
        spans, entries = _spans(array, self._column)
        lists = [self._make(entries[start:end]) for start, end in spans]
        if self._length is not None and any(len(one) != self._length for one in lists):
            raise SitusError(f"a list that is not of length {self._length}")
        return lists


class _Mapping:
    """A column of mappings from text: a list of structs with `key` and `value`.

    Arrow has a type of its own for maps, which is read as well; `datasets` of Hugging Face cannot
    read it.
    """

    def __init__(self, column: Column) -> None:
        self._column = column

    def arrow_type(self) -> pa.DataType:
        import pyarrow as pa

        return pa.list_(pa.struct([("key", pa.string()), ("value", self._column.arrow_type())]))

    def plain(self, value: Any) -> Any:
        # Sorted, so that equal records have the same bytes.
        return [{"key": key, "value": self._column.plain(value[key])} for key in sorted(value)]

    def values(self, array: pa.Array) -> list[Any]:
        import pyarrow as pa

        if pa.types.is_map(array.type):
            keys, entries = array.keys, array.items
        elif pa.types.is_list(array.type) or pa.types.is_large_list(array.type):
            _must_be_struct(array.values, ("key", "value"))
            if array.values.null_count:
                raise SitusError("an empty cell")
            keys, entries = array.values.field("key"), array.values.field("value")
        else:
            raise SitusError(f"is stored as {array.type}, not as a list of keys and values")
        offsets = array.offsets.to_pylist()
        first, size = offsets[0], offsets[-1] - offsets[0]
        names = cells(_Scalar("text"), keys.slice(first, size))
        values = cells(self._column, entries.slice(first, size))
        return [
            dict(zip(names[start - first : end - first], values[start - first : end - first]))
            for start, end in pairwise(offsets)
        ]


class _Record:
    """A column of records."""

    def __init__(self, kind: inspect.StructType) -> None:
        self._make = kind.cls
        self._fields = tuple(
            (f.name, f.encode_name, f.required, column_of(f.type)) for f in kind.fields
        )

    def arrow_type(self) -> pa.DataType:
        import pyarrow as pa

        return pa.struct([(stored, column.arrow_type()) for _, stored, _, column in self._fields])

    def plain(self, value: Any) -> Any:
        return {
            stored: column.plain(getattr(value, name)) for name, stored, _, column in self._fields
        }

    def values(self, array: pa.Array) -> list[Any]:
        _must_be_struct(array, (stored for _, stored, required, _ in self._fields if required))
        # A table of an earlier version lacks fields that came later; they have their defaults.
        columns = {
            name: cells(column, array.field(stored), stored)
            for name, stored, _, column in self._fields
            if array.type.get_field_index(stored) >= 0
        }
        if len(columns) == len(self._fields):
            return [self._make(*row) for row in zip(*columns.values())]
        rows = zip(*columns.values()) if columns else (() for _ in range(len(array)))
        return [self._make(**dict(zip(columns, row))) for row in rows]


class _Row:
    """A column of tuples of different types: a struct with the fields `item_1`, `item_2`, …"""

    def __init__(self, columns: Sequence[Column]) -> None:
        self._columns = {f"item_{number}": column for number, column in enumerate(columns, 1)}

    def arrow_type(self) -> pa.DataType:
        import pyarrow as pa

        return pa.struct([(name, column.arrow_type()) for name, column in self._columns.items()])

    def plain(self, value: Any) -> Any:
        return {name: c.plain(entry) for (name, c), entry in zip(self._columns.items(), value)}

    def values(self, array: pa.Array) -> list[Any]:
        _must_be_struct(array, self._columns)
        entries = (cells(column, array.field(name)) for name, column in self._columns.items())
        return list(zip(*entries))


class _OneOf:
    """A column of values of different types: a struct in which one field is filled."""

    def __init__(
        self, kinds: dict[str, Column], kind_of: Callable[[Any], str], *, named: bool
    ) -> None:
        self._kinds = kinds
        self._kind_of = kind_of
        self._named = named
        """Whether a field `kind` tells which: records without content would leave no trace."""

    def arrow_type(self) -> pa.DataType:
        import pyarrow as pa

        fields = [(name, column.arrow_type()) for name, column in self._kinds.items()]
        return pa.struct([("kind", pa.string()), *fields] if self._named else fields)

    def plain(self, value: Any) -> Any:
        kind = self._kind_of(value)
        stored = {kind: self._kinds[kind].plain(value)}
        return {"kind": kind, **stored} if self._named else stored

    def values(self, array: pa.Array) -> list[Any]:
        import pyarrow.compute as pc

        _must_be_struct(array)
        result: list[Any] = [_NOTHING] * len(array)
        for name, column in self._kinds.items():
            if array.type.get_field_index(name) < 0:
                continue
            child = array.field(name)
            rows = pc.indices_nonzero(child.is_valid()).to_pylist()
            if not rows:
                continue
            for row, value in zip(
                rows, column.values(child if len(rows) == len(child) else child.drop_null())
            ):
                if result[row] is not _NOTHING:
                    raise SitusError("a cell with two kinds of value")
                result[row] = value
        if any(value is _NOTHING for value in result):
            raise SitusError(f"a cell without a value of a known kind ({', '.join(self._kinds)})")
        return result


_NOTHING = object()


def column_of(kind: inspect.Type) -> Column:
    """The column for a field's type."""
    match kind:
        case inspect.StrType():
            return _Scalar("text")
        case inspect.BoolType():
            return _Scalar("boolean")
        case inspect.IntType():
            return _Scalar("integer")
        case inspect.FloatType():
            return _Scalar("number")
        case inspect.VarTupleType(item_type=item):
            return _List(column_of(item), tuple, None)
        case inspect.ListType(item_type=item):
            return _List(column_of(item), list, None)
        case inspect.TupleType(item_types=items) if len(set(map(type, items))) == 1:
            return _List(column_of(items[0]), tuple, len(items))
        case inspect.TupleType(item_types=items):
            return _Row([column_of(item) for item in items])
        case inspect.DictType(key_type=inspect.StrType(), value_type=value):
            return _Mapping(column_of(value))
        case inspect.StructType():
            return _Record(kind)
        case inspect.UnionType(types=types):
            return _union_column(types)
    raise TypeError(f"no column is known for {kind}")


def _union_column(types: Sequence[inspect.Type]) -> Column:
    some = tuple(one for one in types if not isinstance(one, inspect.NoneType))
    if len(some) == 1:
        column: Column = column_of(some[0])
    elif all(isinstance(one, inspect.StructType) for one in some):
        column = _one_of_records(some)
    else:
        column = _one_of_plain_values(some)
    return column if len(some) == len(types) else _Optional(column)


def _one_of_records(types: Sequence[Any]) -> Column:
    tags = {one.cls: str(one.tag) for one in types}
    return _OneOf(
        {str(one.tag): _Record(one) for one in types}, lambda v: tags[type(v)], named=True
    )


def _one_of_plain_values(types: Sequence[inspect.Type]) -> Column:
    names = {
        inspect.BoolType: ("boolean", bool),
        inspect.IntType: ("integer", int),
        inspect.FloatType: ("number", float),
        inspect.StrType: ("text", str),
        inspect.VarTupleType: ("numbers", tuple),
    }
    by_type = {names[type(one)][1]: names[type(one)][0] for one in types}
    kinds = {names[type(one)][0]: column_of(one) for one in types}
    return _OneOf(kinds, lambda value: by_type[type(value)], named=False)


def _spans(array: pa.Array, column: Column) -> tuple[list[tuple[int, int]], list[Any]]:
    """Where each list of a column begins and ends, and the entries of all of them."""
    import pyarrow as pa

    if not (pa.types.is_list(array.type) or pa.types.is_large_list(array.type)):
        raise SitusError(f"is stored as {array.type}, not as a list")
    offsets = array.offsets.to_pylist()
    first = offsets[0]
    entries = cells(column, array.values.slice(first, offsets[-1] - first))
    return [(start - first, end - first) for start, end in pairwise(offsets)], entries


def cells(column: Column, array: pa.Array, name: str = "") -> list[Any]:
    """The values of a column in which no cell may be empty, unless its type allows it."""
    try:
        if array.null_count and not isinstance(column, _Optional):
            raise SitusError("an empty cell")
        return column.values(array)
    except SitusError as error:
        if not name:
            raise
        inner = error.problem.removeprefix("$.")
        problem = f"$.{name}.{inner}" if error.problem.startswith("$.") else f"$.{name}: {inner}"
        raise SitusError(problem, fix=error.fix) from error


def _must_be_struct(array: pa.Array, fields: Iterable[str] = ()) -> None:
    import pyarrow as pa

    if not pa.types.is_struct(array.type):
        raise SitusError(f"is stored as {array.type}, not as a struct")
    for name in fields:
        if array.type.get_field_index(name) < 0:
            raise SitusError(f"lacks the field {name!r}")
