"""From boxes that readers drew on frames to a bench."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path

import msgspec

from situs.anatomy import organ_of_volume
from situs.base.files import file_digest
from situs.base.publish import new_folder
from situs.bench import (
    SeriesRecord,
    StudyRecord,
    find_middle,
    opaque_id,
)
from situs.build.frame import (
    Progress,
    StudyWork,
    facts_behind,
    finished_studies,
    placed,
    with_splits,
)
from situs.build.spool import resume_key
from situs.build.writer import BenchWriter, BuildOptions, BuildResult
from situs.errors import Problem, SitusError, did_you_mean
from situs.facts import BoxLedger, BoxRules, Middle, check_fits
from situs.items import NotAsked, Placement, Question, item_id
from situs.items.findings import (
    Draft,
    arrange_findings,
    choose_finding_tasks,
    draft,
    finding_mix,
    pose_finding,
    questions_of,
    right_by_position,
)
from situs.space import FrameBox, PixelGrid
from situs.volumes import (
    AnnotationSet,
    FrameAnnotation,
    KneeSide,
    find_stacks,
    hash_frames,
    open_stack,
    read_annotations,
    read_sides,
)

__all__ = ["build_boxes", "parse_mix"]


class _Seen(msgspec.Struct, frozen=True):
    """What was read of a volume's image; nothing if there is none."""

    shape: tuple[int, int, int] = (0, 0, 0)
    image_hash: str = ""
    patient_key: str = ""
    middle: Middle | None = None


class _Study(msgspec.Struct, frozen=True):
    record: StudyRecord
    annotation: FrameAnnotation
    seen: _Seen
    side: KneeSide | None


_FEWEST_PLACED = 100
"""Questions about a slice; with fewer, what its place tells is not measured."""


def parse_mix(text: str | None, rules: BoxRules) -> BoxRules:
    """The recipe's rules with another mix: `detection.slice=10,counting.volume=4,captioning=0`.

    A task alone stands for both its levels; what is not named keeps its number.
    """
    if not text:
        return rules
    mix = finding_mix(rules.mix)
    for part in text.split(","):
        name, _, number = (word.strip() for word in part.partition("="))
        keys = [key for key in mix if key == name or key.split(".")[0] == name]
        if not keys:
            known = {*mix, *(key.split(".")[0] for key in mix)}
            raise SitusError(f"unknown task {name!r}", where="--mix", fix=did_you_mean(name, known))
        if not (number.isascii() and number.isdigit() and len(number) < 7):
            raise SitusError(
                f"{part.strip()!r} gives no number", where="--mix", fix="e.g. detection.slice=10"
            )
        mix |= dict.fromkeys(keys, int(number))
    return msgspec.structs.replace(rules, mix=mix)


def _with_declared(options: BuildOptions) -> BuildOptions:
    """The options with the quotas that the recipe leaves to the tasks, as a bench records them."""
    recipe = options.recipe
    rules = msgspec.structs.replace(recipe.boxes, mix=finding_mix(recipe.boxes.mix))
    return msgspec.structs.replace(options, recipe=msgspec.structs.replace(recipe, boxes=rules))


def build_boxes(
    files: Sequence[Path],
    out: Path,
    options: BuildOptions,
    *,
    lists: Sequence[Path] = (),
    images: Path | None = None,
    sides: Path | None = None,
    progress: Progress = lambda done, total: None,
) -> BuildResult:
    """Build a bench from annotation files, with images where they are found."""
    choose_finding_tasks(options.tasks)
    options = _with_declared(options)
    annotation_set = read_annotations(files, lists, skip_bad=options.skip_bad)
    table = read_sides(sides) if sides is not None else {}
    stacks = find_stacks(images) if images is not None else {}
    paths = {a.volume: stacks[a.volume] for a in annotation_set.annotations if a.volume in stacks}
    if images is not None and not paths:
        problem = "holds no image of an annotated volume"
        raise SitusError(
            problem, where=images, fix="files or folders are found by the volume's name"
        )
    by_volume = {annotation.volume: annotation for annotation in annotation_set.annotations}
    jobs = {
        name: _Look(path, by_volume[name], options.recipe.boxes) for name, path in paths.items()
    }
    key = resume_key("boxes", jobs)
    with new_folder(
        out, marker="bench.json", overwrite=options.overwrite, resume_key=key
    ) as scratch:
        seen, bad = _look(annotation_set, jobs, scratch, options, progress)
        studies = _studies(annotation_set, seen, table, options)
        ledgers = _ledgers(studies, annotation_set, options)
        drafts, questions, not_asked, problems = _drafts(ledgers, options, annotation_set.row_of)
        placements = arrange_findings(
            drafts, options.seed, options.recipe.boxes, options.recipe.twins
        )
        not_asked["set aside to keep answers balanced"] = len(drafts) - len(placements)
        places = _EvidencePaths(annotation_set, paths, sides)
        with BenchWriter(scratch, "boxes", options, {}) as writer:
            _write(writer, ledgers, questions, placements, places, not_asked, options.seed)
        twinned = [
            entry
            for entry in drafts
            if entry.item_id in placements and placements[entry.item_id].twin_group
        ]
        notes = (*_notes(studies, images), *_position_note(twinned))
        result = writer.finish([*annotation_set.problems, *bad, *problems], notes)
    return msgspec.structs.replace(result, source=annotation_set.counts)


