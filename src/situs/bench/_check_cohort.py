"""What only the whole bench can tell: whether its counts are right, and its twins and options those they should be."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from situs.bench._folder import BenchInfo
from situs.bench._study import StudyRecord
from situs.items import Candidate, Item, Outline, arrange, class_of, outline

__all__ = ["Arrangement", "Tally"]


class Tally:
    """Counts what a bench holds, to compare with what `bench.json` says of it."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._patients: set[str] = set()
        self._classes: Counter[str] = Counter()
        self._by: dict[str, Counter[str]] = {"task": Counter(), "stratum": Counter(), "split": Counter()}

    def add(self, study: StudyRecord, items: list[Item], facts: int) -> None:
        """Count one study."""
        self._patients.add(study.patient_id)
        self._counts.update(studies=1, items=len(items), facts=facts)
        for name, counter in self._by.items():
            counter.update(getattr(item, name) for item in items)
        self._classes.update(class_of(item) for item in items if item.stratum == "headline")

    def problems(self, info: BenchInfo) -> Iterator[str]:
        """What `bench.json` says otherwise."""
        counts = {**self._counts, "patients": len(self._patients)}
        if info.counts != counts:
            yield f"counts {info.counts}, but the tables hold {counts}"
        if info.headline_by_class != self._classes:
            yield f"headline_by_class says {info.headline_by_class}, but the items are {dict(self._classes)}"
        for name, said in (("task", info.by_task), ("stratum", info.by_stratum), ("split", info.by_split)):
            if said != self._by[name]:
                yield f"by_{name} says {said}, but the items are {dict(sorted(self._by[name].items()))}"


class Arrangement:
    """Arranges the questions of a bench anew, from all the options each could have had.

    The order of options is not compared, so that a bench from which whole questions were dropped still passes.
    """

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._twins: list[Outline] = []
        self._stored: dict[str, tuple[str, str, frozenset[str]]] = {}
        self._incomplete: set[str] = set()

    def leave_out(self, item: Item) -> None:
        """An item that could not be posed anew: its twins cannot be compared either."""
        self._incomplete.add(item.twin_group)

    def problems_of(self, item: Item, anew: Item) -> Iterator[str]:
        """What is wrong with the stratum or options of an item; a twin is kept until all have been seen."""
        twin = item.stratum == "headline"
        entry = outline(Candidate(anew, item.item_id, twin, named_only=False, textbook=item.stratum == "textbook"))
        stored = (item.stratum, item.twin_group, frozenset(option.value for option in item.options))
        if twin:
            self._twins.append(entry)
            self._stored[entry.item_id] = stored
        else:
            yield from self._compare(entry, stored)

    def problems_of_twins(self) -> Iterator[tuple[str, str]]:
        """Item id and what is wrong, for every twin."""
        complete = [e for e in self._twins if self._stored[e.item_id][1] not in self._incomplete]
        placed = arrange(complete, self._seed)
        for entry in complete:
            found = placed.get(entry.item_id)
            if found is None or found.stratum != "headline":
                yield entry.item_id, "its twins do not give each answer equally often"
            elif (found.stratum, found.twin_group, frozenset(found.options)) != self._stored[entry.item_id]:
                yield entry.item_id, "its options or twin group are not those that its twins give"

    def _compare(self, entry: Outline, stored: tuple[str, str, frozenset[str]]) -> Iterator[str]:
        found = arrange([entry], self._seed)[entry.item_id]
        if (found.stratum, found.twin_group) != stored[:2]:
            yield f"its stratum {stored[0]!r} and twin group {stored[1]!r} do not fit together"
        elif frozenset(found.options) != stored[2]:
            yield f"offers {sorted(stored[2])}, where the seed gives {sorted(found.options)}"
