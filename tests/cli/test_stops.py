"""Ctrl-C and SIGTERM, at moments when an exception would be swallowed, printed or turned into
another error."""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import importlib
import logging
import os
import signal
import subprocess
import sys
import time
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest

from situs import cli
from situs.base.stopping import Stops, held
from situs.clients import run_to_end

_LONG_SECONDS = 300
"""Far longer than a stop takes; the work below waits so long if it hears nothing."""


class _Thing:
    """Something that can be referred to weakly."""


def _in_a_weak_reference(stop: int, _: Path) -> None:
    thing = _Thing()
    reference = weakref.ref(thing, lambda _: signal.raise_signal(stop))
    del thing
    assert reference() is None


def _in_a_finaliser(stop: int, _: Path) -> None:
    class Finalised:
        def __del__(self) -> None:
            signal.raise_signal(stop)
            finished.append("finaliser")

    finished: list[str] = []
    Finalised()
    assert finished == ["finaliser"]  # it is not cut short


def _in_a_callback_of_c(stop: int, _: Path) -> None:
    ctypes.CFUNCTYPE(None)(lambda: signal.raise_signal(stop))()


def _in_an_import(stop: int, folder: Path) -> None:
    source = (
        "import signal\n"
        "try:\n"
        f"    signal.raise_signal({stop:d})\n"
        "    for _ in range(100): pass\n"
        "except BaseException as error:\n"
        "    raise ImportError('a library in C failed to load') from None\n"
    )
    (folder / "stopped_as_it_loads.py").write_text(source)
    sys.path.insert(0, str(folder))
    try:
        importlib.import_module("stopped_as_it_loads")
    finally:
        del sys.path[0]
        sys.modules.pop("stopped_as_it_loads", None)


def _in_code_that_drops_it(stop: int, _: Path) -> None:
    with contextlib.suppress(BaseException):
        signal.raise_signal(stop)


def _in_code_that_changes_it(stop: int, _: Path) -> None:
    try:
        signal.raise_signal(stop)
    except BaseException:
        raise RuntimeError("a library failed") from None


def _as_a_process_starts(stop: int, _: Path) -> None:
    is_whole = False
    with held():
        signal.raise_signal(stop)
        is_whole = True
    assert is_whole


def _in_an_event_loop(stop: int, _: Path) -> None:
    async def work() -> None:
        asyncio.get_running_loop().call_soon(lambda: signal.raise_signal(stop))
        worker = asyncio.create_task(asyncio.sleep(_LONG_SECONDS))
        await asyncio.gather(worker)

    run_to_end(work)


_MOMENTS = [
    _in_a_weak_reference,
    _in_a_finaliser,
    _in_a_callback_of_c,
    _in_an_import,
    _in_code_that_drops_it,
    _in_code_that_changes_it,
    _as_a_process_starts,
    _in_an_event_loop,
]


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("moment", _MOMENTS)
def test_a_stop_is_heard_at_any_moment(
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    tmp_path: Path,
    moment: Callable[[int, Path], None],
    stop: signal.Signals,
) -> None:
    @click.command()
    def work() -> None:
        moment(stop, tmp_path)
        time.sleep(_LONG_SECONDS)

    monkeypatch.setattr(cli, "program", work)
    monkeypatch.setattr(sys, "argv", ["situs"])
    handlers = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    hook: Any = sys.unraisablehook
    with pytest.raises(SystemExit) as end:
        cli.main()
    assert end.value.code == 128 + stop
    assert [line for line in capfd.readouterr().err.splitlines() if line] == ["situs: stopped"]
    # A notebook that called the program goes on with its own.
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == handlers
    assert sys.unraisablehook == hook


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
def test_a_stop_that_was_ignored_before_stays_ignored(stop: signal.Signals) -> None:
    """As `nohup` and shells do for what runs in the background."""
    program = (
        "import signal, sys\n"
        f"signal.signal({stop:d}, signal.SIG_IGN)\n"
        "from situs import cli\n"
        "load = cli.importlib.import_module\n"
        "def stopped(name):\n"
        f"    signal.raise_signal({stop:d})\n"
        "    return load(name)\n"
        "cli.importlib.import_module = stopped\n"
        "sys.argv = ['situs', 'list', 'formats']\n"
        "cli.main()\n"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, b"")


_LOOK = """
import _signal, atexit, os, sys
if _signal.getsignal(_signal.SIGINT) is _signal.SIG_IGN:  # as of tests in a shell's background
    _signal.signal(_signal.SIGINT, _signal.default_int_handler)
moments = 0
def look(frame, event, _):
    global moments
    innermost = frame
    while frame is not None and "/situs/" not in frame.f_code.co_filename:
        frame = frame.f_back
    if frame is None:
        return
    moments += 1
    if moments == int(os.environ["STOP_AT"]):
        _signal.raise_signal(_signal.SIGINT)
    if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
        os.write(2, f"{innermost.f_code.co_filename}\\n".encode())
sys.setprofile(look)
atexit.register(sys.setprofile, None)
"""
"""Loaded before the program: names the code that runs while Ctrl-C is Python's exception, and
presses Ctrl-C at one of the moments."""
_SCRIPT = "import sys\nfrom situs.__main__ import main\nsys.exit(main())\n"
_SETTLED = 100
"""Moments in which the program has taken charge of Ctrl-C; to load it takes thousands."""


@pytest.mark.parametrize("stop_at", [0, _SETTLED, 1000, 5000, 20_000])
@pytest.mark.parametrize("start", ["-m situs", "-Bmsitus", "script"])
def test_ctrl_c_while_the_program_loads_is_no_traceback(
    tmp_path: Path, start: str, stop_at: int
) -> None:
    """No module is loaded before the program answers Ctrl-C itself."""
    (tmp_path / "sitecustomize.py").write_text(_LOOK)
    script = tmp_path / "situs"
    script.write_text(_SCRIPT)
    program = [str(script)] if start == "script" else start.split()
    paths = [str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])]
    ran = subprocess.run(
        [sys.executable, *program, "list", "formats"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), "STOP_AT": str(stop_at)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == (-signal.SIGINT if stop_at else 0), ran.stderr
    assert {Path(line).parts[-2:] for line in ran.stderr.splitlines()} <= {("situs", "__init__.py")}


def test_libraries_that_log_a_stop_are_not_heard(caplog: pytest.LogCaptureFixture) -> None:
    """A pool of connections catches whatever ends the closing of one, and logs its traceback."""
    log = logging.getLogger("a library")

    def closes_a_connection() -> None:
        log.warning("before")
        try:
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(_LONG_SECONDS)
        except BaseException:
            log.exception("Exception closing connection")
            raise

    with pytest.raises(KeyboardInterrupt), Stops():
        closes_a_connection()
    log.warning("after")
    assert [record.getMessage() for record in caplog.records] == ["before", "after"]
