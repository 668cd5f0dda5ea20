"""A Python that has loaded what every command loads, and runs programs in forks of itself.

A program of its own spends up to a second on loading libraries, hundreds of times a session. A fork
begins with them loaded, and with nothing else: it has its own environment, folder, path and
streams, and whatever it imports, registers or breaks ends with it.

Reads one line of JSON for each call and answers with one: the exit code.
"""

from __future__ import annotations

import json
import os
import runpy
import subprocess
import sys
import traceback
from pathlib import Path
from typing import Any

# What installed packages offer is looked up when a command asks for it, never by these imports.
PRELOADED = (
    "numpy", "scipy.ndimage", "scipy.spatial", "scipy.optimize", "scipy.interpolate",
    "scipy.special", "pyarrow.parquet", "pyarrow.compute", "numba", "nibabel", "PIL.Image",
    "PIL.PngImagePlugin", "msgspec", "click", "rich.console", "rich.table", "jinja2", "aiohttp",
    "situs.cli", "situs.bench", "situs.measure",
)  # fmt: skip


class WarmPython:
    """Starts the program when it is first needed; `run` is `subprocess.run` with its output kept."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None

    def run(
        self, arguments: list[str], environment: dict[str, str], folder: Path, cwd: Path | None
    ) -> subprocess.CompletedProcess[str]:
        """`python -m MODULE …` or `python -c CODE …`; `folder` keeps its output."""
        if self._process is None:
            self._process = subprocess.Popen(
                [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        streams = [folder / ".stdout", folder / ".stderr"]
        call = {
            "arguments": arguments,
            "environment": environment,
            "cwd": str(cwd or Path.cwd()),
            "streams": list(map(str, streams)),
        }
        print(json.dumps(call), file=self._process.stdin, flush=True)
        code = json.loads(self._process.stdout.readline())
        out, err = (stream.read_text("utf-8") for stream in streams)
        return subprocess.CompletedProcess(arguments, code, out, err)

    def close(self) -> None:
        """End it."""
        if self._process is not None:
            self._process.communicate()


def _serve() -> None:
    for name in PRELOADED:
        __import__(name)
    _load_a_kernel()
    for line in sys.stdin:
        call = json.loads(line)
        child = os.fork()
        if child == 0:
            _become(call)
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


def _load_a_kernel() -> None:
    """Before its first kernel, compiled or stored, Numba loads half of itself."""
    import numpy as np

    from situs.measure.kernels.projections import share_counts

    share_counts(np.zeros(1, dtype=np.int64), 1, 0.0, 1.0, 1.0, 0, np.zeros(4))


def _become(call: dict[str, Any]) -> None:
    """Run the call in this fork, and end with its exit code."""
    os.setsid()
    nothing = os.open(os.devnull, os.O_RDONLY)
    out, err = (os.open(name, os.O_CREAT | os.O_TRUNC | os.O_WRONLY) for name in call["streams"])
    for number, stream in enumerate((nothing, out, err)):
        os.dup2(stream, number)
    os.environ.clear()
    os.environ.update(call["environment"])
    os.chdir(call["cwd"])
    first, *rest = call["arguments"]
    sys.path[:1] = [*filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    code: object = 0
    try:
        if first == "-m":
            sys.argv = rest
            runpy.run_module(rest[0], run_name="__main__", alter_sys=True)
        else:
            sys.argv = ["-c", *rest[1:]]
            exec(compile(rest[0], "<string>", "exec"), {"__name__": "__main__"})
    except SystemExit as stop:
        code = stop.code
    except BaseException:
        traceback.print_exc()
        code = 1
    if isinstance(code, str):
        print(code, file=sys.stderr)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code if isinstance(code, int) else 0 if code is None else 1)


if __name__ == "__main__":
    _serve()
