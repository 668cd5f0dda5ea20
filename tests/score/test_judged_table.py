"""What became of answers, as a table: which columns it has when some wait for a judge."""

from __future__ import annotations

import pytest

from situs.items import Item, Text
from situs.score.judgements import Judgement
from situs.score.records import JudgedArrays, asked_arrays, judged_table


def _item(number: int) -> Item:
    return Item(
        item_id=f"i{number}",
        patient_id=f"p{number}",
        study_id=f"s{number}",
        series="ct",
        task="text",
        form="text",
        question="What is seen?",
        answer=Text("a cyst"),
    )


@pytest.mark.parametrize("unjudged", [True, False])
def test_a_metric_only_of_answers_left_out_has_no_column(unjudged):
    judged = [
        Judgement("answered", True, values={"both@1": 1.0}),
        Judgement("unjudged", None, values={"both@1": 0.5, "waiting@1": 0.25}),
        Judgement("answered", False),
    ]
    asked = asked_arrays([_item(number) for number in range(3)])
    table = judged_table(asked, JudgedArrays.of(judged), 7, unjudged=unjudged)
    if unjudged:
        assert table["item_id"].to_pylist() == ["i0", "i1", "i2"]
        assert table["position"].to_pylist() == [7, 8, 9]
        assert table["both@1"].to_pylist() == [1.0, 0.5, None]
        assert table["waiting@1"].to_pylist() == [None, 0.25, None]
    else:
        assert table["item_id"].to_pylist() == ["i0", "i2"]
        assert table["position"].to_pylist() == [7, 8]
        assert table["both@1"].to_pylist() == [1.0, None]
        assert "waiting@1" not in table.column_names
