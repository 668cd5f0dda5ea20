"""`situs tune`: one thin file per step."""

from __future__ import annotations

import importlib

import click

from situs.errors import SitusError, did_you_mean

_STEPS = {
    "build": "Training examples from a bench, with the prompts that situs run will send.",
    "check": "Prove what a model would be taught: text, pictures, boxes, lengths, splits.",
    "export": "Training data as files of TRL, ms-swift, LLaMA-Factory, Qwen or OpenAI.",
    "run": "Fine-tune: full, LoRA or QLoRA, or by rewards (grpo).",
    "merge": "Merge an adapter into its model's weights.",
    "eval": "Measure what the boxes did: base, answer-only and box-supervised, by patient.",
    "demo": "All of it with a tiny model on synthetic slices, in minutes on two cores.",
    "audit-reward": "Show what cheating would earn under a reward, before training on it.",
}


class _Steps(click.Group):
    """Steps by name; their modules stay unloaded until needed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Steps in the order of the work."""
        return list(_STEPS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load a step, or say which one may be meant."""
        if cmd_name not in _STEPS:
            raise SitusError(f"unknown step {cmd_name!r}", fix=did_you_mean(cmd_name, _STEPS))
        module = cmd_name.replace("-", "_")
        command: click.Command = importlib.import_module(f"situs.cli.tune.{module}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of steps, without loading one."""
        with formatter.section("Steps"):
            formatter.write_dl(list(_STEPS.items()))


@click.group("tune", cls=_Steps)
def command() -> None:
    """Train a model that looks, and show what training on boxes did.

    build and export need no torch; run, merge and eval need pip install 'situs[tune]'.
    """