def _look(
    annotation_set: AnnotationSet,
    jobs: Mapping[str, _Look],
    scratch: Path,
    options: BuildOptions,
    progress: Progress,
) -> tuple[dict[str, _Seen], list[Problem]]:
    """Read every image once. One that cannot be used is an error, or its study is left out."""
    volumes = list(jobs)
    work = StudyWork(list(jobs.values()), _open_see, _Seen, _files_of, "images")
    bad: list[Problem] = []
    finished = finished_studies(work, scratch, options, bad, progress)
    seen = {volumes[number]: outcome for number, outcome in finished}
    if bad:
        broken = set(jobs) - set(seen)
        annotation_set.annotations = [
            entry for entry in annotation_set.annotations if entry.volume not in broken
        ]
    return seen, bad


class _Look(msgspec.Struct, frozen=True):
    """An image to be read, and the boxes that must fit it."""

    path: Path
    annotation: FrameAnnotation
    rules: BoxRules

    @property
    def where(self) -> str:
        """How messages on the terminal call it."""
        return str(self.path)


def _files_of(job: _Look, _: _Seen) -> list[Path]:
    return [job.path]


def _open_see() -> Callable[[_Look], _Seen]:
    return _see


def _see(job: _Look) -> _Seen:
    try:
        stack = open_stack(job.path)
        check_fits(job.annotation, stack.grid)
        pixels = stack.array()
    except SitusError as error:
        raise SitusError(error.problem, where=job.path, fix=error.fix) from error
    image_hash = hash_frames(pixels)
    middle = find_middle(pixels, job.annotation.organ, image_hash, job.rules)
    return _Seen(stack.shape, image_hash, stack.patient_key or "", middle)


def _studies(
    annotation_set: AnnotationSet,
    seen: Mapping[str, _Seen],
    table: Mapping[str, KneeSide],
    options: BuildOptions,
) -> list[_Study]:
    studies = []
    lists = {path: file_digest(path) for path in set(annotation_set.list_of.values())}
    for annotation in annotation_set.annotations:
        volume, image_seen = annotation.volume, seen.get(annotation.volume, _Seen())
        public = bool(organ_of_volume(volume))
        study_id = options.ids.study(volume, of_table=True, public=public)
        key = image_seen.patient_key or annotation.patient
        patient_id = options.ids.patient(volume, of_table=True, public=public)
        if key:
            patient_id = opaque_id("p", key)
        side = table.get(volume)
        evidence = {"boxes": annotation.evidence(study_id)}
        if volume in annotation_set.list_of:
            evidence["reviewed"] = lists[annotation_set.list_of[volume]]
        if side is not None:
            evidence["sides"] = side.hash
        width, height = annotation.size or (0, 0)
        shape = image_seen.shape if image_seen.image_hash else (annotation.frames, height, width)
        series = SeriesRecord(
            "mr", "mr", image_seen.image_hash, "", shape, (), "undeclared", "manual", {}
        )
        studies.append(
            _Study(
                StudyRecord(study_id, patient_id, "", (series,), evidence),
                annotation,
                image_seen,
                side,
            )
        )
    records = with_splits([study.record for study in studies], options)
    studies = [msgspec.structs.replace(s, record=record) for s, record in zip(studies, records)]
    return sorted(studies, key=lambda study: study.record.study_id)


def _ledger(study: _Study, kinds: tuple[str, ...], options: BuildOptions) -> BoxLedger:
    series = study.record.series[0]
    grid = series.grid
    assert isinstance(grid, PixelGrid)
    return BoxLedger(
        study.annotation,
        study_id=study.record.study_id,
        series=series.series,
        recipe=options.recipe,
        grid=grid,
        kinds=kinds,
        middle=study.seen.middle,
        side=study.side,
    )


def _ledgers(
    studies: list[_Study], annotation_set: AnnotationSet, options: BuildOptions
) -> list[tuple[_Study, BoxLedger]]:
    kinds = {
        organ: annotation_set.kinds(organ)
        for organ in {entry.organ for entry in annotation_set.annotations}
    }
    return [(study, _ledger(study, kinds[study.annotation.organ], options)) for study in studies]


