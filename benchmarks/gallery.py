"""Draw the gallery of docs/questions.md from any runs: `python benchmarks/gallery.py RUN…` (needs
Chromium). With `--make FOLDER` it first makes runs on synthetic knees, frames and reports there.

One question of every task that they ask, with the pictures of the report's item view:
`docs/pictures/questions/TASK.jpg`, and its section of the page. Other sections stay.
"""

from __future__ import annotations

import argparse
import re
import shutil
import tempfile
from pathlib import Path

from gallery_scans import write_frames, write_reports

import situs
from situs.facts.record import Quoted
from situs.items import Item
from situs.items.answer_words import answer_words, option_rows
from situs.items.kinds import parts_of
from situs.items.record import Grades, YesNo
from situs.report import ReportOptions, write_report
from situs.run import open_run

DOCS = Path(__file__).parents[1] / "docs"
PICTURES = DOCS / "pictures" / "questions"
BEGIN, END = "<!-- gallery of {} -->", "<!-- end of gallery -->"
WIDTH, HEIGHT = 1100, 1400
_PICTURES, _MOST_BYTES = 400, 200_000_000
"""Of a report that is thrown away: enough for every task to have an item with pictures."""
_SLICES = {
    "report_lobe": 22,
    "report_segment": 22,
    "report_side": 14,
    "report_part": 17,
    "report_level": 14,
}
"""Where the finding is that `gallery_scans` drew: a report does not tell."""
_TURN = """place => {
  const slider = document.querySelector("#detail .strip input[type=range]");
  slider.value = place;
  slider.dispatchEvent(new Event("input"));
}"""
_MEASURED = "geometry."
"""Tasks that ask for a grade as it was measured, in the words of those that ask for a reader's."""


def made(folder: Path) -> list[Path]:
    """Runs on synthetic frames, reports and graded knees."""
    frames = write_frames(folder / "frames", count=24, seed=3)
    table, scans = write_reports(folder / "reports", seed=3)
    licence = "CC0-1.0"
    benches = {
        "sgmri-frames": situs.build.boxes(
            [frames[0]],
            lists=[frames[1]],
            images=frames[2],
            licence=licence,
            out=folder / "boxes-bench",
        ),
        "default": situs.build.reports(
            table, images=scans, licence=licence, out=folder / "reports-bench"
        ),
        "3dreasonknee-qwen": situs.build.phantoms(
            4, body="knee", seed=3, out=folder / "grades-bench"
        ),
    }
    runs = []
    for profile, bench in benches.items():
        runs.append(folder / f"run-{profile}")
        situs.run(bench, "random", profile=profile, out=runs[-1])
    return runs


def group_of(task: str, source: str) -> str:
    """Where the page shows it: under what the question was made from."""
    if task.startswith("grade."):
        return "grades"
    return source if source in ("boxes", "reports") else "masks"


def chosen(run: Path) -> dict[str, list[Item]]:
    """Items by task, those of the headline first."""
    by_task: dict[str, list[Item]] = {}
    for item in open_run(run)[1].items():
        if not item.task.startswith(_MEASURED):
            by_task.setdefault(item.task, []).append(item)
    for items in by_task.values():
        items.sort(key=lambda item: (_is_empty(item), item.level, item.stratum != "headline"))
    return by_task


def _is_empty(item: Item) -> bool:
    """Whether there is nothing to see: no finding on the frame, a joint without the sign."""
    for part in parts_of(item.answer).values():
        if isinstance(part, YesNo) and item.task == "detection" and not part.value:
            return True
        if isinstance(part, Grades) and not any(part.grades.values()):
            return True
    return False


def shoot(report: Path, tasks: dict[str, list[Item]]) -> dict[str, Item]:
    """A picture of the planes of the first item of each task that has any."""
    from playwright.sync_api import sync_playwright

    program = shutil.which("chromium") or shutil.which("chromium-browser")
    shown: dict[str, Item] = {}
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        page.goto(report.resolve().as_uri())
        for task, items in tasks.items():
            seen = {item.study_id for item in shown.values()}
            for item in sorted(items, key=lambda item: item.study_id in seen):
                page.evaluate("id => { location.hash = id; }", item.item_id)
                page.wait_for_timeout(150)
                if task in _SLICES:
                    page.evaluate(_TURN, _SLICES[task])
                planes = page.query_selector("#detail .panes, #detail .strip .pane")
                if planes is not None:
                    planes.screenshot(path=str(PICTURES / f"{task}.jpg"), type="jpeg", quality=70)
                    shown[task] = item
                    break
        browser.close()
    return shown


def section(task: str, item: Item, quotes: dict[str, str]) -> str:
    """What the page says of one question."""
    asked = item.question.splitlines()
    bold = next((line for line in asked if line.endswith("?")), asked[0])
    lines = [f"### {_title(task)}", ""]
    lines += [text for line in asked for text in (f"**{line}**" if line == bold else line, "")]
    lines += [f"- ({letter}) {text}" for letter, text, _ in option_rows(item)]
    answer = "; ".join(answer_words(item).splitlines())
    lines += ["", f"Answer: {answer}", ""]
    lines += [f"![The pictures of this item in the report](pictures/questions/{task}.jpg)", ""]
    why = [step.text for step in item.steps]
    why += [f"The report says: “{quotes[i]}”" for i in item.fact_ids if i in quotes]
    lines += ["Why: " + " ".join(why), ""]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines))


def _title(task: str) -> str:
    """Its name on the page, from which the test reads the task."""
    return task.replace("_", " ")


def sections_of(gallery: str) -> dict[str, str]:
    """The sections that the page has, by their titles."""
    parts = re.split(r"(?m)^### ", gallery)[1:]
    return {part.partition("\n")[0]: f"### {part.strip()}\n" for part in parts}


def put(text: str, group: str, sections: dict[str, str]) -> str:
    """The page with these sections in one of its galleries."""
    begin = BEGIN.format(group)
    before, _, rest = text.partition(begin)
    gallery, _, after = rest.partition(END)
    every = sections_of(gallery) | sections
    listed = "\n".join(every[title] for title in sorted(every))
    return f"{before}{begin}\n\n{listed}\n{END}{after}"


def main() -> None:
    """Pictures and page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("runs", type=Path, nargs="*")
    parser.add_argument("--make", type=Path, metavar="FOLDER")
    asked = parser.parse_args()
    PICTURES.mkdir(parents=True, exist_ok=True)
    page = DOCS / "questions.md"
    text = page.read_text("utf-8")
    for run in [*asked.runs, *(made(asked.make) if asked.make else ())]:
        tasks = chosen(run)
        bench = open_run(run)[1]
        source = bench.info.source
        quotes = {
            fact.fact_id: fact.derivation.quote
            for fact in bench.facts()
            if isinstance(fact.derivation, Quoted)
        }
        with tempfile.TemporaryDirectory() as scratch:
            report = Path(scratch) / "report.html"
            write_report([run], report, ReportOptions(pictures=_PICTURES, max_bytes=_MOST_BYTES))
            shown = shoot(report, tasks)
        for task, item in shown.items():
            text = put(text, group_of(task, source), {_title(task): section(task, item, quotes)})
        print(f"{run}: {len(shown)} of {len(tasks)} tasks: {', '.join(sorted(shown))}")
    page.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
