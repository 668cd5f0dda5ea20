"""What the user vouches for, though it looks wrong:
`--trust STUDY`, `--trust STUDY:scale`, `--trust STUDY:liver`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from situs.anatomy import Doubt, term
from situs.errors import SitusError, did_you_mean
from situs.facts import ALL

__all__ = ["trusted_studies"]


EVERY = "*"
"""In place of a study: all of them, e.g.
a cohort of children, whose scale an adult's anatomy puts in doubt."""


def trusted_studies(specs: Sequence[str], ids: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """Study id → what is trusted of it.

    `ids`: every name by which a study may be called → its id.
    """
    result: dict[str, set[str]] = defaultdict(set)
    for spec in specs:
        study, what = (spec, "") if spec in ids else _split(spec)
        if study == EVERY:
            for every in ids.values():
                result[every].add(_checked(what, spec))
            continue
        if study not in ids:
            raise SitusError(f"no study {study!r}", where="--trust", fix=did_you_mean(study, ids))
        result[ids[study]].add(_checked(what, spec))
    return {study: tuple(sorted(what)) for study, what in sorted(result.items())}


def _split(spec: str) -> tuple[str, str]:
    study, _, what = spec.rpartition(":")
    return (study, what) if study else (spec, "")


def _checked(what: str, spec: str) -> str:
    if not what:
        return ALL
    doubts = [doubt.value for doubt in Doubt]
    if what in (ALL, *doubts) or term(what).known:
        return what
    fix = f"{did_you_mean(what, [ALL, *doubts])} A structure's name also works"
    raise SitusError(
        f"{what!r} is not a doubt that can be trusted", where=f"--trust {spec}", fix=fix
    )
