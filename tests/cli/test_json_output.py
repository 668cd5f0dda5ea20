"""What --json prints is JSON, whatever standard output can spell."""

from __future__ import annotations

import io
import json
import sys

import pytest

from situs.cli.output.printing import OutputStream, print_json, print_json_line

SAID = {"größe": "肝臓 😀 \u202e \x1b[2J €", "plain": [1, None]}


@pytest.mark.parametrize("encoding", ["utf-8", "ascii", "latin-1", "cp1252", "euc_jp", "utf-16"])
@pytest.mark.parametrize("say", [print_json, print_json_line])
def test_json_in_any_alphabet(monkeypatch, encoding, say) -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding=encoding, errors="backslashreplace")
    monkeypatch.setattr(sys, "stdout", OutputStream(stream))
    say(SAID)
    stream.flush()
    text = raw.getvalue().decode(encoding)
    assert json.loads(text) == SAID
    assert "\x1b" not in text
