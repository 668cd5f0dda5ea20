"""Asking about many things at once, each under its id:
what comes back belongs to its id, never to its place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from situs.base.files import canonical_json, digest, read_text, write_atomic
from situs.clients import (
    Forecast,
    Message,
    Reply,
    Request,
    Spent,
    Tally,
    Terms,
    ask,
    check_may_ask,
    forecast,
)
from situs.clients.turns import ActionKind, Misread, read_action, schema_of
from situs.errors import SitusError
from situs.judges.asker import Asker
from situs.run import AppendFile
from situs.score import loose_values
from situs.score.read import without_spans

__all__ = ["AskedByID", "Role", "Subject", "ask_by_id", "forecast_by_id"]

_SAMPLE = 24
"""Requests that a forecast is reckoned from."""

_AGAIN = (
    "Your last reply could not be read. Reply with the one JSON object asked for and nothing else."
)


class Subject(msgspec.Struct, frozen=True):
    """One thing that is asked about."""

    id: str
    shown: dict[str, Any]
    """What the model sees of it beside its id."""

    @property
    def about(self) -> str:
        """A hash of what was seen: an answer to something else is no answer."""
        return digest(canonical_json(self.shown), size=8)


class Role(msgspec.Struct, frozen=True):
    """What a model is asked to do with each subject."""

    name: str
    instructions: str
    fields: dict[str, Any]
    """JSON schema of every field of an entry beside `id`."""
    read: Callable[[Mapping[str, Any]], dict[str, Any] | None]
    """The entry as it is kept; None if it is malformed."""
    empty: dict[str, Any] = {}
    """What is kept of a subject that got no entry."""
    actions: tuple[ActionKind, ...] = ()
    """What an agent may do in a turn. Its subjects are asked one by one, and a reply is one flat
    action; without actions several subjects are asked at once, and a reply has an entry for
    each."""
    max_tokens: int | None = None
    """Room for a reply, unless the model's spec says how much."""

    @property
    def schema(self) -> dict[str, Any]:
        """Of a whole reply."""
        if self.actions:
            return schema_of(self.actions)
        fields = {"id": {"type": "string"}, **self.fields}
        entry = {
            "type": "object",
            "properties": fields,
            "required": list(fields),
            "additionalProperties": False,
        }
        entries = {"type": "array", "items": entry}
        return {
            "type": "object",
            "properties": {"entries": entries},
            "required": ["entries"],
            "additionalProperties": False,
        }

    @property
    def version(self) -> str:
        """A hash of what it is told."""
        reply_form = schema_of(self.actions) if self.actions else self.fields
        return digest(self.instructions, canonical_json(reply_form), size=8)


class AskedByID(msgspec.Struct, frozen=True):
    """How it went. Counts of subjects are of all; the rest is of this call alone."""

    name: str
    subjects: int
    answered: int
    given_up: int
    """Asked twice and never told: nothing readable came back under the id."""
    failed: int
    requests: int
    cached: int
    seconds: float
    cost: float | None
    tokens: dict[str, int]
    stopped: str = ""
    interrupted: bool = False
    cut: int = 0
    """Of those given up: the last reply ended at the limit of tokens, or ran on with blanks."""
    spent: Spent = Spent()
    """By the journal: earlier sessions included."""

    @property
    def left(self) -> int:
        """Subjects that were not asked to the end."""
        return self.subjects - self.answered - self.given_up - self.failed


