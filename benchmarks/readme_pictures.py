"""Draw the pictures of README and docs from a demo: `python benchmarks/readme_pictures.py demo`.

Writes `docs/pictures/question.png` (what a model sees, what it is asked, how the answer is proved,
what was said) and, where Chromium is installed, `docs/pictures/report.png` (the report's first
screen).
"""

from __future__ import annotations

import argparse
import io
import shutil
import subprocess
import tempfile
import textwrap
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

from situs.bench import Bench, open_bench
from situs.items import Item
from situs.profiles import Presenter, load_profile
from situs.score.explain import read_answers

OUT = Path(__file__).parents[1] / "docs/pictures"
_WIDTH = 860
INK, SOFT, RIGHT, WRONG, PAPER = "#1c2126", "#59626b", "#14713f", "#ae2219", "#ffffff"


def font(size: int, *, bold: bool = False) -> ImageFont.FreeTypeFont:
    """DejaVu, which ships with matplotlib."""
    from matplotlib import font_manager

    weight = "bold" if bold else "normal"
    properties = font_manager.FontProperties(family="DejaVu Sans", weight=weight)
    return ImageFont.truetype(font_manager.findfont(properties), size)


def chosen(bench: Bench, demo: Path) -> tuple[Item, dict[str, tuple[str, bool]]]:
    """A headline question that the reader answered rightly and the guesser wrongly,
    and what they said."""
    runs = {
        name: read_answers(demo / "probes" / name / "original", bench.folder).by_id
        for name in ("reader", "guesser")
    }
    for item in bench.items():
        ours = {name: by_id.get(item.item_id) for name, by_id in runs.items()}
        if item.stratum != "headline" or item.form not in ("choice", "yes_no"):
            continue
        if item.task == "volume" and item.series == "ct" and all(ours.values()):
            said = {n: (one.row.response if one.row else "", one.right) for n, one in ours.items()}
            if said["reader"][1] and not said["guesser"][1]:
                return item, said
    raise SystemExit("no question that one got right and the other wrong; try another demo")


def _right(item: Item) -> str:
    """The key in words."""
    return {True: "Yes", False: "No"}.get(item.answer.value, str(item.answer.value))


def draw_question(demo: Path) -> Path:
    """The picture at the top of the README."""
    bench = open_bench(demo / "bench")
    item, said = chosen(bench, demo)
    presented = Presenter(bench, load_profile("default")).present(item)
    shown = [presented.images[n] for n in (14, 17, 20, 23, 25, 27)]
    tiles = [Image.open(io.BytesIO(picture.data)).convert("L") for picture in shown]
    # Not much wider than a page of text, so that its words can be read on a phone too.
    width, height = 150, round(150 * tiles[0].height / tiles[0].width)
    left = 2 * (width + 6) + 26
    sheet = Image.new("RGB", (_WIDTH, 1200), PAPER)
    pen = ImageDraw.Draw(sheet)
    pen.text((10, 10), "What the model sees (6 of 32 slices)", INK, font(15, bold=True))
    for number, tile in enumerate(tiles):
        x, y = 10 + number % 2 * (width + 6), 40 + number // 2 * (height + 6)
        sheet.paste(tile.resize((width, height), Image.Resampling.LANCZOS), (x, y))
    y = 10

    def line(
        text: str, *, size: int = 16, ink: str = INK, bold: bool = False, gap: int = 6
    ) -> None:
        nonlocal y
        letters = round((_WIDTH - left) / size * (1.55 if bold else 1.72))
        for part in textwrap.wrap(text, letters) or [""]:
            pen.text((left, y), part, ink, font(size, bold=bold))
            y += size + 6
        y += gap

    line("Question", size=14, ink=SOFT, gap=0)
    line(item.question, size=21, bold=True, gap=10)
    line("Right answer, and why", size=14, ink=SOFT, gap=0)
    line(_right(item), bold=True, gap=0)
    for step in item.steps:
        line(f"· {step.text}", gap=0)
    for step in item.steps:
        if step.value is not None and step.value.interval is not None:
            low, high = step.value.interval
            bounds = f"{low:.0f} to {high:.0f} {step.value.unit}"
            line(f"· The answer holds over its whole interval, {bounds}.")
    y += 10
    for name, note in (("reader", "measures the pictures"), ("guesser", "never looks")):
        text, right = said[name]
        line(f"{name} ({note})", size=14, ink=SOFT, gap=0)
        line(f"“{' '.join(text.split())}”", ink=RIGHT if right else WRONG, gap=10)
    OUT.mkdir(exist_ok=True)
    path = OUT / "question.png"
    sheet.crop((0, 0, _WIDTH, max(y, 40 + 3 * (height + 6)) + 8)).quantize(
        96, method=Image.Quantize.MAXCOVERAGE
    ).save(path, optimize=True)
    return path


def shoot_report(demo: Path, path: Path, size: str = "1366,900", *, dark: bool = False) -> Path:
    """The first screen of the report."""
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        raise SystemExit("no Chromium: the report's picture is left as it is")
    with tempfile.TemporaryDirectory() as profile:
        command = [program, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
        command += [f"--user-data-dir={profile}", f"--window-size={size}", f"--screenshot={path}"]
        command += ["--force-dark-mode", "--blink-settings=preferredColorScheme=0"] if dark else []
        subprocess.run([*command, (demo / "report.html").resolve().as_uri()], check=True)
    with Image.open(path) as picture:
        picture.convert("RGB").quantize(128).save(path, optimize=True)
    return path


def main() -> None:
    """Both pictures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("demo", type=Path)
    demo = parser.parse_args().demo
    for path in (draw_question(demo), shoot_report(demo, OUT / "report.png")):
        print(f"{path.name}: {path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
