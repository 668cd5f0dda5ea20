"""Verdicts that judges gave elsewhere,
joined to the answers they are about by what was judged, never by position."""

from __future__ import annotations

import re
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from situs.base.files import canonical_json, digest
from situs.bench import as_known
from situs.errors import SitusError
from situs.items import Item, Text
from situs.run import (
    ANSWER_FIELDS,
    REFERENCE_FIELDS,
    VOLUME_FIELDS,
    AnswerRow,
    Row,
    first_text,
    released_rows,
    volume_stem,
)

__all__ = [
    "JoinedVerdicts",
    "VerdictFile",
    "VerdictRow",
    "join_verdicts",
    "judged_hash",
    "judged_text",
    "parse_verdicts_option",
    "read_verdicts",
]

_PREDICTIONS = ("prediction", *ANSWER_FIELDS)
_IDS = ("item_id", "source_id", "id", "question_id", "qid", "sample_id", "case_id")
_VERDICTS = ("is_correct", "correct", "verdict", "judgement", "judgment", "is_match")
_TRUE = {"true", "yes", "correct", "1"}
_FALSE = {"false", "no", "incorrect", "wrong", "0"}
_STRAY = re.compile(r"</?s>|<(?:unk|pad|eos|bos)>|<\|[\w-]+\|>|###")
"""Tokens that a model leaves at the end of its words, and some tools cut off before judging."""
_NONE = {"", "null", "none", "nan"}


class VerdictRow(msgspec.Struct, frozen=True):
    """One verdict and what it is about."""

    where: str
    correct: bool | None
    """None if the judge gave no verdict."""
    triple: tuple[str, str, str] | None
    """Question, reference and prediction."""
    item_id: str = ""
    volume: str = ""
    """Where the row names it."""
    about: str = ""
    """Hash of what was judged, where our own judges say it (`judged_hash`)."""
    question: str | None = None
    """Where the row has not all three of the triple, what it has of them."""
    reference: str | None = None
    prediction: str | None = None


class VerdictFile(msgspec.Struct, frozen=True):
    """A judge's verdicts in the order of the file."""

    judge: str
    rows: list[VerdictRow]


class JoinedVerdicts(msgspec.Struct, frozen=True):
    """A judge's verdicts by item; what is not there was not judged."""

    judge: str
    verdicts: dict[str, bool | None]
    item_of_row: list[str | None]
    """For every row of the file, the item it is about."""
    strangers: list[str]
    """Rows that are about no answer of this run."""
    unjudged: list[str]
    """Items without a row."""
    ambiguous: list[str]
    """Items whose question, reference and answer are equal to others',
    of which one lacks a row: which, is unknown."""
    contradicted: list[str]
    """Items on which the judge says both true and false; they have no verdict."""


def parse_verdicts_option(text: str) -> tuple[str, Path]:
    """`NAME=FILE`."""
    name, equals, path = text.partition("=")
    if not equals or not name.strip() or not path:
        raise SitusError(
            f"cannot read {text!r}",
            where="--verdicts",
            fix="write NAME=FILE, e.g. gpt=gpt_eval.json",
        )
    return name.strip(), Path(path)


def read_verdicts(judge: str, path: Path) -> VerdictFile:
    """Read a verdict file; every row needs a verdict (or null) and what it is about."""
    rows, problems = [], []
    for where, row in released_rows(path):
        try:
            rows.append(_row(where, row))
        except SitusError as error:
            problems.append(str(error))
    if problems:
        more = f" (and {len(problems) - 1} more rows)" if len(problems) > 1 else ""
        raise SitusError(problems[0] + more, where=path, fix="is it a verdict file?")
    return VerdictFile(judge, _last_words(rows))


def _last_words(rows: list[VerdictRow]) -> list[VerdictRow]:
    """Without the calls that gave no verdict on something that got one later,
    as a journal holds them."""
    last = {(row.item_id, row.about): place for place, row in enumerate(rows)}
    return [
        row
        for place, row in enumerate(rows)
        if row.correct is not None or not row.about or last[row.item_id, row.about] == place
    ]


