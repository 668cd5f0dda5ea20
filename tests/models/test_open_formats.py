"""A bench as `datasets` and `mlcroissant` read it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from situs.bench import open_bench

pytestmark = pytest.mark.models


@pytest.fixture(scope="session")
def phantom_bench(once: Callable[..., Path], situs: Callable[..., Any]) -> Path:
    """Two phantom patients. Do not change it."""

    def make(folder: Path) -> None:
        built = situs("build", "phantoms", "--studies", 2, "--out", folder / "bench")
        assert built.code == 0, built.err

    return once("open_formats", make) / "bench"


def test_load_dataset_reads_a_bench_as_it_is(phantom_bench: Path, tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    opened = open_bench(phantom_bench)
    tables = {
        name: datasets.load_dataset(str(phantom_bench), name, split="bench", cache_dir=tmp_path)
        for name in ("items", "facts", "studies")
    }
    default = datasets.load_dataset(str(phantom_bench), split="bench", cache_dir=tmp_path)
    assert default.column_names == tables["items"].column_names
    items = list(opened.items())
    assert tables["items"]["question"][:] == [item.question for item in items]
    first = tables["items"][0]
    assert {p["key"]: p["value"] for p in first["parameters"]} == dict(items[0].parameters)
    numbers = [f.value for f in opened.facts() if f.kind == "volume"]
    assert [row["value"]["number"] for row in tables["facts"] if row["kind"] == "volume"] == numbers
    structures = [dict(study.series[0].structures) for study in opened.studies()]
    assert [
        {entry["key"]: entry["value"] for entry in row["series"][0]["structures"]}
        for row in tables["studies"]
    ] == structures


def test_croissant_is_valid_and_its_records_are_the_items(
    phantom_bench: Path, situs: Callable[..., Any], tmp_path: Path
) -> None:
    croissant = pytest.importorskip("mlcroissant")
    out = tmp_path / "croissant"
    assert situs("export", phantom_bench, "--to", "croissant", "--out", out).code == 0
    dataset = croissant.Dataset(str(out / "croissant.json"))
    assert not list(dataset.metadata.issues.errors)
    # A bench holds no date, so that the same seed gives the same bytes.
    assert all("datePublished" in text for text in dataset.metadata.issues.warnings)
    assert dataset.metadata.data_biases
    assert dataset.metadata.data_limitations
    assert dataset.metadata.personal_sensitive_information
    opened = open_bench(phantom_bench)
    questions = [row["items/question"].decode() for row in dataset.records("items")]
    assert questions == [item.question for item in opened.items()]
    kinds = [row["facts/kind"].decode() for row in dataset.records("facts")]
    assert kinds == [fact.kind for fact in opened.facts()]
    (out / "items.parquet").write_bytes((out / "facts.parquet").read_bytes())
    with pytest.raises(Exception, match="Download"):
        list(croissant.Dataset(str(out / "croissant.json")).records("items"))
