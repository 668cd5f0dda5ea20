"""What is known, as a list to search."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from situs.anatomy.spelling import keys_of
from situs.anatomy.terms import KINDS, Term, shipped_terms
from situs.anatomy.vocabulary import load_vocabulary, shipped_vocabularies
from situs.errors import SitusError, did_you_mean

__all__ = ["KnownName", "list_names"]


class KnownName(msgspec.Struct, frozen=True):
    """A structure or lesion that is known by name."""

    name: str
    plain: str
    """As a question says it."""
    kind: str
    side: str | None
    partner: str | None
    part_of: str | None
    system: str
    synonyms: tuple[str, ...]
    labels: dict[str, int]
    """Vocabulary → the label value it has there."""


def list_names(
    words: Sequence[str] = (), *, kind: str | None = None, vocabulary: str | None = None
) -> list[KnownName]:
    """The names that hold every word, in the order of the table;
    of one kind or vocabulary if given."""
    if kind is not None and kind not in KINDS:
        raise SitusError(f"unknown kind {kind!r}", where="--kind", fix=did_you_mean(kind, KINDS))
    vocabularies = shipped_vocabularies()
    if vocabulary is not None and vocabulary not in vocabularies:
        fix = did_you_mean(vocabulary, vocabularies)
        raise SitusError(f"unknown vocabulary {vocabulary!r}", where="--vocabulary", fix=fix)
    ids = {name: load_vocabulary(name).ids for name in vocabularies}
    return [
        _known(entry, ids)
        for entry in shipped_terms().values()
        if (kind is None or entry.kind == kind)
        and (vocabulary is None or entry.name in ids[vocabulary])
        and all(_mentions(entry, word) for word in words)
    ]


def _mentions(entry: Term, word: str) -> bool:
    texts = (
        entry.name,
        entry.plain,
        entry.formal,
        *entry.synonyms,
        entry.kind,
        entry.part_of or "",
        entry.system,
    )
    # The key of a spelling makes `tumor` find `tumour`.
    wanted = {" ".join(key).strip() for key in keys_of(word)} | {word.lower()}
    searchable = " ".join(
        " ".join((text.lower(), *(" ".join(key) for key in keys_of(text)))) for text in texts
    )
    return any(part in searchable for part in wanted)


def _known(entry: Term, ids: dict[str, dict[str, int]]) -> KnownName:
    return KnownName(
        entry.name,
        entry.plain,
        entry.kind,
        entry.side.value if entry.side is not None else None,
        entry.partner,
        entry.part_of,
        entry.system,
        entry.synonyms,
        {
            vocabulary: labels[entry.name]
            for vocabulary, labels in ids.items()
            if entry.name in labels
        },
    )
