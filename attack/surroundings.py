"""The program from its start, in surroundings that nobody would choose: its folder, its variables,
its terminal.

All of it is started as people start it, since a process that is loaded already has met its
surroundings.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

from attack.apart import begin, started
from attack.commands import FILES, OF_BENCH, lay_out, spell
from attack.corpus import BENCHES
from attack.program import Ran, call_from_the_start, complaints, tree

__all__ = ["case"]

_LONGEST_SECONDS = 900
_TIMED = ("run", "probe", "author", "adapter-check")
"""Commands that say how long they took."""
_TRUST = ("--trust", "s0", "--trust", "s1", "--trust", "s2")
_STRANGERS = (
    "multiprocessing.py", "numpy.py", "sitecustomize.py", "usercustomize.py", "situs.py",
    "json.py", "click.py",
    "pickle.py", "transformers.py", "torch.py", "ray.py", "pyarrow.py", "random.py", "site.py",
    "numpy/__init__.py",
    "situs/__init__.py", "situs/__main__.py", "encodings/__init__.py",
)  # fmt: skip
_VARIABLES: tuple[dict[str, str | None], ...] = (
    {"TERM": "dumb"}, {"TERM": ""}, {"HOME": None}, {"HOME": "/proc/nowhere"}, {"HOME": ""},
    {"TMPDIR": "/nowhere"},
    {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    {"PYTHONIOENCODING": "latin-1"}, {"COLUMNS": "1"},
    {"XDG_CACHE_HOME": "/proc/nowhere", "SITUS_CACHE": None}, {"SITUS_CACHE": "/dev/null"},
    {"PYTHONHASHSEED": "3"},
    {"XDG_CONFIG_HOME": "/proc/nowhere"}, {"COLUMNS": "nan", "LINES": "-1"},
    {"PYTHONWARNINGS": "error"}, {"PATH": ""},
    {"NO_COLOR": "1", "FORCE_COLOR": "1"}, {"USER": None, "LOGNAME": None},
    {"SITUS_ID_KEY": "short"}, {"LANG": "xx"},
    {"NUMBA_CACHE_DIR": "/proc/nowhere"}, {"PYTHONDONTWRITEBYTECODE": "1"},
    {"TZ": "nowhere/nowhere"},
)  # fmt: skip


def case(rng: random.Random, corpus: Path, work: Path) -> list[str]:
    """One oddity, and a command that works elsewhere."""
    return rng.choice([_beside, _variables, _variables, _same_bytes, _head, _both_ways, _ctrl_c])(
        rng, corpus, work
    )


def _command(rng: random.Random, corpus: Path, work: Path) -> list[str]:
    kind = rng.choice(BENCHES)
    lay_out(f"runs/{kind}/run.json", corpus, work)
    places = {"bench": corpus / "benches" / kind, "run": work / "runs" / kind, "corpus": corpus}
    if rng.random() < 0.6:
        return spell(rng.choice(OF_BENCH), out=work / "out", **places)
    name, template = rng.choice(FILES)
    return spell(template, out=work / "out", file=corpus / name, folder=corpus, **places)


def _started(
    words: list[str], folder: Path, changes: dict[str, str | None], script: Path | None = None
) -> Ran:
    changed = {name: changes.get(name, value) for name, value in {**os.environ, **changes}.items()}
    environment = {name: value for name, value in changed.items() if value is not None}
    process = started(*words, cwd=folder, env=environment, start_new_session=True, script=script)
    out, err = process.communicate(timeout=_LONGEST_SECONDS)
    return Ran(
        tuple(words), process.returncode, out.decode(errors="replace"), err.decode(errors="replace")
    )


def _beside(rng: random.Random, corpus: Path, work: Path) -> list[str]:
    """Code that lies beside the data, or where the program is called, does not run."""
    data = work / "data"
    data.mkdir()
    for name in rng.sample(_STRANGERS, 4):
        file = data / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(f"open({str(work / 'ran')!r}, 'a').write({name!r})\n")
    for name in ("scans.csv", "names.csv", "ct.nii.gz", "labels.nii.gz", "grades.csv"):
        (data / name).write_bytes((corpus / name).read_bytes())
    masks = ("build", "masks", "scans.csv", "--names", "names.csv", *_TRUST, "--out", "out")
    scans = str(corpus / "benches" / "scans")
    words: list[Any] = list(
        rng.choice(
            [
                (*masks, "--jobs", "2"),
                masks,
                ("build", "grades", "grades.csv", "--jobs", "2", "--out", "out"),
                ("run", scans, "--model", "hf:.", "--limit", "1", "--out", "out"),
                ("author", scans, "--per-study", "2", "--jobs", "2", "--out", "out"),
                ("measure", "labels.nii.gz"),
                ("doctor",),
                (*masks, "--engine", "ray"),
            ]
        )
    )
    script = (
        work / "bin" / "situs"
    )  # as an installation makes it: it looks for modules beside itself
    script.parent.mkdir()
    lines = ("import sys", "from situs.__main__ import main")
    script.write_text("\n".join((*lines, "if __name__ == '__main__':", "    sys.exit(main())\n")))
    ran = _started(words, data, {}, script)
    wrong = (
        [f"code beside the data ran: {(work / 'ran').read_text()}"]
        if (work / "ran").exists()
        else []
    )
    if ran.code not in (0, 1, 2) or "Traceback" in ran.err:
        wrong.append(f"exit {ran.code} {ran.err[-300:]!r}")
    return [f"{' '.join(words[:2])}: {text}" for text in wrong]


def _variables(rng: random.Random, corpus: Path, work: Path) -> list[str]:
    words = _command(rng, corpus, work)
    changes = rng.choice(_VARIABLES)
    before = tree(work)
    ran = _started(words, work, changes)
    return [f"{changes}: {text}" for text in complaints(ran, work, before)]


def _same_bytes(rng: random.Random, corpus: Path, work: Path) -> list[str]:
    """What is written and said does not depend on the order in which Python keeps sets."""
    words = _command(rng, corpus, work)
    lay_out("runs/items/run.json", corpus, work / "as-before")
    given = {path: path.read_bytes() for path in (work / "runs").rglob("*") if path.is_file()}
    results = []
    for seed in ("0", "1"):
        ran = _started(words, work, {"PYTHONHASHSEED": seed})
        made = sorted(path for path in work.glob("out*"))
        files = {
            str(path.relative_to(work)): path.read_bytes()
            for top in made
            for path in ([top] if top.is_file() else sorted(top.rglob("*")))
            if path.is_file() and path.name not in ("answers.jsonl", "events.jsonl", "turns.jsonl")
        }
        results.append((ran.code, ran.out, files))
        for top in made:
            subprocess.run(["rm", "-rf", str(top)], check=True)
        for path in set((work / "runs").rglob("*")) - set(given):
            if path.is_file():
                path.unlink()
        for path, content in given.items():
            path.write_bytes(content)
    (code, out, files), (other_code, other_out, other_files) = results
    wrong = []
    if (code, out) != (other_code, other_out) and words[0] not in _TIMED:
        wrong.append("says something else")
    differing = [
        name for name in sorted({*files, *other_files}) if files.get(name) != other_files.get(name)
    ]
    if differing:
        wrong.append(f"other bytes in {differing[:3]}")
    return [f"{' '.join(words[:2])} with another PYTHONHASHSEED: {text}" for text in wrong]


def _head(rng: random.Random, corpus: Path, work: Path) -> list[str]:
    """Standard output that somebody stops reading after a line."""
    words = _command(rng, corpus, work)
    process = started(*words, cwd=work, start_new_session=True)
    assert process.stdout is not None
    process.stdout.read(rng.choice([1, 10]))
    process.stdout.close()
    assert process.stderr is not None
    err = process.stderr.read().decode(errors="replace")
    code = process.wait(_LONGEST_SECONDS)
    if code not in (0, 1, 2, 141, -signal.SIGPIPE) or "Traceback" in err or "ignored" in err:
        return [f"{' '.join(words[:2])} | head: exit {code} {err[-300:]!r}"]
    return []


def _both_ways(rng: random.Random, corpus: Path, work: Path) -> list[str]:
    """A call that is forked gives what one gives that is started;
    otherwise the attack shows nothing."""
    words = _command(rng, corpus, work)
    if words[0] in _TIMED:
        words = [
            "check",
            str(corpus / "benches" / rng.choice(BENCHES)),
            *rng.choice([[], ["--json"]]),
        ]
    if rng.random() < 0.4:
        words = [*words, rng.choice(["--nonsense", "stray", "--json", "--help"])]
    forked = begin(*words, work=work)
    code = forked.end()
    given = (code, forked.output, forked.error)
    for path in (*work.glob("out*"), *work.glob("runs/*/scores.parquet")):
        subprocess.run(["rm", "-rf", str(path)], check=True)
    ran = call_from_the_start(*words)
    wanted = (ran.code, ran.out, ran.err)
    kinds = ("exit code", "output", "errors")
    return [
        f"{' '.join(words[:2])} forked and started differ in {kind}: {a!r}, {b!r}"[:500]
        for kind, a, b in zip(kinds, given, wanted, strict=True)
        if a != b
    ]


def _ctrl_c(rng: random.Random, corpus: Path, work: Path) -> list[str]:
    """Ctrl-C at any moment from the first on: exit code 130, and no more than one line."""
    words = _command(rng, corpus, work)
    process = started(*words, cwd=work, start_new_session=True)
    time.sleep(rng.random() * rng.choice([0.5, 2, 8]))
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=_LONGEST_SECONDS)
    said = err.decode(errors="replace")
    wrong = []
    if process.returncode not in (0, 1, 2, 130, -signal.SIGINT):
        wrong.append(f"exit {process.returncode}")
    # Before our first line runs, Python answers Ctrl-C itself.
    if "Traceback" in said and "situs" in said:
        wrong.append(f"{said[-300:]!r}")
    if strange := [entry for entry in tree(work) if ".part" in entry or ".tmp" in entry]:
        wrong.append(f"leaves {strange[:3]}")
    return [f"{' '.join(words[:2])} with Ctrl-C: {text}" for text in wrong]
