"""Files that are damaged, or were written to do harm."""

from __future__ import annotations

import random
import sys
from pathlib import Path

from attack.commands import FILES, OF_BENCH, lay_out, spell
from attack.corpus import BENCHES
from attack.program import call, complaints, tree

__all__ = ["TOKENS", "case", "check_good", "spoilt"]

_BENCH_FILES = ("bench.json", "items.parquet", "studies.parquet", "facts.parquet", "locations.json")
_RUN_FILES = ("run.json", "answers.jsonl")

TOKENS = [
    b"nan", b"inf", b"-1", b"1e308", b"0", b"99999999999999999999", b"-0.0", b"9" * 5000,
    b"1e-320", b"-inf",
    b"null", b"{}", b"[]", b"true", b'""', b"\x1b[2J", b"\x9b1m", b"\x00", b"\xff\xfe", b"../../x",
    b"/etc/passwd",
    b"A" * 5000, b"[" * 3000, b'{"a":' * 2000, b'"' * 50, b"\xe2\x80\xae", b"\xed\xa0\x80", b"\r\n", b"\t", b",", b";",
    b"<script>", b"%s%n", b"${HOME}", b"\xf0\x9f\xa9\xbb", b"\xc2\xb2", b"--5",
]  # fmt: skip
_NUMBERS = TOKENS[:10]
_HEADER_BYTES = 600


def check_good(corpus: Path, work: Path) -> None:
    """Each command takes its file before it is spoilt: otherwise no case of it could fail."""
    for number, (name, words) in enumerate(FILES):
        folder = work / str(number)
        file = lay_out(name, corpus, folder)
        ran = call(*spell(words, file=file, folder=folder, corpus=corpus, out=folder / "out"))
        if ran.code != 0:
            sys.exit(
                f"the attack itself is wrong: {' '.join(words[:2])} of {name}: {ran.err.strip()}"
            )


def case(rng: random.Random, corpus: Path, work: Path) -> list[str]:
    """One spoilt file, given to a command that reads its kind."""
    folder = work / "in"
    folder.mkdir()
    if rng.random() < 0.7:
        name, words = rng.choice(FILES)
        file = lay_out(name, corpus, folder)
        places = {"file": file}
    else:
        file, words, places = _in_a_bench(rng, corpus, folder)
    file.write_bytes(spoilt(file.read_bytes(), rng))
    before = tree(work)
    ran = call(*spell(words, folder=folder, corpus=corpus, out=work / "out", **places))
    return [f"{file.name} {text}" for text in complaints(ran, work, before)]


def _in_a_bench(
    rng: random.Random, corpus: Path, folder: Path
) -> tuple[Path, tuple[str, ...], dict[str, Path]]:
    kind = rng.choice(BENCHES)
    lay_out(f"benches/{kind}/bench.json", corpus, folder)
    lay_out(f"runs/{kind}/run.json", corpus, folder)
    places = {"bench": folder / "benches" / kind, "run": folder / "runs" / kind}
    words = rng.choice(OF_BENCH)
    reads_run = any("{run}" in word for word in words)
    if reads_run and rng.random() < 0.5:
        return places["run"] / rng.choice(_RUN_FILES), words, places
    return places["bench"] / rng.choice(_BENCH_FILES), words, places


def spoilt(content: bytes, rng: random.Random) -> bytes:
    """The content after one to four accidents."""
    raw = bytearray(content)
    for _ in range(rng.randint(1, 4)):
        # Headers are where lengths and types stand; half of the accidents happen there.
        place = rng.randrange(min(len(raw), rng.choice([_HEADER_BYTES, len(raw)])) + 1)
        match rng.randrange(8):
            case 0:
                del raw[place:]
            case 1:
                raw[place : place + rng.randint(1, 64)] = b""
            case 2:
                raw[place:place] = rng.choice(TOKENS)
            case 3 if raw:
                raw[min(place, len(raw) - 1)] ^= 1 << rng.randrange(8)
            case 4:
                raw[place:place] = raw[place : place + rng.randint(1, 400)]
            case 5:
                _replace_a_number(raw, rng)
            case 6:
                _replace_a_word(raw, rng)
            case _:
                lines = bytes(raw).split(b"\n")
                rng.shuffle(lines)
                raw = bytearray(b"\n".join(lines))
    return bytes(raw)


def _replace_a_number(raw: bytearray, rng: random.Random) -> None:
    digits = [n for n, byte in enumerate(raw) if 48 <= byte <= 57]
    if digits:
        place = rng.choice(digits)
        raw[place : place + 1] = rng.choice(_NUMBERS)


def _replace_a_word(raw: bytearray, rng: random.Random) -> None:
    """What stands between two quotes or commas: the value of a field, whole."""
    for mark in rng.sample([b'"', b",", b" "], 3):
        parts = bytes(raw).split(mark)
        if len(parts) > 3:
            parts[rng.randrange(1, len(parts) - 1)] = rng.choice(TOKENS)
            raw[:] = mark.join(parts)
            return
