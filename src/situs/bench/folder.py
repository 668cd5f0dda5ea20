"""The bench folder: what is in it, and how it is read and written."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import cached_property
from pathlib import Path

import msgspec

from situs.anatomy import Term
from situs.base.files import canonical_json, digest, file_digest, read_json
from situs.bench.integrity import Parameters, fact_problem, item_problem, study_problem
from situs.bench.study import StudyRecord
from situs.bench.tables import read_table, whole_table
from situs.errors import SitusError
from situs.facts import Fact, Recipe
from situs.items import Item, task_of_masks

__all__ = [
    "FORMAT",
    "Bench",
    "BenchInfo",
    "SamePatient",
    "SuspectStudy",
    "content_hash",
    "open_bench",
]

FORMAT = 2
"""Version of the folder's layout that is written:
2 has typed columns, 1 kept nested cells as JSON text."""
_READABLE = (1, 2)

_MOST_HELD = 100_000
_TABLES = ("studies.parquet", "facts.parquet", "items.parquet")


class SuspectStudy(msgspec.Struct, frozen=True):
    """Something about a study that looks wrong."""

    study_id: str
    doubt: str
    """What cannot be relied on (`left_right`, `scale`, …, `structure`); empty if it is only odd."""
    problem: str
    trusted: bool = False
    """The user vouches for it, so that its questions are asked all the same."""


class SamePatient(msgspec.Struct, frozen=True):
    """What one reaches in the headline's questions
    with options who knows a patient's other answers."""

    right: int
    n: int
    chance: float
    """Of a guess."""

    @property
    def share(self) -> float:
        """Right answers by questions."""
        return self.right / self.n

    @property
    def words(self) -> str:
        """In a sentence."""
        return (
            "Someone who knew a patient's other answers, and all answers of other patients, would"
            f" be right in {self.share:.3f} of {self.n:,} headline questions (chance"
            f" {self.chance:.3f})."
        )


class BenchInfo(msgspec.Struct, frozen=True):
    """`bench.json`."""

    name: str
    format: int
    source: str
    """`phantoms`, `masks`, `boxes`, or the imported set."""
    seed: int
    restricted: bool
    licence: str
    recipe: Recipe
    terms: dict[str, Term]
    """Terms of the user's own vocabulary; shipped ones are known by name."""
    counts: dict[str, int]
    by_task: dict[str, int]
    by_stratum: dict[str, int]
    by_split: dict[str, int]
    not_asked: dict[str, int]
    content_hash: str
    headline_by_class: dict[str, int] = {}
    """Of the headline: how many questions of each class of the recipe's mix."""
    notes: tuple[str, ...] = ()
    """What a reader of the card must know of this source, a sentence each."""
    suspects: tuple[SuspectStudy, ...] = ()
    """Studies whose anatomy looks wrong;
    the questions that hang on it are left out, unless it is trusted."""
    trusted: dict[str, tuple[str, ...]] = {}
    """Study → what the user vouches for (`all`, a doubt, a structure), though it looks wrong."""
    written_by: str = "0.1.0"
    """The version of Situs that built it; the first release did not say."""
    same_patient: SamePatient | None = None
    """How far a patient's other answers tell;
    None where nobody is asked two things, or it was not worked out."""


