"""Makes the recordings beside this file: small benches, two runs of each, and what this version
says of them.

Run once, with the version whose numbers are to be kept:  python tests/score/recorded/make.py FOLDER
`test_recorded.py` holds later versions to them. `masks` is the bench that release 0.1.0 left in
tests/upgrades.
"""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))

_ODD = (
    "I am sorry, I cannot help with medical images.",
    "Lorem ipsum dolor sit amet.",
    "",
    "Possibly, but it is hard to say.",
)
"""Replies that decline, say nothing, or cannot be read.

Empty captions became "?" in the recording of `boxes`, whose numbers are of 0.2.0: it and earlier
versions let them wait for a judge.
"""


def situs(*arguments: object) -> str:
    command = [sys.executable, "-m", "situs", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{command}\n{done.stderr}")
    return done.stdout


def masks(folder: Path) -> Path:
    return Path(
        shutil.copytree(
            ROOT / "tests" / "upgrades" / "written_by_0_1_0" / "bench", folder / "bench"
        )
    )


def boxes(folder: Path) -> Path:
    from score import build_boxes

    built = build_boxes(folder / "source", studies=44)
    return Path(shutil.move(built, folder / "bench"))


def grades(folder: Path) -> Path:
    from grades import write_boxes, write_table

    from situs.anatomy.banks import load_bank

    bank, rng = load_bank("moaks-knee"), random.Random(3)
    write_table(folder / "grades.csv", 66, bank, rng)
    write_boxes(folder / "boxes.csv", 66, bank, rng)
    out = folder / "bench"
    given = ("--boxes", folder / "boxes.csv", "--per-study", 6, "--out", out)
    situs("build", "grades", folder / "grades.csv", *given)
    return out


def grades_alone(folder: Path) -> Path:
    """Without a box, so that every blind row answers every item."""
    from grades import write_table

    from situs.anatomy.banks import load_bank

    write_table(folder / "grades.csv", 24, load_bank("moaks-knee"), random.Random(4))
    situs("build", "grades", folder / "grades.csv", "--per-study", 8, "--out", folder / "bench")
    return folder / "bench"


def reports(folder: Path) -> Path:
    rows = ["id,patient,findings,impression"]
    for n in range(80):
        side, lobe = ("right", "left")[n % 2], ("upper", "lower")[n // 2 % 2]
        rows.append(f'R{n},P{n // 2},"A nodule is seen in the {lobe} lobe of the {side} lung.",')
    (folder / "reports.csv").write_text("\n".join(rows))
    situs("build", "reports", folder / "reports.csv", "--out", folder / "bench")
    return folder / "bench"


def items(folder: Path) -> Path:
    """Every form that can be imported, of forty patients from two sources of data."""
    rng = random.Random(5)
    organs = ["liver", "spleen", "left kidney", "right kidney"]
    lines: list[dict[str, object]] = []
    for n in range(40):
        own = {
            "study": f"S{n}",
            "patient": f"P{n}",
            "tags": [f"source:{'north' if n % 3 else 'south'}"],
        }
        volume = round(rng.uniform(20, 200), 1)
        tolerance = [round(0.8 * volume, 1), round(1.2 * volume, 1)]
        lines += [
            own | {"question": "Is there an effusion?", "answer": rng.choice([True, False])},
            own
            | {"question": "Which is largest?", "options": organs, "answer": rng.choice("ABCD")},
            own
            | {
                "question": "Which are enlarged?",
                "options": organs,
                "answer": rng.choice([["A"], ["B", "C"]]),
            },
            own
            | {
                "question": "How large is the cyst?",
                "unit": "mL",
                "answer": volume,
                "tolerance": tolerance,
            },
            own
            | {
                "question": "Where is the mass?",
                "answer": rng.choice(["In the left lobe.", "In the spleen."]),
            },
        ]
    (folder / "items.jsonl").write_text("\n".join(map(json.dumps, lines)))
    situs("import", "items", folder / "items.jsonl", "--out", folder / "bench")
    return folder / "bench"


SOURCES: dict[str, tuple[Callable[[Path], Path], str]] = {
    "masks": (masks, "default"),
    "boxes": (boxes, "sgmri-frames"),
    "grades": (grades, "default"),
    "grades_alone": (grades_alone, "default"),
    "reports": (reports, "default"),
    "items": (items, "default"),
}


def answer(bench: Path, folder: Path, profile: str) -> None:
    """Two readers: one mostly right, one mostly guessing;
    both sometimes silent, refusing or unreadable."""
    said: dict[str, dict[str, str]] = {}
    for model in ("oracle", "random"):
        situs("run", bench, "--model", model, "--profile", profile, "--out", folder / model)
        lines = (folder / model / "answers.jsonl").read_text().splitlines()
        said[model] = {
            json.loads(line)["item_id"]: json.loads(line).get("response", "") for line in lines
        }
    for reader, share in (("knows", 0.7), ("guesses", 0.2)):
        rng, out = random.Random(reader), folder / "runs" / reader
        out.mkdir(parents=True)
        info = json.loads((folder / "oracle" / "run.json").read_text())
        info |= {"client": f"openai:{reader}@http://localhost:1/v1", "bench": "../../bench"}
        (out / "run.json").write_text(json.dumps(info, indent=1) + "\n")
        with (out / "answers.jsonl").open("w") as stream:
            for item_id in said["oracle"]:
                luck = rng.random()
                text = said["oracle" if luck < share else "random"][item_id]
                row: dict[str, object] = {"item_id": item_id, "state": "answered", "response": text}
                if luck > 0.995:
                    continue
                if luck > 0.98:
                    row = {"item_id": item_id, "state": "failed", "error": "timeout"}
                elif luck > 0.93:
                    row["response"] = rng.choice(_ODD)
                stream.write(json.dumps(row) + "\n")


def record(folder: Path) -> dict[str, object]:
    """What the commands say of the two runs."""
    runs = folder / "runs"
    more = ("--breakdowns", "--signatures", "--json")
    result: dict[str, object] = {
        name: json.loads(situs("score", folder / "bench", runs / name, *more))
        for name in ("knows", "guesses")
    }
    result["compare"] = json.loads(situs("compare", runs / "knows", runs / "guesses", "--json"))
    tables = folder / "tables"
    report = ("--pictures", 0, "--tables", tables, "--out", folder / "report.html")
    situs("report", runs / "knows", runs / "guesses", *report)
    result["report"] = {path.stem: path.read_text() for path in sorted(tables.glob("*.csv"))}
    return result


def main() -> None:
    """Make every source that is named, or all."""
    names = sys.argv[1:] or list(SOURCES)
    for name in names:
        make, profile = SOURCES[name]
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch)
            bench = make(folder)
            answer(bench, folder, profile)
            out = HERE / name
            shutil.rmtree(out, ignore_errors=True)
            shutil.copytree(folder / "runs", out / "runs")
            said = record(folder)
            for left in ("locations.json", "key", ".key"):
                (bench / left).unlink(missing_ok=True)
            if name != "masks":
                shutil.copytree(bench, out / "bench")
            (out / "said.json").write_text(
                json.dumps(said, indent=None, separators=(",", ":")) + "\n"
            )
            for stored in out.rglob("scores.*"):
                stored.unlink()


if __name__ == "__main__":
    main()
