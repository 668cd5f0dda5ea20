"""A folder is as it was or complete,
whenever the program is killed and whoever else writes there."""

from __future__ import annotations

import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import pytest

from situs.base import publish
from situs.base.publish import new_folder, work_folder
from situs.errors import SitusError

_MARKER = "bench.json"


def _fill(
    out: Path,
    text: str,
    *,
    overwrite: bool = True,
    key: str = "",
    meanwhile: Callable[[], object] = lambda: None,
) -> None:
    with new_folder(out, marker=_MARKER, overwrite=overwrite, resume_key=key) as scratch:
        (scratch / _MARKER).write_text(text)
        (scratch / "items").write_text(text)
        meanwhile()


def _stop() -> NoReturn:
    raise SitusError("stop here")


def _names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def _in_another_process(code: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_a_new_folder_stands_alone(tmp_path: Path) -> None:
    _fill(tmp_path / "deep" / "bench", "new", overwrite=False)
    assert _names(tmp_path / "deep") == ["bench"]
    assert (tmp_path / "deep" / "bench" / "items").read_text() == "new"


def test_an_error_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(SitusError, match="stop here"):
        _fill(tmp_path / "deep" / "bench", "new", meanwhile=_stop)
    assert _names(tmp_path) == []


def test_a_folder_of_others_is_never_replaced(tmp_path: Path) -> None:
    (tmp_path / "bench").mkdir()
    (tmp_path / "bench" / "thesis.txt").write_text("mine")
    with pytest.raises(SitusError, match="not empty"):
        _fill(tmp_path / "bench", "new")
    assert _names(tmp_path) == ["bench"]
    assert (tmp_path / "bench" / "thesis.txt").read_text() == "mine"


@pytest.mark.parametrize("overwrite", [False, True])
def test_a_folder_that_appears_meanwhile_stays(tmp_path: Path, overwrite: bool) -> None:
    out = tmp_path / "bench"

    def another_writes() -> None:
        out.mkdir()
        (out / "thesis.txt").write_text("mine")

    with pytest.raises(SitusError, match="not empty"):
        _fill(out, "new", overwrite=overwrite, meanwhile=another_writes)
    assert _names(out) == ["thesis.txt"]
    assert _names(tmp_path) == ["bench"]


def test_a_folder_exchanged_at_the_last_moment_comes_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "bench"
    _fill(out, "old")
    exchange = publish._exchange
    calls = []

    def another_was_faster(one: Path, other: Path) -> bool:
        if not calls:
            out.rename(tmp_path / "elsewhere")
            out.mkdir()
            (out / "thesis.txt").write_text("mine")
        calls.append(one)
        return exchange(one, other)

    monkeypatch.setattr(publish, "_exchange", another_was_faster)
    with pytest.raises(SitusError, match="meanwhile"):
        _fill(out, "new")
    assert _names(out) == ["thesis.txt"]


def test_two_writers_of_one_folder(tmp_path: Path) -> None:
    code = """
        import sys
        from pathlib import Path
        from situs.base.publish import new_folder
        from situs.errors import SitusError
        try:
            with new_folder(Path(sys.argv[1]), marker="m", overwrite=True):
                pass
        except SitusError as error:
            print(error)
            sys.exit(2)
    """
    with new_folder(tmp_path / "bench", marker=_MARKER, overwrite=True) as scratch:
        (scratch / _MARKER).write_text("first")
        second = _in_another_process(code, tmp_path / "bench")
        assert second.returncode == 2
        assert "another situs command is writing here" in second.stdout
    assert (tmp_path / "bench" / _MARKER).read_text() == "first"
    assert _names(tmp_path) == ["bench"]


_KILLED = """
    import os, signal, sys
    from pathlib import Path
    from situs.base import publish
    from situs.base.publish import new_folder

    step, out, can_exchange = sys.argv[1], Path(sys.argv[2]), sys.argv[3] == "True"
    if not can_exchange:
        publish._exchange = lambda one, other: False

    def die(*_, **__):
        os.kill(os.getpid(), signal.SIGKILL)

    def after(function, calls=1):
        def wrapped(*a, **k):
            nonlocal calls
            result = function(*a, **k)
            calls -= 1
            if not calls:
                die()
            return result
        return wrapped

    if step in ("_sync", "_put", "_clear"):
        setattr(publish, step, die)
    elif step == "rename":
        Path.rename = after(Path.rename)
    elif step == "put aside":
        Path.rename = after(Path.rename, 2)
    elif step == "exchange":
        publish._exchange = after(publish._exchange)
    with new_folder(out, marker="bench.json", overwrite=True, resume_key="key") as scratch:
        (scratch / "bench.json").write_text("new")
        (scratch / "items").write_text("new")
        if step == "block":
            die()
"""


@pytest.mark.parametrize("can_exchange", [True, False])
@pytest.mark.parametrize(
    "step", ["block", "_sync", "_put", "rename", "put aside", "exchange", "_clear"]
)
def test_killed_while_replacing(tmp_path: Path, step: str, can_exchange: bool) -> None:
    """The bench is whole after a kill, or after the next call where the system cannot exchange."""
    out = tmp_path / "bench"
    _fill(out, "old")
    killed = _in_another_process(_KILLED, step, out, can_exchange)
    died = killed.returncode == -signal.SIGKILL
    assert died or (step == "put aside" and can_exchange), killed.stderr
    if can_exchange:
        texts = {(out / name).read_text() for name in (_MARKER, "items")}
        assert texts in ({"old"}, {"new"})
    with pytest.raises(SitusError, match="stop here"):
        _fill(out, "next", key="key", meanwhile=_stop)
    assert len({(out / name).read_text() for name in (_MARKER, "items")}) == 1
    assert _names(tmp_path) == ["bench"]


@pytest.mark.parametrize("step", ["block", "_clear"])
def test_a_call_that_is_refused_clears_up_after_one_that_was_killed_at_its_end(
    tmp_path: Path, step: str
) -> None:
    """What stands there is new: nothing is left to resume. Unfinished work waits for its own."""
    out = tmp_path / "bench"
    _fill(out, "old")
    assert _in_another_process(_KILLED, step, out, True).returncode == -signal.SIGKILL
    with pytest.raises(SitusError, match="is not empty"):
        _fill(out, "next", overwrite=False)
    assert _names(tmp_path) == (["bench"] if step == "_clear" else [".bench.part", "bench"])


@pytest.mark.parametrize("stop", [KeyboardInterrupt, OSError])
def test_another_folder_in_its_place_is_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stop: type[BaseException]
) -> None:
    """As a part of a build is: stopped when that folder is handed to the disk, it is made anew."""
    out = tmp_path / "part"

    def fill() -> None:
        with new_folder(out, marker="shard.json", overwrite=False, resume_key="key") as scratch:
            work = work_folder(scratch)
            (work / "done").write_text("x")
            other = work.with_name("shard")
            other.mkdir()
            (other / "shard.json").write_text("whole")
            raise publish.FinishedEarly(other)

    with monkeypatch.context() as patch:
        patch.setattr(publish, "_sync", lambda folder: (_ for _ in ()).throw(stop()))
        with pytest.raises((stop, SitusError)):
            fill()
    with pytest.raises(publish.FinishedEarly):
        fill()
    assert _names(tmp_path) == ["part"]
    assert _names(out) == ["shard.json"]


