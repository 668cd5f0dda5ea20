"""The gallery shows a question of every task, with a picture."""

from __future__ import annotations

import re
from pathlib import Path

from situs.anatomy.banks import load_bank
from situs.items import all_tasks
from situs.items.findings import FINDING_TASKS
from situs.items.reports.asked import REPORT_TASKS

_DOCS = Path(__file__).parents[2] / "docs"
SIGNS_OF_PHANTOMS = ("bml", "cartilage", "extrusion_anterior", "extrusion_outward")
"""Of a joint's signs only these are drawn: the page shows them, and names the others."""


def _shipped() -> dict[str, set[str]]:
    """What can be asked, by what it is asked about."""
    masks = {
        name for name, task in all_tasks().items() if type(task).__module__.startswith("situs.")
    }
    return {
        "masks": masks,
        "boxes": set(FINDING_TASKS),
        "reports": set(REPORT_TASKS),
        "grades": {f"grade.{family}" for family in SIGNS_OF_PHANTOMS},
    }


def test_every_task_has_a_question_with_a_picture() -> None:
    text = (_DOCS / "questions.md").read_text("utf-8")
    for source, tasks in _shipped().items():
        gallery = text.partition(f"<!-- gallery of {source} -->")[2]
        gallery = gallery.partition("<!-- end of gallery -->")[0]
        sections = re.split(r"(?m)^### ", gallery)[1:]
        pictures = {
            section.partition("\n")[0].replace(" ", "_"): re.findall(
                r"!\[[^]]*\]\((\S+)\)", section
            )
            for section in sections
        }
        assert set(pictures) == {task.replace(" ", "_") for task in tasks}, source
        for shown in pictures.values():
            assert len(shown) == 1
            assert (_DOCS / shown[0]).stat().st_size > 10_000


def test_the_page_names_every_sign_that_it_cannot_show() -> None:
    text = (_DOCS / "questions.md").read_text("utf-8")
    named = set(re.findall(r"`grade\.(\w+)`", text.partition("## About grades")[2]))
    assert named == set(load_bank("moaks-knee").families) - set(SIGNS_OF_PHANTOMS)
