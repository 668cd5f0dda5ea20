"""Answers that a model gave elsewhere, from the file that was released with them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

import msgspec

from situs.base.files import digest
from situs.bench import Bench, as_known
from situs.clients import Spec
from situs.errors import SitusError
from situs.items import Item, Text
from situs.run.released import Row, first_text, released_rows

__all__ = [
    "ANSWER_FIELDS",
    "REFERENCE_FIELDS",
    "VOLUME_FIELDS",
    "Joined",
    "Replay",
    "recorded_replay",
    "volume_stem",
]

ANSWER_FIELDS: tuple[str, ...] = (
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
"""Where the model's words stand;
`answer` is the gold answer in the released files and is never replayed."""
REFERENCE_FIELDS = ("answer", "reference", "gt_answer", "gold", "ground_truth", "reference_answer")
"""Where the gold answer stands."""
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
_SUFFIXES = (
    ".gz",
    ".nii",
    ".npy",
    ".npz",
    ".mha",
    ".mhd",
    ".nrrd",
    ".h5",
    ".pt",
    ".png",
    ".jpg",
    ".jpeg",
    ".zip",
)


class Joined(msgspec.Struct, frozen=True):
    """What became of the rows of a file: how many found their item, and all that did not."""

    rows: int
    joined: int
    by: dict[str, int]
    """How many by `id`, by `volume and question`, by `question` alone."""
    rows_without_item: list[str]
    items_without_row: list[str]
    ambiguous: list[str]
    """Rows that fit several items, or items that several different rows fit;
    none of them was guessed at."""

    def notes(self) -> list[str]:
        """What a user must know, in a line each."""
        result = []
        for count, text, where in (
            (
                len(self.rows_without_item),
                "rows of the file belong to no item",
                self.rows_without_item,
            ),
            (len(self.items_without_row), "items have no row in the file", self.items_without_row),
            (len(self.ambiguous), "rows could not be told apart and were left out", self.ambiguous),
        ):
            if count:
                result.append(f"{count} {text}, e.g. {where[0]}; joined.json lists all")
        return result


class Replay:
    """Says what a file of predictions says;
    an item without a prediction stays without an answer."""

    def __init__(self, bench: Bench, spec: Spec) -> None:
        self._answers, self.joined = _join(_path_of(spec), list(bench.items()))

    def answer(self, item: Item) -> str | None:
        """The released answer, verbatim; None if the file has none."""
        return self._answers.get(item.item_id)


def recorded_replay(spec: Spec) -> str:
    """How a run names the file: without the folders it lies in,
    and with a hash of what it holds."""
    path = _path_of(spec)
    try:
        return f"replay:{path.name}#{digest(path.read_bytes(), size=6)}"
    except OSError as error:
        raise SitusError(
            f"cannot be read ({error.strerror})", where=path, fix="check the path"
        ) from error


def _path_of(spec: Spec) -> Path:
    text = str(Spec(spec.kind, spec.name, spec.url)).removeprefix("replay").removeprefix(":")
    if not text:
        raise SitusError(
            "replay needs a file", where="--model", fix="write replay:predictions.jsonl"
        )
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
        suffix = next(
            (s for s in _SUFFIXES if stem.lower().endswith(s) and len(stem) > len(s)), None
        )
        if suffix is None:
            return stem
        stem = stem[: -len(suffix)]


def _join(path: Path, items: list[Item]) -> tuple[dict[str, str], Joined]:
    rows = []
    for where, row in released_rows(path):
        text = first_text(row, ANSWER_FIELDS)
        if text is None:
            fix = f"put the model's reply into one of {', '.join(ANSWER_FIELDS)}"
            raise SitusError("has no model reply", where=where, fix=fix)
        rows.append((where, row, text))
    book = _Book(items)
    unnamed = [
        (where, row, text) for where, row, text in rows if not book.place_by_id(where, row, text)
    ]
    for where, row, text in unnamed:
        book.place_by_question(where, row, text)
    return book.close(len(rows))


class _Book:
    """Items by every name a row may call them."""

    def __init__(self, items: list[Item]) -> None:
        self._items = items
        self._by_id = _unique(
            (name, item.item_id)
            for item in items
            for name in (item.item_id, item.source_id)
            if name
        )
        self._item = {item.item_id: item for item in items}
        self._volumes = {stem for item in items for stem in _stems_of(item)}
        self._by_volume: dict[tuple[str, str], list[str]] = defaultdict(list)
        self._by_question: dict[str, list[str]] = defaultdict(list)
        for item in items:
            for stem in _stems_of(item):
                self._by_volume[stem, _plain(item.question)].append(item.item_id)
            self._by_question[_plain(item.question)].append(item.item_id)
        self._answers: dict[str, str] = {}
        self._from: dict[str, str] = {}
        self._counts = {"id": 0, "volume and question": 0, "question": 0}
        self._strangers: list[str] = []
        self._ambiguous: list[str] = []
        self._by_question_rows: dict[str, list[tuple[str, str]]] = defaultdict(list)

    def place_by_id(self, where: str, row: Row, text: str) -> bool:
        """Give a row to the item it names, unless the rest of the row is of another:
        then the id counts for nothing."""
        for name in _IDS:
            item_id = self._by_id.get(as_known(str(row.get(name, "")), self._by_id))
            if item_id is not None and not self._contradicts(row, name, self._item[item_id]):
                self._put(item_id, where, text, "id")
                return True
        return False

    def _contradicts(self, row: Row, named_by: str, item: Item) -> bool:
        """Whether question, volume or (beside a position)
        gold answer of a row are not those of an item."""
        question = _plain(str(row.get("question") or ""))
        # A prompt may hold the question among other words.
        if question and _plain(item.question) not in question:
            return True
        named = [str(row[name]) for name in VOLUME_FIELDS if row.get(name) and name != named_by]
        volumes = {as_known(volume_stem(name), self._volumes) for name in named}
        known = volumes & self._volumes
        if known and known.isdisjoint(_stems_of(item)):
            return True
        return "::" in str(row[named_by]) and not _fits_reference(row, item)

    def place_by_question(self, where: str, row: Row, text: str) -> None:
        """Give a row to the item of its volume and question."""
        question = _plain(str(row.get("question") or ""))
        named = [volume_stem(str(row[name])) for name in VOLUME_FIELDS if row.get(name)]
        volumes = [as_known(name, self._volumes) for name in named]
        volumes += _FASTMRI.findall(str(row.get("sample_id", "")))
        slice_num = _slice_of(row)
        for volume in volumes:
            asked = self._by_volume.get((volume, question), [])
            free = [
                i for i in asked if i not in self._answers and _on_slice(self._item[i], slice_num)
            ]
            if free:
                # A question asked twice of one volume: by its gold answer, then the n-th row is the
                # n-th item's.
                item_id = next((i for i in free if _fits_reference(row, self._item[i])), free[0])
                self._put(item_id, where, text, "volume and question")
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
        """Rows without a volume belong to an item only if
        no other row and no other item asks the same."""
        for question, asked in self._by_question_rows.items():
            items = [
                item for item in self._by_question.get(question, []) if item not in self._answers
            ]
            if len(items) == len(asked) == 1:
                self._put(items[0], *asked[0], "question")
            elif not items:
                self._strangers += [f"{where} ({question[:60]})" for where, _ in asked]
            else:
                self._ambiguous += [
                    f"{where} fits {len(items)} items ({question[:60]})" for where, _ in asked
                ]
        without = [
            item.source_id or item.item_id
            for item in self._items
            if item.item_id not in self._answers
        ]
        counts = {how: count for how, count in self._counts.items() if count}
        joined = Joined(rows, len(self._answers), counts, self._strangers, without, self._ambiguous)
        if not self._answers:
            fix = "rows need an item id, or the volume (image_path, case_id) and the question"
            raise SitusError(
                "no row of the file belongs to an item of this bench", where="--model", fix=fix
            )
        return self._answers, joined


def _slice_of(row: Row) -> int:
    """The slice a row of SGMRI-VQA is about, from 1 as there; 0 if it names none."""
    named = str(row.get("slice_num") or "") or next(
        iter(_SLICE.findall(str(row.get("sample_id", "")))), ""
    )
    return int(named) if named.isdecimal() else 0


def _on_slice(item: Item, slice_num: int) -> bool:
    """Whether an item is about that slice, or either is about none."""
    single = item.level == "slice" and len(item.frames) == 1
    return not slice_num or not single or item.frames[0] + 1 == slice_num


def _stems_of(item: Item) -> set[str]:
    return {volume_stem(item.study_id), volume_stem(item.source_id or item.study_id)}


def _fits_reference(row: Row, item: Item) -> bool:
    """Whether a row has the item's gold answer, or none."""
    gold = first_text(row, REFERENCE_FIELDS)
    return (
        not gold
        or not isinstance(item.answer, Text)
        or _plain(gold) in map(_plain, item.answer.references)
    )


def _unique(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Names that call one item only."""
    ids_of: dict[str, set[str]] = defaultdict(set)
    for name, item_id in pairs:
        ids_of[name].add(item_id)
    return {name: next(iter(ids)) for name, ids in ids_of.items() if len(ids) == 1}


def _plain(question: str) -> str:
    return " ".join(question.split())
