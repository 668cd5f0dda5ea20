"""`--events` and `--track`: how a command gets on, for dashboards: lines of JSON, MLflow or Weights
& Biases.

Only counts, tokens, money and times are told: no question, no answer, no path.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import click

from situs.cli.output.paths import LOCAL
from situs.cli.output.printing import warn
from situs.errors import SitusError

if TYPE_CHECKING:
    from situs.clients import Tally

__all__ = ["events_options", "tell_progress", "tell_tally"]

_META = "situs.events"
_SECONDS = 1.0
"""Between two events of progress; the last one of a step is always told."""

Event = dict[str, Any]


class _Sink(Protocol):
    def tell(self, event: Event) -> None: ...

    def close(self, code: int) -> None: ...


class _Lines:
    """One JSON object a line, written at once: `tail -f` follows."""

    def __init__(self, path: Path) -> None:
        from situs.base.files import check_regular

        check_regular(path)
        try:
            self._stream = path.open("ab", buffering=0)
        except OSError as error:
            problem = f"cannot be written ({error.strerror})"
            raise SitusError(problem, where="--events", fix="choose another file") from error

    def tell(self, event: Event) -> None:
        import msgspec

        self._stream.write(msgspec.json.encode(event) + b"\n")

    def close(self, code: int) -> None:
        self._stream.close()


class _Mlflow:
    """A run of MLflow, where its environment says (MLFLOW_TRACKING_URI)."""

    def __init__(self, name: str) -> None:
        self._mlflow: Any = _module("mlflow")
        self._mlflow.start_run(run_name=name)

    def tell(self, event: Event) -> None:
        numbers = _numbers(event)
        if numbers:
            self._mlflow.log_metrics(numbers, step=int(event.get("done", 0)))

    def close(self, code: int) -> None:
        self._mlflow.end_run("FINISHED" if code == 0 else "FAILED")


class _Wandb:
    """A run of Weights & Biases, where its environment says (WANDB_PROJECT, WANDB_MODE)."""

    def __init__(self, name: str) -> None:
        self._run: Any = _module("wandb").init(name=name)

    def tell(self, event: Event) -> None:
        numbers = _numbers(event)
        if numbers:
            self._run.log(numbers)

    def close(self, code: int) -> None:
        self._run.finish(exit_code=code)


_TRACKERS: dict[str, Callable[[str], _Sink]] = {"mlflow": _Mlflow, "wandb": _Wandb}


def _module(name: str) -> Any:
    import importlib

    try:
        return importlib.import_module(name)
    except ImportError as error:
        fix = f"pip install {name}"
        raise SitusError(f"{name} is not installed", where="--track", fix=fix) from error


def _tracker(track: str, name: str) -> _Sink:
    try:
        return _TRACKERS[track](name)
    except SitusError:
        raise
    except Exception as error:
        problem, fix = (
            f"cannot be begun ({type(error).__name__})",
            "check its environment variables",
        )
        raise SitusError(problem, where=f"--track {track}", fix=fix) from error


def _numbers(event: Event) -> dict[str, float]:
    step = f"{event['step']}." if event.get("step") else ""
    return {
        f"{step}{name}": float(value)
        for name, value in event.items()
        if isinstance(value, int | float) and name != "time"
    }


class _Events:
    """Tells all that listen. One that fails is left alone from then on: a full disk or a tracking
    server that is gone must not end work that is paid for."""

    def __init__(self, sinks: dict[str, _Sink]) -> None:
        self._sinks = sinks
        """By the option that asked for them."""
        self._reported: dict[str, float] = {}

    def tell(self, kind: str, **values: Any) -> None:
        event = {"time": round(time.time(), 3), "event": kind, **values}
        self._each(lambda sink: sink.tell(event))

    def progress(self, step: str, done: int, total: int, **values: Any) -> None:
        now = time.monotonic()
        if done < total and now - self._reported.get(step, -_SECONDS) < _SECONDS:
            return
        self._reported[step] = now
        self.tell("progress", step=step, done=done, total=total, **values)

    def close(self, code: int) -> None:
        self._each(lambda sink: sink.close(code))

    def _each(self, do: Callable[[_Sink], None]) -> None:
        for name, sink in list(self._sinks.items()):
            try:
                do(sink)
            except Exception as error:
                del self._sinks[name]
                # Not its words: those of a tracker may hold an address with a password.
                warn(f"{name} failed ({type(error).__name__}) and gets no more; the work goes on")


def events_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Adds `--events` and `--track` to a command."""

    @click.option(
        "--events",
        type=LOCAL,
        metavar="FILE.jsonl",
        help=(
            "Append progress to this file, one line of JSON at a time: counts, tokens, cost, times."
        ),
    )
    @click.option(
        "--track",
        type=click.Choice(sorted(_TRACKERS)),
        help=(
            "Report the same numbers to MLflow or Weights & Biases, each configured by its own"
            " environment variables."
        ),
    )
    @functools.wraps(function)
    def command(*, events: Path | None = None, track: str | None = None, **options: Any) -> Any:
        if events is None and track is None:
            return function(**options)
        context = click.get_current_context()
        out = options.get("out")
        name = out.name if isinstance(out, Path) else context.info_name or "situs"
        with _reported(context, events, track, name):
            return function(**options)

    return command


@contextmanager
def _reported(
    context: click.Context, file: Path | None, track: str | None, name: str
) -> Iterator[None]:
    sinks: dict[str, _Sink] = {} if file is None else {"--events": _Lines(file)}
    if track is not None:
        sinks[f"--track {track}"] = _tracker(track, name)
    events = context.meta[_META] = _Events(sinks)
    started, code = time.monotonic(), 2
    events.tell("begin", command=context.command_path, name=name)
    try:
        yield
        code = 0
    except SystemExit as leave:
        code = leave.code if isinstance(leave.code, int) else 0
        raise
    except (KeyboardInterrupt, click.exceptions.Abort):
        code = 130
        raise
    finally:
        del context.meta[_META]
        events.tell("end", code=code, seconds=round(time.monotonic() - started, 3))
        events.close(code)


def _current() -> _Events | None:
    context = click.get_current_context(silent=True)
    return None if context is None else context.meta.get(_META)


def tell_progress(step: str, done: int, total: int) -> None:
    """How far a step is."""
    events = _current()
    if events is not None:
        events.progress(step, done, total)


def tell_tally(step: str, tally: Tally, before: int, total: int) -> None:
    """How far asking is, and what it took."""
    events = _current()
    if events is None:
        return
    now = tally.done if tally.items is None else tally.items
    events.progress(
        step,
        before + now,
        total,
        seconds=round(tally.seconds, 3),
        tokens_in=round(tally.prompt_tokens),
        tokens_out=round(tally.completion_tokens),
        cost=tally.cost,
        cached=tally.cached,
        **{f"{state}_items": count for state, count in sorted(tally.states.items())},
    )