class Bench:
    """A bench on disk, read as a stream."""

    def __init__(self, folder: Path, info: BenchInfo) -> None:
        self.folder = folder
        self.info = info
        self._cached_items: list[Item] | None = None
        self._digests: dict[str, str] = {}

    def digest_of(self, name: str) -> str:
        """The digest of one of its files; a large one is read for it once."""
        if name not in self._digests:
            self._digests[name] = file_digest(self.folder / name)
        return self._digests[name]

    def studies(self) -> Iterator[StudyRecord]:
        """Every study; one whose grid cannot be is refused."""
        for study in read_table(self.folder / "studies.parquet", StudyRecord):
            problem = study_problem(study)
            if problem is not None:
                raise self._contradiction(f"study {study.study_id}", problem)
            yield study

    def facts(self, *, checked: bool = True, **where: str | Collection[str]) -> Iterator[Fact]:
        """Facts, optionally those with given column values (`study_id=…`, `kind=(…)`);
        `checked` as of items."""
        studies = self.study_ids if checked else frozenset()
        for fact in read_table(self.folder / "facts.parquet", Fact, where=where):
            problem = fact_problem(fact, studies) if checked else None
            if problem is not None:
                raise self._contradiction(f"fact {fact.fact_id}", problem)
            yield fact

    def has_facts_by_study(self) -> bool:
        """Whether the facts of every study lie together."""
        import pyarrow.compute as pc

        column = whole_table(self.folder / "facts.parquet", ["study_id"])["study_id"]
        runs = pc.run_end_encode(column.combine_chunks())
        return len(runs.values) == len(runs.values.unique())

    @cached_property
    def study_ids(self) -> frozenset[str]:
        """The id of every study."""
        return frozenset(study.study_id for study in self.studies())

    def items(
        self,
        split: str | None = None,
        *,
        steps: bool = True,
        checked: bool = True,
        ids: Collection[str] | None = None,
    ) -> Iterator[Item]:
        """Items in bench order, or those with these `ids`; twice as fast without their reasoning
        (`steps`).

        One that contradicts itself or the other tables is refused, and so is a repeated id; `situs
        check`, which lists them all, reads them as they are (`checked=False`).
        """
        if self._cached_items is not None and not steps and checked:
            yield from (
                one
                for one in self._cached_items
                if (split is None or one.split == split) and (ids is None or one.item_id in ids)
            )
            return
        seen: set[str] = set()
        studies = self.study_ids if checked else frozenset()
        where: dict[str, str | Collection[str]] = {} if split is None else {"split": split}
        if ids is not None:
            where["item_id"] = ids
        for item in read_table(
            self.folder / "items.parquet", Item, where=where, without=() if steps else ("steps",)
        ):
            if item.item_id in seen:
                raise SitusError(
                    f"item {item.item_id} occurs twice", where=self.folder, fix="rebuild the bench"
                )
            seen.add(item.item_id)
            problem = (item_problem(item, studies) or self._unlisted(item)) if checked else None
            if problem is not None:
                raise self._contradiction(f"item {item.item_id}", problem)
            # Nobody else holds the record yet: it need not be copied.
            msgspec.structs.force_setattr(item, "parameters", Parameters(item.parameters))
            yield item

    def item_ids(self) -> list[str]:
        """The id of every item, in bench order."""
        ids = whole_table(self.folder / "items.parquet", ["item_id"])["item_id"]
        return list(ids.to_pylist())

    def may_ask_for(self, kind: str) -> bool:
        """Whether the answer to some item is of a kind (`text`, …), as one column tells.

        A bench of version 0.1, whose column is JSON text, may ask for anything.
        """
        import pyarrow as pa
        import pyarrow.compute as pc
        import pyarrow.parquet as pq

        path = self.folder / "items.parquet"
        try:
            with pq.ParquetFile(path) as table:
                answers = table.read(columns=["answer.kind"])["answer"]
            kinds = pc.struct_field(answers, "kind")
        except (pa.ArrowException, OSError, KeyError, TypeError):
            return True  # whoever reads the items says what is wrong with them
        return bool(pc.any(pc.equal(kinds, kind)).as_py())

    def hold_items(self) -> None:
        """Keep the items in memory, without their reasoning, for whoever goes through them several
        times.

        A bench of more than 100,000 items stays on disk.
        """
        if self._cached_items is None and self.info.counts.get("items", 0) <= _MOST_HELD:
            self._cached_items = list(self.items(steps=False))

    def let_items_go(self) -> None:
        """What `hold_items` keeps is not needed any more: it is read again by whoever asks."""
        self._cached_items = None

    def verify(self) -> None:
        """Read every table once: what contradicts is refused now,
        before work that would be lost is begun."""
        for table in (self.studies(), self.facts(), self.items(steps=False)):
            for _ in table:
                pass

    def _unlisted(self, item: Item) -> str | None:
        """What `bench.json`, by which scores are grouped, does not know of the item."""
        for name, value, listed in (
            ("task", item.task, self.info.by_task),
            ("stratum", item.stratum, self.info.by_stratum),
            ("split", item.split, self.info.by_split),
        ):
            if value not in listed:
                return f"bench.json lists no {name} {value!r}"
        return None

    def _contradiction(self, what: str, problem: str) -> SitusError:
        fix = "`situs check` lists all that is wrong; rebuild the bench"
        return SitusError(f"{what}: {problem}", where=self.folder, fix=fix)


def content_hash(folder: Path) -> str:
    """Hash of the tables' bytes."""
    return digest(*((folder / name).read_bytes() for name in _TABLES))


def open_bench(folder: Path) -> Bench:
    """Open a bench folder; its tables are read when asked for."""
    if not folder.is_dir():
        raise SitusError(
            "no such bench folder", where=folder, fix="give the --out folder of situs build"
        )
    for name in ("bench.json", *_TABLES):
        if not (folder / name).is_file():
            raise SitusError(
                f"is not a bench: {name} is missing",
                where=folder,
                fix="give the folder situs build made",
            )
    info = read_json(folder / "bench.json", BenchInfo)
    if info.format not in _READABLE:
        raise SitusError(
            f"has format {info.format}, this version reads {' and '.join(map(str, _READABLE))}",
            where=folder,
            fix="update Situs, or rebuild the bench",
        )
    for name in info.by_task:
        task_of_masks(name)  # a task of another package brings its units and facts with it
    return Bench(folder, info)


def encode_info(info: BenchInfo) -> bytes:
    """`bench.json` as it is written."""
    return msgspec.json.format(canonical_json(info), indent=2) + b"\n"
