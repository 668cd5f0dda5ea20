"""The gallery shows a question of every task that masks are asked about, with a picture."""

from __future__ import annotations

import re
from pathlib import Path

from situs.items import all_tasks

_DOCS = Path(__file__).parents[2] / "docs"


def test_every_task_has_a_question_with_a_picture() -> None:
    text = (_DOCS / "questions.md").read_text("utf-8")
    gallery = text.partition("<!-- gallery -->")[2].partition("<!-- end of gallery -->")[0]
    shown = dict(re.findall(r"(?ms)^### ([^\n]+)$.*?^!\[[^]]*\]\((\S+)\)$", gallery))
    shipped = {
        name for name, task in all_tasks().items() if type(task).__module__.startswith("situs.")
    }
    assert {title.replace(" ", "_") for title in shown} == shipped
    assert all((_DOCS / picture).stat().st_size > 10_000 for picture in shown.values())
