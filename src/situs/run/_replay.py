"""Answers that a model gave elsewhere, from the file that was released with them."""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

import msgspec

from situs._files import digest
from situs.bench import Bench
from situs.clients import Spec
from situs.errors import SitusError
from situs.items import Item
from situs.run._released_rows import Row, first_text, released_rows

__all__ = ["ANSWER_FIELDS", "VOLUME_FIELDS", "Joined", "Replay", "recorded_replay", "volume_stem"]

ANSWER_FIELDS = (
    "response",
    "prediction",
    "model_output",
    "model_answer",
    "model_prediction",
    "predicted_answer",
    "generated_answer",
    "generated_text",
    "pred",
)
"""Where the model's words stand; `answer` is the gold answer in the released files and is never replayed."""
_IDS = ("item_id", "source_id", "id", "question_id", "qid", "sample_id", "case_id")
VOLUME_FIELDS = (
    "volume",
    "volume_id",
    "volume_name",
    "case_id",
    "case",
    "study",
    "study_id",
    "image_path",
    "image",
    "video",
    "path",
)
_CT_RATE = re.compile(r"(?<![a-zA-Z0-9])(?:valid|train)_\d+_[a-z]+_\d+(?!\d)")
_FASTMRI = re.compile(r"file_brain_AX[A-Z0-9]+_\d{3}_\d+|(?<![a-zA-Z0-9])file\d{7}(?!\d)")
_SLICE = re.compile(r"_slice_?(\d{1,6})(?!\d)")
_SUFFIXES = (".gz", ".nii", ".npy", ".npz", ".mha", ".mhd", ".nrrd", ".h5", ".pt", ".png", ".jpg", ".jpeg", ".zip")


class Joined(msgspec.Struct, frozen=True):
    """What became of the rows of a file: how many found their item, and all that did not."""

    rows: int
    joined: int
    by: dict[str, int]
    """How many by `id`, by `volume and question`, by `question` alone."""
    rows_without_item: list[str]
    items_without_row: list[str]
    ambiguous: list[str]
    """Rows that fit several items, or items that several different rows fit; none of them was guessed at."""

    def notes(self) -> list[str]:
        """What a user must know, in a line each."""
        result = []
        for count, text, where in (
            (len(self.rows_without_item), "rows of the file belong to no item", self.rows_without_item),
            (len(self.items_without_row), "items have no row in the file", self.items_without_row),
            (len(self.ambiguous), "rows could not be told apart and were left out", self.ambiguous),
        ):
            if count:
                result.append(f"{count} {text}, e.g. {where[0]}; joined.json lists all")
        return result


class Replay:
    """Says what a file of predictions says; an item without a prediction stays without an answer."""

    def __init__(self, bench: Bench, spec: Spec) -> None:
        self._answers, self.joined = _join(_path_of(spec), list(bench.items()))

    def answer(self, item: Item) -> str | None:
        """The released answer, verbatim; None if the file has none."""
        return self._answers.get(item.item_id)


def recorded_replay(spec: Spec) -> str:
    """How a run names the file: without the folders it lies in, and with a hash of what it holds."""
    path = _path_of(spec)
    try:
        return f"replay:{path.name}#{digest(path.read_bytes(), size=6)}"
    except OSError as error:
        raise SitusError(f"cannot be read ({error.strerror})", where=path, fix="check the path") from error


def _path_of(spec: Spec) -> Path:
    text = str(Spec(spec.kind, spec.name, spec.url)).removeprefix("replay").removeprefix(":")
    if not text:
        raise SitusError("replay needs a file", where="--model", fix="write replay:predictions.jsonl")
    return Path(text)


def volume_stem(name: str) -> str:
    """`…/valid_1_a_1.nii.gz` and `…/valid_1_a_1.npy` are the same volume: `valid_1_a_1`.

    So is any path with such a name of CT-RATE in it (`…/valid_1_a_1/slice_12.png`).
    """
    public = _CT_RATE.findall(name)
    if public:
        return str(public[-1])
    stem = PurePosixPath(name.replace("\\", "/").partition("::")[0]).name
    while True:
        suffix = next((s for s in _SUFFIXES if stem.lower().endswith(s) and len(stem) > len(s)), None)
        if suffix is None:
            return stem
        stem = stem[: -len(suffix)]


