"""A process that has loaded everything and done nothing, and forks a child for each call of the
program.

A start of Python with all that a command loads costs a second or two of work, a fork some
milliseconds. The process has one thread and has called nothing, so a child of it is in the state of
a program that was started and has not begun. It reads one request a line from a socket, answers
`begun PID`, and when a child is gone `ended PID STATUS KILOBYTES SECONDS`.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import io
import json
import os
import resource
import selectors
import signal
import socket
import sys
import threading
import traceback
from pathlib import Path
from typing import Any

from attack.guard import watch

__all__ = ["STREAMS", "serve"]

STREAMS = ("file", "closed", "full", "read-only", "gone")
"""What a standard stream may be: one that takes all, or one of those that take nothing."""


def serve(descriptor: int) -> None:
    """Fork children until nobody is left at the other end of the socket."""
    from attack import loaded  # noqa: F401 - this is what takes long

    channel = socket.socket(fileno=descriptor)
    # Objects that the collector no longer looks at stay in pages that all children share.
    gc.collect()
    gc.freeze()
    reader, writer = os.pipe()
    for end in (reader, writer):
        os.set_blocking(end, False)
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    for number in (signal.SIGINT, signal.SIGTERM):  # those are for the children
        signal.signal(number, signal.SIG_IGN)
    ready = selectors.DefaultSelector()
    ready.register(channel, selectors.EVENT_READ)
    ready.register(reader, selectors.EVENT_READ)
    pending = b""
    while True:
        for key, _ in ready.select():
            if key.fileobj is channel:
                received = channel.recv(1 << 20)
                if not received:
                    return
                *lines, pending = (pending + received).split(b"\n")
                for line in lines:
                    _begin(json.loads(line), channel, (reader, writer))
            else:
                with contextlib.suppress(BlockingIOError):
                    os.read(reader, 1 << 16)
        _bury(channel)


def _begin(request: dict[str, Any], channel: socket.socket, pipe: tuple[int, int]) -> None:
    pid = os.fork()
    if pid:
        channel.sendall(f"begun {pid}\n".encode())
        return
    # The process of the child never returns from here.
    code = 97
    try:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        # As in a program that is started: until it listens, a stop ends it without a word.
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, signal.SIG_DFL)
        channel.close()
        for end in pipe:
            os.close(end)
        code = _run(request)
    finally:
        os._exit(code)


def _bury(channel: socket.socket) -> None:
    """Tell of every child that is gone."""
    while True:
        try:
            pid, status, used = os.wait4(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            return
        code = os.waitstatus_to_exitcode(status)
        worked = used.ru_utime + used.ru_stime
        with contextlib.suppress(BrokenPipeError):
            channel.sendall(f"ended {pid} {code} {used.ru_maxrss} {worked}\n".encode())


def _run(request: dict[str, Any]) -> int:
    """The program, from its first line to what Python does after its last."""
    os.setsid()
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    out, err, encoding = request["streams"]
    sys.stdout = _stream(out, 1, request["out"], encoding)
    sys.stderr = _stream(err, 2, request["err"], encoding)
    for kind, most in request["limits"].items():
        resource.setrlimit(getattr(resource, kind), (most, most))
    if "RLIMIT_FSIZE" in request["limits"]:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    watch(request["note"])
    if request["hook"]:
        module, _, function = request["hook"].partition(":")
        getattr(importlib.import_module(module), function)(*request["hook_arguments"])
    sys.argv = ["situs", *request["words"]]
    code = _main(request["err"])
    with contextlib.suppress(BaseException):
        threading._shutdown()  # type: ignore[attr-defined]
        atexit._run_exitfuncs()
    # What is still buffered goes out, and a failure of that is the program's.
    try:
        if sys.stdout is not None and not sys.stdout.closed:
            sys.stdout.flush()
    except (OSError, ValueError):
        code = code or 98
    return code


def _main(err: str) -> int:
    from situs.__main__ import main

    try:
        main()
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else 0
    except BaseException:
        with Path(err).open("a", encoding="utf-8") as stream:
            traceback.print_exc(file=stream)
        return 99
    return 0


def _stream(kind: str, number: int, path: str, encoding: str) -> Any:
    """The standard stream of that number, as Python opens it."""
    match kind:
        case "closed":
            os.close(number)
            return None
        case "full":
            descriptor = os.open("/dev/full", os.O_WRONLY)
        case "read-only":
            descriptor = os.open(os.devnull, os.O_RDONLY)
        case "gone":
            reader, descriptor = os.pipe()
            os.close(reader)
        case _:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    os.dup2(descriptor, number)
    os.close(descriptor)
    raw = io.BufferedWriter(io.FileIO(number, "w", closefd=False))
    errors = "backslashreplace" if number == 2 else "strict"
    return io.TextIOWrapper(raw, encoding=encoding, errors=errors, line_buffering=number == 2)