@pytest.mark.parametrize("can_exchange", [True, False])
@pytest.mark.parametrize("step", ["exchange", "_clear"])
def test_nothing_of_a_replaced_folder_comes_back(
    tmp_path: Path, step: str, can_exchange: bool
) -> None:
    """A call is killed when the old folder lies in its neighbour; the next one resumes its work."""
    out = tmp_path / "bench"
    _fill(out, "old")
    (out / "export.json").write_text("old")
    killed = _in_another_process(_KILLED, step, out, can_exchange)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    _fill(out, "next", key="key")
    assert _names(out) == sorted([_MARKER, "items"])


def test_interrupted_work_is_resumed_by_the_same_key_only(tmp_path: Path) -> None:
    out = tmp_path / "bench"

    left: list[str] = []

    def interrupted(key: str) -> None:
        with new_folder(out, marker=_MARKER, overwrite=False, resume_key=key) as scratch:
            left[:] = _names(work_folder(scratch))
            (work_folder(scratch) / "study").write_text("")
            raise KeyboardInterrupt

    for key, kept in (("one", ["key"]), ("one", ["key", "study"]), ("two", ["key"])):
        with pytest.raises(KeyboardInterrupt) as stop:
            interrupted(key)
        assert "resumes" in stop.value.__notes__[0]
        assert left == kept
    _fill(out, "new")
    assert _names(tmp_path) == ["bench"]


def test_temporary_files_of_dead_writers_go(tmp_path: Path) -> None:
    code = """
        import os, signal, sys
        from pathlib import Path
        from situs.base.files import write_atomic
        os.fsync = lambda _: os.kill(os.getpid(), signal.SIGKILL)
        write_atomic(Path(sys.argv[1]), "half")
    """
    out = tmp_path / "scores.json"
    assert _in_another_process(code, out).returncode == -signal.SIGKILL
    assert len(_names(tmp_path)) == 1
    _in_another_process(
        "import sys; from pathlib import Path; from situs.base.files import write_atomic;"
        "write_atomic(Path(sys.argv[1]), 'whole')",
        out,
    )
    assert _names(tmp_path) == ["scores.json"]
    assert out.read_text() == "whole"


def test_a_link_is_followed_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    _fill(tmp_path / "disk" / "bench", "old")
    link = tmp_path / "bench"
    link.symlink_to(tmp_path / "disk" / "bench")
    _fill(link, "new")
    assert link.is_symlink()
    assert (tmp_path / "disk" / "bench" / "items").read_text() == "new"
