"""Every source is known wherever benches are told apart by what they were built from."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import shutil

import pytest

import situs.api.build
import situs.bench.check
import situs.bench.sources
import situs.build.sources
from bench_rows import rows_of, write_rows
from situs.bench import check_bench
from situs.bench.card import HELD
from situs.bench.sources import SOURCES, Source
from situs.cli.build import command as build_command

BUILT = {name for source in SOURCES for name in source.builds}


def modules(package):
    return [
        importlib.import_module(f"{package.__name__}.{found.name}")
        for found in pkgutil.iter_modules(package.__path__)
    ]


def test_every_source_is_listed():
    defined = {
        found
        for module in modules(situs.bench.sources)
        for _, found in inspect.getmembers(module, inspect.isclass)
        if issubclass(found, Source) and not inspect.isabstract(found)
    }
    assert defined == set(SOURCES)


def test_no_two_sources_build_the_same():
    assert len(BUILT) == sum(len(source.builds) for source in SOURCES)


def test_those_that_stand_alone_come_first():
    """The first source that claims a study for itself is the one it is held against."""
    alone = [source.alone for source in SOURCES]
    assert alone == sorted(alone, reverse=True)


@pytest.mark.parametrize("name", sorted(BUILT))
def test_every_source_has_its_command_its_card_and_its_function_in_python(name):
    assert name in build_command.commands
    assert name in HELD
    assert name in situs.api.build.__all__
    assert callable(getattr(situs.build, name))


def test_every_command_builds_from_a_source():
    """Else its benches would be taken for imports, whose answers nobody derives anew."""
    assert set(build_command.commands) <= BUILT
    assert set(HELD) == BUILT


class Draft(Source):
    """A source whose own check is still to be written."""

    builds = ("masks",)
    alone = True

    def claims(self, study):
        """All studies."""
        return True

    def check(self, rows):
        """Nothing yet."""


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("patient_id", "somebody", "its patient or split differs from its study's"),
        ("parameters", {"of": "nothing"}, "its id does not match its task, form and parameters"),
        ("fact_ids", ["f0"], "names the fact f0, which is not in the ledger"),
    ],
)
def test_no_source_can_forget_what_holds_for_every_item(
    bench, tmp_path, monkeypatch, field, value, words
):
    monkeypatch.setattr(situs.bench.check, "SOURCES", (Draft,))
    own = tmp_path / "bench"
    shutil.copytree(bench, own)
    assert check_bench(own).errors == 0
    rows = rows_of(own, "items")
    rows[0][field] = value
    write_rows(own, "items", rows)
    assert words in {problem.problem for problem in check_bench(own).problems}