def _row(where: str, row: Row) -> VerdictRow:
    name = next((name for name in _VERDICTS if name in row), None)
    if name is None:
        raise SitusError(
            "has no verdict", where=where, fix="a field is_correct: true, false or null"
        )
    correct = _verdict(row[name], where)
    names = [str(row[name]) for name in _IDS if row.get(name)]
    # A case id is an item's only with its position, `volume::3`; other numbers may be anything.
    item_id = next((name for name in names if "::" in name), names[0] if names else "")
    parts = [
        first_text(row, ("question",)),
        first_text(row, REFERENCE_FIELDS),
        first_text(row, _PREDICTIONS),
    ]
    triple = None if None in parts else (parts[0] or "", parts[1] or "", parts[2] or "")
    if triple is None and not item_id:
        raise SitusError(
            "names neither an item nor question, answer and prediction", where=where, fix="add them"
        )
    volume = next(
        (
            volume_stem(row[name])
            for name in VOLUME_FIELDS
            if row.get(name) and isinstance(row[name], str)
        ),
        "",
    )
    about = row.get("about")
    return VerdictRow(
        where, correct, triple, item_id, volume, about if isinstance(about, str) else "", *parts
    )


def _verdict(value: Any, where: str) -> bool | None:
    if value is None or isinstance(value, bool):
        return value
    word = str(value).strip().lower()
    word = "1" if word == "1.0" else "0" if word == "0.0" else word
    if word in _TRUE or word in _FALSE:
        return word in _TRUE
    if word in _NONE:
        return None
    raise SitusError(
        f"verdict {str(value)[:40]!r} is neither true nor false",
        where=where,
        fix="true, false or null",
    )


def _named_by_id(
    file: VerdictFile, answered: Sequence[Item], rows: Mapping[str, AnswerRow]
) -> list[str | None]:
    """For each row the item that its id names, if the row is about this answer to it."""
    by_id = {
        name: item.item_id for item in answered for name in (item.source_id, item.item_id) if name
    }
    hashes = (
        {item.item_id: judged_hash(item, rows.get(item.item_id)) for item in answered}
        if _hashed(file)
        else {}
    )
    by_item = {item.item_id: item for item in answered}
    item_of_row: list[str | None] = []
    for row in file.rows:
        named = by_id.get(as_known(row.item_id, by_id))
        # A position may be counted otherwise, and a verdict on another answer, given before or by
        # another model, is no verdict on this one.
        if named is not None and (
            (row.about and row.about != hashes.get(named, row.about))
            or not _is_about(row, by_item[named], rows.get(named))
        ):
            named = None
        item_of_row.append(named)
    return item_of_row


def join_verdicts(
    file: VerdictFile, items: Sequence[Item], rows: Mapping[str, AnswerRow]
) -> JoinedVerdicts:
    """Give each verdict to the item it is about.

    By id where a row has one and the rest of it is of that item; else by question, reference and
    prediction, and of equal ones by the volume where the row names it, then in the order of file
    and bench. A row that names a volume is about no other, if the file calls volumes as the bench
    does. White space and stray tokens (`###</s>`) may differ; nothing else may. A row beyond those
    is a further word on the same answer; a judge that says both has no verdict.
    """
    answered = [item for item in items if isinstance(item.answer, Text)]
    order = {item.item_id: position for position, item in enumerate(items)}
    item_of_row = _named_by_id(file, answered, rows)
    taken = {item for item in item_of_row if item is not None}
    shares: dict[str, tuple[str, str, str]] = {}
    volumes = {volume_stem(item.study_id) for item in answered}
    file = VerdictFile(
        file.judge,
        [msgspec.structs.replace(row, volume=as_known(row.volume, volumes)) for row in file.rows],
    )
    same_names = any(row.volume in volumes for row in file.rows)
    for plain, with_volume in (
        (_as_it_stands, True),
        (_evened, True),
        (_as_it_stands, False),
        (_evened, False),
    ):
        queues: dict[tuple[str, tuple[str, str, str]], deque[str]] = defaultdict(deque)
        for item in answered:
            if item.item_id not in taken:
                volume = volume_stem(item.study_id) if with_volume else ""
                for triple in dict.fromkeys(_triples(item, rows.get(item.item_id), plain)):
                    queues[volume, triple].append(item.item_id)
        for number, row in enumerate(file.rows):
            bound = bool(row.volume) and same_names
            if item_of_row[number] is None and row.triple is not None and bound == with_volume:
                queue = queues.get(
                    (row.volume if with_volume else "", _map3(plain, row.triple)), deque()
                )
                while queue and queue[0] in taken:
                    queue.popleft()
                if queue:
                    item_id = queue.popleft()
                    item_of_row[number] = item_id
                    taken.add(item_id)
                    if not with_volume:
                        shares[item_id] = _map3(_evened, row.triple)
    _join_repeated(file.rows, item_of_row, answered, rows, same_names=same_names)
    words_of: dict[str, set[bool]] = defaultdict(set)
    for row, found_item in zip(file.rows, item_of_row):
        if found_item is not None:
            words_of[found_item] |= set() if row.correct is None else {row.correct}
    contradicted = sorted(
        (item for item, words in words_of.items() if len(words) > 1), key=lambda item: order[item]
    )
    verdicts = {
        item: next(iter(words)) if len(words) == 1 else None for item, words in words_of.items()
    }
    unjudged = [item.item_id for item in answered if item.item_id not in verdicts]
    lacking = {
        t
        for item in answered
        if item.item_id not in verdicts
        for t in _triples(item, rows.get(item.item_id), _evened)
    }
    ambiguous = sorted(
        (item for item, triple in shares.items() if triple in lacking), key=lambda item: order[item]
    )
    strangers = [row.where for row, found_item in zip(file.rows, item_of_row) if found_item is None]
    return JoinedVerdicts(
        file.judge, verdicts, item_of_row, strangers, unjudged, ambiguous, contradicted
    )


