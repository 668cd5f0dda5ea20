"""The report in a real browser."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image


def payload_of(path: Path) -> Any:
    found = re.search(
        r'<script type="application/json" id="payload">(.*?)</script>',
        path.read_text("utf-8"),
        re.S,
    )
    assert found is not None
    return json.loads(found[1])


def inside(opened: Any, path: Path) -> None:
    """Nothing was asked for but the file itself and what is in it, and nothing went wrong."""
    assert [url for url in opened.requests if not url.startswith("data:")] == [path.as_uri()]
    assert opened.errors == []


def boxed_item(path: Path) -> tuple[str, Any]:
    payload = payload_of(path)
    for item, (strip,) in payload["shared"]["strips"].items():
        if strip["truth"] and strip["said"].get("0") and strip["frames"][0][1]:
            return item, strip
    raise AssertionError("no item with boxes and pictures")


def test_no_network_no_error_and_a_policy_that_bites(
    stacks: Any, visit: Callable[..., Any]
) -> None:
    opened = visit(stacks.report)
    inside(opened, stacks.report)
    blocked = opened.page.evaluate("""() => new Promise((done) => {
          document.addEventListener('securitypolicyviolation', (event) => done(event.violatedDirective));
          const script = document.createElement('script');
          script.textContent = 'window.ran = true';
          document.body.append(script);
          setTimeout(() => done('allowed'), 500);
        })""")
    assert blocked.startswith("script-src")
    refused = opened.page.evaluate(
        "() => fetch('data:text/plain,x').then(() => 'loaded', () => 'refused')"
    )
    assert refused == "refused"


def test_true_and_given_boxes_are_drawn(stacks: Any, visit: Callable[..., Any]) -> None:
    item, strip = boxed_item(stacks.report)
    opened = visit(stacks.report)
    page = opened.page
    page.evaluate("(id) => { location.hash = id; }", item)
    page.wait_for_function("() => document.querySelector('.shown svg path.box.true')")
    frame, x0, y0, x1, y1, _ = next(box for box in strip["truth"] if box[0] == strip["opening"])
    shown = next(f for f in strip["frames"] if f[0] == frame)
    stage = page.locator(".shown").bounding_box()
    drawn = page.locator(".shown svg path.box.true").first.evaluate(
        "(n) => { const r = n.getBoundingClientRect(); return [r.left, r.top, r.right, r.bottom]; }"
    )
    scale = stage["width"] / shown[2]
    expected = [
        stage["x"] + x0 * scale,
        stage["y"] + y0 * scale,
        stage["x"] + x1 * scale,
        stage["y"] + y1 * scale,
    ]
    assert drawn == pytest.approx(expected, abs=2.5)
    image = page.locator(".shown img.seen")
    assert image.evaluate("(n) => n.complete && n.naturalWidth") == shown[2]
    # The line itself has colour on screen: green where the box's left edge runs.
    page.locator(".shown").scroll_into_view_if_needed()
    picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    left, top, _, bottom = page.locator(".shown svg path.box.true").first.evaluate(
        "(n) => { const r = n.getBoundingClientRect(); return [r.left, r.top, r.right, r.bottom]; }"
    )
    column = [
        picture.getpixel((round(left) + dx, round((top + bottom) / 2))) for dx in (-1, 0, 1, 2)
    ]
    assert any(max(pixel) - min(pixel) > 60 for pixel in column), (
        "a coloured line on a grey picture"
    )
    page.get_by_label("true boxes").uncheck()
    assert page.locator(".shown svg path.box.true").count() == 0
    assert page.locator(".shown svg path.box.said").count() > 0


def test_masks_are_outlined_and_slices_change_by_key(body: Path, visit: Callable[..., Any]) -> None:
    opened = visit(body)
    page = opened.page
    page.wait_for_selector(".viewer .pane.main canvas")
    page.wait_for_function("""() => {
          const canvas = document.querySelector('.viewer .pane.main canvas');
          const pixels = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
          const inked = pixels.filter((value, place) => place % 4 === 0 && value > 20).length;
          return inked > 1000;
        }""")
    assert page.locator(".viewer .stage svg path.o").count() > 0
    frame = page.locator(".viewer .pane.main .frame")
    output = page.locator(".viewer .pane.main output")
    before = output.text_content()
    frame.focus()
    page.keyboard.press("ArrowUp")
    assert output.text_content() != before
    inside(opened, body)


def test_the_list_by_keyboard_and_filters(stacks: Any, visit: Callable[..., Any]) -> None:
    opened = visit(stacks.report)
    page = opened.page
    rows = payload_of(stacks.report)["rows"]
    page.locator("#list").focus()
    page.keyboard.press("Home")
    assert page.locator(".crumbs code").text_content() == rows[0][0]
    page.keyboard.press("ArrowDown")
    assert page.locator(".crumbs code").text_content() == rows[1][0]
    page.keyboard.press("j")
    assert page.locator(".crumbs code").text_content() == rows[2][0]
    page.get_by_label("wrong only").check()
    page.locator("#f-run").select_option(label="prior")
    wrong = sum(row[4][1] in "wuf" for row in rows)
    assert page.locator("#count").text_content() == f"{wrong:,} of {len(rows):,} items"
    page.locator("#f-task").select_option("localization")
    some = sum(row[4][1] in "wuf" and row[1] == "localization" for row in rows)
    assert page.locator("#count").text_content() == f"{some:,} of {len(rows):,} items"
    with page.expect_download() as loading:
        page.locator("#items-csv").click()
    assert len(Path(loading.value.path()).read_text("utf-8-sig").splitlines()) > some
    with page.expect_download() as loading:
        page.locator("a.csv[download='leaderboard.csv']").click()
    assert "overall_value" in Path(loading.value.path()).read_text("utf-8-sig")


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390], ids=["desktop", "phone"])
def test_nothing_sticks_out_and_text_has_contrast(
    stacks: Any, visit: Callable[..., Any], width: int, dark: bool
) -> None:
    page = visit(stacks.report, width=width, dark=dark).page
    assert page.evaluate(
        "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
    )
    ratio = page.evaluate("""() => {
          const linear = (n) => (n <= .03928 ? n / 12.92 : ((n + .055) / 1.055) ** 2.4);
          const light = (rgb) => {
            const [r, g, b] = rgb.match(/[0-9.]+/g).slice(0, 3).map((n) => linear(n / 255));
            return .2126 * r + .7152 * g + .0722 * b;
          };
          const ink = getComputedStyle(document.querySelector('.note')).color;
          const ground = getComputedStyle(document.body).backgroundColor;
          const [a, b] = [light(ink), light(ground)].sort((x, y) => y - x);
          return (a + .05) / (b + .05);
        }""")
    assert ratio >= 4.5, "WCAG AA"


def test_ten_thousand_rows_stay_few_nodes(
    stacks: Any, visit: Callable[..., Any], tmp_path: Path
) -> None:
    """Only rows in sight are in the page, wherever one scrolls: that is what keeps it quick."""
    text = stacks.report.read_text("utf-8")
    payload = payload_of(stacks.report)
    rows = payload["rows"]
    payload["rows"] = [
        [f"{row[0]}-{n}", *row[1:]] for n in range(10_000 // len(rows) + 1) for row in rows
    ][:10_000]
    encoded = json.dumps(payload).replace("<", "\\u003c")
    many = re.sub(
        r'(id="payload">).*?(</script>)', lambda m: m[1] + encoded + m[2], text, count=1, flags=re.S
    )
    out = tmp_path / "many.html"
    out.write_text(many, "utf-8")
    opened = visit(out)
    page = opened.page
    assert page.locator("#count").text_content() == "10,000 of 10,000 items"
    page.locator("#list").focus()
    for key in ("End", "Home", "PageDown"):
        page.keyboard.press(key)
        assert page.locator("#list .row").count() < 60
    page.locator("#list").evaluate("(list) => { list.scrollTop = list.scrollHeight / 2; }")
    page.wait_for_function(
        "() => document.querySelector('#list .row[aria-posinset]').getAttribute('aria-posinset') >"
        " 4000"
    )
    assert page.locator("#list .row").count() < 60
    page.evaluate("""() => {
          window.long = [];
          new PerformanceObserver((list) => list.getEntries().forEach((task) => window.long.push(task.duration)))
            .observe({ type: 'longtask' });
        }""")
    for part in range(1, 40):
        page.locator("#list").evaluate(
            f"(list) => {{ list.scrollTop = list.scrollHeight * {part} / 40; }}"
        )
        opened.settle()
    page.locator("#f-text").press_sequentially("frame")
    assert page.locator("#list .row").count() < 60
    page.locator("#f-text").fill("")
    opened.settle()
    waited = page.evaluate("() => Math.max(0, ...window.long)")
    print(f"longest task while scrolling and filtering 10,000 rows: {waited:.0f} ms")
    assert waited < 1000, "a second of standing still is a hang, however slow the machine"
    inside(opened, out)


_OVERLAPS = """() => {
  const found = [];
  for (const chart of document.querySelectorAll('svg.chart')) {
    const upright = (text) => text.textContent.trim() && !text.getAttribute('transform');
    const words = [...chart.querySelectorAll('text')].filter(upright);
    const boxes = words.map((text) => text.getBoundingClientRect());
    for (let a = 0; a < boxes.length; a++) for (let b = a + 1; b < boxes.length; b++) {
      const wide = Math.min(boxes[a].right, boxes[b].right) - Math.max(boxes[a].left, boxes[b].left);
      const high = Math.min(boxes[a].bottom, boxes[b].bottom) - Math.max(boxes[a].top, boxes[b].top);
      if (wide > 1 && high > 3) found.push(words[a].textContent + ' / ' + words[b].textContent);
    }
  }
  return found;
}"""


@pytest.mark.parametrize("width", [1280, 390], ids=["desktop", "phone"])
def test_no_words_of_a_chart_overlap(probed: Path, visit: Callable[..., Any], width: int) -> None:
    page = visit(probed, width=width).page
    assert page.locator("svg.chart").count() > 3
    assert page.evaluate(_OVERLAPS) == []


def test_the_counterfactual_twin_stands_beside(probed: Path, visit: Callable[..., Any]) -> None:
    payload = payload_of(probed)
    item, twin = next(
        (key, twin)
        for key, detail in payload["details"].items()
        for twin in detail.get("changed", [])
        if twin[6]
    )
    page = visit(probed).page
    page.evaluate("(id) => { location.hash = id; }", item)
    section = page.locator("section[aria-label='Counterfactual twins']")
    section.wait_for()
    assert twin[2] in (section.text_content() or "")
    assert section.locator("img").first.evaluate("(img) => img.complete && img.naturalWidth > 0")


def grey_at(page: Any, x: float, y: float) -> int:
    """The grey of the main plane's picture at a share of its width and height."""
    return int(
        page.evaluate(
            """([x, y]) => {
              const canvas = document.querySelector(".panes .pane.main canvas");
              return canvas.getContext('2d').getImageData(x * canvas.width, y * canvas.height, 1, 1).data[0];
            }""",
            [x, y],
        )
    )


