"""Tables and ids of a bench: what is written is what is read, and nobody moves when others join."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from situs.bench import (
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
from situs.items import Item

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
    import msgspec

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
