"""What is shown while work goes on, on a terminal and elsewhere."""

from __future__ import annotations

import io
import re
from functools import partial
from typing import Any

import pytest
import rich.console
import rich.progress

from situs.api.results import run_bars
from situs.base.text import printable
from situs.cli.output.progress import progress_bar, run_progress, working
from situs.cli.probe import _stage
from situs.clients import Tally
from situs.tables.table import Table
from situs.tables.terminal import print_table


def test_work_without_steps_shows_that_it_goes_on(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with working("scoring"):
        pass
    assert capsys.readouterr() == ("", ""), "nothing in a log"
    screen = io.StringIO()
    terminal = rich.console.Console
    monkeypatch.setattr(
        rich.console, "Console", lambda **_: terminal(file=screen, force_terminal=True)
    )
    with working("scoring"):
        pass
    assert "scoring" in screen.getvalue()


@pytest.mark.parametrize("name", ["openai:m[/x]", "[bold]m", "m\x1b]0;owned\x07", "m\u202e"])
@pytest.mark.parametrize("opened", [working, progress_bar, run_progress, run_bars(True)])
def test_a_name_is_neither_markup_nor_an_escape_code(
    monkeypatch: pytest.MonkeyPatch, opened: Any, name: str
) -> None:
    """Models, folders and studies are called as others please."""
    screen = io.StringIO()
    terminal = partial(rich.console.Console, file=screen, force_terminal=True, width=200)
    monkeypatch.setattr(rich.console, "Console", lambda **_: terminal())
    monkeypatch.setattr(rich, "get_console", terminal)
    monkeypatch.setattr(rich.progress, "get_console", terminal)
    with opened(name) as step:
        if opened is progress_bar:
            step(1, 2)
        elif step is not None:
            step(Tally(), 1, 2)
    shown = screen.getvalue()
    assert printable(name) in re.sub(r"\x1b\[[\d;?]*[A-Za-z]", "", shown)
    assert not {"\x07", "\x1b]", "\u202e"} & {
        shown[i : i + n] for i in range(len(shown)) for n in (1, 2)
    }


def test_a_log_names_a_run_without_its_escape_codes(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("situs.cli.output.progress._LOG_SECONDS", 0.0)
    with run_progress("run\x1b[2J") as step:
        step(Tally(), 1, 2)
    with progress_bar("run\x1b[2J") as step_of:
        step_of(1, 2)
    assert capsys.readouterr().err.count("situs: run [2J") == 2


def test_a_probe_says_which_of_how_many_it_is() -> None:
    names = ["blank", "mirror", "swap"]
    assert _stage("mirror", names) == "probe 2 of 3, mirror"
    assert _stage("original", names) == "original"


def test_a_log_that_takes_colours_gets_no_moves_of_the_cursor(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """FORCE_COLOR, as CI sets it, speaks of colours; a bar would write itself over and over."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    with working("scoring"), progress_bar("scoring") as step, run_progress("model"):
        step(1, 2)
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("no_colour", [False, True])
def test_tables_in_a_file_have_colours_only_if_they_are_asked_for(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], no_colour: bool
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("NO_COLOR", "1" if no_colour else "")
    print_table(Table("counts", "Counts", ("kind", "n"), (("side", 2),), caption="All of them."))
    assert ("\x1b" in capsys.readouterr().out) is not no_colour
