"""What only the whole bench can tell:
whether its counts are right, and its twins and options those they should be."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from situs.bench.folder import BenchInfo
from situs.bench.study import StudyRecord
from situs.items import Candidate, Item, Twins, arrange, class_of, outline

__all__ = ["Arrangement", "Tally"]


class Tally:
    """Counts what a bench holds, to compare with what `bench.json` says of it."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._patients: set[str] = set()
        self._classes: Counter[str] = Counter()
        self._by: dict[str, Counter[str]] = {
            "task": Counter(),
            "stratum": Counter(),
            "split": Counter(),
        }

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
            yield (
                f"headline_by_class says {info.headline_by_class}, but the items are"
                f" {dict(self._classes)}"
            )
        for name, recorded in (
            ("task", info.by_task),
            ("stratum", info.by_stratum),
            ("split", info.by_split),
        ):
            if recorded != self._by[name]:
                yield (
                    f"by_{name} says {recorded}, but the items are"
                    f" {dict(sorted(self._by[name].items()))}"
                )


class Arrangement:
    """Whether strata, options and twins are such as the arrangement of a cohort gives.

    The order of options is not compared, so that a bench from which whole questions were dropped
    still passes.
    """

    def __init__(self, seed: int, fewest: int) -> None:
        self._seed = seed
        self._twins = Twins(fewest)

    def add(self, item: Item) -> None:
        """Note an item; its twins are looked at when all have been seen."""
        self._twins.add(item)

    def problems_of(self, item: Item, anew: Item) -> Iterator[str]:
        """What is wrong with the stratum or options of an item,
        posed anew with all the options it could have."""
        if item.stratum == "headline":
            return
        entry = outline(
            Candidate(
                anew, item.item_id, False, named_only=False, textbook=item.stratum == "textbook"
            )
        )
        placement = arrange([entry], self._seed)[entry.item_id]
        if (placement.stratum, placement.twin_group) != (item.stratum, item.twin_group):
            yield (
                f"its stratum {item.stratum!r} and twin group {item.twin_group!r} do not fit"
                " together"
            )
        elif set(placement.options) != {option.value for option in item.options}:
            offered = sorted(option.value for option in item.options)
            yield f"offers {offered}, where the seed gives {sorted(placement.options)}"

    def problems_of_twins(self) -> Iterator[tuple[str, str]]:
        """Item id and what is wrong, for every group of twins."""
        yield from self._twins.problems()
