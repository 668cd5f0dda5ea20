"""Records in Parquet: streamed in row groups, typed columns, validated on the way in."""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import msgspec

from situs.base.files import check_regular
from situs.bench.columns import Column, cells, column_of
from situs.errors import SitusError

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

__all__ = ["TableWriter", "Where", "read_table", "table_schema", "whole_table"]

R = TypeVar("R", bound=msgspec.Struct)
_ROWS = 2000
_LARGEST_CELL = 4 << 20
"""Bytes of text in one cell. A few kilobytes of compressed Parquet can hold gigabytes of it."""
_LARGEST_BATCH = 128 << 20
"""Bytes of one column in one batch; Arrow's buffers and the values made of them take several times
that for a moment."""
_MOST_VALUES = 20_000_000
"""Plain values in one column of one row group: lists of one repeated number compress to nothing."""
_FOREIGN = "it was not written by Situs; restore or rebuild the bench"
_UNREADABLE = (
    SitusError,
    msgspec.DecodeError,
    TypeError,
    ValueError,
    OverflowError,
    RecursionError,
)
"""What reading a cell may end in; Arrow's own errors are among the ValueErrors and TypeErrors."""
Where = Mapping[str, str | Collection[str]]
"""Column → the value its cells must hold, or the values of which one."""


@functools.cache
def _columns(record: type[msgspec.Struct]) -> Mapping[str, tuple[str, Column]]:
    """A record's fields: name → stored name and column.

    The types of a large record take long to inspect.
    """
    info = msgspec.inspect.type_info(record)
    assert isinstance(info, msgspec.inspect.StructType)
    return {field.name: (field.encode_name, column_of(field.type)) for field in info.fields}


@functools.cache
def _types(record: type[msgspec.Struct]) -> Mapping[str, Any]:
    """The types of a record's fields."""
    return {field.name: field.type for field in msgspec.structs.fields(record)}


class TableWriter(Generic[R]):
    """Writes records as they come; memory holds one row group."""

    def __init__(self, path: Path, record: type[R]) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        self._name = path.name
        self._columns = _columns(record)
        self._schema = pa.schema(
            [(stored, column.arrow_type()) for stored, column in self._columns.values()]
        )
        self._writer = pq.ParquetWriter(path, self._schema, compression="zstd")
        self._rows: list[R] = []
        self.count = 0

    def write(self, records: Iterable[R]) -> None:
        """Append records."""
        for record in records:
            self._rows.append(record)
            self.count += 1
            if len(self._rows) >= _ROWS:
                self._flush()

    def _flush(self) -> None:
        import pyarrow as pa

        if self._rows:
            try:
                arrays = [
                    pa.array(
                        [column.plain(getattr(row, name)) for row in self._rows],
                        column.arrow_type(),
                    )
                    for name, (_, column) in self._columns.items()
                ]
            except (OverflowError, pa.ArrowInvalid) as error:
                self._rows = []
                problem = f"a value is too large for {self._name} ({error})"
                raise SitusError(problem, fix="correct the number in the source") from error
            self._writer.write_table(pa.Table.from_arrays(arrays, schema=self._schema))
            self._rows = []

    def __enter__(self) -> TableWriter[R]:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            if error is None:
                self._flush()
            self._writer.close()
        except SitusError:
            self._writer.close()
            raise
        except OSError:
            # Left open, it would try once more when it is collected, and print a traceback.
            self._writer.is_open = False
            if error is None:
                raise


