"""From annotation files back to the ledgers of a bench of boxes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from situs.base.files import file_digest
from situs.bench.checks.comparison import fact_problems, item_differences
from situs.bench.folder import Bench
from situs.bench.ids import opaque_id
from situs.bench.locations import Locations
from situs.bench.sources.images import LoadedImage
from situs.bench.sources.source import Checking, Source, StudyRows
from situs.bench.study import SeriesRecord, StudyRecord
from situs.errors import SitusError
from situs.facts import BoxLedger, BoxRules, Fact, Middle
from situs.items import Item, NotAsked, Question
from situs.items.findings import FINDING_TASKS, pose_finding
from situs.measure import head_midline
from situs.space import PixelGrid
from situs.volumes import (
    AnnotationSet,
    FrameAnnotation,
    KneeSide,
    read_annotations,
    read_sides,
)

__all__ = ["BoxEvidence", "BoxSource", "find_middle"]


def find_middle(
    pixels: NDArray[Any], organ: str, image_hash: str, rules: BoxRules
) -> Middle | None:
    """The head's midline in the pictures; None for other organs, or if it is not found."""
    midline = head_midline(pixels) if organ == "brain" else None
    if midline is None:
        return None
    x, spread = midline
    return Middle(x, max(spread, rules.midline_half_width * pixels.shape[2]), image_hash)


class BoxEvidence:
    """The annotation files a bench was built from, read once, when first asked for."""

    def __init__(self, bench: Bench, locations: Locations) -> None:
        self._bench = bench
        self._locations = locations
        self._read: tuple[AnnotationSet, dict[str, FrameAnnotation]] | SitusError | None = None
        self._sides: dict[Path, dict[str, KneeSide]] = {}

    def ledger(
        self, study: StudyRecord, series: SeriesRecord, image: LoadedImage | None
    ) -> BoxLedger:
        """The ledger of one series, from what the files say now.

        Refused if the bench was not built from that.
        """
        annotation_set, by_study = self._annotations()
        annotation = by_study.get(study.study_id)
        if annotation is None:
            fix = "restore the files, or set SITUS_ID_KEY to the key it was built with"
            raise SitusError("is no longer in the annotation files", where=study.study_id, fix=fix)
        if annotation.evidence(study.study_id) != study.evidence.get("boxes"):
            problem = (
                "its boxes or labels in the annotation files are not those the bench was built from"
            )
            raise SitusError(problem, where=study.study_id, fix="restore the files, or rebuild")
        grid = series.grid
        if not isinstance(grid, PixelGrid):
            raise SitusError(
                "is not a stack of frames", where=study.study_id, fix="rebuild the bench"
            )
        if image is not None and image.values.shape != series.shape:
            raise SitusError(
                "shape differs from the image's", where=study.study_id, fix="rebuild the bench"
            )
        recipe = self._bench.info.recipe
        pixels = None if image is None else image.values
        organ = annotation.organ
        return BoxLedger(
            annotation,
            study_id=study.study_id,
            series=series.series,
            recipe=recipe,
            grid=grid,
            kinds=annotation_set.kinds(organ),
            middle=None
            if pixels is None
            else find_middle(pixels, organ, series.image_hash, recipe.boxes),
            side=self._side(study, annotation),
        )

    def _annotations(self) -> tuple[AnnotationSet, dict[str, FrameAnnotation]]:
        if self._read is None:
            try:
                self._read = self._read_files()
            except SitusError as error:
                self._read = error
        if isinstance(self._read, SitusError):
            raise self._read
        return self._read

    def _read_files(self) -> tuple[AnnotationSet, dict[str, FrameAnnotation]]:
        hashes: dict[str, set[str]] = {"boxes": set(), "reviewed": set()}
        studies: set[str] = set()
        for study in self._bench.studies():
            studies.add(study.study_id)
            for kind, kind_hashes in hashes.items():
                if kind in study.evidence:
                    kind_hashes.add(study.evidence[kind])
        lists = {
            file_hash: self._locations.find(file_hash) for file_hash in sorted(hashes["reviewed"])
        }
        for file_hash, path in lists.items():
            if file_digest(path) != file_hash:
                problem = "is not the list the bench was built from"
                raise SitusError(problem, where=path, fix="restore the file, or rebuild")
        files = {self._locations.find(file_hash) for file_hash in hashes["boxes"]} - set(
            lists.values()
        )
        read = read_annotations(sorted(files), sorted(set(lists.values())), skip_bad=True)
        by_study = {annotation.volume: annotation for annotation in read.annotations}
        if not studies <= by_study.keys():
            by_study |= {
                opaque_id("s", annotation.volume): annotation for annotation in read.annotations
            }
        return read, by_study

    def _side(self, study: StudyRecord, annotation: FrameAnnotation) -> KneeSide | None:
        if "sides" not in study.evidence:
            return None
        path = self._locations.find(study.evidence["sides"])
        if path not in self._sides:
            self._sides[path] = read_sides(path)
        side = self._sides[path].get(annotation.volume)
        if side is None or side.hash != study.evidence["sides"]:
            problem = "its row in the table of sides is not the one the bench was built from"
            raise SitusError(problem, where=study.study_id, fix="restore the file, or rebuild")
        return side


