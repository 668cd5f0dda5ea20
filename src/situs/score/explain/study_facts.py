"""The facts that items rest on, read from a bench study by study."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby

from situs.bench import Bench
from situs.facts import Fact
from situs.items import Item

__all__ = ["StudyFactsById"]


class StudyFactsById:
    """The facts of one study at a time, as items come study by study.

    Items and facts mostly come in one order of studies: then the table is read once from its
    beginning to its end.
    """

    def __init__(self, bench: Bench) -> None:
        self._bench = bench
        self._study = ""
        self._facts: dict[str, Fact] = {}
        self._ahead: Iterator[tuple[str, Iterator[Fact]]] | None = None

    def of(self, item: Item) -> dict[str, Fact]:
        """The item's own facts."""
        if not item.fact_ids:
            return {}
        facts = self.of_study(item.study_id)
        return {name: facts[name] for name in item.fact_ids if name in facts}

    def of_study(self, study_id: str) -> Mapping[str, Fact]:
        """All facts of a study by id."""
        if study_id != self._study:
            self._study = study_id
            self._facts = {fact.fact_id: fact for fact in self._facts_of(study_id)}
        return self._facts

    def _facts_of(self, study: str) -> Iterable[Fact]:
        if self._ahead is None:
            together = self._bench.has_facts_by_study()
            self._ahead = groupby(self._bench.facts() if together else (), lambda one: one.study_id)
        for name, facts in self._ahead:
            if name == study:
                return facts
        # It lies behind: from here on each study is looked for.
        return self._bench.facts(study_id=study)
