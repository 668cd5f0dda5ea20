"""A key, wherever a user may have put it or a server may repeat it,
is in no file and on no terminal."""

from __future__ import annotations

import json
import os
import random
import shutil
from pathlib import Path
from typing import Any
from unittest import mock
from urllib.parse import quote

from attack.program import call, complaints, tree
from attack.server import Answer, serve

__all__ = ["case"]

_ALPHABET = "abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789"
_HEADS = (
    "sk-",
    "sk-proj-",
    "sk-ant-api03-",
    "hf_",
    "gsk_",
    "xai-",
    "AIzaSy",
    "ghp_",
    "eyJhbGciOi",
    "",
    "",
)
"""How keys of well-known services begin; the last two are those of a server of one's own."""
_SETTINGS = (
    "api_key", "apikey", "key", "token", "Authorization", "auth", "headers", "extra_headers",
    "password", "secret",
    "x-api-key", "bearer", "organization", "user", "seed", "temperature", "stop", "name",
    "key_env", "extra_body",
)  # fmt: skip


def case(rng: random.Random, corpus: Path, work: Path) -> list[str]:
    """A key in a model's spec, or in everything that a server says."""
    head = rng.choice(_HEADS)
    key = head + "".join(rng.choice(_ALPHABET) for _ in range(rng.choice([32, 40, 48, 64])))
    variable = rng.choice(["OPENAI_API_KEY", "MY_SERVER"])
    settings = {variable: key, "SITUS_CACHE": str(work / "cache")}
    with mock.patch.dict(os.environ, settings), serve(lambda body: _echo(rng, key)) as server:
        if rng.random() < 0.5:
            spec = f"openai:m@{server.url}?key_env={variable}"
        else:
            spec = _misplaced(rng, key, server.url)
            if (
                rng.random() < 0.5
            ):  # what cannot be compared with the environment must be known by its looks
                os.environ.pop(variable)
        ran = call(*_words(rng, corpus, work, spec))
    wrong = [text for text in complaints(ran, work, tree(work)) if "leaves" not in text]
    called = " ".join(ran.words[:2])
    kept = [
        path.name
        for path in work.rglob("*")
        if path.is_file() and key.encode() in path.read_bytes()
    ]
    if kept or key in ran.out + ran.err:
        wrong.append(
            f"{called} {spec.replace(key, 'KEY')}: the key stands in {kept or 'the output'}"
        )
    return wrong


def _misplaced(rng: random.Random, key: str, url: str) -> str:
    """Where people put keys that belong in the environment."""
    setting = rng.choice(_SETTINGS)
    header = json.dumps({"Authorization": f"Bearer {key}"})
    return rng.choice(
        [
            f"openai:m@{url}?{setting}={key}",
            f"openai:m@{url}?{setting}=Bearer+{key}",
            f"openai:m@{url}?{setting}={header}",
            f"openai:m@{url}?{setting}={quote(header)}",
            f"openai:m@{url}/{key}",
            f"openai:m@{url}/{key}/v1",
            f"openai:m@{url}?temperature=0&{setting}={key}",
            f"openai:m@{url}#{key}",
            f"openai:m@{url.replace('//', f'//user:{key}@')}",
            f"openai:m@{url.replace('//', f'//{key}@')}",
            f"openai:{key}@{url}",
            f"openai:{key}",
            f"openai:m/{key}@{url}",
            f"{key}",
            f"{key}:m",
            f"random?{setting}={key}",
            f"random:{key}",
            f"hf:{key}",
            f"replay:{key}",
        ]
    )


def _words(rng: random.Random, corpus: Path, work: Path, spec: str) -> tuple[Any, ...]:
    items, out = corpus / "benches" / "items", ("--out", work / "out")
    run = Path(shutil.copytree(corpus / "runs" / "items", work / "run"))
    ask = ("--tries", "1", "--timeout", "5")
    calls: list[tuple[Any, ...]] = []
    if ":" in spec:  # otherwise it is the name of a file there
        calls.append(
            ("import", "ct-spatialvqa", corpus / "qa.json", "--categories", spec, *ask, *out)
        )
    return rng.choice(
        [
            *calls,
            ("run", items, "--model", spec, "--limit", "3", *ask, *out),
            ("run", items, "--model", spec, "--limit", "3", "--json", *ask, *out),
            ("probe", items, "--model", spec, "--probes", "text", "--limit", "2", *ask, *out),
            ("score", items, run, "--judge", spec, *ask, "--json"),
            ("build", "reports", corpus / "reports.csv", "--writer", spec, *ask, *out),
            ("build", "reports", corpus / "reports.csv", "--validator", spec, *ask, *out),
            ("adapter-check", spec, "--profile", "one-slice", "--trials", "12"),
        ]
    )


def _echo(rng: random.Random, key: str) -> Answer:
    """The key in one or all fields of a reply, at any depth."""

    def word(plain: str) -> str:
        return rng.choice([plain, key, f"{plain} {key}", f"Bearer {key}", key + "/" + plain])

    message: dict[str, Any] = {"role": word("assistant"), "content": word("yes")}
    if rng.random() < 0.3:
        message["content"] = [{"type": "text", "text": word("yes")}]
    if rng.random() < 0.3:
        message["refusal"] = word("no")
    if rng.random() < 0.3:
        function = {
            "name": word("answer"),
            "arguments": rng.choice([word("{}"), json.dumps({word("a"): word("b")})]),
        }
        message["tool_calls"] = [{"id": word("1"), "type": "function", "function": function}]
    reply: dict[str, Any] = {
        "id": word("1"), "model": word("m"), "system_fingerprint": word("f"),
        "choices": [{"message": message, "finish_reason": word("stop"), "index": 0}],
        "usage": {"prompt_tokens": 3, word("completion_tokens"): 4, word("details"): {word("x"): 1}},
    }  # fmt: skip
    if rng.random() < 0.3:
        reply = {
            "error": {
                "message": word("x" * rng.randrange(600)),
                "code": word("bad"),
                "type": word("bad"),
            }
        }
    status = rng.choice([200, 200, 200, 400, 401, 429, 500])
    raw = json.dumps(reply)
    if rng.random() < 0.2:  # the same text, spelt otherwise
        raw = raw.replace(key, "".join(f"\\u{ord(c):04x}" for c in key))
    return Answer(
        raw.encode(), status, {"Content-Type": word("application/json"), "Retry-After": word("0")}
    )
