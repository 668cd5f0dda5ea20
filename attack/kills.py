"""The program killed at any moment: what was there is whole, and the same command ends well."""

from __future__ import annotations

import random
import shutil
import signal
import time
from pathlib import Path

from attack.program import spawn, tree

__all__ = ["case"]


def case(rng: random.Random, corpus: Path, work: Path) -> list[str]:
    """Kill a command that makes or replaces a folder, then give it again."""
    command = rng.choice([_import, _run, _export, _build])
    words, out = command(corpus, work, rng)
    exists = rng.random() < 0.6 and words[0] != "run"
    if exists:
        spawn(*words).wait()
        words = [*words, "--overwrite"]
    before = _contents(out)
    process = spawn(*words)
    time.sleep(rng.random() * rng.choice([0.5, 1.0, 2.5]))
    process.send_signal(rng.choice([signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT]))
    process.wait(60)
    wrong = []
    if exists and _contents(out) != before and not (out / _marker(words)).is_file():
        wrong.append(f"{words[0]}: the old folder is gone and the new one is not there")
    again = spawn(*words)
    again.wait(100)
    finished_before_the_kill = again.returncode == 2 and out.exists()
    if again.returncode != 0 and not finished_before_the_kill:
        assert again.stderr is not None
        wrong.append(f"{' '.join(words[:2])} again: exit {again.returncode} {again.stderr.read()[:200]!r}")
    left = sorted(name for name in tree(work) if ".part" in name)
    if left and not finished_before_the_kill:
        wrong.append(f"{' '.join(words[:2])}: leaves {left[:3]}")
    return wrong


def _contents(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def _marker(words: list[str]) -> str:
    return {"export": "README.md", "run": "run.json"}.get(words[0], "bench.json")


def _import(corpus: Path, work: Path, rng: random.Random) -> tuple[list[str], Path]:
    return ["import", "items", str(corpus / "items.jsonl"), "--out", str(work / "bench")], work / "bench"


def _run(corpus: Path, work: Path, rng: random.Random) -> tuple[list[str], Path]:
    model = f"random?delay={rng.choice(['0', '0.02', '0.1'])}"
    return ["run", str(corpus / "bench"), "--model", model, "--out", str(work / "run")], work / "run"


def _export(corpus: Path, work: Path, rng: random.Random) -> tuple[list[str], Path]:
    to = rng.choice(["inspect", "lmms-eval"])
    shutil.copytree(corpus / "run", work / "of")
    run = ["export", str(work / "of"), "--bench", str(corpus / "bench"), "--to", to]
    return [*run, "--out", str(work / "out")], work / "out"


def _build(corpus: Path, work: Path, rng: random.Random) -> tuple[list[str], Path]:
    rows = "".join(f"s{n},p{n},,{corpus / 'labels.nii.gz'}\n" for n in range(3))
    (work / "table.csv").write_text("study,patient,image,labels\n" + rows)
    words = ["build", "masks", str(work / "table.csv"), "--names", str(corpus / "names.csv"), "--annotation", "manual"]
    return [*words, "--jobs", str(rng.choice([1, 2])), "--out", str(work / "bench")], work / "bench"
