"""The columns of a scored run as a file, `scores.parquet`: typed, so that pandas, Polars and DuckDB
read them without us, and exact, so that scores made of them are the same to the last digit."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from situs.base.files import write_atomic
from situs.errors import SitusError
from situs.score.columns import Columns
from situs.score.outcomes import Outcome
from situs.score.records import in_one_piece

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["COLUMNS_VERSION", "STORED", "plain_columns", "read_scores", "write_scores"]

STORED = "scores.parquet"
COLUMNS_VERSION = 2
"""Since 2 the number that was said is one, and its exact fraction stands beside it."""
_KEY = b"situs"
"""Under which the file's metadata say what it was made of."""
_ROW_GROUP = 50_000
"""Rows that are compressed at a time."""
_REPEATED = ("tags.list.element", "boxes.list.element.label")
"""Words within lists, each of which is in memory once (their names in Parquet)."""
_EXACT = "prediction_exact"
_JURY = ("state", "right", "parsed")


def write_scores(
    path: Path, table: pa.Table, judged: Mapping[str, Outcome], made_of: bytes
) -> None:
    """Write the columns with a jury's word beside them; no file is left where none can be."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    item_ids = table["item_id"].to_pylist() if judged else []
    verdicts = [judged.get(item_id) for item_id in item_ids]
    table = _with_plain_numbers(table)
    for name, kind in zip(_JURY, (pa.string(), pa.bool_(), pa.string())):
        cells = [None if one is None else getattr(one, name) for one in verdicts]
        column = pa.array(cells, kind) if verdicts else pa.nulls(len(table), kind)
        table = table.append_column(f"jury_{name}", column)
    table = table.replace_schema_metadata({_KEY: made_of})
    sink, schema = pa.BufferOutputStream(), _stored_schema(table.schema)
    with pq.ParquetWriter(sink, schema, compression="zstd") as writer:
        for first in range(0, len(table), _ROW_GROUP):
            writer.write_table(table.slice(first, _ROW_GROUP).cast(schema), _ROW_GROUP)
    with suppress(SitusError):
        write_atomic(path, sink.getvalue())


def plain_columns(columns: Columns) -> pa.Table:
    """The columns as other programs read them, a row an answer."""
    table = _with_plain_numbers(columns.table)
    return table.cast(_stored_schema(table.schema))


def read_scores(path: Path, made_of: bytes) -> tuple[Columns, dict[str, Outcome]] | None:
    """What is kept, if it was made of the same; None if it was not, or cannot be read."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    if not path.is_file():
        return None
    try:
        if (pq.read_schema(path).metadata or {}).get(_KEY) != made_of:
            return None
        stored = pq.read_table(path, read_dictionary=list(_REPEATED))
        table = in_one_piece([_without_plain_numbers(stored)])
    except (pa.ArrowException, OSError, ValueError, KeyError):
        return None
    jury = {name: table[f"jury_{name}"].to_pylist() for name in _JURY}
    judged = {
        item_id: Outcome(item_id, state, right, parsed)
        for item_id, state, right, parsed in zip(table["item_id"].to_pylist(), *jury.values())
        if state is not None
    }
    return Columns(table.drop_columns([f"jury_{name}" for name in jury])), judged


def _stored_schema(schema: pa.Schema) -> pa.Schema:
    """Lists of plain words, which any reader understands."""
    import pyarrow as pa

    tags, boxes = schema.field("tags"), schema.field("boxes")
    fields = [
        field.with_type(pa.string()) if field.name == "label" else field
        for field in boxes.type.value_type.fields
    ]
    schema = schema.set(schema.get_field_index("tags"), tags.with_type(pa.list_(pa.string())))
    place = schema.get_field_index("boxes")
    return schema.set(place, boxes.with_type(pa.list_(pa.struct(fields))))


def _with_plain_numbers(table: pa.Table) -> pa.Table:
    """What was said as a number, and as the exact fraction behind it."""
    import pyarrow as pa
    import pyarrow.compute as pc

    exact = table["prediction"].combine_chunks()
    distinct = exact.unique()
    nearest = [None if text is None else float(Fraction(text)) for text in distinct.to_pylist()]
    numbers = pa.array(nearest, pa.float64())
    place = table.column_names.index("prediction")
    table = table.set_column(place, "prediction", numbers.take(pc.index_in(exact, distinct)))
    return table.add_column(place + 1, _EXACT, exact)


def _without_plain_numbers(table: pa.Table) -> pa.Table:
    place, exact = table.column_names.index("prediction"), table[_EXACT]
    return table.drop_columns([_EXACT]).set_column(place, "prediction", exact)
