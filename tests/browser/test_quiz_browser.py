"""The quiz in a real browser: answered by keyboard and mouse, exported, imported."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from situs.score import open_replies, read_run


def payload_of(path: Path) -> Any:
    found = re.search(
        r'<script type="application/json" id="payload">(.*?)</script>',
        path.read_text("utf-8"),
        re.S,
    )
    assert found is not None
    return json.loads(found[1])


def export(page: Any) -> Path:
    page.locator("#reader").fill("Ann")
    with page.expect_download() as loading:
        page.locator("#export").click()
    return Path(loading.value.path())


def test_a_reader_answers_and_the_run_is_scored(
    stacks: Any, visit: Callable[..., Any], tmp_path: Path, situs: Callable[..., Any]
) -> None:
    opened = visit(stacks.quiz)
    page, items = opened.page, payload_of(stacks.quiz)["items"]
    forms = set()
    for place, item in enumerate(items):
        form = item["parts"][0]["form"]
        forms.add(form)
        assert page.locator(".where code").text_content() == item["item_id"]
        if form == "yes_no":
            page.keyboard.press("y")
        elif form in ("choice", "choices"):
            page.keyboard.press("a")
        elif form == "boxes":
            stage = page.locator(".stage").bounding_box()
            page.mouse.move(stage["x"] + 0.25 * stage["width"], stage["y"] + 0.25 * stage["height"])
            page.mouse.down()
            page.mouse.move(
                stage["x"] + 0.75 * stage["width"], stage["y"] + 0.5 * stage["height"], steps=4
            )
            page.mouse.up()
            assert page.locator(".stage path.mine").count() == 1
        elif form == "frames":
            page.locator(".typed input").fill("2-3")
        else:
            page.keyboard.press("3")
        page.evaluate("document.activeElement.blur()")
        if place < len(items) - 1:
            page.keyboard.press("Enter")
    assert {"yes_no", "boxes"} <= forms
    assert page.locator("#done").text_content() == f"{len(items)} of {len(items)} done"
    file = export(page)
    said = {row["item_id"]: row for row in json.loads(file.read_text())["answers"]}
    boxed = next(item for item in items if item["parts"][0]["form"] == "boxes")
    (box,) = said[boxed["item_id"]]["said"]["boxes"]
    width, height = boxed["sizes"][box["frame"]]
    edges = (box["x0"] / width, box["y0"] / height, box["x1"] / width, box["y1"] / height)
    assert all(abs(a - b) < 0.02 for a, b in zip(edges, (0.25, 0.25, 0.75, 0.5)))
    ran = situs("quiz", stacks.bench, "--import", file, "--out", tmp_path / "run", "--json")
    assert ran.code == 0, ran.err
    outcomes = read_run(open_replies(tmp_path / "run", stacks.bench)).outcomes()
    assert outcomes.keys() == {item["item_id"] for item in items}
    assert not any(outcome.state in ("missing", "failed") for outcome in outcomes.values())
    assert [url for url in opened.requests if not url.startswith(("data:", "blob:"))] == [
        stacks.quiz.as_uri()
    ]
    assert opened.errors == []


def test_verdicts_by_key(stacks: Any, visit: Callable[..., Any]) -> None:
    opened = visit(stacks.verify, width=390, height=844)
    page, items = opened.page, payload_of(stacks.verify)["items"]
    for place, _ in enumerate(items):
        assert page.locator(".key-words").is_visible()
        page.keyboard.press("2" if place == 0 else "1")
        assert page.locator(".verdict[aria-pressed=true]").count() == 1
        page.keyboard.press("Enter") if place < len(items) - 1 else None
    assert page.evaluate(
        "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
    )
    states = [row["state"] for row in json.loads(export(page).read_text())["answers"]]
    assert states == ["disagree", *["agree"] * (len(items) - 1)]
    assert opened.errors == []


def test_the_quiz_keeps_its_place_zooms_and_windows(stacks: Any, visit: Callable[..., Any]) -> None:
    opened = visit(stacks.verify)
    page, items = opened.page, payload_of(stacks.verify)["items"]
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    assert page.locator(".where code").text_content() == items[2]["item_id"]
    page.reload()
    opened.settle()
    assert page.locator(".where code").text_content() == items[2]["item_id"], "kept"
    page.goto(f"{stacks.verify.as_uri()}#{items[1]['item_id']}")
    opened.settle()
    assert page.locator(".where code").text_content() == items[1]["item_id"], "linked"

    stage = page.locator(".stage").bounding_box()
    page.keyboard.press("+")
    page.keyboard.press("+")
    layer = page.locator(".layer").bounding_box()
    assert layer["width"] / stage["width"] == pytest.approx(2, abs=0.01)
    page.mouse.move(stage["x"] + 0.5 * stage["width"], stage["y"] + 0.5 * stage["height"])
    page.keyboard.down("Shift")
    page.mouse.down()
    page.mouse.move(stage["x"] + 0.6 * stage["width"], stage["y"] + 0.5 * stage["height"], steps=3)
    page.mouse.up()
    page.keyboard.up("Shift")
    opened.settle()
    moved = page.locator(".layer").bounding_box()
    assert (moved["x"] - layer["x"]) / stage["width"] == pytest.approx(0.1, abs=0.02)

    width = page.get_by_label("window width")
    before = float(width.input_value())
    page.mouse.down()
    page.mouse.move(stage["x"] + 0.9 * stage["width"], stage["y"] + 0.5 * stage["height"], steps=3)
    page.mouse.up()
    opened.settle()
    assert float(width.input_value()) > before
    assert opened.errors == []
