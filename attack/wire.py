"""Servers that misbehave: every answer given once or plainly missing, no key kept, no traceback."""

from __future__ import annotations

import gzip
import os
import random
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path

from attack.program import call, complaints, tree
from attack.server import Answer, completion, serve

__all__ = ["case"]

_KEY = "sk-attack-0123456789abcdef"
_BODIES = [
    b"", b"{}", b"[]", b"null", b"not json", b"[" * 20_000, b'{"choices": []}',
    b'{"choices": [{}]}', b'{"choices": 1}',
    b'{"choices": [{"message": {"content": null}}]}',
    b'{"error": {"message": "' + _KEY.encode() + b'"}}', b'"\\ud800"',
    b'{"choices": [{"message": {"content": ' + b'"' + b"<think>" * 3000 + b'"}}]}',
    b"\xff\xfe\x00", b"A" * 200_000,
    b'{"choices": [{"message": {"content": [{"type": "text"}]}}], "usage": {"prompt_tokens": -1}}',
    b'{"choices": [{"message": {"content": "yes"}}], "usage": {"prompt_tokens": 1e308, "completion_tokens": "x"}}',
    b'{"choices": [{"message": {"content": "yes"}}], "usage": {"prompt_tokens": 99999999999999999999999}}',
]  # fmt: skip
_TEXTS = [
    "yes", "no", "A", "[" * 5000, "\x1b[2J", _KEY, '{"verdict": NaN}', "1e308", "",
    "correct " * 4000, "\ud800", "\x00",
    '[{"id": 1, "verdict": "correct"}]', '{"questions": []}', "9" * 5000, None, 7, ["yes"],
    {"a": 1},
]  # fmt: skip
_STATUS = [200] * 6 + [204, 301, 302, 307, 400, 401, 404, 413, 429, 500, 502, 503, 529, 599]
_HEADERS = [
    {"Retry-After": "0"}, {"Retry-After": "-1"}, {"Retry-After": "nan"}, {"Retry-After": "soon"},
    {}, {},
    {"Content-Type": "text/html"}, {"Content-Type": ""}, {"Content-Encoding": "gzip"},
    {"X-Key": _KEY},
    {"Content-Type": "application/json; charset=utf-7"}, {"Set-Cookie": "a=b"},
    {"Location": "/elsewhere"},
]  # fmt: skip
_JSON = {"Content-Type": "application/json"}


@cache
def _bomb() -> bytes:
    """100 MB of blanks, packed."""
    return gzip.compress(b" " * (100 << 20), 9)


_SLOW_OR_LARGE: tuple[Callable[[], Answer], ...] = (
    lambda: Answer(completion("yes"), pause_seconds=0.2),
    lambda: Answer(completion("yes"), pause_seconds=0.001),
    lambda: Answer(completion("yes"), stay_open=True),
    lambda: Answer(b"", stay_open=True),
    lambda: Answer(b" " * (1 << 20), headers=_JSON, repeat=1 << 10),
    lambda: Answer(_bomb(), headers=_JSON | {"Content-Encoding": "gzip"}),
    lambda: Answer(b"x" * 999, headers=_JSON | {"Content-Encoding": "br"}),
    lambda: Answer(completion("yes"), headers=_JSON | {"Transfer-Encoding": "chunked"}),
    lambda: Answer(completion("yes"), headers={f"X-{n}": "y" * 900 for n in range(90)}),
    lambda: Answer(completion("yes"), headers={"X": "y" * 90_000}),
    lambda: Answer(b"data: {}\n\n" * 9, headers={"Content-Type": "text/event-stream"}, repeat=99),
)
"""A server that drips, never ends, or sends far more than anybody asked for."""


def case(rng: random.Random, corpus: Path, work: Path) -> list[str]:
    """A model, judge, writer or validator behind a faulty server."""
    os.environ.update(
        dict.fromkeys(("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY"), _KEY)
    )
    run = Path(shutil.copytree(corpus / "runs" / "items", work / "run"))
    chance = random.Random(rng.random())
    with serve(lambda _: _answer(chance)) as server:
        model = f"{rng.choice(['openai', 'openai', 'anthropic', 'gemini'])}:m@{server.url}"
        ask = ("--tries", "2", "--timeout", "5", "--stall-timeout", "2", "--no-cache")
        out = ("--out", work / "out")
        words = rng.choice(
            [
                ("score", corpus / "benches" / "items", run, "--judge", model, *ask),
                ("run", corpus / "benches" / "items", "--model", model, *ask, *out),
                (
                    "run",
                    corpus / "benches" / "scans",
                    "--model",
                    model,
                    "--profile",
                    "one-slice",
                    *ask,
                    *out,
                ),
                ("build", "reports", corpus / "reports.csv", "--writer", model, *ask, *out),
                ("build", "reports", corpus / "reports.csv", "--validator", model, *ask, *out),
                ("import", "ct-spatialvqa", corpus / "qa.json", "--categories", model, *ask, *out),
                (
                    "probe",
                    corpus / "benches" / "items",
                    "--model",
                    model,
                    "--probes",
                    "text",
                    *ask,
                    *out,
                ),
                ("adapter-check", model, "--profile", "one-slice", "--trials", "12"),
            ]
        )
        ran = call(*words)
    wrong = complaints(ran, work, tree(work))
    kept = [
        path.name
        for path in work.rglob("*")
        if path.is_file() and _KEY.encode() in path.read_bytes()
    ]
    if kept or _KEY in ran.out + ran.err:
        wrong.append(f"{words[0]}: the key stands in {kept or 'the output'}")
    return wrong


def _answer(chance: random.Random) -> Answer:
    if chance.random() < 0.08:
        return Answer(hang_up=True)
    if chance.random() < 0.12:
        return chance.choice(_SLOW_OR_LARGE)()
    body = completion(chance.choice(_TEXTS)) if chance.random() < 0.6 else chance.choice(_BODIES)
    headers = {"Content-Type": "application/json"} | chance.choice(_HEADERS)
    missing = chance.choice([0, 0, 0, 0, 7, -3, 1 << 40])
    return Answer(body, chance.choice(_STATUS), headers, missing_bytes=missing)
