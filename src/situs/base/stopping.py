"""Stops: Ctrl-C and SIGTERM end the program in good order, at whatever moment they come.

Python answers a signal with an exception out of the middle of whatever runs. That is right in
code of ours, which clears up and lets it pass. In an import, a finaliser, a weak reference's
callback or a callback of a library in C it is printed and forgotten, or turned into another error:
there a stop waits, and one that was swallowed all the same is delivered again.
"""

from __future__ import annotations

import _thread
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

__all__ = ["Stop", "Stops", "answered_by", "ending_at_once", "held"]

_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_AGAIN_SECONDS = 0.02
_PATIENCE_SECONDS = 10.0
"""A stop waits no longer than this, wherever the program is: it must never be deaf."""


class Stop(KeyboardInterrupt):
    """The program was asked to end. Whoever catches it raises it on."""

    def __del__(self) -> None:
        # While the program goes on it is held by whatever handles it: someone dropped it.
        if _current is not None:
            _current.deliver_again()


class Stops:
    """A block in which Ctrl-C and SIGTERM raise `Stop`, as soon as that can be heard.

    Signals that whoever started the program had ignored (`nohup`) stay ignored. Outside the main
    thread nothing is changed: only there Python hears signals.
    """

    def __init__(self) -> None:
        self.number: int | None = None
        """The last signal that came."""
        self._since = 0.0
        self._is_due = False
        """A thread is about to send the signal again."""
        self._holds = 0
        self._logged_above: int | None = None
        """The level that logging was disabled to before a stop came."""
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Stops:
        global _current
        if threading.current_thread() is not threading.main_thread():
            return self
        self._outer = _current
        self._outermost = sys._getframe(1).f_code
        self._hook, sys.unraisablehook = sys.unraisablehook, self._unraisable
        _current = self
        self._before = _listen(self._hear)
        return self

    def __exit__(self, *_: object) -> None:
        global _current
        if _current is not self:
            return
        # From here on nobody delivers a stop again, and the next one ends the program as any other.
        _current = self._outer
        if self._logged_above is not None:
            sys.modules["logging"].disable(self._logged_above)
        _listen_again(self._before)
        sys.unraisablehook = self._hook

    def note(self, number: int) -> None:
        """A signal has come."""
        self._is_due = False
        if self.number is None:
            self._since = time.monotonic()
            self._silence_logs()
        self.number = number

    def _silence_logs(self) -> None:
        """Libraries that catch every error log a stop as one, with its traceback."""
        logging = sys.modules.get("logging")
        if logging is not None:
            self._logged_above = logging.root.manager.disable
            logging.disable()

    def deliver_again(self) -> None:
        """Send the last signal once more, in a moment."""
        if self._is_due or self.number is None:
            return
        self._is_due = True
        # Not `threading.Thread`: it takes locks, which the interrupted code may hold.
        with suppress(RuntimeError):  # Python is about to end
            _thread.start_new_thread(self._send_again, (self.number,))

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Stops wait until the end of the block."""
        self._holds += 1
        try:
            yield
        finally:
            self._holds -= 1

    def _hear(self, number: int, frame: FrameType | None) -> None:
        self.note(number)
        waits = bool(self._holds) or self._would_be_lost(frame)
        if waits and time.monotonic() - self._since < _PATIENCE_SECONDS:
            self.deliver_again()
            return
        raise Stop

    def _would_be_lost(self, frame: FrameType | None) -> bool:
        """Whether an exception out of this frame would come through an import or a finaliser."""
        while frame is not None and frame.f_code is not self._outermost:
            code = frame.f_code
            if code.co_name == "__del__" or code.co_filename.startswith("<frozen importlib"):
                return True
            frame = frame.f_back
        return False

    def _send_again(self, number: int) -> None:
        time.sleep(_AGAIN_SECONDS)
        if _current is not self:
            return
        if hasattr(signal, "pthread_kill"):
            # To the main thread itself, so that it wakes from whatever it waits for.
            signal.pthread_kill(threading.main_thread().ident or 0, number)
        else:  # Windows
            signal.raise_signal(number)

    def _unraisable(self, unraisable: sys.UnraisableHookArgs) -> None:
        """A stop that nobody can catch is not printed but delivered again."""
        error = unraisable.exc_value
        while error is not None:
            if isinstance(error, Stop):
                self.deliver_again()
                return
            error = error.__cause__ or error.__context__
        self._hook(unraisable)


_current: Stops | None = None
"""Those of the program that runs in this process."""


@contextmanager
def held() -> Iterator[None]:
    """A block that no stop may cut in two, such as the start of a process."""
    if _current is None or threading.current_thread() is not threading.main_thread():
        yield
        return
    with _current.hold():
        yield


@contextmanager
def answered_by(answer: Callable[[], object]) -> Iterator[None]:
    """A block in which a stop calls `answer` and raises nothing, as in an event loop."""

    def hear(number: int, _: FrameType | None) -> None:
        if _current is not None:
            _current.note(number)
        answer()

    before = _listen(hear)
    try:
        yield
    finally:
        _listen_again(before)


@contextmanager
def ending_at_once() -> Iterator[None]:
    """A block in which a stop ends the program as it ends any other, because nothing has been
    begun."""
    before = _listen(signal.SIG_DFL)
    try:
        yield
    finally:
        _listen_again(before)


def _listen(handler: Any) -> dict[int, Any]:
    """Answer stops by another handler; what answered them before."""
    if threading.current_thread() is not threading.main_thread():
        return {}
    numbers = [number for number in _SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]
    return {number: signal.signal(number, handler) for number in numbers}


def _listen_again(before: dict[int, Any]) -> None:
    for number, handler in before.items():
        signal.signal(number, handler or signal.SIG_DFL)