def read_table(
    path: Path, record: type[R], *, where: Where | None = None, without: Collection[str] = ()
) -> Iterator[R]:
    """Stream a table's records, optionally only rows whose text columns hold the given values.

    A row group without such a row is not decoded; where the values lie together, it is not even
    read. Fields `without` which one can do are not read and have their default.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    every = _columns(record)
    columns = {name: column for name, column in every.items() if name not in without}
    types = _types(record)
    wanted = {
        name: [value] if isinstance(value, str) else sorted(value)
        for name, value in (where or {}).items()
    }
    check_regular(path)
    try:
        with pq.ParquetFile(path) as table:
            schema = table.schema_arrow  # made anew each time it is asked for
            # Also of what is not read: a table that lacks it is no table of a bench.
            missing = {stored for stored, _ in every.values()} - set(schema.names)
            if missing:
                fix = "rebuild the bench with this version"
                raise SitusError(f"lacks the column {min(missing)!r}", where=path, fix=fix)
            readers = {
                name: (stored, _reader(column, types[name], schema.field(stored).type))
                for name, (stored, column) in columns.items()
            }
            stored_names = sorted(stored for stored, _ in columns.values())
            rows_before = 0
            for batch in _batches(table, stored_names, wanted):
                rows = _matching(batch, wanted)
                yield from _decode(record, readers, batch, rows, f"{path.name}:", rows_before)
                rows_before += batch.num_rows
                del batch  # before the next one is read
    except SitusError as error:
        raise (
            error
            if error.where is not None
            else SitusError(error.problem, where=path, fix=error.fix)
        ) from error
    except (pa.ArrowException, OSError, EOFError) as error:
        raise _unreadable(path, error) from error


def whole_table(path: Path, columns: Collection[str] | None = None) -> pa.Table:
    """A table, or some of its columns, as Arrow holds it."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    check_regular(path)
    try:
        return pq.read_table(path, columns=None if columns is None else list(columns))
    except (pa.ArrowException, OSError, EOFError) as error:
        raise _unreadable(path, error) from error


