"""Writing a bench study by study: tables, counts, locations and card."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType

import msgspec

from situs import __version__
from situs.anatomy import Term, term, without_number
from situs.base.engines import Engine
from situs.base.files import write_atomic
from situs.base.shard import Shard
from situs.bench import (
    FORMAT,
    BenchInfo,
    IdRule,
    StudyRecord,
    SuspectStudy,
    TableWriter,
    content_hash,
    encode_info,
    write_card,
    write_locations,
)
from situs.build.card_rows import CardRows
from situs.build.coverage import Coverage, nothing_asked
from situs.errors import Problem, SitusError
from situs.facts import Fact, Recipe
from situs.items import Item, class_of
from situs.volumes import SourceCounts

__all__ = ["BenchWriter", "BuildOptions", "BuildResult"]


class BuildOptions(msgspec.Struct, frozen=True):
    """What every way of building shares."""

    name: str
    recipe: Recipe
    seed: int = 0
    tasks: str | None = None
    per_study: int | None = None
    engine: Engine = Engine()
    """What does the work on studies."""
    shard: Shard | None = None
    """Do only this part of the work on studies, and make no bench of it."""
    shards: tuple[Path, ...] = ()
    """Parts that are done."""
    restricted: bool = True
    licence: str = ""
    skip_bad: bool = False
    overwrite: bool = False
    ids: IdRule = IdRule()
    trust: tuple[str, ...] = ()
    """Studies that the user vouches for, though they look wrong: `STUDY` or `STUDY:doubt`."""
    withdrawn: dict[str, str] = {}
    """Item → why it is left out: what readers of an earlier bench dropped, or asked to be fixed."""


class BuildResult(msgspec.Struct, frozen=True):
    """What was built."""

    studies: int
    items: int
    by_task: dict[str, int]
    by_stratum: dict[str, int]
    not_asked: dict[str, int]
    problems: list[Problem]
    notes: tuple[str, ...] = ()
    """What a reader of the card must know."""
    without_questions: int = 0
    """Studies in the bench of which nothing is asked."""
    silent: tuple[str, ...] = ()
    """Their ids."""
    coverage: Coverage | None = None
    """What became of the studies that were found, where they were looked for."""
    suspects: tuple[SuspectStudy, ...] = ()
    """Studies whose anatomy looks wrong, and what is not asked of them for it."""
    source: dict[str, SourceCounts] = {}
    """Annotation file → what it holds, before it is cleaned up."""


class BenchWriter:
    """The tables of a bench, open for writing; memory holds one row group of each."""

    def __init__(
        self, folder: Path, source: str, options: BuildOptions, terms: Mapping[str, Term]
    ) -> None:
        self._folder = folder
        self._source = source
        self._options = options
        self._terms = terms
        with ExitStack() as tables:
            self._studies = tables.enter_context(
                TableWriter(folder / "studies.parquet", StudyRecord)
            )
            self._facts = tables.enter_context(TableWriter(folder / "facts.parquet", Fact))
            self._items = tables.enter_context(TableWriter(folder / "items.parquet", Item))
            self._tables = tables.pop_all()
        self._counts: dict[str, Counter[str]] = defaultdict(Counter)
        self._patients: set[str] = set()
        self._places: dict[str, Path] = {}
        self._used: set[str] = set()
        self._suspects: list[SuspectStudy] = []
        self._trusted: dict[str, tuple[str, ...]] = {}
        self._card = CardRows()
        self._item_ids: set[str] = set()
        self._silent: list[str] = []

    def __enter__(self) -> BenchWriter:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._tables.__exit__(kind, error, trace)

    def add(
        self,
        study: StudyRecord,
        facts: Iterable[Fact],
        items: list[Item],
        not_asked: Mapping[str, int],
        places: Mapping[str, str],
    ) -> None:
        """One study with its facts and items;
        those that readers withdrew are counted and left out."""
        self._refuse_repeated(items)
        withdrawn = self._options.withdrawn
        self.count_not_asked(
            Counter(withdrawn[item.item_id] for item in items if item.item_id in withdrawn)
        )
        items = [item for item in items if item.item_id not in withdrawn]
        facts = list(facts)
        self._studies.write([study])
        self._facts.write(facts)
        self._items.write(items)
        self._card.add(study, facts, items)
        self._counts["task"].update(item.task for item in items)
        self._counts["stratum"].update(item.stratum for item in items)
        self._counts["split"].update(item.split for item in items)
        self._counts["class"].update(class_of(item) for item in items if item.stratum == "headline")
        self._counts["not_asked"].update(not_asked)
        if not items:
            self._silent.append(study.study_id)
        self._patients.add(study.patient_id)
        self._places.update((key, Path(path)) for key, path in places.items())
        for series in study.series:
            self._used.update(series.structures)

    def _refuse_repeated(self, items: Iterable[Item]) -> None:
        """No bench can be read in which two items have one id."""
        for item in items:
            if item.item_id in self._item_ids:
                raise SitusError(
                    f"item {item.item_id} occurs twice",
                    where=item.study_id,
                    fix="give every study and question once",
                )
            self._item_ids.add(item.item_id)

    def count_not_asked(self, reasons: Mapping[str, int]) -> None:
        """Reasons that are known only once all studies are there."""
        self._counts["not_asked"].update(reasons)

    def add_suspects(self, suspects: Iterable[SuspectStudy]) -> None:
        """What looks wrong about a study."""
        self._suspects.extend(suspects)

    def trust(self, trusted: Mapping[str, tuple[str, ...]]) -> None:
        """What the user vouches for, by study."""
        self._trusted.update(trusted)

    def finish(
        self, problems: list[Problem], notes: tuple[str, ...] = (), *, may_be_empty: bool = False
    ) -> BuildResult:
        """Write `bench.json`, locations and card, once the tables are closed.

        A bench without a question is an error unless it `may_be_empty`, as one made from another
        bench.
        """
        if not self._items.count and not may_be_empty:
            doubted = [
                suspect for suspect in self._suspects if suspect.doubt and not suspect.trusted
            ]
            raise nothing_asked(
                self._source, self._studies.count, self._sorted("not_asked"), problems, doubted
            )
        options = self._options
        counts = {
            "studies": self._studies.count,
            "patients": len(self._patients),
            "facts": self._facts.count,
            "items": self._items.count,
        }
        info = BenchInfo(
            name=options.name,
            format=FORMAT,
            source=self._source,
            seed=options.seed,
            restricted=options.restricted,
            licence=options.licence,
            recipe=options.recipe,
            terms={name: self._terms[name] for name in sorted(self._spoken_of())},
            counts=counts,
            by_task=self._sorted("task"),
            by_stratum=self._sorted("stratum"),
            by_split=self._sorted("split"),
            not_asked=self._sorted("not_asked"),
            content_hash=content_hash(self._folder),
            headline_by_class=self._sorted("class"),
            notes=notes,
            suspects=tuple(self._suspects),
            trusted=self._trusted,
            written_by=__version__,
            same_patient=self._card.same_patient(),
        )
        write_locations(self._folder, self._places)
        write_atomic(self._folder / "bench.json", encode_info(info))
        rows = self._card.blind(self._folder, info)
        card = write_card(info, rows, self._card.tricks())
        write_atomic(self._folder / "README.md", card)
        by = (info.by_task, info.by_stratum, info.not_asked)
        return BuildResult(
            counts["studies"],
            counts["items"],
            *by,
            problems,
            notes,
            without_questions=len(self._silent),
            silent=tuple(self._silent),
            suspects=info.suspects,
        )

    def _spoken_of(self) -> set[str]:
        """The user's own names that a study uses,
        with the families of its lesions and what structures are part of."""
        waiting = list(self._used)
        result: set[str] = set()
        while waiting:
            name = waiting.pop()
            entry = term(name, self._terms)
            others = (entry.name, without_number(name), entry.part_of or "")
            more = {other for other in others if other in self._terms} - result
            result |= more
            waiting += more
        return result

    def _sorted(self, what: str) -> dict[str, int]:
        return {name: count for name, count in sorted(self._counts[what].items()) if count}