def _drafts(
    ledgers: list[tuple[_Study, BoxLedger]],
    options: BuildOptions,
    rows: Mapping[tuple[str, FrameBox], str],
) -> tuple[list[Draft], dict[str, list[Question]], Counter[str], list[Problem]]:
    """Every question posed once; only the little that the arrangement needs is kept,
    and the questions by study."""
    drafts: list[Draft] = []
    questions: dict[str, list[Question]] = defaultdict(list)
    not_asked: Counter[str] = Counter()
    problems: list[Problem] = []
    tasks, mix, seed = choose_finding_tasks(options.tasks), options.recipe.boxes.mix, options.seed
    for study, ledger in ledgers:
        for box, problem in ledger.problems.items():
            where = rows.get((study.annotation.volume, box), study.record.study_id)
            problems.append(msgspec.structs.replace(problem, where=where))
        asked, left_out = questions_of(ledger, tasks, mix, seed, options.per_study)
        not_asked += left_out
        for question in asked:
            item = pose_finding(ledger, question, study.record.patient_id, seed)
            if isinstance(item, NotAsked):
                not_asked[item.reason] += 1
            else:
                drafts.append(draft(item, study.record.split))
                questions[study.record.study_id].append(question)
    return drafts, questions, not_asked, problems


@lru_cache(maxsize=64)
def _resolved(path: Path) -> str:
    return str(path.resolve())


class _EvidencePaths:
    """Hash of each piece of evidence → its path."""

    def __init__(
        self, annotation_set: AnnotationSet, images: Mapping[str, Path], sides: Path | None
    ) -> None:
        self._annotation_set = annotation_set
        self._images = images
        self._sides = sides

    def of(self, study: _Study) -> dict[str, str]:
        """The places of one study's evidence."""
        volume, evidence = study.annotation.volume, study.record.evidence
        places = {evidence["boxes"]: _resolved(self._annotation_set.file_of[volume])}
        if "reviewed" in evidence:
            places[evidence["reviewed"]] = _resolved(self._annotation_set.list_of[volume])
        if "sides" in evidence:
            places[evidence["sides"]] = str(self._sides)
        if study.seen.image_hash:
            places[study.seen.image_hash] = str(self._images[volume])
        return places


def _write(
    writer: BenchWriter,
    ledgers: list[tuple[_Study, BoxLedger]],
    questions: Mapping[str, list[Question]],
    placements: Mapping[str, Placement],
    places: _EvidencePaths,
    not_asked: Counter[str],
    seed: int,
) -> None:
    for study, ledger in ledgers:
        record = study.record
        posed = []
        for question in questions.get(record.study_id, ()):
            name = item_id(record.study_id, question.task, question.form, question.parameters)
            if name in placements:
                item = pose_finding(ledger, question, record.patient_id, seed)
                assert not isinstance(item, NotAsked)
                posed.append(item)
        items = placed(posed, placements, record.split)
        basics = [
            ledger.fact("read_as_normal"),
            *(ledger.fact("findings", name) for name in ledger.labels),
        ]
        facts = facts_behind(ledger.known_facts(), [fact.fact_id for fact in basics], items)
        writer.add(record, facts, items, not_asked, places.of(study))
        not_asked = Counter()


def _notes(studies: list[_Study], images: Path | None) -> tuple[str, ...]:
    """What the card and the result say about patients and images."""
    with_patient = sum(
        bool(study.seen.patient_key or study.annotation.patient) for study in studies
    )
    looked = sum(bool(study.seen.image_hash) for study in studies)
    if with_patient == len(studies):
        notes = ["Split and clustered by patient, as the files state."]
    else:
        some = (
            f"{with_patient} of {len(studies)} volumes tell their patient; the others are split"
            if with_patient
            else "Split"
        )
        notes = [f"{some} and clustered by file, patient overlap possible."]
    if images is None:
        notes.append(
            "From annotations alone: picture sizes and numbers of frames are not known, sides are"
            " not asked."
        )
        notes.append(
            "No model can be shown these volumes: build with --images for that. Answers of other"
            " tools and baselines are run and scored with --profile sgmri-frames (stored frames,"
            " boxes in pixels): under profiles that change the picture, questions for boxes are not"
            " answerable without the images."
        )
    elif looked < len(studies):
        notes.append(f"{len(studies) - looked} of {len(studies)} volumes have no image here.")
    return tuple(notes)


def _position_note(twinned: list[Draft]) -> Iterator[str]:
    share, count = right_by_position(twinned)
    if count >= _FEWEST_PLACED:
        yield (
            "Slices that stand for a yes and for a no lie at the same places of their stacks: a"
            f" slice's number alone, learnt from other patients, is right on {share:.0%} of"
            f" {count:,} yes/no questions about a slice (chance 50%)."
        )