def ask_by_id(
    asker: Asker,
    role: Role,
    subjects: Sequence[Subject],
    journal: Path,
    *,
    restricted: bool,
    settled: Mapping[str, dict[str, Any]] | None = None,
) -> tuple[dict[str, dict[str, Any]], AskedByID]:
    """Id → entry for every subject that got one, from the journal or by asking.

    Subjects are asked in batches; those that do not come back exactly once and well formed are
    asked again singly, and then given up. `settled` entries need no asking. The journal gets a row
    per subject and call, at once; a second session asks what is left.
    """
    client = asker.make()
    terms = Terms(restricted, asker.allow_remote, asker.limits, asker.price)
    check_may_ask(client, terms)
    twice = [
        name for name, count in Counter(subject.id for subject in subjects).items() if count > 1
    ]
    if twice:
        raise SitusError(f"{twice[0]} is asked about twice", fix="ids must differ")
    journal.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    _claim(journal, asker, role)
    book = _Book(journal, role, {subject.id: subject for subject in subjects})
    book.settle(settled or {})
    rounds = ((1 if role.actions else asker.batch, False), (1, True))
    tokens, totals, cost = Counter[str](), Counter[str](), 0.0 if asker.price is not None else None
    seconds, stopped, interrupted, used = 0.0, "", False, False
    try:
        for size, again in rounds:
            wanted = book.waiting(again)
            if not wanted:
                continue
            # Asking closes its client.
            client = asker.make() if used else client
            asked = ask(
                client,
                _requests(role, wanted, size, book.problems if again else None, asker),
                book.record,
                msgspec.structs.replace(terms, spent=book.spent),
                cache=asker.cache,
                progress=partial(_tell, asker, len(subjects) - len(wanted), len(subjects)),
                say=asker.say,
            )
            tally = asked.tally
            totals.update(requests=tally.requests, cached=tally.cached)
            tokens.update(prompt=int(tally.prompt_tokens), completion=int(tally.completion_tokens))
            cost = None if cost is None or tally.cost is None else cost + tally.cost
            seconds += tally.seconds
            stopped, interrupted = asked.stopped, asked.interrupted
            if stopped:
                break
            used = True
    finally:
        book.close()
    states = Counter(book.states[subject.id] for subject in subjects if subject.id in book.states)
    result = AskedByID(
        asker.name,
        len(subjects),
        states["done"],
        states["given_up"],
        states["failed"],
        totals["requests"],
        totals["cached"],
        seconds,
        cost,
        {"prompt": tokens["prompt"], "completion": tokens["completion"]},
        stopped,
        interrupted,
        sum(book.is_cut(subject.id) for subject in subjects),
        book.spent,
    )
    return book.entries, result


