"""VLMEvalKit: a TSV of choices with the pictures in base64,
one of open questions, and of a run its prediction file."""

from __future__ import annotations

import csv
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

from situs.base.files import file_name
from situs.export.about import About
from situs.export.example import CLOSED, Example
from situs.export.pictures import picture_name
from situs.export.written import Written, write_readme
from situs.profiles import Image

__all__ = ["write_vlmevalkit"]

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_READ_AS_EMPTY = {
    "",
    "#N/A",
    "#N/A N/A",
    "#NA",
    "-1.#IND",
    "-1.#QNAN",
    "-NaN",
    "-nan",
    "1.#IND",
    "1.#QNAN",
    "<NA>",
    "N/A",
    "NA",
    "NULL",
    "NaN",
    "None",
    "n/a",
    "nan",
    "null",
}
"""Words pandas takes for a missing cell: an option that reads so would vanish."""
_NO_ANSWER = "Z"
"""What VLMEvalKit itself writes where no option was chosen."""
_ABOUT = ("item_id", "category", "l2-category", "bench_split")


def write_vlmevalkit(examples: Iterator[Example], folder: Path, about: About) -> Written:
    """`<name>.tsv`, `<name>_openended.tsv` and, of a run,
    `<model>_<name>.tsv`, for the folder `$LMUData`."""
    name = file_name(about.name)
    choices = _Table(folder / f"{name}.tsv", ("answer", *_LETTERS[:8]), about.pixels)
    others = _Table(folder / f"{name}_openended.tsv", ("answer",), about.pixels)
    predictions = _Table(
        folder / f"{file_name(about.model or 'model')}_{name}.tsv",
        ("answer", *_LETTERS[:8], "prediction", "response"),
    )
    left_out: dict[str, int] = {}
    for example in examples:
        reason = _unfit(example)
        if reason:
            left_out[reason] = left_out.get(reason, 0) + 1
        elif example.form not in CLOSED:
            others.add(example, example.prompt, {"answer": example.targets[0]})
        else:
            cells = _choice_cells(example)
            if example.said is not None:
                words = {"prediction": _prediction(example), "response": example.said.response}
                predictions.add(example, example.question, cells | words, choices.count)
            choices.add(example, example.question, cells)
    for table in (choices, others, predictions):
        table.close()
    load = f"LMUData=<this folder> python run.py --data {about.name} --model …"
    if about.model:
        load = f"VLMEvalKit's evaluate() on {predictions.name}"
    notes = [
        f"`{load}`",
        "",
        (
            "Choices and yes/no (as two options) are in one table; numbers and text, which"
            " VLMEvalKit does not score in"
        ),
        "a custom set, in the `_openended` one.",
        "",
        "A prediction is the letter Situs read (`Z`: none); `response` is what the model said.",
    ]
    write_readme(folder, about, notes)
    return Written(choices.count + others.count, choices.pictures + others.pictures, load, left_out)


class _Table:
    """A TSV that appears with its first row."""

    def __init__(self, path: Path, columns: tuple[str, ...], pixels: bool = False) -> None:
        self._path = path
        self._columns = (
            "index",
            *(("image", "image_path") if pixels else ()),
            "question",
            *columns,
            *_ABOUT,
        )
        self._pixels = pixels
        self._stream: TextIO | None = None
        self._first: dict[tuple[str, ...], int] = {}
        self.count = 0
        self.pictures = 0

    @property
    def name(self) -> str:
        """The file's name."""
        return self._path.name

    def add(
        self, example: Example, question: str, cells: dict[str, str], index: int | None = None
    ) -> None:
        """Append a row. Pictures that an earlier row has shown are given as that row's index."""
        if self._stream is None:
            self._stream = self._path.open("w", encoding="utf-8", newline="")
            self._writer = csv.DictWriter(
                self._stream, self._columns, delimiter="\t", lineterminator="\n"
            )
            self._writer.writeheader()
        number = self.count if index is None else index
        row: dict[str, Any] = {
            "index": number,
            "question": question,
            "item_id": example.item_id,
            "category": example.task,
            "l2-category": example.stratum,
            "bench_split": example.split,
            **cells,
        }
        if self._pixels:
            row |= self._image_cells(example.images, number)
        self._writer.writerow(row)
        self.count += 1

    def _image_cells(self, images: tuple[Image, ...], number: int) -> dict[str, str]:
        names = [picture_name(image) for image in images]
        first = self._first.setdefault(tuple(names), number)
        if first != number:
            return {"image": str(first), "image_path": _listed(names)}
        self.pictures += len(names)
        return {
            "image": _listed([b64encode(image.data).decode() for image in images]),
            "image_path": _listed(names),
        }

    def close(self) -> None:
        """Finish the file, if there is one."""
        if self._stream is not None:
            self._stream.close()


def _listed(values: list[str]) -> str:
    """One value as it is, several as the list VLMEvalKit reads."""
    return values[0] if len(values) == 1 else repr(values)


def _unfit(example: Example) -> str:
    if example.form == "choice" and len(example.targets) > 1:
        return "several options are right, VLMEvalKit allows one"
    if len(example.options) > 8:
        return "more than eight options"
    return ""


def _choice_cells(example: Example) -> dict[str, str]:
    if example.form == "yes_no":
        return {"A": "Yes", "B": "No", "answer": "A" if example.targets == ("yes",) else "B"}
    return {
        **{k: _not_empty(text) for k, text in example.options.items()},
        "answer": example.targets[0],
    }


def _not_empty(text: str) -> str:
    return f"{text}." if text in _READ_AS_EMPTY else text


def _prediction(example: Example) -> str:
    assert example.said is not None
    read = example.said.read
    return {"yes": "A", "no": "B"}.get(read, read) or _NO_ANSWER
