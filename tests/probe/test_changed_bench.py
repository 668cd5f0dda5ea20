"""A probe's own bench is written whole or not at all."""

from __future__ import annotations

from pathlib import Path
from typing import NoReturn

import msgspec
import pytest

from situs.bench import open_bench
from situs.errors import SitusError
from situs.items import Choice
from situs.probe import ProbeOptions, probe
from situs.probe.changes.bench import write_items
from situs.probe.changes.origin import OutcomeRow
from situs.profiles import load_profile


def test_a_contradictory_item_leaves_nothing_behind(tiny: Path, tmp_path: Path) -> None:
    bench = open_bench(tiny / "bench")
    item = next(item for item in bench.items() if item.options)
    spoilt = msgspec.structs.replace(
        item, item_id=f"{item.item_id}~mirror", answer=Choice("nowhere")
    )
    rows = [OutcomeRow(item.item_id, "changed")]
    with pytest.raises(SitusError, match="none of its options"):
        write_items(
            bench,
            [spoilt],
            rows,
            "key",
            "mirror",
            load_profile("default"),
            tmp_path / "out" / "bench-mirror",
        )
    assert list(tmp_path.iterdir()) == []


def test_a_probe_that_ends_before_the_first_answer_leaves_nothing(
    tiny: Path, tmp_path: Path
) -> None:
    def refuse(*_: object, **__: object) -> NoReturn:
        assert (out / "bench-rotations").is_dir()  # it stands before anybody is asked
        raise SitusError("an item contradicts its study")

    out = tmp_path / "a" / "b"
    with pytest.raises(SitusError, match="contradicts"):
        probe(
            open_bench(tiny / "bench"),
            load_profile("default"),
            ["rotations"],
            out,
            refuse,
            ProbeOptions(limit=40),
        )
    assert list(tmp_path.iterdir()) == []
