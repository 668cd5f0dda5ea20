"""SGMRI-VQA's released questions and answers, and the result files of its inference script, as a
bench.

Their answers are given, not proved. Frames there count from 1, here from 0; the boxes of a
slice-level question lie on its slice, whatever frame they name (their single pictures are all
"frame 1"). What their scores need is kept word for word in `parameters`: `gt_answer`, `qa_type`,
`dataset`, and `gt_boxes` where a true box of a whole volume names no frame: the released code then
lets it match on any, while for our own scores the answer is its text alone.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import msgspec

from situs.base.files import canonical_json, read_json
from situs.build.imports.frame import (
    ImportedQuestion,
    ImportedStudy,
    Importer,
    ImportRun,
    bad_row,
    import_bench,
)
from situs.build.writer import BuildOptions, BuildResult
from situs.errors import Problem, SitusError
from situs.items import Answer, Boxes, Choice, Choices, Number, Option, Step, Text, YesNo
from situs.score.sgmri import parse_boxes
from situs.space import FrameBox

__all__ = ["SgmriRow", "import_sgmri", "sgmri_rows"]

_VOLUME = re.compile(r"file_brain_AX[A-Z0-9]+_\d{3}_\d+|file\d{7}")
_SLICE = re.compile(r"_slice_?(\d{1,6})(?!\d)")
_CHOICE = re.compile(r"\(([A-Z])\)")
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_FIX = "give their QA JSON (a list of records) or a result file of their inference script"


class SgmriRow(msgspec.Struct, frozen=True):
    """One question, from either kind of file."""

    where: str
    volume: str
    question: str
    answer: str
    qa_type: str
    """`closed_ended`, `single_choice`, `multiple_choice`, `open_ended`, …"""
    task: str
    level: str
    """`slice` or `volume`."""
    dataset: str
    sample_id: str = ""
    slice_num: int | None = None
    """1-based, as they count."""
    reasoning: str = ""
    choices: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    boxes: tuple[FrameBox, ...] = ()
    """Empty if one of a whole volume names no frame."""
    published_boxes: tuple[tuple[int | None, tuple[float, float, float, float]], ...] = ()
    """Frame (1-based) and x, y, width, height of the same boxes,
    or of those that have no place here."""
    model_output: str | None = None


def sgmri_rows(path: Path) -> Iterator[SgmriRow | SitusError]:
    """The questions of a file; in place of one that cannot be read, what is wrong with it."""
    content: Any = read_json(path, object)
    entries = content.get("results", content.get("data")) if isinstance(content, dict) else content
    if not isinstance(entries, list):
        raise SitusError("holds no list of questions", where=path, fix=_FIX)
    for number, entry in enumerate(entries):
        where = f"{path.name} $[{number}]"
        try:
            yield _Entry(entry).row(where)
        except (SitusError, TypeError, ValueError, KeyError) as error:
            problem = (
                error.problem if isinstance(error, SitusError) else "is not a question of this set"
            )
            yield SitusError(problem, where=where, fix="correct this entry")


class _Entry:
    """One record of either kind of file: the two name the same things differently.

    A QA record has `volume_id`, `slice_num`, `level`, `type`, `answer` and `ground_truth`; one of a
    result file has `sample_id`, `qa_type`, `gt_answer`, `gt_labels` and `gt_bboxes`.
    """

    def __init__(self, entry: Any) -> None:
        if not isinstance(entry, dict):
            raise TypeError
        self._fields = entry
        self._truth = entry.get("ground_truth") or {}
        answer = entry.get("gt_answer", entry.get("answer"))
        question = entry.get("question")
        asked = isinstance(question, str) and question.strip()
        if not asked or answer is None or not isinstance(self._truth, dict):
            raise SitusError("lacks question or answer", fix="correct this entry")
        self._question = str(question)
        self._answer = str(answer)
        self._sample = self._text("sample_id", "id")
        self._volume = self._text("volume_id") or _volume_in(self._sample)
        if not self._volume:
            raise SitusError("lacks volume_id or sample_id", fix="correct this entry")

    def _text(self, *names: str, default: str = "") -> str:
        """The first of these fields that is not empty."""
        return str(next(filter(None, map(self._fields.get, names)), default))

    def row(self, where: str) -> SgmriRow:
        """The question, however the record spells it."""
        slice_num = self._slice_num()
        of_volume = self._is_of_volume(slice_num)
        if of_volume:
            slice_num = None
        boxes = [_box(box) for box in self._boxes()]
        output = self._fields.get("model_output")
        return SgmriRow(
            where=where,
            volume=self._volume,
            question=self._question,
            answer=self._answer,
            qa_type=self._text("qa_type", "type", default="open_ended"),
            task=self._text("task", default="unknown"),
            level="volume" if of_volume else "slice",
            dataset=self._text("dataset", default="brain" if "brain" in self._volume else "knee"),
            sample_id=self._sample,
            slice_num=slice_num,
            reasoning=self._text("reasoning"),
            choices=_options(self._fields.get("choices")),
            labels=self._labels(),
            boxes=_placed(boxes, None if of_volume else slice_num or 1),
            published_boxes=tuple((frame, numbers) for frame, numbers, _ in boxes),
            model_output=None if output is None else str(output),
        )

    def _slice_num(self) -> int | None:
        """1-based; a result file tells it in the sample's name only."""
        in_name = _SLICE.search(self._sample)
        number = self._fields.get("slice_num") or (in_name and in_name[1])
        return int(number) if number else None

    def _is_of_volume(self, slice_num: int | None) -> bool:
        names_volume = slice_num is None and (
            "num_slices" in self._fields or "_video_" in self._sample
        )
        level = self._text("level", default="volume" if names_volume else "slice")
        return level.startswith(("volume", "video"))

    def _labels(self) -> tuple[str, ...]:
        truth, fields = self._truth, self._fields
        labels = truth.get("labels") or truth.get("final_diagnosis")
        labels = labels or fields.get("labels") or fields.get("gt_labels") or ()
        return tuple(map(str, [labels] if isinstance(labels, str) else labels))

    def _boxes(self) -> Any:
        fields = self._fields
        listed = fields.get("bboxes") or fields.get("gt_bboxes") or self._truth.get("bboxes") or ()
        if not listed and fields.get("task") == "localization" and "<bbx>" in self._answer:
            # Boxes of whole volumes stand in the answer's words only, where the released code reads
            # them.
            return [{"frame": frame, "bbox": box} for frame, box in parse_boxes(self._answer)]
        return listed


