"""Draw the gallery of docs/questions.md from any runs: `python benchmarks/gallery.py RUN…` (needs
Chromium).

One question of every task that they ask, with the pictures of the report's item view:
`docs/pictures/questions/TASK.jpg`, and its section of the page. Other sections stay.
"""

from __future__ import annotations

import argparse
import re
import shutil
import tempfile
from pathlib import Path

from situs.items import Item
from situs.items.answer_words import answer_words, option_rows
from situs.report import ReportOptions, write_report
from situs.run import open_run

DOCS = Path(__file__).parents[1] / "docs"
PICTURES = DOCS / "pictures" / "questions"
BEGIN, END = "<!-- gallery -->", "<!-- end of gallery -->"
WIDTH, HEIGHT = 1100, 1400
_TASKS = 14
"""More tasks than there are."""


def chosen(run: Path) -> dict[str, list[Item]]:
    """Items by task, those of the headline first."""
    by_task: dict[str, list[Item]] = {}
    for item in open_run(run)[1].items():
        by_task.setdefault(item.task, []).append(item)
    for items in by_task.values():
        items.sort(key=lambda item: item.stratum != "headline")
    return by_task


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
            for item in items:
                page.evaluate("id => { location.hash = id; }", item.item_id)
                page.wait_for_timeout(150)
                planes = page.query_selector("#detail .panes, #detail .strip .pane")
                if planes is not None:
                    planes.screenshot(path=str(PICTURES / f"{task}.jpg"), type="jpeg", quality=70)
                    shown[task] = item
                    break
        browser.close()
    return shown


def section(task: str, item: Item) -> str:
    """What the page says of one question."""
    lines = [f"### {task.replace('_', ' ')}", "", f"**{item.question}**", ""]
    lines += [f"- ({letter}) {text}" for letter, text, _ in option_rows(item)]
    lines += ["" if item.options else f"Answer: {answer_words(item)}", ""]
    if item.options:
        lines += [f"Answer: {answer_words(item)}", ""]
    lines += [f"![Three planes of the scan](pictures/questions/{task}.jpg)", ""]
    lines += ["Why: " + " ".join(step.text for step in item.steps), ""]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines))


def sections_of(gallery: str) -> dict[str, str]:
    """The sections that the page has, by their titles."""
    parts = re.split(r"(?m)^### ", gallery)[1:]
    return {part.partition("\n")[0]: f"### {part.strip()}\n" for part in parts}


def main() -> None:
    """Pictures and page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("runs", type=Path, nargs="+")
    PICTURES.mkdir(parents=True, exist_ok=True)
    page = DOCS / "questions.md"
    text = page.read_text("utf-8")
    before, after = text.partition(BEGIN)[0], text.partition(END)[2]
    sections = sections_of(text.partition(BEGIN)[2].partition(END)[0])
    for run in parser.parse_args().runs:
        tasks = chosen(run)
        with tempfile.TemporaryDirectory() as scratch:
            report = Path(scratch) / "report.html"
            write_report([run], report, ReportOptions(pictures=4 * _TASKS))
            shown = shoot(report, tasks)
        sections |= {task.replace("_", " "): section(task, item) for task, item in shown.items()}
        print(f"{run}: {len(shown)} of {len(tasks)} tasks: {', '.join(sorted(shown))}")
    gallery = "\n".join(sections[title] for title in sorted(sections))
    page.write_text(f"{before}{BEGIN}\n\n{gallery}\n{END}{after}", "utf-8")


if __name__ == "__main__":
    main()
