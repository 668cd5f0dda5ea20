"""Paths on the command line that are none."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress

import click
import pytest

from situs.cli import program


def parameters(command: click.Command, name: str = "") -> Iterator[tuple[str, click.Parameter]]:
    """Every parameter of a command and of those under it."""
    if isinstance(command, click.Group):
        context = click.Context(command)
        for word in command.list_commands(context):
            below = command.get_command(context, word)
            assert below is not None
            yield from parameters(below, f"{name} {word}".strip())
    else:
        yield from ((name, parameter) for parameter in command.params)


def test_no_path_may_be_empty() -> None:
    """An unset variable of a script is not the present folder."""
    places = [(name, p) for name, p in parameters(program) if isinstance(p.type, click.Path)]
    assert len(places) > 100
    taken = []
    for name, parameter in places:
        with suppress(click.BadParameter):
            parameter.type.convert("", parameter, click.Context(program))
            taken.append(f"{name} {parameter.name}")
    assert taken == []


@pytest.mark.parametrize("place", ["", ".", "..", "folder", "file/table.csv"])
def test_measurements_go_to_a_file_only(situs, tmp_path, monkeypatch, data, place) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").touch()
    monkeypatch.chdir(tmp_path)
    ran = situs("measure", data, "--csv", place)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("situs: ")
    assert ran.err.count("\n") == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "folder"]


def test_both_tables_of_measurements_or_none(situs, tmp_path, data) -> None:
    (tmp_path / "a.pairs.csv").mkdir()
    ran = situs("measure", data, "--pairs", "all", "--csv", tmp_path / "a.csv")
    assert ran.code == 2, ran.err
    assert [path.name for path in tmp_path.iterdir()] == ["a.pairs.csv"]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A label file of two cubes."""
    path = tmp_path_factory.mktemp("labels") / "labels.nrrd"
    lines = ["NRRD0005", "type: uchar", "dimension: 3", "space: right-anterior-superior"]
    lines += ["sizes: 8 8 8", "space directions: (1,0,0) (0,1,0) (0,0,1)", "space origin: (0,0,0)"]
    path.write_bytes("\n".join([*lines, "encoding: raw", "", ""]).encode() + bytes([1, 2] * 256))
    return str(path)


@pytest.mark.parametrize("place", [".", "..", "./"])
def test_what_is_there_is_no_place_for_something_new(situs, tmp_path, monkeypatch, place) -> None:
    (tmp_path / "reports.csv").write_text("id,findings\nr1,The liver is normal.\n")
    monkeypatch.chdir(tmp_path)
    ran = situs("build", "reports", "reports.csv", "--out", place)
    assert (ran.code, ran.err.count("\n")) == (2, 1), ran.err
    assert "not the name of a new folder" in ran.err
    assert [path.name for path in tmp_path.iterdir()] == ["reports.csv"]


NOT_UTF8 = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


def test_names_that_the_locale_cannot_spell(tmp_path) -> None:
    """Libraries spell names in UTF-8, whatever the terminal says: they would not be found again."""
    (tmp_path / "Zoë.nii").touch()
    command = [sys.executable, "-m", "situs", "measure", "Zoë.nii"]
    ran = subprocess.run(
        command,
        cwd=tmp_path,
        env=os.environ | NOT_UTF8,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.returncode, ran.stdout) == (2, "")
    assert "use a UTF-8 locale" in ran.stderr
    assert ran.stderr.count("\n") == 1