def _volume_in(sample: str) -> str:
    """The volume that a sample's name tells; all of the name if it tells none."""
    match = _VOLUME.search(sample)
    return match[0] if match else sample


def _options(raw_options: Any) -> tuple[str, ...]:
    """Options without their letters, from a list or from `{"A": text}`."""
    if isinstance(raw_options, dict):
        raw_options = [raw_options[key] for key in sorted(raw_options)]
    texts = [str(text).strip() for text in raw_options or ()]
    return tuple(
        re.sub(rf"^\(?{letter}[).:]\s*", "", text) for letter, text in zip(_LETTERS, texts)
    )


_Given: TypeAlias = tuple[int | None, tuple[float, float, float, float], str]
"""Frame (1-based; None if it names none), x, y, width, height, and label."""


def _box(entry: Any) -> _Given:
    """`{frame | slice_num, label, bbox: [x, y, w, h]}` or `{x, y, width, height}`,
    or the four numbers alone."""
    frame, label, numbers = None, "", entry
    if isinstance(entry, dict):
        numbers = entry.get("bbox") or [entry[key] for key in ("x", "y", "width", "height")]
        frame = next(
            (entry[key] for key in ("frame", "slice_num", "slice") if entry.get(key)), None
        )
        label = str(entry.get("label", ""))
    x, y, width, height = (float(v) for v in numbers)
    return None if frame is None else int(frame), (x, y, width, height), label


def _placed(boxes: Sequence[_Given], slice_num: int | None) -> tuple[FrameBox, ...]:
    """The boxes on their slice, else on the frames they name;
    none if one of a whole volume names no frame."""
    if slice_num is None and not all(frame for frame, _, _ in boxes):
        return ()
    result = []
    for frame, (x, y, width, height), label in boxes:
        number = max(0, (slice_num or frame or 1) - 1)
        result.append(FrameBox(number, x, y, x + width, y + height, label))
    return tuple(result)


