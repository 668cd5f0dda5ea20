"""`situs purge`."""

from __future__ import annotations

import sys

import click

from situs.cli.output.printing import echo, json_option, print_json, print_table, warn


@click.command("purge")
@click.option("--yes", is_flag=True, help="Remove without asking.")
@json_option
def command(yes: bool, as_json: bool) -> None:
    """Remove cached answers of models, rendered slices and copies of remote data.

    Runs, benches and your configuration stay. It first lists what there is and how large it is;
    nothing is removed until you confirm.
    """
    from situs.base.cache import cache_folder
    from situs.clients import cache_parts, purge_caches

    folder, parts = cache_folder(create=False), cache_parts()
    total = sum(part.bytes for part in parts)
    if not as_json:
        rows = [[part.name, f"{part.files:,}", f"{part.bytes / 2**20:,.1f}"] for part in parts]
        print_table(f"caches in {folder}", ["cache", "files", "MB"], rows)
    wanted = yes or (
        not as_json and total > 0 and sys.stdin.isatty() and click.confirm("Remove them?", err=True)
    )
    left = purge_caches() if wanted else parts
    if as_json:
        print_json({"folder": str(folder), "found": parts, "removed": wanted, "left": left})
    elif wanted:
        echo(f"removed {(total - sum(part.bytes for part in left)) / 2**20:,.1f} MB")
    elif total and not sys.stdin.isatty():
        warn("nothing was removed; add --yes")
