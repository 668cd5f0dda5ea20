"""Records in Parquet: streamed in row groups, nested fields as JSON text, validated on the way in."""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import msgspec

from situs.base.files import check_regular
from situs.errors import SitusError

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

__all__ = ["TableWriter", "Where", "read_table"]

R = TypeVar("R", bound=msgspec.Struct)
_ROWS = 2000
_LARGEST_CELL = 4 << 20
"""Bytes of text in one cell. A few kilobytes of compressed Parquet can hold gigabytes of it."""
_LARGEST_BATCH = 256 << 20
Where = Mapping[str, str | Collection[str]]
"""Column → the value its cells must hold, or the values of which one."""


def _plain(kind: Any) -> bool:
    return kind is str or kind == (float | None)


def _schema(record: type[msgspec.Struct]) -> pa.Schema:
    import pyarrow as pa

    return pa.schema(
        [
            (field.encode_name, pa.float64() if field.type == (float | None) else pa.string())
            for field in msgspec.structs.fields(record)
        ]
    )


class TableWriter(Generic[R]):
    """Writes records as they come; memory holds one row group."""

    def __init__(self, path: Path, record: type[R]) -> None:
        import pyarrow.parquet as pq

        self._fields = [
            (f.name, f.encode_name, _plain(f.type)) for f in msgspec.structs.fields(record)
        ]
        self._schema = _schema(record)
        self._writer = pq.ParquetWriter(path, self._schema, compression="zstd")
        self._rows: list[dict[str, Any]] = []
        self._encoder = msgspec.json.Encoder(order="deterministic")
        self.count = 0

    def write(self, records: Iterable[R]) -> None:
        """Append records."""
        for record in records:
            row = {}
            for name, column, plain in self._fields:
                value = getattr(record, name)
                row[column] = value if plain else self._encoder.encode(value).decode()
            self._rows.append(row)
            self.count += 1
            if len(self._rows) >= _ROWS:
                self._flush()

    def _flush(self) -> None:
        import pyarrow as pa

        if self._rows:
            self._writer.write_table(pa.Table.from_pylist(self._rows, schema=self._schema))
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
        except OSError:
            # Left open, it would try once more when it is collected, and print a traceback.
            self._writer.is_open = False
            if error is None:
                raise


def read_table(
    path: Path, record: type[R], *, where: Where | None = None, without: Collection[str] = ()
) -> Iterator[R]:
    """Stream a table's records, optionally only rows whose text columns hold the given values.

    A row group without such a row is not decoded; where the values lie together, it is not even read. Fields
    `without` which one can do are not read and have their default.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    fields = tuple(field for field in msgspec.structs.fields(record) if field.name not in without)
    required = {field.encode_name for field in fields}
    wanted = {
        name: [value] if isinstance(value, str) else sorted(value)
        for name, value in (where or {}).items()
    }
    decoders = {f.encode_name: msgspec.json.Decoder(f.type) for f in fields if not _plain(f.type)}
    check_regular(path)
    try:
        with pq.ParquetFile(path) as table:
            missing = required - set(table.schema_arrow.names)
            if missing:
                raise SitusError(
                    f"lacks the column {min(missing)!r}",
                    where=path,
                    fix="rebuild the bench with this version",
                )
            before = 0
            for batch in _batches(table, sorted(required), wanted):
                numbers, columns = _matching(batch, wanted)
                for row, number in enumerate(numbers):
                    yield _decode(
                        record, fields, decoders, columns, row, f"{path.name}:{before + number + 1}"
                    )
                before += batch.num_rows
    except SitusError as error:
        raise (
            error
            if error.where is not None
            else SitusError(error.problem, where=path, fix=error.fix)
        ) from error
    except FileNotFoundError as error:
        raise SitusError("no such file", where=path, fix="is this a bench folder?") from error
    except (pa.ArrowException, OSError, EOFError) as error:
        raise SitusError(
            "is not a readable Parquet table", where=path, fix="restore or rebuild the bench"
        ) from error


def _batches(
    table: pq.ParquetFile, names: list[str], wanted: dict[str, list[str]]
) -> Iterator[pa.RecordBatch]:
    """A table in pieces; of a row group that cannot hold the values, only how many rows it has."""
    for group in range(table.num_row_groups):
        about = table.metadata.row_group(group)
        held = all(_may_hold(about, name, values) for name, values in wanted.items())
        # A value that a column repeats is stored once: a row may take as much as the whole column does.
        widest = max(
            (about.column(n).total_uncompressed_size for n in range(about.num_columns)), default=1
        )
        rows = max(1, min(_ROWS, _LARGEST_BATCH // max(1, widest)))
        for batch in table.iter_batches(
            batch_size=rows, row_groups=[group], columns=names if held else []
        ):
            _refuse_large_cells(batch)
            yield batch


def _refuse_large_cells(batch: pa.RecordBatch) -> None:
    import pyarrow as pa
    import pyarrow.compute as pc

    for name, column in zip(batch.schema.names, batch.columns):
        if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
            longest = pc.max(pc.binary_length(column)).as_py() or 0
            if longest > _LARGEST_CELL:
                fix = "it was not written by Situs; restore or rebuild the bench"
                raise SitusError(f"$.{name}: a cell of {longest >> 20} MiB", fix=fix)


def _matching(
    batch: pa.RecordBatch, wanted: dict[str, list[str]]
) -> tuple[Iterable[int], dict[str, list[Any]]]:
    """The rows that hold the values, by number, and their columns."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not batch.num_columns:
        return (), {}
    if not wanted:
        return range(batch.num_rows), batch.to_pydict()
    masks = [
        pc.is_in(batch[name], pa.array(values, pa.string())) for name, values in wanted.items()
    ]
    found = pc.indices_nonzero(functools.reduce(pc.and_, masks))
    return found.to_pylist(), batch.take(found).to_pydict()


def _may_hold(group: pq.RowGroupMetaData, name: str, values: list[str]) -> bool:
    """Whether a column of the group can hold one of the values, by the bounds that the file states."""
    for index in range(group.num_columns):
        column = group.column(index)
        if column.path_in_schema == name and column.is_stats_set and column.statistics.has_min_max:
            low, high = column.statistics.min, column.statistics.max
            return not isinstance(low, str) or any(low <= value <= high for value in values)
    return True


def _decode(
    record: type[R],
    fields: tuple[msgspec.structs.FieldInfo, ...],
    decoders: dict[str, msgspec.json.Decoder[Any]],
    columns: dict[str, list[Any]],
    row: int,
    where: str,
) -> R:
    values: dict[str, Any] = {}
    for field in fields:
        name = field.encode_name
        raw = columns[name][row]
        try:
            if name in decoders:
                values[field.name] = decoders[name].decode(raw if raw is not None else b"null")
            else:
                values[field.name] = msgspec.convert(raw, field.type)
        except (msgspec.DecodeError, SitusError, TypeError, RecursionError) as error:
            text = str(error).replace("`$", f"`$.{name}")
            raise SitusError(
                f"$.{name}: {text}", where=where, fix="restore or rebuild the bench"
            ) from error
    return record(**values)