def table_schema(path: Path) -> pa.Schema:
    """The columns of a table and their types."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    check_regular(path)
    try:
        return pq.read_schema(path)
    except (pa.ArrowException, OSError, EOFError) as error:
        raise _unreadable(path, error) from error


def _unreadable(path: Path, error: Exception) -> SitusError:
    if isinstance(error, FileNotFoundError):
        return SitusError("no such file", where=path, fix="is this a bench folder?")
    fix = "restore or rebuild the bench"
    return SitusError("is not a readable Parquet table", where=path, fix=fix)


def _reader(column: Column, kind: Any, stored: pa.DataType) -> Column:
    """How a stored column is read:
    version 0.1 kept everything but text and numbers as JSON text."""
    import pyarrow as pa

    is_text = pa.types.is_string(stored) or pa.types.is_large_string(stored)
    return _JsonText(kind) if is_text and column.arrow_type() != pa.string() else column


class _JsonText:
    """A column of JSON text, as version 0.1 wrote them; only read."""

    def __init__(self, kind: Any) -> None:
        self._decoder = msgspec.json.Decoder(kind)

    def arrow_type(self) -> pa.DataType:
        import pyarrow as pa

        return pa.string()

    def plain(self, value: Any) -> Any:
        raise NotImplementedError("JSON text is no longer written")

    def values(self, array: pa.Array) -> list[Any]:
        return [
            self._decoder.decode(cell if cell is not None else b"null")
            for cell in array.to_pylist()
        ]


def _batches(
    table: pq.ParquetFile, names: list[str], wanted: dict[str, list[str]]
) -> Iterator[pa.RecordBatch]:
    """A table in pieces; of a row group that cannot hold the values, only how many rows it has."""
    for group in range(table.num_row_groups):
        about = table.metadata.row_group(group)
        may_match = all(_may_hold(about, name, values) for name, values in wanted.items())
        # A value that a column repeats is stored once: a row may take as much as the whole column
        # does.
        leaves = [about.column(number) for number in range(about.num_columns)]
        widest = max((leaf.total_uncompressed_size for leaf in leaves), default=1)
        if max((leaf.num_values for leaf in leaves), default=0) > _MOST_VALUES:
            raise SitusError(f"more than {_MOST_VALUES:,} values in one row group", fix=_FOREIGN)
        rows = max(1, min(_ROWS, _LARGEST_BATCH // max(1, widest)))
        if may_match and wanted:
            # Their own columns are a small part of the group.
            looked_at = table.iter_batches(rows, row_groups=[group], columns=list(wanted))
            may_match = any(len(_where(batch, wanted)) for batch in looked_at)
        for batch in table.iter_batches(
            batch_size=rows, row_groups=[group], columns=names if may_match else []
        ):
            _refuse_large_cells(batch)
            yield batch
            del batch


def _refuse_large_cells(batch: pa.RecordBatch) -> None:
    import pyarrow as pa
    import pyarrow.compute as pc

    for name, column in zip(batch.schema.names, batch.columns):
        for leaf in _leaves(column):
            if leaf.nbytes <= _LARGEST_CELL:
                continue
            if pa.types.is_string(leaf.type) or pa.types.is_large_string(leaf.type):
                longest = pc.max(pc.binary_length(leaf)).as_py() or 0
                if longest > _LARGEST_CELL:
                    raise SitusError(f"$.{name}: a cell of {longest >> 20} MiB", fix=_FOREIGN)


def _leaves(array: pa.Array) -> Iterator[pa.Array]:
    """The arrays of plain values that a nested column is made of."""
    import pyarrow as pa

    if pa.types.is_map(array.type):
        yield from (leaf for child in (array.keys, array.items) for leaf in _leaves(child))
    elif pa.types.is_struct(array.type):
        for index in range(array.type.num_fields):
            yield from _leaves(array.field(index))
    elif pa.types.is_nested(array.type) and hasattr(array, "values"):
        yield from _leaves(array.values)
    else:
        yield array


def _matching(batch: pa.RecordBatch, wanted: dict[str, list[str]]) -> pa.Array | None:
    """The numbers of the rows that hold the values; None for all of them."""
    import pyarrow as pa

    if not batch.num_columns:
        return pa.array([], pa.int64())
    return _where(batch, wanted) if wanted else None


def _where(batch: pa.RecordBatch, wanted: dict[str, list[str]]) -> pa.Array:
    """The numbers of the rows that hold the values."""
    import pyarrow as pa
    import pyarrow.compute as pc

    masks = [
        pc.is_in(batch[name], pa.array(values, batch[name].type)) for name, values in wanted.items()
    ]
    return pc.indices_nonzero(functools.reduce(pc.and_, masks))


def _may_hold(group: pq.RowGroupMetaData, name: str, values: list[str]) -> bool:
    """Whether a column of the group can hold one of the values,
    by the bounds that the file states."""
    for index in range(group.num_columns):
        column = group.column(index)
        if column.path_in_schema == name and column.is_stats_set and column.statistics.has_min_max:
            low, high = column.statistics.min, column.statistics.max
            return not isinstance(low, str) or any(low <= value <= high for value in values)
    return True


def _decode(
    record: type[R],
    readers: Mapping[str, tuple[str, Column]],
    batch: pa.RecordBatch,
    rows: pa.Array | None,
    where: str,
    rows_before: int,
) -> Iterator[R]:
    if rows is not None:
        if not len(rows):
            return
        batch = batch.take(rows)
    try:
        columns = {name: cells(column, batch[stored]) for name, (stored, column) in readers.items()}
    except _UNREADABLE:
        numbers = rows.to_pylist() if rows is not None else range(batch.num_rows)
        _blame(readers, batch, [f"{where}{rows_before + number + 1}" for number in numbers])
        raise
    for row in zip(*columns.values()):
        yield record(**dict(zip(columns, row)))


def _blame(
    readers: Mapping[str, tuple[str, Column]], batch: pa.RecordBatch, places: Sequence[str]
) -> None:
    """Raise for the first cell that cannot be read, with its place:
    whole columns are read at once."""
    for row, where in enumerate(places):
        for stored, column in readers.values():
            try:
                cells(column, batch[stored].slice(row, 1))
            except _UNREADABLE as error:
                text = error.problem if isinstance(error, SitusError) else str(error)
                text = text.replace("`$", f"`$.{stored}")
                inner = text.removeprefix("$") if text.startswith("$.") else f": {text}"
                fix = "restore or rebuild the bench"
                raise SitusError(f"$.{stored}{inner}", where=where, fix=fix) from error
