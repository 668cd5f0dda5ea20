"""`situs doctor`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from situs.cli.output.printing import json_option, print_json, print_table

if TYPE_CHECKING:
    from situs.doctor import Check


@click.command("doctor")
@click.option(
    "--warm",
    is_flag=True,
    help="First compile the kernels, so that no later command has to (for images and clusters).",
)
@json_option
def command(warm: bool, as_json: bool) -> int:
    """Check that this installation works, and say what to do if it does not. Exit code 1 if
    something fails.

    Measures a ball, reads a small file of every format, renders pictures and asks a server on this
    machine; nothing leaves it. Optional parts that are not installed are listed, and do not count
    as failures.
    """
    from situs.doctor import Check, examine, warm_kernels

    checks = []
    if warm:
        compiled, total = warm_kernels()
        checks.append(Check("kernels", True, f"{compiled} of {total} compiled, kept on disk"))
    checks += examine()
    ok = all(check.ok for check in checks)
    if as_json:
        print_json({"ok": ok, "checks": checks})
    else:
        rows = [[c.what, _state(c), c.found, c.fix] for c in checks]
        print_table("situs doctor", ["what", "", "found", "what to do"], rows)
    return 0 if ok else 1


def _state(check: Check) -> str:
    """What is not installed and not needed is neither well nor ill."""
    if not check.ok:
        return "FAIL"
    return "–" if check.fix else "ok"
