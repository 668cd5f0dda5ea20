"""A group of commands, one per source of evidence."""

from __future__ import annotations

import click

from situs.errors import SitusError, did_you_mean

__all__ = ["Sources"]


class Sources(click.Group):
    """Sources by name, with a hint at the one that may be meant."""

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The source's command."""
        if cmd_name not in self.commands:
            known = self.list_commands(ctx)
            raise SitusError(f"unknown source {cmd_name!r}", fix=did_you_mean(cmd_name, known))
        return self.commands[cmd_name]
