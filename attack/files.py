"""Files that are damaged, or were written to do harm."""

from __future__ import annotations

import random
import shutil
import sys
from importlib.resources import files
from pathlib import Path

from attack.program import call, complaints, tree

__all__ = ["case"]

_COMMANDS: dict[str, tuple[str, ...]] = {
    "labels.nii.gz": ("measure", "{file}", "--json"),
    "labels.nii": ("measure", "{file}"),
    "labels.nrrd": ("measure", "{file}", "--details", "--json"),
    "labels.seg.nrrd": ("measure", "{file}", "--pairs", "all"),
    "labels.mha": ("measure", "{file}"),
    "names.csv": ("measure", "{corpus}/labels.nii.gz", "--names", "{file}"),
    "table.csv": (
        "build",
        "masks",
        "{file}",
        "--names",
        "{corpus}/names.csv",
        "--annotation",
        "manual",
        "--out",
        "out",
    ),
    "boxes.csv": ("build", "boxes", "{file}", "--out", "out"),
    "reports.csv": ("build", "reports", "{file}", "--out", "out"),
    "grades.csv": ("build", "grades", "{file}", "--out", "out"),
    "items.jsonl": ("import", "items", "{file}", "--out", "out"),
    "qa.json": ("import", "ct-spatialvqa", "{file}", "--out", "out"),
    "answers.jsonl": ("run", "{corpus}/bench", "--model", "replay:{file}", "--out", "out"),
    "verdicts.jsonl": ("score", "{corpus}/bench", "{corpus}/run", "--verdicts", "v={file}"),
    "bench/items.parquet": ("check", "{folder}/bench"),
    "bench/studies.parquet": ("run", "{folder}/bench", "--model", "prior", "--out", "out"),
    "bench/bench.json": ("debias", "{folder}/bench", "--out", "out"),
    "run/answers.jsonl": ("score", "{corpus}/bench", "{folder}/run"),
    "run/run.json": ("compare", "{folder}/run", "{corpus}/run", "--bench", "{corpus}/bench"),
    "recipe.toml": ("build", "reports", "{corpus}/reports.csv", "--recipe", "{file}", "--out", "out"),
    "profile.toml": ("run", "{corpus}/bench", "--model", "random", "--profile", "{file}", "--out", "out"),
}

_TOKENS = [
    b"nan", b"inf", b"-1", b"1e308", b"0", b"99999999999999999999", b"-0.0", b"null", b"{}", b"[]", b"true", b'""',
    b"\x1b[2J", b"\x9b1m", b"\x00", b"\xff\xfe", b"../../x", b"/etc/passwd", b"A" * 5000, b"[" * 3000, b'"' * 50,
    b"\xe2\x80\xae", b"\r\n", b"\t", b",", b";", b"<script>", b"%s%n", b"${HOME}", b"\xf0\x9f\xa9\xbb",
]  # fmt: skip

_HEADER_BYTES = 600


def check_good(corpus: Path, work: Path) -> None:
    """Each command takes its file before it is spoilt: otherwise no case of it could fail."""
    for number, (name, words) in enumerate(_COMMANDS.items()):
        folder = work / str(number)
        file = folder / name
        file.parent.mkdir(parents=True)
        if "/" in name:
            shutil.copytree(corpus / file.parent.name, file.parent, dirs_exist_ok=True)
        file.write_bytes(_good(corpus, name))
        if name == "table.csv":
            shutil.copy(corpus / "labels.nii.gz", folder)
        out = str(folder / "out")
        ran = call(*(out if w == "out" else w.format(file=file, folder=folder, corpus=corpus) for w in words))
        if ran.code != 0:
            sys.exit(f"the attack itself is wrong: {' '.join(words[:2])} of {name}: {ran.err.strip()}")


def case(rng: random.Random, corpus: Path, work: Path) -> list[str]:
    """One spoilt file, given to the command that reads its kind."""
    name = rng.choice(list(_COMMANDS))
    folder = work / "in"
    folder.mkdir()
    if "/" in name:
        shutil.copytree(corpus / name.partition("/")[0], folder / name.partition("/")[0])
    file = folder / name
    if name == "table.csv":
        shutil.copy(corpus / "labels.nii.gz", folder)
    file.write_bytes(spoilt(_good(corpus, name), rng))
    before = tree(work)
    words = [word.format(file=file, folder=folder, corpus=corpus) for word in _COMMANDS[name]]
    return complaints(call(*words), work, before)


def _good(corpus: Path, name: str) -> bytes:
    if name == "recipe.toml":
        return files("situs.facts").joinpath("data", "recipe.toml").read_bytes()
    if name == "profile.toml":
        return files("situs.profiles").joinpath("data", "default.toml").read_bytes()
    return (corpus / name).read_bytes()


def spoilt(content: bytes, rng: random.Random) -> bytes:
    """The content after one to four accidents."""
    raw = bytearray(content)
    for _ in range(rng.randint(1, 4)):
        # Headers are where lengths and types stand; half of the accidents happen there.
        place = rng.randrange(min(len(raw), rng.choice([_HEADER_BYTES, len(raw)])) + 1)
        match rng.randrange(7):
            case 0:
                del raw[place:]
            case 1:
                raw[place : place + rng.randint(1, 64)] = b""
            case 2:
                raw[place:place] = rng.choice(_TOKENS)
            case 3 if raw:
                raw[min(place, len(raw) - 1)] ^= 1 << rng.randrange(8)
            case 4:
                raw[place:place] = raw[place : place + rng.randint(1, 400)]
            case 5:
                _replace_a_number(raw, rng)
            case _:
                lines = bytes(raw).split(b"\n")
                rng.shuffle(lines)
                raw = bytearray(b"\n".join(lines))
    return bytes(raw)


def _replace_a_number(raw: bytearray, rng: random.Random) -> None:
    digits = [n for n, byte in enumerate(raw) if 48 <= byte <= 57]
    if digits:
        place = rng.choice(digits)
        raw[place : place + 1] = rng.choice(_TOKENS[:7])
