"""Tables and ids of a bench: what is written is what is read, and nobody moves when others join."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from situs.bench import (
    Bench,
    Locations,
    TableWriter,
    opaque_id,
    open_bench,
    read_table,
    split_of,
    write_locations,
)
from situs.errors import SitusError
from situs.facts import Fact
from situs.items import (
    Answer,
    Boxes,
    Choice,
    Choices,
    Compound,
    Frames,
    Grades,
    Item,
    Number,
    Option,
    Text,
    YesNo,
)
from situs.space import WorldBox

SHARES = {"train": 0.6, "val": 0.1, "test": 0.3}


@pytest.mark.parametrize(("name", "kind"), [("items", Item), ("facts", Fact)])
def test_records_survive_the_table(bench: Path, tmp_path: Path, name: str, kind: type) -> None:
    rows = list(read_table(bench / f"{name}.parquet", kind))
    with TableWriter(tmp_path / "again.parquet", kind) as table:
        table.write(rows)
    assert table.count == len(rows) > 10
    assert list(read_table(tmp_path / "again.parquet", kind)) == rows
    assert (tmp_path / "again.parquet").read_bytes() == (bench / f"{name}.parquet").read_bytes()


def test_many_row_groups_keep_their_order(bench: Path, tmp_path: Path) -> None:
    fact = next(open_bench(bench).facts())
    with TableWriter(tmp_path / "t.parquet", Fact) as table:
        table.write(msgspec.structs.replace(fact, fact_id=f"f{n}") for n in range(4500))
    assert [row.fact_id for row in read_table(tmp_path / "t.parquet", Fact)] == [
        f"f{n}" for n in range(4500)
    ]


def test_rows_can_be_chosen(bench: Path) -> None:
    opened = open_bench(bench)
    study = next(opened.studies()).study_id
    chosen = list(opened.facts(study_id=study))
    assert chosen == [fact for fact in opened.facts() if fact.study_id == study]


def test_splits_follow_their_shares_and_the_patient() -> None:
    patients = [f"p{n}" for n in range(3000)]
    first = {patient: split_of(patient, SHARES, 0) for patient in patients}
    counts = Counter(first.values())
    assert {name: round(counts[name] / 3000, 1) for name in SHARES} == SHARES
    assert first == {patient: split_of(patient, SHARES, 0) for patient in reversed(patients)}
    assert first != {patient: split_of(patient, SHARES, 1) for patient in patients}


def test_every_item_is_in_the_split_of_its_patient(cohort: Path) -> None:
    splits: dict[str, set[str]] = {}
    for item in open_bench(cohort).items():
        splits.setdefault(item.patient_id, set()).add(item.split)
    assert all(len(names) == 1 for names in splits.values())


def test_opaque_ids_do_not_hold_the_name() -> None:
    ids = {opaque_id("s", f"Doe_{n}") for n in range(500)}
    assert len(ids) == 500
    assert not any("doe" in id_.lower() for id_ in ids)


def test_locations_inside_the_bench_move_with_it(tmp_path: Path) -> None:
    bench, outside = tmp_path / "bench", tmp_path / "data" / "a"
    (bench / "volumes").mkdir(parents=True)
    outside.mkdir(parents=True)
    write_locations(bench, {"in": bench / "volumes", "out": outside})
    bench.rename(tmp_path / "moved")
    locations = Locations.read(tmp_path / "moved")
    assert locations.find("in") == tmp_path / "moved" / "volumes"
    assert locations.find("out") == outside
    (tmp_path / "data").rename(tmp_path / "elsewhere")
    with pytest.raises(SitusError, match="--data"):
        locations.find("out")
    assert (
        Locations.read(tmp_path / "moved", tmp_path / "elsewhere").find("out")
        == tmp_path / "elsewhere" / "a"
    )
    with pytest.raises(SitusError, match="no location"):
        locations.find("nowhere")


def test_other_programs_read_numbers_as_numbers(bench: Path) -> None:
    """Typed columns, checked with Arrow alone."""
    items = pq.read_table(bench / "items.parquet")
    numbers = items.filter(pc.equal(items["form"], "number"))
    values = pc.struct_field(numbers["answer"], ["number", "value"])
    assert pa.types.is_floating(values.type)
    expected = [i.answer.value for i in open_bench(bench).items() if isinstance(i.answer, Number)]
    assert values.to_pylist() == expected != []
    assert pa.types.is_list(items.schema.field("options").type)
    facts = pq.read_table(bench / "facts.parquet")
    volumes = facts.filter(pc.equal(facts["kind"], "volume"))
    measured = pc.struct_field(volumes["value"], ["number"]).to_pylist()
    assert measured == [fact.value for fact in open_bench(bench).facts(kind="volume")] != []


class _Odd(msgspec.Struct, frozen=True):
    """Every shape of a field, at its edges."""

    text: str
    value: bool | int | float | str | tuple[float, ...] | None
    pair: tuple[float, float] | None
    triples: tuple[tuple[int, int, int], ...]
    rows: tuple[tuple[int, str], ...]
    table: dict[str, float | str]
    answer: Answer
    nested: dict[str, tuple[Option, ...]]
    later: int = 7


ODD = [
    _Odd("", None, None, (), (), {}, YesNo(False), {}),
    _Odd("é\n", True, (0.0, -1.5), ((1, 2, 3),), ((1, "a"),), {"a": 1.0}, Choices(()), {"x": ()}),
    _Odd("x", 0, (1e-300, 1e300), (), ((2, ""),), {"b": ""}, Grades({"pf": 0}), {"y": (Option("", ""),)}),
    _Odd("y", 3.0, None, ((0, 0, 0),) * 3, (), {"b": "1", "a": -0.5}, Text(("a", "b")), {}),
    _Odd("z", "3", None, (), (), {}, Compound({"n": Number(1.0, "mm", (0.5, 2.0)), "f": Frames((1,))}), {}),
    _Odd("w", (), None, (), (), {}, Boxes((WorldBox((0.0,) * 3, (1.0,) * 3, "l"),)), {}),
    _Odd("v", (1.0, 2.0), None, (), (), {}, Choice("a", ("b",)), {}, 9),
]  # fmt: skip


def test_every_shape_of_a_field_survives(tmp_path: Path) -> None:
    with TableWriter(tmp_path / "t.parquet", _Odd) as table:
        table.write(ODD)
    again = list(read_table(tmp_path / "t.parquet", _Odd))
    assert again == ODD
    assert [type(row.value) for row in again] == [type(row.value) for row in ODD]
    chosen = list(read_table(tmp_path / "t.parquet", _Odd, where={"text": ("z", "v")}))
    assert chosen == [ODD[4], ODD[6]]


def test_a_table_of_polars_reads_as_ours(bench: Path, tmp_path: Path) -> None:
    """Others store large strings and large lists, which hold the same."""
    for name, kind in (("items", Item), ("facts", Fact)):
        table = pq.read_table(bench / f"{name}.parquet")
        large = pa.schema(
            [
                field.with_type(
                    pa.large_string()
                    if pa.types.is_string(field.type)
                    else (
                        pa.large_list(field.type.value_type)
                        if pa.types.is_list(field.type)
                        else field.type
                    )
                )
                for field in table.schema
            ]
        )
        pq.write_table(table.cast(large), tmp_path / f"{name}.parquet")
        assert list(read_table(tmp_path / f"{name}.parquet", kind)) == list(
            read_table(bench / f"{name}.parquet", kind)
        )


def test_one_column_tells_which_kinds_of_answer_are_asked_for(tmp_path: Path) -> None:
    def item(name: str, form: str, answer: Answer) -> Item:
        return Item(name, "s", "ct", "p", "t", form, "What?", answer)

    parts = Compound({"why": Text(("It is.",)), "whether": YesNo(True)})
    with TableWriter(tmp_path / "items.parquet", Item) as writer:
        writer.write([item("a", "yes_no", YesNo(True)), item("b", "compound", parts)])
    bench = Bench(tmp_path, None)
    kinds = ("yes_no", "compound", "text", "boxes")
    assert [bench.may_ask_for(kind) for kind in kinds] == [True, True, False, False]


def test_a_bench_of_the_first_release_may_ask_for_anything(tmp_path: Path) -> None:
    pq.write_table(pa.table({"answer": ['{"type":"yes_no"}']}), tmp_path / "items.parquet")
    assert Bench(tmp_path, None).may_ask_for("text")