def _join(path: Path, items: list[Item]) -> tuple[dict[str, str], Joined]:
    rows = []
    for where, row in released_rows(path):
        text = first_text(row, ANSWER_FIELDS)
        if text is None:
            fix = f"the model's words stand in {', '.join(ANSWER_FIELDS)}"
            raise SitusError("has no answer of a model", where=where, fix=fix)
        rows.append((where, row, text))
    book = _Book(items)
    for where, row, text in rows:
        book.place(where, row, text)
    return book.close(len(rows))


class _Book:
    """Items by every name a row may call them."""

    def __init__(self, items: list[Item]) -> None:
        self._items = items
        self._by_id = _unique((name, item.item_id) for item in items for name in (item.item_id, item.source_id) if name)
        self._by_volume: dict[tuple[str, str], deque[tuple[int, str]]] = defaultdict(deque)
        self._by_question: dict[str, list[str]] = defaultdict(list)
        for item in items:
            place = item.frames[0] + 1 if item.level == "slice" and len(item.frames) == 1 else 0
            for stem in {volume_stem(item.study_id), volume_stem(item.source_id or item.study_id)}:
                self._by_volume[stem, _plain(item.question)].append((place, item.item_id))
            self._by_question[_plain(item.question)].append(item.item_id)
        self._answers: dict[str, str] = {}
        self._from: dict[str, str] = {}
        self._counts = {"id": 0, "volume and question": 0, "question": 0}
        self._strangers: list[str] = []
        self._ambiguous: list[str] = []
        self._by_question_rows: dict[str, list[tuple[str, str]]] = defaultdict(list)

    def place(self, where: str, row: Row, text: str) -> None:
        """Give one row to the item it belongs to."""
        for name in _IDS:
            found = self._by_id.get(str(row.get(name, "")))
            if found is not None:
                self._put(found, where, text, "id")
                return
        question = _plain(str(row.get("question") or ""))
        volumes = [volume_stem(str(row[name])) for name in VOLUME_FIELDS if row.get(name)]
        volumes += _FASTMRI.findall(str(row.get("sample_id", "")))
        slice_num = _slice_of(row)
        for volume in volumes:
            queue = self._by_volume.get((volume, question), deque())
            # A question that is asked twice of one volume and slice: the n-th row belongs to the n-th item.
            found_at = next((n for n, (at, _) in enumerate(queue) if 0 in (at, slice_num) or at == slice_num), None)
            if found_at is not None:
                self._put(queue[found_at][1], where, text, "volume and question")
                del queue[found_at]
                return
        if volumes:
            self._strangers.append(f"{where} ({volumes[0]}: {question[:60]})")
        else:
            self._by_question_rows[question].append((where, text))

    def _put(self, item_id: str, where: str, text: str, how: str) -> None:
        before = self._answers.get(item_id)
        if before is not None and before != text:
            self._ambiguous.append(f"{where} and {self._from[item_id]} both answer {item_id}")
            return
        if before is None:
            self._counts[how] += 1
        self._answers[item_id], self._from[item_id] = text, where

    def close(self, rows: int) -> tuple[dict[str, str], Joined]:
        """Rows without a volume belong to an item only if no other row and no other item asks the same."""
        for question, asked in self._by_question_rows.items():
            items = [item for item in self._by_question.get(question, []) if item not in self._answers]
            if len(items) == len(asked) == 1:
                self._put(items[0], *asked[0], "question")
            elif not items:
                self._strangers += [f"{where} ({question[:60]})" for where, _ in asked]
            else:
                self._ambiguous += [f"{where} fits {len(items)} items ({question[:60]})" for where, _ in asked]
        without = [item.source_id or item.item_id for item in self._items if item.item_id not in self._answers]
        counts = {how: count for how, count in self._counts.items() if count}
        joined = Joined(rows, len(self._answers), counts, self._strangers, without, self._ambiguous)
        if not self._answers:
            fix = "rows need an item id, or the volume (image_path, case_id) and the question"
            raise SitusError("no row of the file belongs to an item of this bench", where="--model", fix=fix)
        return self._answers, joined


def _slice_of(row: Row) -> int:
    """The slice a row of SGMRI-VQA is about, from 1 as there; 0 if it names none."""
    named = str(row.get("slice_num") or "") or next(iter(_SLICE.findall(str(row.get("sample_id", "")))), "")
    return int(named) if named.isdecimal() else 0


def _unique(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Names that call one item only."""
    found: dict[str, set[str]] = defaultdict(set)
    for name, item_id in pairs:
        found[name].add(item_id)
    return {name: next(iter(ids)) for name, ids in found.items() if len(ids) == 1}


def _plain(question: str) -> str:
    return " ".join(question.split())