def _is_about(row: VerdictRow, item: Item, answer: AnswerRow | None) -> bool:
    """Whether what a row says of question, reference and prediction is this item's."""
    assert isinstance(item.answer, Text)
    question, reference, prediction = row.triple or (row.question, row.reference, row.prediction)
    return (
        (question is None or _evened(question) == _evened(item.question))
        and (reference is None or _evened(reference) in map(_evened, item.answer.references))
        and (
            prediction is None
            or _evened(prediction) == _evened(answer.response if answer is not None else "")
        )
    )


def _join_repeated(
    file_rows: Sequence[VerdictRow],
    item_of_row: list[str | None],
    answered: Sequence[Item],
    rows: Mapping[str, AnswerRow],
    *,
    same_names: bool,
) -> None:
    """Rows left over that repeat what was judged:
    a further word on that answer, if it is one answer only."""
    items_of: dict[tuple[str, tuple[str, str, str]], set[str]] = defaultdict(set)
    for item in answered:
        for triple in _triples(item, rows.get(item.item_id), _evened):
            items_of[volume_stem(item.study_id), triple].add(item.item_id)
            items_of["", triple].add(item.item_id)
    for number, row in enumerate(file_rows):
        if item_of_row[number] is None and row.triple is not None:
            volume = row.volume if same_names else ""
            matches = items_of.get((volume, _map3(_evened, row.triple)), set())
            if len(matches) == 1:
                item_of_row[number] = next(iter(matches))


def _hashed(file: VerdictFile) -> bool:
    return any(row.about for row in file.rows)


def judged_text(item: Item, row: AnswerRow) -> dict[str, str | list[str]]:
    """What a judge is shown of a free-text answer."""
    assert isinstance(item.answer, Text)
    return {
        "question": item.question,
        "reference": list(item.answer.references),
        "answer": row.response,
    }


def judged_hash(item: Item, row: AnswerRow | None) -> str:
    """A hash of that; empty for an answer that is not there."""
    return "" if row is None else digest(canonical_json(judged_text(item, row)), size=8)


def _triples(
    item: Item, row: AnswerRow | None, plain: Callable[[str], str]
) -> Iterable[tuple[str, str, str]]:
    assert isinstance(item.answer, Text)
    response = row.response if row is not None else ""
    for reference in item.answer.references:
        yield plain(item.question), plain(reference), plain(response)


def _map3(plain: Callable[[str], str], triple: tuple[str, str, str]) -> tuple[str, str, str]:
    return plain(triple[0]), plain(triple[1]), plain(triple[2])


def _as_it_stands(text: str) -> str:
    return text


def _evened(text: str) -> str:
    return " ".join(_STRAY.sub(" ", text).split())


def repeated(names: Iterable[str]) -> str | None:
    """The first name that is given twice."""
    return next((name for name, count in Counter(names).items() if count > 1), None)
