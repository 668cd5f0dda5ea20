"""Runs `situs` commands, one a line of standard input, where what only POSIX has cannot be had.

Modules that Windows lacks cannot be imported, functions of `os` and `signal` that it lacks are
gone, event loops refuse signal handlers, and `msvcrt` locks bytes of files.
"""

from __future__ import annotations

import asyncio
import multiprocessing.popen_spawn_posix  # noqa: F401 - the library itself asks for `msvcrt` to know its system
import os
import shlex
import signal
import subprocess  # noqa: F401 - as above
import sys
import types
from typing import Any, NoReturn

MODULES = ("fcntl", "grp", "pty", "pwd", "resource", "syslog", "termios", "tty")
OF_OS = (
    "fork", "forkpty", "getegid", "geteuid", "getgid", "getpgid", "getuid", "killpg", "lockf",
    "mkfifo",
    "register_at_fork", "sched_getaffinity", "setsid", "sysconf",
)  # fmt: skip
OF_SIGNAL = ("SIGALRM", "SIGHUP", "SIGKILL", "SIGUSR1", "SIGUSR2", "pthread_sigmask", "setitimer")


class Absent:
    """An import hook that knows nothing of these modules."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        if name in MODULES:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def locking_module() -> types.ModuleType:
    """`msvcrt`, as far as locks go: a stretch of bytes from where the file stands."""
    module: Any = types.ModuleType("msvcrt")
    module.LK_UNLCK, module.LK_NBLCK = 0, 2
    lock, try_lock, unlock = os.lockf, os.F_TLOCK, os.F_ULOCK

    def locking(descriptor: int, mode: int, count: int) -> None:
        assert os.lseek(descriptor, 0, os.SEEK_CUR) > os.fstat(descriptor).st_size
        lock(descriptor, try_lock if mode == module.LK_NBLCK else unlock, count)

    module.locking = locking
    result: types.ModuleType = module
    return result


def refuse(*_: object) -> NoReturn:
    raise NotImplementedError


def become_another_system() -> None:
    """Take away what is not everywhere."""
    sys.meta_path.insert(0, Absent())  # type: ignore[arg-type]
    sys.modules["msvcrt"] = locking_module()
    for name in MODULES:
        sys.modules.pop(name, None)
    for name in OF_OS:
        if hasattr(os, name):
            delattr(os, name)
    for name in OF_SIGNAL:
        delattr(signal, name)
    asyncio.SelectorEventLoop.add_signal_handler = refuse  # type: ignore[method-assign]
    asyncio.SelectorEventLoop.remove_signal_handler = refuse  # type: ignore[method-assign]


if __name__ == "__main__":
    become_another_system()
    from situs.cli import main

    for line in sys.stdin:
        sys.argv = ["situs", *shlex.split(line)]
        try:
            main()
        except SystemExit as end:
            if end.code:
                sys.exit(f"{line.strip()}: {end.code}")
    print("all ran")
