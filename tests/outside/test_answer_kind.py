"""A new kind of answer, made in a copy of the package as the guide says:
the tests name what it lacks."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

import situs

TESTS = Path(__file__).parent.parent
EDIT = re.compile(r"In `([^`]+)`, above `([^`]+)`:\n\n```\w+\n(.*?)```", re.DOTALL)
LACKS = """
import importlib, json, pathlib, situs
from situs.items import ByKind
from situs.profiles.schema import Prompt
source = pathlib.Path(situs.__file__).parent
for path in source.rglob("*.py"):
    if "= ByKind(" in path.read_text("utf-8"):
        importlib.import_module(".".join(path.relative_to(source.parent).with_suffix("").parts))
lacks = {doing: table.missing() for doing, table in ByKind.tables.items()}
print(json.dumps({**lacks, "asking": [] if "side" in Prompt.__struct_fields__ else ["Side"]}))
"""

SAID = """
import json
from situs.errors import SitusError
from situs.items import Item
from situs.items.record import Option, Side
from situs.run.baselines import guessers, learners
from situs.run.baselines.speaker import Speaker

options = (Option("left", "left"), Option("right", "right"))
item = Item("i", "s", "ct", "p", "task", "side", "Which?", Side("left"), options=options)
said = {}
for module in (guessers, learners):
    for name in module.__all__:
        speaker = object.__new__(getattr(module, name))
        speaker._seed = 0
        try:
            said[name] = speaker.answer(item)
        except SitusError as error:
            said[name] = str(error)
print(json.dumps(said))
"""


@pytest.fixture(scope="module")
def copy(outside):
    """The package beside the tests, to be changed."""
    found = outside("copy")
    shutil.copytree(
        Path(situs.__file__).parent,
        found.site / "situs",
        ignore=shutil.ignore_patterns("__pycache__"),
    )
    return found


def lacking(copy) -> dict[str, list[str]]:
    ran = copy.python("-c", LACKS)
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


def test_the_tests_name_what_a_new_kind_lacks_until_the_guide_is_followed(copy):
    edits = EDIT.findall(copy.chapter("Adding a kind of answer"))
    files = {name for name, _, _ in edits}
    assert len(files) <= 9
    apply(copy.site, *edits[0])
    record = copy.site / "situs" / "items" / "record.py"
    record.write_text(
        record.read_text("utf-8").replace("Simple = ", "Simple = Side | ", 1), "utf-8"
    )
    lacks = lacking(copy)
    assert set(map(tuple, lacks.values())) == {("Side",)}
    assert len(lacks) >= 4
    ran = copy.python(
        "-m", "pytest", "-q", "-p", "no:cacheprovider", TESTS / "items" / "test_answer_kinds.py"
    )
    assert ran.returncode == 1, ran.stdout
    for doing in lacks:
        if doing != "asking":
            assert f"test_every_table_has_every_kind[{doing}]" in ran.stdout
    for edit in edits[1:]:
        apply(copy.site, *edit)
    assert set(map(tuple, lacking(copy).values())) == {()}
    heard = copy.python("-c", SAID)
    assert heard.returncode == 0, heard.stderr
    said = json.loads(heard.stdout)
    assert len(said) >= 7
    for name, error in said.items():
        assert "'side'" in error, f"{name} says {error}"
        assert f"_words of {name}" in error


def apply(site: Path, name: str, anchor: str, code: str) -> None:
    """Insert code above the line that begins with the anchor, and import what it names."""
    path = site / "situs" / name
    text = path.read_text("utf-8")
    at = text.index(f"\n{anchor}") + 1
    text = text[:at] + code + text[at:]
    future = "from __future__ import annotations\n"
    if path.suffix == ".py" and path.name != "record.py":
        text = text.replace(future, f"{future}from situs.items.record import Option, Side\n", 1)
    path.write_text(text, "utf-8")
