"""What authoring notes on items and studies beside the wording:
citations, and what waits for readers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import msgspec

from situs.agents.author import Cited
from situs.build.authoring.citing import cell_of
from situs.facts import Fact, literature_fact
from situs.items import Item
from situs.items.programs import program_of

__all__ = ["Marks"]


class Marks(NamedTuple):
    """What is noted on items beside their wording."""

    cited: dict[str, Cited]
    routed: set[str]
    """Programs that wait for readers."""
    dropped: set[str]
    """Items that leave the bench."""
    quotes: bool
    """Whether the cited words are kept, and not only where they stand."""

    def on(self, item: Item) -> Item:
        """The item with its citation, and whether it waits for readers."""
        program = program_of(item)
        assert program is not None
        tags = [*item.tags]
        cited = self.cited.get(cell_of(program))
        if cited is not None:
            tags.append(f"cites:{cited.citation.pmid}")
        if str(program) in self.routed:
            tags.append("routed:readers")
        return msgspec.structs.replace(item, tags=tuple(tags))

    def literature(self, items: Iterable[Item]) -> list[Fact]:
        """The citations of a study's items as facts:
        where the words stand, and the hash of their document."""
        facts: dict[str, Fact] = {}
        for item in items:
            program = program_of(item)
            cited = self.cited.get(cell_of(program)) if program is not None else None
            if cited is not None:
                one = cited.citation
                fact = literature_fact(
                    item.study_id,
                    item.series,
                    cited.cell,
                    pmid=one.pmid,
                    section=one.section,
                    span=(one.start, one.end),
                    document=one.document,
                    quote=one.quote if self.quotes else "",
                )
                facts[fact.fact_id] = fact
        return list(facts.values())
