"""SGMRI-VQA's released questions and answers, and the result files of its inference script, as a bench.

Their answers are given, not proved. Frames there count from 1, here from 0; the boxes of a slice-level question lie on
its slice, whatever frame they name (their single pictures are all "frame 1"). What their scores need is kept word for
word in `parameters`: `gt_answer`, `qa_type`, `dataset`, and `gt_boxes` where a true box of a whole volume names no
frame: the released code then lets it match on any, while for our own scores the answer is its text alone.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeAlias

import msgspec

from situs.base.files import canonical_json, read_json
from situs.base.publish import new_folder
from situs.bench import StudyRecord, split_of
from situs.build.writer import BenchWriter, BuildOptions, BuildResult
from situs.errors import Problem, Severity, SitusError
from situs.items import (
    Answer,
    Boxes,
    Choice,
    Choices,
    Item,
    Number,
    Option,
    Step,
    Text,
    YesNo,
    imported_item_id,
)
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
    """Frame (1-based) and x, y, width, height of the same boxes, or of those that have no place here."""
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
            yield _row(entry, where)
        except (SitusError, TypeError, ValueError, KeyError) as error:
            problem = (
                error.problem if isinstance(error, SitusError) else "is not a question of this set"
            )
            yield SitusError(problem, where=where, fix="mend this entry")


def _row(entry: Any, where: str) -> SgmriRow:
    if not isinstance(entry, dict):
        raise TypeError
    truth = entry.get("ground_truth") or {}
    question, answer = entry.get("question"), entry.get("gt_answer", entry.get("answer"))
    if (
        not isinstance(question, str)
        or not question.strip()
        or answer is None
        or not isinstance(truth, dict)
    ):
        raise SitusError("lacks question or answer", fix="mend this entry")
    sample = str(entry.get("sample_id") or entry.get("id") or "")
    volume = str(entry.get("volume_id") or "")
    if not volume:
        found = _VOLUME.search(sample)
        volume = found[0] if found else sample
    if not volume:
        raise SitusError("lacks volume_id or sample_id", fix="mend this entry")
    named = _SLICE.search(sample)
    slice_num = entry.get("slice_num") or (int(named[1]) if named else None)
    whole = slice_num is None and ("num_slices" in entry or "_video_" in sample)
    level = str(entry.get("level") or ("volume" if whole else "slice"))
    labels = (
        truth.get("labels")
        or truth.get("final_diagnosis")
        or entry.get("labels")
        or entry.get("gt_labels")
        or ()
    )
    listed = entry.get("bboxes") or entry.get("gt_bboxes") or truth.get("bboxes") or ()
    if not listed and entry.get("task") == "localization" and "<bbx>" in str(answer):
        # Boxes of whole volumes stand in the answer's words only, which is where the released code reads them.
        listed = [{"frame": frame, "bbox": box} for frame, box in parse_boxes(str(answer))]
    volume_level = level.startswith(("volume", "video"))
    slice_num = int(slice_num) if slice_num is not None and not volume_level else None
    boxes = [_box(box) for box in listed]
    placed = not volume_level or all(frame for frame, _, _ in boxes)
    output = entry.get("model_output")
    return SgmriRow(
        where=where,
        volume=volume,
        question=question,
        answer=answer if isinstance(answer, str) else str(answer),
        qa_type=str(entry.get("qa_type") or entry.get("type") or "open_ended"),
        task=str(entry.get("task") or "unknown"),
        level="volume" if volume_level else "slice",
        dataset=str(entry.get("dataset") or ("brain" if "brain" in volume else "knee")),
        sample_id=sample,
        slice_num=slice_num,
        reasoning=str(entry.get("reasoning") or ""),
        choices=_options(entry.get("choices")),
        labels=tuple(str(label) for label in ([labels] if isinstance(labels, str) else labels)),
        boxes=tuple(_on_frame(box, slice_num or 1 if not volume_level else None) for box in boxes)
        if placed
        else (),
        published_boxes=tuple((frame, numbers) for frame, numbers, _ in boxes),
        model_output=None if output is None else str(output),
    )


def _options(given: Any) -> tuple[str, ...]:
    """Options without their letters, from a list or from `{"A": text}`."""
    if isinstance(given, dict):
        given = [given[key] for key in sorted(given)]
    texts = [str(text).strip() for text in given or ()]
    return tuple(
        re.sub(rf"^\(?{letter}[).:]\s*", "", text) for letter, text in zip(_LETTERS, texts)
    )


_Given: TypeAlias = tuple[int | None, tuple[float, float, float, float], str]
"""Frame (1-based; None if it names none), x, y, width, height, and label."""


def _box(entry: Any) -> _Given:
    """`{frame | slice_num, label, bbox: [x, y, w, h]}` or `{x, y, width, height}`, or the four numbers alone."""
    frame, label, numbers = None, "", entry
    if isinstance(entry, dict):
        numbers = entry.get("bbox") or [entry[key] for key in ("x", "y", "width", "height")]
        frame = next(
            (entry[key] for key in ("frame", "slice_num", "slice") if entry.get(key)), None
        )
        label = str(entry.get("label", ""))
    x, y, width, height = (float(v) for v in numbers)
    return None if frame is None else int(frame), (x, y, width, height), label


def _on_frame(given: _Given, slice_num: int | None) -> FrameBox:
    """The box on its slice, else on the frame it names."""
    frame, (x, y, width, height), label = given
    return FrameBox(max(0, (slice_num or frame or 1) - 1), x, y, x + width, y + height, label)


def import_sgmri(paths: list[Path], out: Path, options: BuildOptions) -> BuildResult:
    """Build a bench of given items; all that is wrong with the files is counted, the first is told."""
    rows: list[SgmriRow] = []
    problems: list[Problem] = []
    for path in paths:
        for entry in sgmri_rows(path):
            if isinstance(entry, SgmriRow):
                rows.append(entry)
            else:
                problems.append(
                    Problem(Severity.ERROR, "item", str(entry.where), entry.problem, entry.fix)
                )
    if problems and (not options.skip_bad or not rows):
        more = f" (and {len(problems) - 1} more entries)" if len(problems) > 1 else ""
        raise SitusError(
            problems[0].problem + more, where=problems[0].where, fix="mend them, or add --skip-bad"
        )
    if not rows:
        raise SitusError("no question in the file", where=paths[0], fix=_FIX)
    note = "Split and clustered by file, patient overlap possible."
    with new_folder(out, marker="bench.json", overwrite=options.overwrite) as scratch:
        with BenchWriter(scratch, "sgmri-vqa", options, {}) as writer:
            _write(writer, rows, options)
        return writer.finish(problems, (note,))


def _write(writer: BenchWriter, rows: list[SgmriRow], options: BuildOptions) -> None:
    by_volume: dict[str, list[SgmriRow]] = defaultdict(list)
    for row in rows:
        by_volume[row.volume].append(row)
    sources: Counter[str] = Counter()
    for volume, own in sorted(by_volume.items()):
        public = bool(_VOLUME.fullmatch(volume))
        study_id = options.ids.study(volume, of_table=True, public=public)
        split = split_of(study_id, options.recipe.splits, options.seed)
        repeats: Counter[str] = Counter()
        items = []
        for row in own:
            asked = f"{row.slice_num or ''}|{row.question}"
            item = _item(row, study_id, split, repeats[asked], sources)
            source_id = options.ids.item(item.source_id, public=public)
            items.append(msgspec.structs.replace(item, source_id=source_id))
            repeats[asked] += 1
        writer.add(StudyRecord(study_id, study_id, split, ()), [], items, {}, {})


def _item(row: SgmriRow, study_id: str, split: str, repeat: int, sources: Counter[str]) -> Item:
    answer, options = _answer(row)
    place = "volume" if row.slice_num is None else f"slice{row.slice_num}"
    source = row.sample_id or f"{row.volume}/{place}/{row.task}"
    sources[source] += 1
    single = row.level == "slice"
    return Item(
        item_id=imported_item_id(f"{row.volume}|{row.slice_num or ''}", row.question, repeat),
        source_id=source if sources[source] == 1 else f"{source}#{sources[source]}",
        study_id=study_id,
        series="",
        patient_id=study_id,
        task=row.task,
        form=str(type(answer).__struct_config__.tag),
        question=row.question,
        answer=answer,
        options=options,
        split=split,
        stratum="imported",
        level=row.level,
        frames=(row.slice_num - 1,) if single and row.slice_num else (),
        tags=(f"dataset:{row.dataset}", f"qa_type:{row.qa_type}", f"level:{row.level}"),
        steps=(Step("given", row.reasoning),) if row.reasoning else (),
        boxes=row.boxes,
        parameters={
            "gt_answer": row.answer,
            "qa_type": row.qa_type,
            "dataset": row.dataset,
            **(
                {"gt_boxes": canonical_json(row.published_boxes).decode()}
                if row.published_boxes and not row.boxes
                else {}
            ),
            **({"gt_labels": "; ".join(row.labels)} if row.labels else {}),
        },
    )


def _answer(row: SgmriRow) -> tuple[Answer, tuple[Option, ...]]:
    """The typed answer, where the record states one; else the text."""
    text = row.answer.strip()
    options = tuple(Option(letter, words) for letter, words in zip(_LETTERS, row.choices))
    if row.qa_type in ("single_choice", "multiple_choice") and options:
        known = {option.value for option in options}
        letters = [letter for letter in _CHOICE.findall(text) if letter in known]
        letters = letters or (
            [text[0]] if re.fullmatch(r"[A-Z][.)]?", text) and text[0] in known else []
        )
        if not letters:
            letters = [option.value for option in options if option.text.lower() == text.lower()]
        if letters and row.qa_type == "single_choice":
            return Choice(letters[0]), options
        if letters:
            return Choices(tuple(dict.fromkeys(letters))), options
    if row.task == "localization" and row.boxes:
        return Boxes(row.boxes), ()
    word = re.match(r"(yes|no)\b", text.lower())
    if row.qa_type == "closed_ended" and word:
        return YesNo(word[1] == "yes"), ()
    if row.qa_type == "closed_ended" and re.fullmatch(r"\d{1,4}", text):
        return Number(float(text), "", (float(text), float(text))), ()
    return Text((row.answer,)), ()