def test_the_window_changes_by_list_number_and_drag(body: Path, visit: Callable[..., Any]) -> None:
    opened = visit(body)
    page = opened.page
    shared = payload_of(body)["shared"]
    scales = {item: shared["tones"][view["source"]] for item, view in shared["views"].items()}
    item = next(
        item
        for item, scale in scales.items()
        if scale["unit"] == "HU" and scale["windows"][scale["opening"]][0] == "soft tissue"
    )
    page.evaluate("(id) => { location.hash = id; }", item)
    opened.settle()
    level, width = (page.get_by_label(f"window {name}") for name in ("level", "width"))
    assert (level.input_value(), width.input_value()) == ("40", "400")
    page.locator(".windowing select").select_option(label="bone")
    opened.settle()
    assert (level.input_value(), width.input_value()) == ("300", "1500")
    # Water and soft tissue, within 100 HU of 0, are near (0 + 450) / 1500 of white: 77 of 255, give
    # or take 17.
    assert 77 - 17 - 5 < grey_at(page, 0.5, 0.5) < 77 + 17 + 5
    # Everything that the pictures hold lies above −2000 HU, and so is white.
    level.fill("-2100")
    width.fill("100")
    width.blur()
    opened.settle()
    assert grey_at(page, 0.5, 0.5) == 255
    page.locator(".windowing select").select_option(label="soft tissue")
    page.locator(".panes .pane.main .stage").scroll_into_view_if_needed()
    stage = page.locator(".panes .pane.main .stage").bounding_box()
    slices = page.locator(".slide output").all_text_contents()
    page.mouse.move(stage["x"] + 60, stage["y"] + 60)
    page.mouse.down()
    page.mouse.move(stage["x"] + 160, stage["y"] + 60, steps=4)
    page.mouse.up()
    opened.settle()
    assert float(width.input_value()) > 400
    assert float(level.input_value()) == pytest.approx(40)
    assert page.locator(".slide output").all_text_contents() == slices, "a drag is no click"
    page.mouse.click(stage["x"] + 60, stage["y"] + 60)
    assert page.locator(".slide output").all_text_contents() != slices
    inside(opened, body)


