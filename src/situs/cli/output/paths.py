"""Paths on the command line: of this machine, or addresses such as s3://bucket/bench."""

from __future__ import annotations

import codecs
import functools
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from situs.base.remote.outputs import Outgoing

__all__ = ["INPUT", "LOCAL", "OUTPUT", "out_option", "writes"]

_OUTGOING = "situs.outgoing"


class _PathOrAddress(click.Path):
    """A path, which is never empty; an address becomes one."""

    def __init__(self) -> None:
        super().__init__(path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The path at which commands find or write it."""
        from situs.base.remote import is_url

        if value == "":
            # An empty path would be the present folder: most often a variable of a script that is
            # not set.
            self.fail("an empty path; give a file or folder ('.' is the present one)", param, ctx)
        if isinstance(value, str) and not value.isascii() and not _names_are_unicode():
            encoding = sys.getfilesystemencoding()
            problem = f"is not ASCII, and this terminal's names are {encoding}; use a UTF-8 locale"
            self.fail(f"{value!r} {problem} (export LC_ALL=C.UTF-8)", param, ctx)
        if isinstance(value, str) and is_url(value):
            return self._from_url(value, param, ctx)
        return super().convert(value, param, ctx)

    def _from_url(self, url: str, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        raise NotImplementedError


def _names_are_unicode() -> bool:
    """Whether the system's names can be stored in files, and found again by every library."""
    return codecs.lookup(sys.getfilesystemencoding()).name == "utf-8"


class _Input(_PathOrAddress):
    def _from_url(self, url: str, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        from situs.base.remote import local_input

        return local_input(url)


class _Output(_PathOrAddress):
    def _from_url(self, url: str, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        from situs.base.remote import located
        from situs.base.remote.outputs import outgoing

        leaving = outgoing(url)
        if leaving is None:
            return located(url)
        assert ctx is not None
        ctx.meta.setdefault(_OUTGOING, []).append(leaving)
        return leaving.path


class _Local(_PathOrAddress):
    def _from_url(self, url: str, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        from situs.base.remote import located
        from situs.errors import SitusError

        if url.lower().startswith("file:"):
            return located(url)
        where = "path" if param is None else param.opts[0]
        raise SitusError("must be a local path", where=where, fix="copy it here first")


INPUT = _Input()
"""What a command reads."""
OUTPUT = _Output()
"""What a command writes; the command is decorated with `writes`."""
LOCAL = _Local()
"""What must lie on this machine: databases, journals, settings."""


def out_option(
    what: str, *, resumes: bool = False
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """`--out` for a folder or file that the command makes; see `writes`."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        option = click.option(
            "--out",
            required=True,
            type=OUTPUT,
            help=f"Where to write {what}: a path or an address.",
        )
        return option(writes(resumes=resumes)(function))

    return decorate


def writes(*, resumes: bool = False) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Lets a command write to addresses: what it makes there is published when it ends well.

    Restricted data leave this machine with --allow-remote only; the command is given that option
    unless it has it. `resumes`: what was published of it before is fetched first, and continued.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        known = {option.name for option in getattr(function, "__click_params__", ())}
        adds_option = "allow_remote" not in known

        @functools.wraps(function)
        def command(**arguments: Any) -> Any:
            allowed = (
                arguments.pop("allow_remote", False) if adds_option else arguments["allow_remote"]
            )
            # Taken, not read: a command that calls another (merge) publishes itself.
            leaving = click.get_current_context().meta.pop(_OUTGOING, [])
            if not leaving:
                return function(**arguments)
            if not allowed:
                from situs.api.leaving import refuse_restricted

                refuse_restricted(leaving[0].url, arguments)
            return _published(leaving, function, arguments, resumes)

        if adds_option:
            help_text = "Write restricted data to an address that is not on this machine."
            return click.option("--allow-remote", is_flag=True, help=help_text)(command)
        return command

    return decorate


def _published(
    outputs: list[Outgoing], function: Callable[..., Any], arguments: dict[str, Any], resumes: bool
) -> Any:
    from situs.cli.output.printing import warn

    key = repr(sorted((name, repr(value)) for name, value in arguments.items()))
    ended: SystemExit | None = None
    result = None
    if not resumes and all(leaving.is_finished_by(key) for leaving in outputs):
        warn("already written; uploading what is left")
    else:
        for leaving in outputs:
            leaving.begin(resumes=resumes, overwrite=bool(arguments.get("overwrite")))
        try:
            result = function(**arguments)
        except SystemExit as leave:
            if leave.code not in (0, 1):  # interrupted: the same command resumes here
                raise
            ended = leave
    for leaving in outputs:
        if leaving.path.exists():
            put = leaving.publish(key, replaces=bool(arguments.get("overwrite")))
            warn(f"{leaving.url}: {put.files:,} files published, {put.bytes / 1e6:,.1f} MB")
    if ended is not None:
        raise ended
    return result
