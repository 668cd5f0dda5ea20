"""The swap of real patients, from a run's own answers."""

from __future__ import annotations

import pytest

from situs.items import Item, YesNo
from situs.probe.swap import swap_row
from situs.run import AnswerRow
from situs.score import score_answer
from situs.score.explain import Answered, Answers


def answered(text: str, patient: int, truth: bool, reply: str) -> Answered:
    name = f"{text}-{patient}"
    item = Item(
        name, f"s{patient}", "ct", f"p{patient}", "t", "yes_no", text, YesNo(truth), twin_group=text
    )
    row = AnswerRow(name, response=reply)
    return Answered(item, row, score_answer(item, row, None))


def test_every_question_has_the_same_weight() -> None:
    """One question of 30 patients to which yes is always said, one of 4 that is always answered
    rightly.

    Rightly answered first scans: of the first question those of yes (15 × 15 pairs), of the second
    all (2 × 2 × 2). In the first, half of all pairs start right and keep the old answer; in the
    second all follow. Weighted by question, 1/2 by 3/2 of the weight is kept and 1 by 3/2 follows.
    """
    rows = [answered("many", n, n % 2 == 0, "yes") for n in range(30)]
    rows += [answered("few", n, n % 2 == 0, "yes" if n % 2 == 0 else "no") for n in range(4)]
    row = swap_row(Answers({one.item.item_id: one for one in rows}, None, {}))  # type: ignore[arg-type]
    assert row.followed == pytest.approx(2 / 3)
    assert row.kept_old == pytest.approx(1 / 3)
    assert row.n == 2 * 15 * 15 + 2 * 2 * 2
    assert (row.n_followed, row.patients_followed) == (15 * 15 + 8, 15 + 2)