def test_lines_of_one_unit_share_a_scale(body: Path, visit: Callable[..., Any]) -> None:
    """In every proof, a millilitre or millimetre is as long on one line as on the next."""
    page = visit(body).page
    proofs = page.evaluate("""async () => [...Array(20)].map(() => {
        document.dispatchEvent(new KeyboardEvent('keydown', { key: 'j' }));
        return [...document.querySelectorAll('#detail .numberline')].map((line) => {
          const span = line.querySelector('.span');
          return [line.getAttribute('aria-label'), span && span.getAttribute('x2') - span.getAttribute('x1')];
        });
      })""")
    told = re.compile(r"\S+ (mm|mL), interval (\S+) to (\S+) ")
    lengths: dict[tuple[int, str], list[float]] = {}
    for place, lines in enumerate(proofs):
        for label, length in lines:
            if length and (read := told.match(label + " ")):
                ends = (end.replace(",", "").replace("−", "-") for end in read.groups()[1:])
                low, high = map(float, ends)
                lengths.setdefault((place, read[1]), []).append(length / (high - low))
    several = [scales for scales in lengths.values() if len(scales) > 1]
    assert several
    assert all(scales == pytest.approx([scales[0]] * len(scales), rel=0.05) for scales in several)


def test_a_table_taller_than_its_place_fades_below(probed: Path, visit: Callable[..., Any]) -> None:
    page = visit(probed).page
    region = page.locator(".scroll.low").first
    region.evaluate("(r) => { r.style.maxHeight = '90px'; }")
    page.wait_for_function(
        "() => document.querySelector('.scroll.low').classList.contains('below')"
    )
    region.evaluate("(r) => { r.scrollTop = 1e6; }")
    page.wait_for_function(
        "() => !document.querySelector('.scroll.low').classList.contains('below')"
    )


def test_a_chart_wider_than_a_phone_fades_where_it_goes_on(
    probed: Path, visit: Callable[..., Any]
) -> None:
    page = visit(probed, width=390).page
    sides = """() => [...document.querySelectorAll('.scroll, .pictures')].map((region) => [
        region.scrollWidth - region.clientWidth > 1,
        region.classList.contains('before'),
        region.classList.contains('beyond'),
        (getComputedStyle(region).maskImage !== 'none') ===
            (region.classList.contains('beyond') || region.classList.contains('below')),
    ])"""
    at_start = page.evaluate(sides)
    assert any(wide for wide, *_ in at_start)
    assert all(marked == [False, wide, True] for wide, *marked in at_start)
    page.evaluate(
        "document.querySelectorAll('.scroll, .pictures').forEach((r) => { r.scrollLeft = 1e6; })"
    )
    page.wait_for_timeout(200)
    assert all(
        (before, beyond) == (wide, False) for wide, before, beyond, _ in page.evaluate(sides)
    )
