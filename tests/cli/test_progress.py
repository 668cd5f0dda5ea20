"""What is shown while work goes on, on a terminal and elsewhere."""

from __future__ import annotations

import io

import pytest
import rich.console

from situs.cli.output.progress import working
from situs.cli.probe import _stage


def test_work_without_steps_shows_that_it_goes_on(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with working("scoring"):
        pass
    assert capsys.readouterr() == ("", ""), "nothing in a log"
    screen = io.StringIO()
    terminal = rich.console.Console
    monkeypatch.setattr(
        rich.console, "Console", lambda stderr: terminal(file=screen, force_terminal=True)
    )
    with working("scoring"):
        pass
    assert "scoring" in screen.getvalue()


def test_a_probe_says_which_of_how_many_it_is() -> None:
    names = ["blank", "mirror", "swap"]
    assert _stage("mirror", names) == "probe 2 of 3, mirror"
    assert _stage("original", names) == "original"
