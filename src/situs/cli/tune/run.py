"""`situs tune run`."""

from __future__ import annotations

from typing import Any

import click

from situs.cli.output.paths import INPUT
from situs.cli.output.printing import (
    echo,
    json_option,
    print_json,
    print_table,
    warn,
)
from situs.cli.output.progress import progress_bar

_A_PATH = INPUT


@click.command("run")
@click.argument("config")
@click.option("--out", type=_A_PATH, help="Where to write the run (a folder).")
@click.option("--model", default="", help="The base model's folder, instead of the config's.")
@click.option(
    "--data", multiple=True, metavar="DATA", help="Training data: once, or once for each stage."
)
@click.option("--method", default="", metavar="sft|grpo", help="Overrides the config's.")
@click.option(
    "--devices",
    type=click.IntRange(1),
    metavar="N",
    help="Train on N devices instead of the config's; a step keeps its number of examples.",
)
@click.option(
    "--shard",
    default="",
    metavar="none|zero2|zero3|fsdp",
    help="How devices share weights and optimizer, instead of the config's way.",
)
@click.option("--steps", type=click.IntRange(1), help="Stop after this many steps.")
@click.option("--resume", is_flag=True, help="Resume from the last checkpoint in --out.")
@click.option("--dry-run", is_flag=True, help="Only estimate steps, tokens, memory and GPU hours.")
@click.option(
    "--launch-files",
    type=_A_PATH,
    help="Only write files for accelerate, DeepSpeed or FSDP into this folder.",
)
@json_option
def command(config: str, as_json: bool, **options: Any) -> None:
    """Fine-tune as CONFIG says: a TOML file, or a shipped recipe (situs tune run list shows them).

    If it is interrupted or killed, the same command with --resume continues from the last
    checkpoint with the same examples in the same order. A different model, profile, box form or
    different data is refused.
    """
    if config == "list":
        _list(as_json)
        return
    from situs.errors import SitusError
    from situs.tune.training.config import load_config

    loaded = load_config(
        config,
        model=options["model"],
        data=options["data"],
        method=options["method"],
        devices=options["devices"] or 0,
        shard=options["shard"],
        whole=options["launch_files"] is None,
    )
    for defect in loaded.defects:
        warn(defect)
    if options["launch_files"] is not None:
        from situs.tune.training.launch import write_launch_files

        names = write_launch_files(loaded, config, options["launch_files"])
        echo(f"{options['launch_files']}: {', '.join(names)}")
        return
    if options["dry_run"]:
        _estimate(loaded, options["steps"] or 0, as_json)
        return
    if options["out"] is None:
        raise SitusError("no folder to write to", where="--out", fix="add --out RUN")
    from situs.tune.training.run import train

    with progress_bar("steps") as progress:
        trained = train(
            loaded,
            options["out"],
            resume=options["resume"],
            most_steps=options["steps"] or 0,
            progress=progress,
        )
    if as_json:
        print_json(trained)
        return
    rows = [
        [f"trained: {part}", f"{count:,} parameters"] for part, count in trained.trained.items()
    ]
    rows += [[f"frozen: {part}", f"{count:,} parameters"] for part, count in trained.frozen.items()]
    rows += [["steps", f"{trained.steps:,}"]]
    if trained.loss is not None:
        rows.append(["loss, last tenth", f"{trained.loss:.4f}"])
    print_table(f"{options['out']}: {loaded.name}", ["", ""], rows, f"model: {trained.model}")


def _list(as_json: bool) -> None:
    from situs.tune.training.config import shipped_configs

    configs = shipped_configs()
    if as_json:
        print_json({"configs": configs})
    else:
        rows = [[name, about] for name, about in configs.items()]
        print_table("training recipes", ["name", "what it is"], rows)


def _estimate(config: Any, steps: int, as_json: bool) -> None:
    from situs.tune.training.estimate import estimate_run
    from situs.tune.training.plan import make_plan

    estimate = estimate_run(config, make_plan(config, most_steps=steps))
    if as_json:
        print_json(estimate)
        return
    rows = [
        ["steps", f"{estimate.steps:,} of {estimate.batch} examples"],
        ["tokens", f"{estimate.tokens:,}"],
        [
            "longest example",
            f"{estimate.longest:,} tokens"
            + (
                f" (more than max_length, {config.max_length:,}: the run would stop there)"
                if estimate.too_long
                else ""
            ),
        ],
        [
            "parameters",
            f"{estimate.parameters / 1e9:.2f} billion, {estimate.trained / 1e6:,.1f} M trained",
        ],
        [
            "memory per device",
            f"{estimate.memory_gib:.1f} GiB"
            + (
                "" if estimate.fits else f" (more than the {config.hardware.card_gib:g} GiB it has)"
            ),
        ],
        ["GPU hours", f"{estimate.gpu_hours:.2f}"],
    ]
    print_table(f"{config.name}: estimate", ["", ""], rows, "\n".join(estimate.basis))