def import_sgmri(
    paths: list[Path],
    out: Path,
    options: BuildOptions,
    *,
    images: Path | None = None,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> BuildResult:
    """Build a bench of the questions of these files.

    Volumes (fastMRI's HDF5 files, or pictures) are found under `images` by name; `progress` counts
    them.
    """
    return import_bench(_Sgmri(paths), out, options, images=images, progress=progress)


class _Sgmri(Importer[SgmriRow]):
    source = "sgmri-vqa"
    notes = ("Split and clustered by file, patient overlap possible.",)

    def __init__(self, paths: list[Path]) -> None:
        self._paths = paths

    def rows(self) -> Iterator[SgmriRow | Problem]:
        for path in self._paths:
            for row in sgmri_rows(path):
                if isinstance(row, SitusError):
                    yield bad_row(str(row.where), row.problem, row.fix)
                else:
                    yield row

    def nothing(self) -> SitusError:
        return SitusError("no question in the file", where=self._paths[0], fix=_FIX)

    def studies(self, rows: list[SgmriRow], run: ImportRun) -> Iterator[ImportedStudy]:
        """A volume is a study and, for all that is known, a patient."""
        by_volume: dict[str, list[SgmriRow]] = defaultdict(list)
        for row in rows:
            by_volume[row.volume].append(row)
        names: Counter[str] = Counter()
        scans = run.scans(by_volume, frames=True)
        for volume, about in sorted(by_volume.items()):
            yield ImportedStudy(
                name=volume,
                scan=scans.get(volume),
                public=bool(_VOLUME.fullmatch(volume)),
                questions=[_question(row, names) for row in about],
            )


def _question(row: SgmriRow, names: Counter[str]) -> ImportedQuestion:
    """`names`: how often each name of a sample has occurred; samples may share one."""
    answer, options = _answer(row)
    asked_of = "volume" if row.slice_num is None else f"slice{row.slice_num}"
    name = row.sample_id or f"{row.volume}/{asked_of}/{row.task}"
    names[name] += 1
    parameters = {"gt_answer": row.answer, "qa_type": row.qa_type, "dataset": row.dataset}
    if row.published_boxes and not row.boxes:
        parameters["gt_boxes"] = canonical_json(row.published_boxes).decode()
    if row.labels:
        parameters["gt_labels"] = "; ".join(row.labels)
    return ImportedQuestion(
        question=row.question,
        answer=answer,
        options=options,
        task=row.task,
        part=str(row.slice_num or ""),
        source_id=name if names[name] == 1 else f"{name}#{names[name]}",
        level=row.level,
        frames=(row.slice_num - 1,) if row.level == "slice" and row.slice_num else (),
        tags=(f"dataset:{row.dataset}", f"qa_type:{row.qa_type}", f"level:{row.level}"),
        steps=(Step("given", row.reasoning),) if row.reasoning else (),
        boxes=row.boxes,
        parameters=parameters,
    )


def _answer(row: SgmriRow) -> tuple[Answer, tuple[Option, ...]]:
    """The typed answer, where the record states one; else the text."""
    text = row.answer.strip()
    options = tuple(Option(letter, words) for letter, words in zip(_LETTERS, row.choices))
    if row.qa_type in ("single_choice", "multiple_choice"):
        letters = _chosen(text, options)
        if letters and row.qa_type == "single_choice":
            return Choice(letters[0]), options
        if letters:
            return Choices(tuple(dict.fromkeys(letters))), options
    if row.task == "localization" and row.boxes:
        return Boxes(row.boxes), ()
    if row.qa_type == "closed_ended":
        word = re.match(r"(yes|no)\b", text.lower())
        if word:
            return YesNo(word[1] == "yes"), ()
        if re.fullmatch(r"\d{1,4}", text):
            return Number(float(text), "", (float(text), float(text))), ()
    return Text((row.answer,)), ()


def _chosen(text: str, options: Sequence[Option]) -> list[str]:
    """The letters that an answer names: in brackets, alone, or by an option's words."""
    offered = {option.value for option in options}
    letters = [letter for letter in _CHOICE.findall(text) if letter in offered]
    if not letters and re.fullmatch(r"[A-Z][.)]?", text) and text[0] in offered:
        letters = [text[0]]
    if not letters:
        letters = [option.value for option in options if option.text.lower() == text.lower()]
    return letters