def forecast_by_id(
    asker: Asker,
    role: Role,
    subjects: Sequence[Subject],
    journal: Path,
    settled: Collection[str] = (),
) -> Forecast:
    """What asking about the subjects that have no last word would take;
    nothing is sent or written."""
    known = {subject.id: subject for subject in subjects}
    ended = {
        str(row["item_id"])
        for row in _rows(journal)
        if row.get("state") in ("done", "given_up")
        and row.get("about") == getattr(known.get(str(row.get("item_id"))), "about", None)
    }
    left = [one for one in subjects if one.id not in ended and one.id not in settled]
    size = 1 if role.actions else asker.batch
    requests = list(_requests(role, left, size, None, asker))
    sample = requests[:: max(1, len(requests) // _SAMPLE)]
    return forecast(asker.spec, sample, len(requests), asker.limits, asker.price)


def _tell(asker: Asker, before: int, total: int, tally: Tally) -> None:
    asker.progress(tally, before, total)


def _claim(journal: Path, asker: Asker, role: Role) -> None:
    """Say beside the journal whose it is; refuse to go on with another's."""
    about = journal.with_suffix(".json")
    claim = (
        canonical_json({"model": asker.identity, "role": role.name, "instructions": role.version})
        + b"\n"
    )
    if about.is_file():
        if about.read_bytes() != claim:
            fix = (
                "give a judge a name of its own (?name=second), or remove the journal and its .json"
            )
            raise SitusError(
                "another model or another wording of the task wrote it", where=journal, fix=fix
            )
        return
    if journal.is_file() and journal.stat().st_size:
        raise SitusError(
            "nothing says which model wrote it",
            where=journal,
            fix="remove it, or give ?name=second",
        )
    write_atomic(about, claim)


def _requests(
    role: Role,
    subjects: list[Subject],
    size: int,
    problems: Mapping[str, str] | None,
    asker: Asker,
) -> Iterator[Request]:
    """`problems`: id → what was wrong with the last reply, where all are asked again."""
    settings = asker.settings
    if role.max_tokens is not None and "max_tokens" not in asker.spec.settings:
        settings = msgspec.structs.replace(settings, max_tokens=role.max_tokens)
    for start in range(0, len(subjects), size):
        asked = subjects[start : start + size]
        subject_fields: Any = [{"id": subject.id, **subject.shown} for subject in asked]
        if role.actions:
            subject_fields = asked[0].shown
        instructions = role.instructions
        if problems is not None:
            why = problems.get(asked[0].id) if role.actions else ""
            instructions += f"\n\n{f'Your last reply: {why}.' if why else _AGAIN}"
        words = msgspec.json.encode(subject_fields).decode()
        messages = (Message("system", (instructions,)), Message("user", (words,)))
        key = "\n".join(subject.id for subject in asked)
        yield Request(key, messages, settings, schema=role.schema)


class _Book:
    """The journal while it is written, and what it says so far."""

    def __init__(self, path: Path, role: Role, subjects: Mapping[str, Subject]) -> None:
        self._role, self._subjects = role, subjects
        self.states: dict[str, str] = {}
        self.entries: dict[str, dict[str, Any]] = {}
        self.problems: dict[str, str] = {}
        """Id → why its last reply was not read."""
        self.spent = Spent()
        self._file = AppendFile(path)
        self._again = False
        for row in _rows(path):
            self._count(row)

    def waiting(self, again: bool) -> list[Subject]:
        """Those to ask now: in the first round all without a last word,
        in the second those whose word was unread."""
        self._again = again
        open_states = ("unread",) if again else (None, "failed")
        return [
            subject
            for id_, subject in self._subjects.items()
            if self.states.get(id_) in open_states
        ]

    def record(self, request: Request, reply: Reply, seconds: float) -> None:
        """Every subject of a call gets its row."""
        ids = request.key.split("\n")
        entries = self._read(reply, ids) if reply.state == "answered" else {}
        share = {name: value / len(ids) for name, value in reply.usage.items()}
        for id_ in ids:
            entry = entries.get(id_)
            row: dict[str, Any] = {"item_id": id_, "about": self._subjects[id_].about}
            if reply.state == "failed":
                row |= {"state": "failed", **self._role.empty, "error": reply.error}
            elif entry is not None:
                row |= {"state": "done", **entry}
            else:
                why = self.problems.get(id_, "no readable entry under its id")
                row |= {"state": "given_up" if self._again else "unread", **self._role.empty}
                row |= {"error": "refused" if reply.state == "refused" else why}
            row |= {"usage": share, "seconds": round(seconds, 3), "cached": reply.cached}
            self._file.add(row)
            self._count(row)

    def _read(self, reply: Reply, ids: Sequence[str]) -> dict[str, dict[str, Any]]:
        """Id → entry, of all that can be read; of an action that cannot, why."""
        if not self._role.actions:
            return _entries(reply.text, self._role, ids)
        (id_,) = ids
        action = read_action(reply, self._role.actions)
        if isinstance(action, Misread):
            self.problems[id_] = f"{action.state}: {action.reason}"
            return {}
        entry = self._role.read({"action": action.name, **action.arguments})
        if entry is None:
            self.problems[id_] = f"invalid: {action.name} lacks what it needs"
            return {}
        return {id_: entry}

    def is_cut(self, id_: str) -> bool:
        """Whether a subject was given up because its last reply was cut off."""
        return self.states.get(id_) == "given_up" and self.problems.get(id_, "").startswith("cut:")

    def settle(self, entries: Mapping[str, dict[str, Any]]) -> None:
        """Write down what needs no asking."""
        for id_, entry in entries.items():
            if self.states.get(id_) != "done":
                row = {"item_id": id_, "about": self._subjects[id_].about, "state": "done", **entry}
                self._file.add(row)
                self._count(row)

    def close(self) -> None:
        """Let go of the journal."""
        self._file.close()

    def _count(self, row: Mapping[str, Any]) -> None:
        usage = row.get("usage")
        if isinstance(usage, dict) and not row.get("cached"):
            self.spent = self.spent.plus(usage)
        subject = self._subjects.get(str(row.get("item_id")))
        if subject is None or row.get("about") != subject.about:
            return
        self.states[subject.id] = str(row.get("state"))
        if row.get("error"):
            self.problems[subject.id] = str(row["error"])
        entry = self._role.read(row) if row.get("state") == "done" else None
        if entry is not None:
            self.entries[subject.id] = entry


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    if not path.is_file():
        return
    lines = read_text(path, limit_bytes=1 << 31).split("\n")
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            row = msgspec.json.decode(line)
        except (msgspec.DecodeError, RecursionError) as error:
            raise SitusError(
                str(error), where=f"{path}:{number}", fix="remove the line; it will be asked again"
            ) from error
        if isinstance(row, dict):
            yield row


def _entries(text: str, role: Role, ids: Sequence[str]) -> dict[str, dict[str, Any]]:
    """The well-formed entries whose id was asked and came back exactly once."""
    objects = [
        entry
        for loose in loose_values(without_spans(text, "<think>", "</think>"))
        for entry in _objects(loose.value)
    ]
    # Some models repeat what they were given before they answer; that is no entry.
    objects = [entry for entry in objects if entry.keys() & role.fields.keys()]
    id_counts = Counter(str(entry.get("id")).strip() for entry in objects)
    result = {}
    for entry in objects:
        id_ = str(entry.get("id")).strip()
        read = role.read(entry) if id_ in ids and id_counts[id_] == 1 else None
        if read is not None:
            result[id_] = read
    return result


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    """Every object with an id, however deep it stands."""
    if isinstance(value, list):
        for part in value:
            yield from _objects(part)
    elif isinstance(value, dict):
        if "id" in value:
            yield value
            return
        for part in value.values():
            yield from _objects(part)
