"""From tables, masks and boxes files back to the ledgers of graded studies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from situs.anatomy.banks import Bank, load_bank, shipped_banks
from situs.bench.checks.anatomy import anatomy_problems
from situs.bench.checks.comparison import fact_problems, item_differences
from situs.bench.ids import known_as
from situs.bench.locations import Locations
from situs.bench.sources.masks import load_labels
from situs.bench.sources.source import Checking, Source, StudyRows, check_rows
from situs.bench.study import SeriesRecord, StudyRecord
from situs.errors import SitusError
from situs.facts import Fact
from situs.facts.grades import (
    ColumnMap,
    GivenBoxes,
    GradedStudy,
    GradeLedger,
    GradeTable,
    RegionBoxes,
    load_columns,
    masks_for,
)
from situs.items import Item, NotAsked, Question, pose_grades
from situs.space import Grid

__all__ = ["GradeEvidence", "GradeSource"]


class GradeEvidence:
    """The files that graded studies were built from, each opened once, when first asked for."""

    def __init__(
        self, locations: Locations, trusted: Mapping[str, tuple[str, ...]] | None = None
    ) -> None:
        """`trusted`: study → what its builder vouches for."""
        self._locations = locations
        self._trusted = trusted or {}
        self._banks: dict[str, Bank] = {}
        self._tables: dict[tuple[str, str, str], tuple[GradeTable, dict[str, str]]] = {}
        self._boxes: dict[tuple[str, str], RegionBoxes] = {}

    def ledger(self, study: StudyRecord, series: SeriesRecord) -> GradeLedger:
        """The ledger of one study, from what the files say now.

        Refused if the bench was not built from that.
        """
        bank = self._bank(study.evidence["bank"])
        graded = self._graded(study, bank)
        grid = series.grid
        if not isinstance(grid, Grid):
            raise SitusError("has no affine", where=study.study_id, fix="rebuild the bench")
        masks = None
        if series.labels_hash:
            masks = masks_for(bank, load_labels(series, self._locations), series.names)
            if masks.grid != grid:
                raise SitusError(
                    "shape or affine differs from the masks'", where=study.study_id, fix="rebuild"
                )
        boxes_hash = study.evidence.get("region_boxes", "")
        boxes, found_hash = (
            self._box_file(boxes_hash, bank).read(graded.study, grid) if boxes_hash else ({}, "")
        )
        if found_hash != boxes_hash:
            problem = "its rows in the boxes file are not those the bench was built from"
            raise SitusError(problem, where=study.study_id, fix="restore the file, or rebuild")
        return GradeLedger(
            graded,
            bank,
            study_id=study.study_id,
            series=series.series,
            masks=masks,
            labels_hash=series.labels_hash,
            boxes=GivenBoxes(boxes, boxes_hash),
            trusted=self._trusted.get(study.study_id, ()),
        )

    def _bank(self, bank_hash: str) -> Bank:
        if bank_hash not in self._banks:
            shipped = (load_bank(name) for name in shipped_banks())
            matching = next((bank for bank in shipped if bank.hash == bank_hash), None)
            bank = matching or load_bank(str(self._locations.find(bank_hash)))
            if bank.hash != bank_hash:
                problem = "is not the bank the bench was built from"
                raise SitusError(problem, where=bank.name, fix="restore the file, or rebuild")
            self._banks[bank_hash] = bank
        return self._banks[bank_hash]

    def _graded(self, study: StudyRecord, bank: Bank) -> GradedStudy:
        columns_hash = study.evidence.get("columns", "")
        path = self._locations.find(study.evidence["grades"])
        key = (str(path), columns_hash, bank.hash)
        if key not in self._tables:
            columns = (
                load_columns(self._locations.find(columns_hash)) if columns_hash else ColumnMap()
            )
            if columns_hash and columns.hash != columns_hash:
                problem = "is not the column map the bench was built from"
                raise SitusError(problem, where=study.study_id, fix="restore the file, or rebuild")
            table = GradeTable(path, bank, columns)
            self._tables[key] = (
                table,
                {id_: name for name in table.studies for id_ in known_as(name)},
            )
        table, names = self._tables[key]
        if study.study_id not in names:
            fix = "restore the table, or set SITUS_ID_KEY to the key it was built with"
            raise SitusError("is not in the table as it is now", where=study.study_id, fix=fix)
        graded = table.read(names[study.study_id])
        if graded.hash != study.evidence["grades"]:
            problem = "its rows in the table are not those the bench was built from"
            raise SitusError(problem, where=study.study_id, fix="restore the table, or rebuild")
        return graded

    def _box_file(self, file_hash: str, bank: Bank) -> RegionBoxes:
        key = (str(self._locations.find(file_hash)), bank.hash)
        if key not in self._boxes:
            self._boxes[key] = RegionBoxes(self._locations.find(file_hash), bank)
        return self._boxes[key]


class GradeSource(Source):
    """Graded joints: every fact and answer anew from the table and the masks or boxes."""

    builds = ("grades",)
    alone = True

    def __init__(self, checking: Checking) -> None:
        super().__init__(checking)
        self._evidence = GradeEvidence(self.locations, self.bench.info.trusted)

    def claims(self, study: StudyRecord) -> bool:
        """Studies with rows in a table of grades."""
        return "grades" in study.evidence

    def check(self, rows: StudyRows) -> None:
        """A joint has one series."""
        check_rows(rows, self.result)
        study = rows.study
        if not study.series:
            problem = "its study has no series"
            self.result.error("series", study.study_id, problem, "rebuild the bench")
            return
        series = study.series[0]
        self.check_image(study, series)
        try:
            ledger = self._evidence.ledger(study, series)
        except SitusError as error:
            self.unusable(study, error)
            return
        self.result.recomputed += len(rows.items)
        self.result.problems.extend(anatomy_problems(study.study_id, ledger))
        for code, id_, text in grade_problems(study, ledger, rows.items, rows.facts):
            fix = f"the stored {code} does not follow from table and masks; rebuild"
            self.result.error(code, id_, text, fix)


def grade_problems(
    study: StudyRecord, ledger: GradeLedger, items: list[Item], facts: list[Fact]
) -> Iterator[tuple[str, str, str]]:
    """`fact` or `item`, its id, and what is wrong with it."""
    for fact in facts:
        yield from (("fact", fact.fact_id, text) for text in fact_problems(fact, ledger))
    for item in items:
        yield from (("item", item.item_id, text) for text in _item_problems(item, study, ledger))


def _item_problems(item: Item, study: StudyRecord, ledger: GradeLedger) -> Iterator[str]:
    try:
        anew = pose_grades(
            ledger, Question(item.task, item.form, item.parameters), study.patient_id, study.split
        )
    except (KeyError, ValueError, TypeError) as error:
        yield f"cannot be posed to this study ({type(error).__name__} {error})"
        return
    if isinstance(anew, NotAsked):
        yield f"would not be asked: {anew.reason}"
        return
    if anew.stratum != item.stratum:
        yield f"its stratum {item.stratum!r} is not that of its sub-scores"
    if anew.task != item.task or anew.answer.__class__ is not item.answer.__class__:
        yield "its form is not that of its task"
    yield from item_differences(item, anew)
