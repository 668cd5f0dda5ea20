"""One program, `situs`: one thin file per command, loaded only when it is called."""

from __future__ import annotations

import importlib
import io
import os
import signal
import sys
from typing import NoReturn, TextIO, cast

import click

from situs import __version__
from situs.base.remote import in_urls
from situs.base.stopping import Stops, ending_at_once
from situs.base.text import printable
from situs.cli.options.completion import complete_values, is_completing
from situs.cli.output.printing import ErrorStream, OutputStream
from situs.errors import SitusError, did_you_mean

__all__ = ["main", "program"]

_COMMANDS = {
    "demo": "End to end on synthetic patients: one reader looks, one guesses.",
    "measure": "Measure the structures of a label file or a folder of masks.",
    "build": "Build a bench of questions from a source.",
    "import": "Make a bench from a published set of questions.",
    "author": "Let models plan, word and vet questions whose answers are measured.",
    "compare-arms": "Test whether agents wrote better questions than templates.",
    "debias": "Leave out questions that can be answered without looking.",
    "check": "Recompute every answer of a bench from its evidence.",
    "show": "See exactly what a model will see.",
    "run": "Ask a model or baseline the questions of a bench.",
    "merge": "Combine the parts of a build or run made with --shard.",
    "score": "Score a run, beside baselines that see no image.",
    "probe": "Test whether a model looks: withhold, change or exchange the scan.",
    "compare": "Compare runs, paired and by patient.",
    "report": "Write one HTML file with tables and an item viewer.",
    "view": "Follow runs in a browser; read-only, on this machine.",
    "quiz": "Let people answer a sample in a browser, offline, as a model would.",
    "audit": "Have people rate a sample of a bench, and measure how far they agree.",
    "review": (
        "Let radiologists vet a bench in the browser, blinded, with agreement and an audit trail."
    ),
    "library": "Index abstracts on disk: search them, and verify quotations word for word.",
    "adapter-check": (
        "Test whether a model tells left from right, up from down and the order of slices."
    ),
    "purge": "Remove cached answers, rendered slices and copies of remote data.",
    "tune": "Train a model that looks: build, check, export, run, merge, eval, audit-reward.",
    "serve": "Serve scans to agents on this machine, over the Model Context Protocol.",
    "export": "Write a bench or a run as files that other tools load.",
    "list": (
        "Show which models, names, layouts, tasks, profiles, probes, metrics and formats are known."
    ),
    "doctor": "Check that this installation works.",
}


_MODULES = {
    "import": "import_",
    "list": "list_",
    "adapter-check": "adapter_check",
    "compare-arms": "compare_arms",
}
"""Commands whose names Python keeps for itself or cannot spell."""


class _Commands(click.Group):
    """Commands by name; their modules, and what those import, stay unloaded until needed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Commands in the order of the work, not of the alphabet."""
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load a command, or say which one may be meant."""
        if cmd_name not in _COMMANDS:
            raise SitusError(f"unknown command {cmd_name!r}", fix=did_you_mean(cmd_name, _COMMANDS))
        with ending_at_once():
            command: click.Command = importlib.import_module(
                f"situs.cli.{_MODULES.get(cmd_name, cmd_name)}"
            ).command
        if is_completing():
            complete_values(command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of commands, without loading one."""
        with formatter.section("Commands"):
            formatter.write_dl(list(_COMMANDS.items()))


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="situs")
def program() -> None:
    """Spatial questions on CT and MRI whose answers can be proved, and whether a model looked or
    guessed.

    Try `situs demo` first. Every command has --help, and --json for one JSON object on standard
    output. Tab completes commands and values after `eval "$(_SITUS_COMPLETE=bash_source situs)"`
    (zsh_source, fish_source).
    """


def main() -> None:
    """Run the program.
    A user's mistake is one line on standard error and exit code 2, never a traceback."""
    if is_completing():
        program.main(prog_name="situs")  # it writes bytes to the shell, and exits
    streams = sys.stdin, sys.stdout, sys.stderr
    _prepare_streams()
    # A polite request to end is answered as Ctrl-C is: workers are ended, scratch folders removed.
    stops = Stops()
    try:
        with stops:
            code = program.main(prog_name="situs", standalone_mode=False)
            sys.stdout.flush()
        sys.exit(code if isinstance(code, int) else 0)
    except (click.exceptions.Abort, KeyboardInterrupt) as stop:
        _end_stopped(stop, stops)
    except Exception as error:
        # Libraries turn a stop into errors of their own.
        if stops.number is not None:
            _end_stopped(error, stops)
        _end(error)
    finally:
        # This process may go on, as in a notebook.
        sys.stdin, sys.stdout, sys.stderr = streams


def _end_stopped(stop: BaseException, stops: Stops) -> NoReturn:
    """End with one line, and the exit code that a shell gives to a program that a signal ended."""
    notes: list[str] = []
    cause: BaseException | None = stop
    while cause is not None:
        if isinstance(cause, KeyboardInterrupt):
            notes += getattr(cause, "__notes__", [])
        cause = cause.__cause__ or cause.__context__
    click.echo(printable("; ".join(["situs: stopped", *dict.fromkeys(notes)])), err=True)
    sys.exit(128 + (stops.number or signal.SIGINT))


def _end(error: Exception) -> NoReturn:
    """End with one line for what a user can mend; whatever else it is, is a bug and is raised."""
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        try:
            click.echo(error.format_message())
            sys.exit(0)
        except SitusError as unheard:
            error = unheard
    click.echo(f"situs: {printable(in_urls(_reason(error)))}", err=True)
    sys.exit(2)


def _reason(error: Exception) -> str:
    match error:
        case SitusError():
            return str(error)
        case click.MissingParameter(ctx=click.Context() as context, param=click.Argument()):
            usage = context.get_usage().removeprefix("Usage: ")
            return str(SitusError(error.format_message().rstrip("."), fix=f"write {usage}"))
        case click.ClickException():
            return str(SitusError(error.format_message()))
        case OSError():
            reason = f"cannot be read or written ({error.strerror})"
            return str(SitusError(reason, where=error.filename, fix="check the path"))
        case MemoryError():
            return "not enough memory for this input; give a smaller one or a larger machine"
        case RecursionError():
            return "an input is nested too deeply to be read; is it the right file?"
        case UnicodeError():
            return (
                "a name is not valid Unicode; rename the file or structure, or use a UTF-8 locale"
                " (export LC_ALL=C.UTF-8)"
            )
        case RuntimeError() if str(error).startswith("Symlink loop"):
            return f"{error}; remove the link"  # pathlib's, before Python 3.13
        case _:
            raise error


def _prepare_streams() -> None:
    """Let nothing that is printed end the program:
    signs that a terminal's encoding lacks are spelt out."""
    if sys.stdin is None or sys.stdout is None or sys.stderr is None:
        # Files that are opened later must not take the numbers of closed streams.
        for number in (0, 1, 2):
            try:
                os.fstat(number)
            except OSError:
                os.open(os.devnull, os.O_RDWR)
        has_output = sys.stdout is not None
        sys.stdin = sys.stdin or open(os.devnull, encoding="utf-8")  # noqa: PTH123, SIM115
        sys.stdout = sys.stdout or open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115
        sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115
        if not has_output:
            ErrorStream(sys.stderr).write("situs: standard output is closed; nothing is printed\n")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    sys.stdout = cast(TextIO, OutputStream(sys.stdout))
    sys.stderr = cast(TextIO, ErrorStream(sys.stderr))
