"""Settings that several functions share, with the names of the command line's options."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypedDict, get_args

from situs.api.results import PathLike, name_of, path_of
from situs.base.engines import engine_of
from situs.base.shard import Shard
from situs.bench import IdKind, IdRule
from situs.build import BuildOptions, is_open_licence
from situs.clients import Asking
from situs.errors import SitusError, did_you_mean
from situs.facts import load_recipe

__all__ = ["AskSettings", "BuildSettings", "asking_of", "build_options", "withdrawn_by"]


class BuildSettings(TypedDict, total=False):
    """What every way of building takes."""

    tasks: str | Iterable[str] | None
    """Only these; all by default."""
    per_study: int | None
    """At most this many questions a study."""
    seed: int
    jobs: int
    """Worker processes."""
    engine: str
    """What does the work: `local` (default), `ray`, or `ray://HOST:PORT`."""
    shard: str | None
    """`I/N`: do part I of N of the work on studies only; `shards` makes the bench of all parts."""
    shards: Iterable[PathLike]
    """Folders of all parts of this build."""
    recipe: PathLike | None
    """Thresholds of your own (TOML)."""
    restricted: bool
    skip_bad: bool
    """Leave out studies that cannot be read, instead of stopping."""
    overwrite: bool
    allow_remote: bool
    """Write restricted data to an address that is not on this machine."""
    licence: str
    """Of the data, e.g. CC-BY-4.0; without a known one the bench is restricted."""
    ids: IdKind
    """`opaque` (default), `table` or `stem`."""
    trust: Iterable[str]
    """Studies to ask about although their anatomy looks wrong: `STUDY` or `STUDY:DOUBT`."""
    review: PathLike | None
    """An export of `situs review export`: what its readers dropped or want fixed is not asked."""


class AskSettings(TypedDict, total=False):
    """What everything that asks a model takes;
    see `situs.clients.Asking` for the meanings and defaults."""

    concurrency: int | None
    requests_per_minute: float | None
    tokens_per_minute: float | None
    tries: int
    timeout: float
    stall_timeout: float
    max_cost: float | None
    max_tokens_total: int | None
    prices: Path | None
    no_cache: bool
    cache_samples: bool
    allow_remote: bool
    trust_host: tuple[str, ...]
    proxy: str


def build_options(
    out: PathLike, settings: BuildSettings, *, synthetic: bool = False
) -> BuildOptions:
    """The options record. Nobody's data are `synthetic`;
    others are restricted unless their licence is an open one."""
    _refuse_unknown(settings, BuildSettings.__annotations__)
    ids = settings.get("ids", "opaque")
    if ids not in get_args(IdKind):
        raise SitusError(
            f"unknown rule {ids!r}", where="ids", fix=did_you_mean(ids, get_args(IdKind))
        )
    tasks = settings.get("tasks")
    recipe = settings.get("recipe")
    shard = settings.get("shard")
    licence = "synthetic" if synthetic else settings.get("licence", "")
    is_open = synthetic or is_open_licence(licence)
    return BuildOptions(
        name=name_of(out),
        recipe=load_recipe(None if recipe is None else path_of(recipe)),
        seed=settings.get("seed", 0),
        tasks=tasks if tasks is None or isinstance(tasks, str) else ",".join(tasks),
        per_study=settings.get("per_study"),
        engine=engine_of(settings.get("engine", "local"), settings.get("jobs", 1)),
        shard=Shard.parse(shard) if shard else None,
        shards=tuple(map(path_of, settings.get("shards", ()))),
        restricted=settings.get("restricted", False) or not is_open,
        licence=licence,
        skip_bad=settings.get("skip_bad", False),
        overwrite=settings.get("overwrite", False),
        ids=IdRule(ids),
        trust=tuple(settings.get("trust", ())),
        withdrawn=withdrawn_by(settings.get("review")),
    )


def withdrawn_by(review: PathLike | None) -> dict[str, str]:
    """Item → why readers withdrew it; nothing without an export."""
    if review is None:
        return {}
    from situs.review.station.results import read_results

    return read_results(path_of(review)).withdrawn


def asking_of(settings: AskSettings) -> Asking:
    """The record of how to ask."""
    _refuse_unknown(settings, Asking.__struct_fields__)
    return Asking(**settings)


def _refuse_unknown(settings: Any, known: Iterable[str]) -> None:
    names = list(known)
    for name in settings:
        if name not in names:
            raise SitusError(f"unknown option {name!r}", fix=did_you_mean(name, names))
