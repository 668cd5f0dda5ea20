"""`make demo-tune`: a tiny model is made, taught, fine-tuned in both arms and evaluated."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from situs.errors import SitusError
from situs.tune.checks.check import check_data
from situs.tune.demo.prepare import (
    Sizes,
    arm_config,
    base_config,
    base_model,
    is_prepared,
    prepare,
    write_start,
)
from situs.tune.evaluation.evaluate import EvalChoices, Evaluated, evaluate
from situs.tune.training.config import Config
from situs.tune.training.models import keep_quiet, need_packages
from situs.tune.training.run import train

__all__ = ["QUICK", "demonstrate", "one_thread"]

QUICK = Sizes(patients=80, plain=400, coarse_steps=6, base_steps=6, arm_steps=6, batch=8)
"""Shows that every step runs; nothing is learnt in so few."""

Say = Callable[[str], None]


def demonstrate(
    out: Path,
    sizes: Sizes,
    *,
    seeds: int = 1,
    limit: int = 300,
    say: Say = lambda text: None,
) -> Evaluated:
    """Everything from pictures to the table; what is finished is not done again.

    A seed has random weights, a base and an order of examples of its own; patients are the same, so
    that all seeds are asked the same questions.
    """
    need_packages("torch", "transformers", "trl", "peft", "datasets")
    keep_quiet()
    with one_thread():
        return _demonstrate(out, sizes, seeds, limit, say)


@contextmanager
def one_thread() -> Iterator[None]:
    """A model so small is not worth a second thread: on a busy machine the two wait for each other,
    and a step takes ten times as long."""
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def _demonstrate(out: Path, sizes: Sizes, seeds: int, limit: int, say: Say) -> Evaluated:
    begun = time.monotonic()

    def tell(text: str) -> None:
        say(f"[{time.monotonic() - begun:5.0f} s] {text}")

    if not is_prepared(out):
        prepare(out, sizes, 0)
    start = write_start(out, 0)
    tell(
        f"{sizes.patients} synthetic patients, both arms' data and a random tiny Qwen3-VL are made"
    )
    for arm in ("boxes", "answer"):
        checked = check_data(out / arm, model=start, limit=50)
        if checked.errors:
            raise SitusError(
                f"the check found {checked.errors} errors ({', '.join(checked.by_code)})",
                where=out / arm,
                fix="report this as a bug",
            )
    tell("training data are proved with the model's own processor")
    runs: dict[str, list[Path]] = {"boxes": [], "answer": []}
    for seed in range(seeds):
        _train(base_config(out, sizes, seed), base_model(out, seed).parent)
        steps = sizes.coarse_steps + sizes.base_steps
        tell(f"seed {seed}: the base is taught plain localization ({steps} steps)")
        for arm, arm_runs in runs.items():
            run_folder = out / f"{arm}-seed{seed}"
            _train(arm_config(out, arm, sizes, seed), run_folder)
            arm_runs.append(run_folder)
            tell(f"seed {seed}: {arm} fine-tuned ({sizes.arm_steps} steps)")
    evaluated = evaluate(
        runs["boxes"],
        out / "bench",
        out / "evaluation",
        controls=runs["answer"],
        choices=EvalChoices(limit=limit, batch=32, max_tokens=96),
    )
    tell("evaluated on patients that no arm has seen")
    return evaluated


def _train(config: Config, out: Path) -> None:
    if not (out / "model" / "config.json").is_file():
        train(config, out, resume=(out / "training.json").is_file())
