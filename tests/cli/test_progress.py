"""What is shown while work goes on, on a terminal and elsewhere."""

from __future__ import annotations

import io

import pytest
import rich.console

from situs.cli.output.progress import progress_bar, run_progress, working
from situs.cli.probe import _stage
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
