"""`log.jsonl`: a line a step, written at once, so that it survives a crash."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

from situs.base.files import check_own_file, write_atomic
from situs.errors import SitusError
from situs.tune.training.plan import Plan

__all__ = ["last_loss", "log_callback", "trim_log"]

Progress = Callable[[int, int], None]


def log_callback(out: Path, plan: Plan, progress: Progress) -> Any:
    """Writes every logged step to `log.jsonl` at once, and shows progress."""
    from transformers import TrainerCallback

    ends: list[tuple[int, str]] = []
    passed = 0
    for name, steps in plan.stage_steps:
        passed += steps
        ends.append((passed, name))

    class Log(TrainerCallback):  # type: ignore[misc]
        """One line a step."""

        def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **_: Any) -> None:
            if not state.is_world_process_zero or not logs:
                return
            stage = next((name for end, name in ends if state.global_step <= end), "")
            row = {"step": state.global_step, "stage": stage} | {
                key: value for key, value in logs.items() if isinstance(value, int | float)
            }
            with (out / "log.jsonl").open("a", encoding="utf-8") as stream:
                stream.write(json.dumps(row) + "\n")
            loss = logs.get("loss")
            if loss is not None and not math.isfinite(loss):
                raise SitusError(
                    f"the loss is {loss} at step {state.global_step}",
                    where=out,
                    fix="run situs tune check; lower the learning rate",
                )
            progress(state.global_step, plan.steps)

    return Log()


def trim_log(out: Path, last_step: int) -> None:
    """Drop what was logged after the checkpoint that a run continues from:
    those steps are done, and logged, once more.

    A kill may have cut the last line short.
    """
    path = out / "log.jsonl"
    check_own_file(path)
    if not path.is_file():
        return
    lines = path.read_text("utf-8", errors="replace").splitlines(keepends=True)
    kept = [line for line in lines if 0 < _step_in(line) <= last_step]
    write_atomic(path, "".join(kept))


def _step_in(line: str) -> int:
    """The step of a line; 0 if it is not whole."""
    try:
        return int(json.loads(line)["step"]) if line.endswith("\n") else 0
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
        return 0


def last_loss(out: Path) -> float | None:
    """The mean of the last tenth of the logged losses."""
    losses = [
        row["loss"]
        for line in (out / "log.jsonl").read_text("utf-8").splitlines()
        if "loss" in (row := json.loads(line))
    ]
    tail = losses[-max(1, len(losses) // 10) :]
    return sum(tail) / len(tail) if tail else None