class BoxSource(Source):
    """Stacks of frames: every fact and answer anew from the annotation files,
    and the image if it is there."""

    builds = ("boxes",)
    alone = False

    def __init__(self, checking: Checking) -> None:
        super().__init__(checking)
        self._evidence = BoxEvidence(self.bench, self.locations)

    def claims(self, study: StudyRecord) -> bool:
        """Studies with a series without millimetres."""
        return any(not series.affine for series in study.series)

    def check(self, rows: StudyRows) -> None:
        """Series by series."""
        for series in rows.study.series:
            if not series.affine:
                self._check_series(series, rows.study, rows.of(series.series))

    def _check_series(self, series: SeriesRecord, study: StudyRecord, rows: StudyRows) -> None:
        image = self.check_image(study, series)
        try:
            ledger = self._evidence.ledger(study, series, image)
        except SitusError as error:
            self.unusable(study, error)
            return
        self.result.recomputed += len(rows.items)
        problems = box_problems(study, ledger, rows.items, rows.facts, self.bench.info.seed)
        for code, id_, text in problems:
            fix = f"the stored {code} does not follow from the annotations; rebuild"
            self.result.error(code, id_, text, fix)


def box_problems(
    study: StudyRecord, ledger: BoxLedger, items: list[Item], facts: list[Fact], seed: int
) -> Iterator[tuple[str, str, str]]:
    """`fact` or `item`, its id, and what is wrong with it."""
    for fact in facts:
        yield from (("fact", fact.fact_id, text) for text in fact_problems(fact, ledger))
    for item in items:
        yield from (
            ("item", item.item_id, text) for text in box_item_problems(item, study, ledger, seed)
        )


def box_item_problems(
    item: Item, study: StudyRecord, ledger: BoxLedger, seed: int
) -> Iterator[str]:
    """What is wrong with one item."""
    if item.task not in FINDING_TASKS:
        yield f"its task {item.task!r} is unknown"
        return
    try:
        anew = pose_finding(
            ledger, Question(item.task, item.form, item.parameters), study.patient_id, seed
        )
    except (KeyError, ValueError, IndexError, TypeError) as error:
        yield f"cannot be posed to this study ({type(error).__name__} {error})"
        return
    if isinstance(anew, NotAsked):
        yield f"would not be asked: {anew.reason}"
        return
    if anew.form != item.form:
        yield "its form is not that of its task"
    yield from item_differences(item, anew)
    closed = item.form in ("yes_no", "choice", "number")
    strata = (
        ("untwinned",)
        if item.form in ("text", "choices")
        else ("headline", "untwinned")
        if closed
        else ("headline",)
    )
    if item.stratum not in strata:
        yield f"its stratum {item.stratum!r} is not that of its form"
