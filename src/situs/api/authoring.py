"""`situs author` as a function."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import msgspec

from situs.api.settings import withdrawn_by
from situs.base.files import canonical_json, digest, read_text, write_atomic
from situs.bench import open_bench
from situs.clients import Asking
from situs.judges import Asker, asker_of

__all__ = ["ARMS", "author"]

ARMS = {"T": (), "P": ("planner",), "W": ("writer",), "PW": ("planner", "writer")}
"""Arm → the roles that make it: templates, the agents' plan, their wording, both."""


def author(bench: Path, out: Path, *, asking: Asking, **arguments: Any) -> dict[str, Any]:
    """Author a bench, or the four arms of a comparison;
    `dry_run` only counts what would be asked."""
    from situs.build.authoring import AuthorOptions, AuthorRoles, Purse, author_bench, check_roles
    from situs.build.authoring.forecast import forecast

    begun_as = _name_of_task(bench, arguments)
    specs = {name: arguments.pop(name) for name in ("planner", "librarian", "writer")}
    lists = {name: arguments.pop(name) for name in ("critics", "panel")}
    arms, dry_run = arguments.pop("arms", False), arguments.pop("dry_run", False)
    review = arguments.pop("review", None)
    purse = Purse(asking.max_cost)
    options = AuthorOptions(
        withdrawn=withdrawn_by(review),
        purse=purse,
        protocol=arguments.pop("protocol") or "",
        **{name: value for name, value in arguments.items() if value is not None},
    )
    with asking.cache(options.tell) as cache:
        roles = AuthorRoles(
            **{
                name: None if spec is None else asker_of(spec, f"--{name}", asking, cache)
                for name, spec in specs.items()
            },
            critics=_several(lists["critics"], "--critic", asking, cache),
            panel=_several(lists["panel"], "--panel", asking, cache),
        )
        if dry_run:
            return forecast(
                bench,
                roles,
                data=options.data,
                seed=options.seed,
                per_study=options.per_study,
            )
        if not arms:
            return {"": author_bench(bench, out, roles, options)}
        # The first arm has no roles, and is measured before anybody is asked.
        check_roles(roles, purse, restricted=open_bench(bench).info.restricted)
        results = {}
        with _begun(out, begun_as, options.overwrite) as again:
            for name, wanted in ARMS.items():
                left_out = {role: None for role in ("planner", "writer") if role not in wanted}
                arm_roles = msgspec.structs.replace(roles, **left_out)
                arm_options = msgspec.structs.replace(options, overwrite=options.overwrite or again)
                results[name] = author_bench(bench, out / name, arm_roles, arm_options)
        return results


def _name_of_task(bench: Path, arguments: Mapping[str, Any]) -> str:
    """Equal for two calls that make the same arms."""
    free = ("jobs", "overwrite", "progress", "ended", "tell", "dry_run")
    given = {name: str(value) for name, value in arguments.items() if name not in free}
    return digest(open_bench(bench).info.content_hash, canonical_json(given))


@contextmanager
def _begun(out: Path, task: str, overwrite: bool) -> Iterator[bool]:
    """Keep in mind what is made of the arms until all are; whether a call before this one that
    made the same was stopped. Its arms are made again, of what models said to it."""
    from situs.build.authoring.arms import UNFINISHED

    note = out / UNFINISHED
    again = note.is_file() and read_text(note) == task
    out.mkdir(parents=True, exist_ok=True)
    if again or overwrite or not any((out / name).exists() for name in ARMS):
        write_atomic(note, task, private=True)
    try:
        yield again
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException:
        if not any((out / name).exists() for name in ARMS):
            note.unlink(missing_ok=True)
            with suppress(OSError):
                out.rmdir()  # unless somebody has something there
        raise
    note.unlink(missing_ok=True)


def _several(specs: Sequence[str], option: str, asking: Asking, cache: Any) -> tuple[Asker, ...]:
    askers: list[Asker] = []
    for spec in specs:
        askers.append(asker_of(spec, option, asking, cache, taken=[one.name for one in askers]))
    return tuple(askers)
