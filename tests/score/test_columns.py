"""Columns of scored answers tell what their rows tell one by one."""

from __future__ import annotations

import random

from situs.score.columns import Columns
from situs.score.stats.sources import SOURCE_PREFIXES, source_in


def test_sources_of_all_rows_are_those_of_their_tags() -> None:
    import pyarrow as pa

    rng = random.Random(4)
    known = ("source:a", "source:b", "dataset:c", "dataset:d", "region:1", "source", "")
    rows = [[rng.choice(known) for _ in range(rng.randint(0, 4))] for _ in range(300)]
    columns = Columns(pa.table({"tags": pa.array(rows, pa.list_(pa.string())), "n": range(300)}))
    found = columns.first_tagged(SOURCE_PREFIXES)
    assert found == [source_in(tags) for tags in rows]
    assert len(set(found)) == 5
