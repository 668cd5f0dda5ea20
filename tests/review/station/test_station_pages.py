"""The station's pages in Chromium:
a whole project by keyboard, pixels where millimetres say, and nothing lost."""

from __future__ import annotations

import itertools
import json
import os
import shutil
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conftest import PASSWORD, Running


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    path = os.environ.get("SITUS_CHROMIUM") or shutil.which("chromium")
    if path is None or find_spec("playwright") is None:
        pytest.skip("no Chromium here (apt-get install chromium)")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


class Desk:
    """A served station and browsers at it."""

    def __init__(self, running: Running, chromium: Any) -> None:
        from situs.review.station.demo import serve_in_thread

        self.running = running
        self.chromium = chromium
        self.address, self.stop = serve_in_thread(running.folder, running.database)
        self.errors: list[str] = []
        self.contexts: list[Any] = []

    def sit(self, code: str, *, width: int = 1400, height: int = 900, dark: bool = False) -> Any:
        """A browser of one's own, signed in by invitation, without a mouse."""
        page = self.open(width, height, dark)
        press(page, mark_button(page, "I have an invitation"))
        for field, text in (
            ("input[autocomplete=off]", self.running.invitations[code]),
            ("input[type=password]", PASSWORD),
        ):
            page.wait_for_selector(field)
            reach(page, field)
            page.keyboard.type(text)
        page.keyboard.press("Enter")
        page.wait_for_selector("header.bar")
        return page

    def open(self, width: int = 1400, height: int = 900, dark: bool = False) -> Any:
        context = self.chromium.new_context(
            viewport={"width": width, "height": height}, color_scheme="dark" if dark else "light"
        )
        context.set_default_timeout(120_000)
        self.contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.goto(self.address)
        page.wait_for_selector("form")
        return page

    def close(self) -> None:
        for context in self.contexts:
            context.close()
        self.stop()


@pytest.fixture
def desk(new_station: Callable[..., Running], chromium: Any) -> Iterator[Desk]:
    made = Desk(new_station(), chromium)
    yield made
    made.close()
    assert made.errors == []


def sign_in(page: Any, code: str) -> None:
    page.fill("input[autocomplete=username]", code)
    page.fill("input[type=password]", PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_selector("header.bar")


def test_a_reader_is_released_by_a_button_and_not_by_a_choice(desk: Desk) -> None:
    """Arrow keys go through the names of a list: none of them may be released on the way."""
    from sqlalchemy import func, select

    from situs.review.station.store.tables import Assignment

    def withdrawn() -> int:
        with desk.running.database.read() as db:
            query = select(func.count()).where(Assignment.state == "withdrawn")
            return db.scalar(query) or 0

    desk.running.freeze("R1", "R2")
    head = desk.open()
    sign_in(head, "C1")
    head.goto(desk.address + "/#desk")
    head.wait_for_selector("text=Somebody leaves")
    head.get_by_label("Somebody leaves").select_option("R1")
    head.wait_for_selector("text=unfinished cases to others")
    head.wait_for_timeout(500)
    assert withdrawn() == 0
    press(head, mark_button(head, "unfinished cases to others"))
    head.wait_for_function("() => document.body.innerText.match(/R3\\s+0\\s+[1-9]/)")
    assert withdrawn() > 10


def test_accounts_are_added_and_invited_again_on_the_page(desk: Desk) -> None:
    """Each list sends what was chosen in it."""
    from sqlalchemy import select

    from situs.review.station.store.tables import User

    head = desk.sit("C1")
    head.goto(desk.address + "/#desk")
    head.get_by_label("New account (a code, not a name)").fill("J7")
    head.get_by_label("Role").select_option("adjudicator")
    press(head, mark_button(head, "Add"))
    head.wait_for_selector("text=One-time token for J7")
    with desk.running.database.read() as db:
        assert db.scalars(select(User.roles).where(User.code == "J7")).all() == [["adjudicator"]]
    head.get_by_label("Invite again").select_option("R1")
    head.locator("button", has_text="Invite").last.click()
    head.wait_for_selector("text=One-time token for R1")


def test_a_complaint_is_seen_and_a_reason_is_typed_as_one(desk: Desk) -> None:
    """On a low screen, too; and the letters of a reason are no keys that rate."""
    desk.running.freeze("R1", "R2")
    page = desk.sit("R1", height=420)
    begin(page)
    answer_by_keys(page)
    page.keyboard.press("Enter")
    page.wait_for_function(
        "() => { const line = document.querySelector('.sheet .problem'); return line &&"
        " line.getBoundingClientRect().bottom <= innerHeight + 1; }"
    )
    page.keyboard.press("2")
    page.keyboard.press("Enter")
    page.wait_for_selector("text=Amend")  # a training case stays, with its feedback
    page.keyboard.press("u")
    page.wait_for_function("() => document.activeElement.matches('textarea')")
    page.keyboard.type("key 0")
    assert page.input_value("label:has-text('Reason for the correction') textarea") == "key 0"
    assert page.query_selector(".flag-list input:checked") is None
    # Whoever has no cases reads so once, also at an address of another role.
    page = desk.sit("R3")
    for address in ("", "#desk", "#trail"):
        page.goto(f"{desk.address}/{address}")
        page.wait_for_selector("text=No cases have been assigned to you yet.")
    assert "Thank you" not in page.inner_text("main")
    page.goto(desk.address + "/#case/" + "0" * 32)
    page.wait_for_selector("text=There is no such case on your list.")
    press(page, mark_button(page, "Back to my list"))
    page.wait_for_selector("text=No cases have been assigned to you yet.")


def test_a_word_is_no_number_and_a_lock_speaks_of_what_is_open(
    new_station: Callable[..., Running], chromium: Any
) -> None:
    """The form says at once what it wants; over the list, no case is said to be kept."""
    desk = Desk(new_station(items=60, training=0), chromium)
    try:
        desk.running.freeze("R1", "R2")
        page = desk.sit("R1")
        page.wait_for_selector("a.primary")
        page.keyboard.press("Shift+L")
        assert page.inner_text(".cover .note") == "Your work is kept."
        page.fill("input[type=password]", PASSWORD)
        page.keyboard.press("Enter")
        page.wait_for_selector(".cover", state="detached")
        page.goto(f"{desk.address}/#case/{number_case(desk.running)}")
        field = page.locator("input[inputmode=decimal]")
        field.fill("purple")
        page.get_by_label("2 fairly sure").check()
        page.evaluate("document.activeElement.blur()")
        page.keyboard.press("Enter")
        page.wait_for_selector(".sheet .problem")
        assert page.inner_text(".sheet .problem").startswith("Give one number in ")
        field.fill("12;5")  # figures, and yet no number: the station says so
        page.evaluate("document.activeElement.blur()")
        page.keyboard.press("Enter")
        page.wait_for_selector("text=the answer is one number in ")
        shots = os.environ.get("SITUS_SHOTS")
        if shots:
            page.screenshot(path=f"{shots}/number-refused.png")
        page.keyboard.press("Shift+L")
        assert page.inner_text(".cover .note") == "Your work on this case is kept."
        page.fill("input[type=password]", PASSWORD)
        page.keyboard.press("Enter")
        page.wait_for_selector(".cover", state="detached")
        field.fill("12,5")
        page.evaluate("document.activeElement.blur()")
        page.keyboard.press("Enter")
        in_view(page, 2)
        assert desk.errors == []
    finally:
        desk.close()


def number_case(running: Running) -> str:
    """A case of R1 that asks for one number with a unit."""
    from sqlalchemy import select

    from situs.review.station.store.tables import Assignment, Snapshot, Unit, User

    query = (
        select(Assignment.public_id, Snapshot.shown)
        .join(Unit, Unit.id == Assignment.unit_id)
        .join(Snapshot, Snapshot.hash == Unit.snapshot_hash)
        .join(User, User.id == Assignment.user_id)
        .where(User.code == "R1", Unit.kind == "item")
    )
    with running.database.read() as db:
        rows = db.execute(query).all()
    return next(
        case
        for case, shown in rows
        if [(p["form"], bool(p["unit"])) for p in shown["parts"]] == [("number", True)]
    )


def test_places_along_the_spine_read_as_vertebrae(chromium: Any) -> None:
    """The names are those of the vocabulary; halfway between two, both are named."""
    from situs.facts.masks.kinds_spine import LEVELS, level_name
    from situs.report.viewer.module import viewer_module

    script = viewer_module(()).replace("export {  };", "")
    page = chromium.new_page()
    page.set_content("<svg></svg>")
    ask = "(values) => { SCRIPT; return values.map((value) => inUnit(value, 'level')); }"
    places = [float(n) for n in range(len(LEVELS))]
    near, between = [n + 0.2 for n in places], [n + 0.5 for n in places[:-1]]
    words = page.evaluate(ask.replace("SCRIPT", script), [*places, *near, *between])
    assert words == [
        *map(level_name, places),
        *map(level_name, near),
        *(f"{a}/{b}" for a, b in itertools.pairwise(LEVELS)),
    ]
    page.close()


def a_case_of(running: Running, code: str) -> str:
    """The address of a finished case."""
    from sqlalchemy import select

    from situs.review.station.store.tables import Assignment, User

    with running.database.read() as db:
        query = select(Assignment.public_id).join(User, User.id == Assignment.user_id)
        found = db.scalar(query.where(User.code == code, Assignment.state == "done").limit(1))
    assert found is not None
    return str(found)


def begin(page: Any) -> None:
    page.click("a.primary")
    page.wait_for_selector(".sheet h1")


def in_view(page: Any, stage: int) -> None:
    page.wait_for_function(
        "(n) => { const k = document.querySelector('.sheet .kicker'); return k &&"
        " (k.textContent.includes('stage ' + n) || (n === 2 &&"
        " k.textContent.startsWith('Wording'))); }",
        arg=stage,
    )


def answer_by_keys(page: Any) -> None:
    """Stage 1 without a mouse."""
    field = page.query_selector(".sheet form label.field input:not(#cannot)")
    if page.query_selector(".boxing") is not None:
        page.focus(".boxing input[type=checkbox]")  # nothing to box
        page.keyboard.press("Space")
        page.evaluate("document.activeElement.blur()")
    elif page.query_selector("#first-slice") is not None:
        page.wait_for_function("() => window.situsPlanes")
        page.keyboard.press("[")  # the slice one is at is the first and the last
        page.keyboard.press("]")
        assert field is not None
        page.wait_for_function(
            "(field) => field.value === [1, 1].map((n) => situsPlanes.controls.at.axial +"
            " n).join('-')",
            arg=field,
        )
    elif field is not None:
        field.focus()
        page.keyboard.type("12")
        page.keyboard.press("Escape")
        page.evaluate("document.activeElement.blur()")
    else:
        page.keyboard.press("a")
    page.keyboard.press("2")
    page.keyboard.press("Enter")
    in_view(page, 2)


def read_one(page: Any, score: str, wrong: bool = False) -> None:
    """A whole case by keyboard; waits until the next one is there or none is left."""
    if "stage 1" in page.inner_text(".sheet .kicker"):
        answer_by_keys(page)
    before = page.url
    page.keyboard.press(score)
    if wrong and "Wording" not in page.inner_text(".sheet .kicker"):
        page.keyboard.press("k")
    page.keyboard.press("Shift+Enter")
    page.wait_for_function("(old) => location.href !== old", arg=before)
    page.wait_for_selector(".sheet h1, main.page h1")


def no_serious_findings(page: Any) -> None:
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page).response["violations"]
    bad = [
        (v["id"], v["nodes"][0]["html"][:120])
        for v in found
        if v["impact"] in ("serious", "critical")
    ]
    assert bad == []


SIZES = ((1400, 900), (820, 1180))
"""A desktop's window and a tablet held upright."""


def look(page: Any, name: str, shots: Path | None) -> None:
    """A screen at desktop and tablet width, light and dark:
    it fits its window, and axe finds nothing serious."""
    both = itertools.product(SIZES, ("dark", "light"))
    # Without pictures, each width and each scheme once: what axe finds hangs on one of them at a
    # time.
    for (width, height), scheme in both if shots else zip(SIZES, ("dark", "light")):
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(color_scheme=scheme)
        page.wait_for_timeout(200)
        if shots is not None:
            page.screenshot(path=shots / f"{width}-{scheme}-{name}.png", full_page=True)
        fits = page.evaluate("document.documentElement.scrollWidth <= innerWidth + 1")
        assert fits, f"{name} is wider than {width} pixels"
        no_serious_findings(page)
    page.set_viewport_size(dict(zip(("width", "height"), SIZES[0])))


def look_at_case(page: Any, kind: str, shots: Path | None) -> None:
    """A case before and after its answer."""
    look(page, kind, shots)
    if "stage 1" in page.inner_text(".sheet .kicker"):
        answer_by_keys(page)
        look(page, f"{kind}-stage-2", shots)


def reach(page: Any, selector: str) -> None:
    """Go to a control by Tab alone, as somebody without a mouse does."""
    for _ in range(300):
        page.keyboard.press("Tab")
        if page.evaluate("(s) => document.activeElement.matches(s)", selector):
            return
    raise AssertionError(f"{selector} cannot be reached by Tab")


def press(page: Any, selector: str, key: str = "Enter") -> None:
    """Reach a control and press a key on it."""
    reach(page, selector)
    page.keyboard.press(key)


def mark_button(page: Any, words: str) -> str:
    """A selector for the control with these words; marked by the test, not used to click it."""
    page.locator("button, label, a", has_text=words).first.evaluate(
        "(e, words) => (e.querySelector('input, select') || e).setAttribute('data-test', words)",
        words,
    )
    return f'[data-test="{words}"]'


def freeze_by_keyboard(head: Any, readers: tuple[str, ...]) -> None:
    for code in readers:
        press(head, mark_button(head, code), "Space")
    press(head, mark_button(head, "Preview the assignment"))
    head.wait_for_selector("text=Freeze and hand out")
    press(head, mark_button(head, "Freeze and hand out"))
    head.wait_for_selector("text=Agreement is hidden until")


def settle_by_keyboard(judge: Any, reason: str, shots: Path | None) -> None:
    """An adjudication without a mouse:
    the case blind, then the decision by Tab, arrows and Space."""
    answer_by_keys(judge)
    judge.wait_for_selector("text=Reader B")
    look(judge, "adjudication", shots)
    assert "R1" not in judge.inner_text("main")
    press(judge, "input[name=wrong]", "Space")
    press(judge, "input[name=decision]", "Space")
    reach(judge, ".sheet textarea")
    judge.keyboard.type("a slip")
    judge.evaluate("document.activeElement.blur()")
    # Submitted, the case stays: the decision is seen, and corrected with a reason of its own.
    judge.keyboard.press("Enter")
    judge.wait_for_selector("text=Amend")
    assert judge.input_value(".sheet textarea") == "a slip"
    look(judge, "decision", shots)
    judge.keyboard.press("u")
    judge.wait_for_function("() => document.activeElement.matches('.sheet textarea')")
    assert judge.input_value(".sheet textarea") == ""
    assert judge.is_checked("input[name=decision] >> nth=0")
    judge.keyboard.type(reason)
    done = judge.inner_text(".sheet .kicker")
    judge.keyboard.press("Shift+Enter")
    judge.wait_for_function(
        "(old) => document.querySelector('.sheet .kicker')?.innerText !== old", arg=done
    )


def whole_project(desk: Desk, shots: Path | None = None) -> Any:
    """Coordinator, two readers and an adjudicator in browsers of their own, from freezing to the
    agreement table.

    Nobody touches a mouse. R1 scores 2 throughout; R2 scores 0 and calls every key wrong. Returns
    the statistics.
    """
    look(desk.open(), "sign-in", shots)
    head = desk.sit("C1")
    head.goto(desk.address + "/#desk")
    head.wait_for_selector("text=Preview the assignment")
    look(head, "desk-planning", shots)
    freeze_by_keyboard(head, ("R1", "R2"))
    look(head, "desk", shots)
    for code, score, wrong in (("R1", "2", False), ("R2", "0", True)):
        page = desk.sit(code)
        if code == "R1":
            look(page, "list", shots)
        press(page, "a.primary")
        page.wait_for_selector(".sheet h1")
        seen: set[str] = set()
        while page.query_selector(".sheet h1"):
            # The first word: `Training case`, `Case`, `Wording`.
            kind = page.inner_text(".sheet .kicker").split()[0].lower()
            if code == "R1" and kind not in seen:
                look_at_case(page, kind, shots)
            seen.add(kind)
            read_one(page, score, wrong)
        assert "Nothing is" in page.inner_text("main")
    look(page, "done", shots)
    judge = desk.sit("J1")
    press(judge, "a.primary")
    judge.wait_for_selector(".sheet h1")
    look(judge, "adjudication-blind", shots)
    settle_by_keyboard(judge, "<b>clear</b> on the scan", shots)
    head.reload()
    head.wait_for_selector("text=Lock reading and show agreement")
    press(head, mark_button(head, "Lock reading and show agreement"))
    head.wait_for_selector("text=Locking is final")
    look(head, "locking", shots)
    press(head, mark_button(head, "Lock for good"))
    head.wait_for_selector("text=Key errors")
    assert "not settled" in head.inner_text("main")  # R2 disputes every key, and J1 settles one
    look(head, "agreement", shots)
    head.goto(desk.address + "/#trail")
    head.wait_for_selector("text=Verify the record")
    press(head, mark_button(head, "Verify the record"))
    head.wait_for_selector("text=Intact:")
    # The hashes of a sample are folded, and open by keyboard.
    press(head, "td details summary")
    head.wait_for_selector("td details[open]")
    look(head, "trail", shots)
    head.goto(desk.address + "/#help")
    head.wait_for_selector("kbd")
    look(head, "help", shots)
    return head.evaluate(
        "() => fetch('/api/v1/projects').then((r) => r.json())"
        ".then(([p]) => fetch(`/api/v1/projects/${p.id}/agreement`)).then((r) => r.json())"
    )


def closed_forms(found: Any) -> None:
    """Of two readers who always say 2 and 0: nothing is equal, and every coefficient follows from
    that.

    Raw 0. AC1 over three scores: shares ½, ½, 0, so chance is (¼ + ¼) / 2 = ¼, and AC1 = −¼ / ¾ =
    −⅓. Fleiss: chance ½, so −1. Conger: the readers' marginals never meet, so chance is 0, and κ =
    0. α: 2n ratings, n of each score, so expected disagreement is 2n² / (2n (2n − 1)), and α = 1 −
    (2n − 1) / n = 1/n − 1. "Key wrong" has two categories: chance of AC1 is ½, so −1.
    """
    score, wrong = found["agreement"]["score"], found["agreement"]["key wrong"]
    n = score["n"]
    for entry in (score, wrong):
        assert entry["raw"] == pytest.approx(0.0, abs=1e-9)
        assert entry["kappa"] == pytest.approx(-1.0, abs=1e-9)
        assert entry["conger"] == pytest.approx(0.0, abs=1e-9)
        assert entry["alpha"] == pytest.approx(1 / n - 1, abs=1e-9)
    assert score["ac1"] == pytest.approx(-1 / 3, abs=1e-9)
    assert wrong["ac1"] == pytest.approx(-1.0, abs=1e-9)


def test_a_whole_project_by_keyboard(desk: Desk) -> None:
    shots = os.environ.get("SITUS_SHOTS")
    closed_forms(whole_project(desk, Path(shots) if shots else None))


def bright_voxel(running: Running) -> tuple[np.ndarray, np.ndarray]:
    """Every volume becomes one bright voxel on an oblique grid;
    its patient-ordered index, and the shape."""
    from sqlalchemy import select

    from situs.review.station.slices import open_volume_map, store_volume
    from situs.review.station.store.tables import Snapshot
    from situs.space import Affine, Grid

    angle = np.deg2rad(17)
    turn = np.array(
        [[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0], [0, 0, 1]]
    )
    matrix = np.eye(4)
    matrix[:3, :3] = turn @ np.diag([-2.0, 3.0, 4.0])[:, [1, 2, 0]]
    matrix[:3, 3] = (31, -20, 12)
    grid = Grid((40, 24, 52), Affine(matrix))
    array = np.full(grid.shape, -500, np.int16)
    array[9, 17, 40] = 3000
    mm = matrix @ np.array([9, 17, 40, 1.0])
    with running.database.read() as db:
        names = {
            held.hidden["volume"]
            for held in db.scalars(select(Snapshot))
            if "volume" in held.hidden
        }
    for name in names:
        shutil.rmtree(running.folder.volumes / name)
        store_volume(running.folder.volumes / name, array, grid, "ct")
    open_volume_map.cache_clear()
    ordered = grid.in_patient_order()
    at = np.rint(np.linalg.inv(ordered.affine.matrix) @ mm)[:3].astype(int)
    return at, np.array(ordered.shape)


def brightest(page: Any, plane: str) -> list[float]:
    """The centre of the bright spot as shares of the canvas's width and height."""
    found: list[float] = page.evaluate(
        """(plane) => {
          const { canvas } = window.situsPlanes.controls.panes[plane];
          const { data, width, height } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
          let x = 0, y = 0, sum = 0;
          for (let n = 0; n < width * height; n++) {
            const v = Math.max(0, data[4 * n] - 40);
            x += v * (n % width + 0.5); y += v * (Math.floor(n / width) + 0.5); sum += v;
          }
          return sum ? [x / sum / width, y / sum / height] : [];
        }""",
        plane,
    )
    return found


def test_a_voxel_is_painted_where_its_millimetres_say(desk: Desk) -> None:
    """A bright voxel on an oblique grid:
    slice, canvas pixel and letters on three planes, in both conventions."""
    at, shape = bright_voxel(desk.running)
    desk.running.freeze("R1", "R2")
    page = desk.sit("R1")
    begin(page)
    page.wait_for_function("() => window.situsPlanes")
    axes = {"axial": (0, 1, 2), "coronal": (0, 2, 1), "sagittal": (1, 2, 0)}
    letters = {
        "axial": ("R", "L", "A", "P"),
        "coronal": ("R", "L", "H", "F"),
        "sagittal": ("A", "P", "H", "F"),
    }
    page.evaluate(
        "([i, j, k]) => { const { move, drawAll } = window.situsPlanes.controls;"
        " move('sagittal', i); move('coronal', j); move('axial', k); drawAll(); }",
        [int(v) for v in at],
    )
    for flipped in (False, True):
        if flipped:
            page.keyboard.press("n")
        for plane, (across, down, _) in axes.items():
            page.wait_for_function(
                """(plane) => {
                  const { canvas } = window.situsPlanes.controls.panes[plane];
                  const seen = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
                  return seen.data.some((value, n) => n % 4 === 0 && value > 128);
                }""",
                arg=plane,
            )
            x = (shape[across] - 0.5 - at[across]) / shape[across]
            if flipped and across == 0:
                x = (at[across] + 0.5) / shape[across]
            y = (shape[down] - 0.5 - at[down]) / shape[down]
            spot = brightest(page, plane)
            half = [0.5 / shape[across], 0.5 / shape[down]]
            assert abs(spot[0] - x) < half[0], (plane, flipped)
            assert abs(spot[1] - y) < half[1], (plane, flipped)
            left, right, top, bottom = letters[plane]
            if flipped and across == 0:
                left, right = right, left
            edges = page.evaluate(
                "(plane) => { const { edges } = window.situsPlanes.controls.panes[plane]; return"
                " ['left', 'right', 'top', 'bottom'].map((side) => edges[side].textContent); }",
                plane,
            )
            assert edges == [left, right, top, bottom]
    assert page.inner_text(".tools button").startswith("Neurological")


def test_offline_a_second_tab_and_an_ended_session_lose_nothing(desk: Desk) -> None:
    from sqlalchemy import delete, func, select

    from situs.review.station.store.tables import Reading, Session

    def count() -> int:
        with desk.running.database.read() as db:
            return db.scalar(select(func.count()).select_from(Reading)) or 0

    desk.running.freeze("R1", "R2")
    page = desk.sit("R1")
    begin(page)
    field = page.locator("#cannot")
    field.fill("half a reason")
    page.wait_for_selector("text=Draft kept.")
    # A second tab writes meanwhile: the first is told, and keeps its text.
    other = page.context.new_page()
    other.goto(page.url)
    other.wait_for_selector("#cannot")
    assert other.input_value("#cannot") == "half a reason"
    other.fill("#cannot", "from the second tab")
    other.wait_for_selector("text=Draft kept.")
    field.fill("half a reason, then more")
    page.wait_for_selector("text=Changed in another window")
    assert "from the second tab" in page.inner_text("[role=alertdialog]")
    page.click("text=Keep what is here")
    page.wait_for_selector("[role=alertdialog]", state="detached")
    other.close()
    # The session ends in the middle of a sentence: sign in again over the page, and nothing is
    # gone.
    with desk.running.database.write() as db:
        db.execute(delete(Session))
    last = "half a reason, then more, then the end <img src=x onerror=window.hacked=1>"
    field.fill(last)
    page.wait_for_selector("text=Sign in again")
    page.fill("input[type=password]", PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_selector("text=Draft kept.")
    assert page.input_value("#cannot") == last
    # Locked while a draft and something else are under way: both go on afterwards.
    page.evaluate(
        "async () => { const { api } = await import('/static/api.js');"
        " await api('/auth/lock', { method: 'POST' });"
        " window.done = 0; for (const n of [1, 2]) api('/next').then(() => { window.done += n; }); }"
    )
    page.wait_for_selector("text=Unlock")
    page.fill("input[type=password]", PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_function("() => window.done === 3")
    # Signed in anew in another tab: the page's token is no longer the session's.
    page.evaluate(
        "(body) => fetch('/api/v1/auth/login', { method: 'POST', body: JSON.stringify(body),"
        " headers: { 'Content-Type': 'application/json' } })",
        {"code": "R1", "password": PASSWORD},
    )
    last += " and more"
    field.fill(last)
    station_has(page, page.url, "cannot", last)
    # Offline: the submit waits, and counts once when the network is back.
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("3")
    page.wait_for_timeout(1200)
    page.context.set_offline(True)
    page.keyboard.press("Enter")
    page.wait_for_selector("text=Offline")
    assert count() == 0
    page.context.set_offline(False)
    in_view(page, 2)
    assert count() == 1
    # Back after the reveal: the answer is locked and shown.
    page.go_back()
    page.go_forward()
    page.wait_for_selector("text=You said:")
    # What was typed is shown as text and never run (stored XSS).
    assert last in page.inner_text(".revealed")
    assert page.evaluate("window.hacked") is None


def station_has(page: Any, case: str, field: str, said: str) -> None:
    """Wait until the station's draft of a case says so.

    `wait_for_function` takes a promise for a yes, whatever it holds.
    """
    ask = "(id) => fetch('/api/v1/assignments/' + id).then((r) => r.json())"
    for _ in range(200):
        if page.evaluate(ask, case.rpartition("/")[2])["draft"].get(field) == said:
            return
        page.wait_for_timeout(100)
    raise AssertionError(f"the station was never told {said!r}")


def leave_and_return(page: Any) -> None:
    """To the help by a link, as soon as something was typed, and back."""
    page.click("nav a:has-text('Help')")
    page.wait_for_selector("kbd")
    page.go_back()
    page.wait_for_selector(".sheet h1")


def test_what_was_typed_outlives_its_page(desk: Desk) -> None:
    """Left, closed, reloaded or signed out right after a letter, with and without a network."""
    desk.running.freeze("R1", "R2")
    page = desk.sit("R1")
    begin(page)
    case = page.url

    def holds(said: str) -> None:
        field = "(said) => document.querySelector('#cannot')?.value === said"
        page.wait_for_function(field, arg=said, timeout=20_000)

    page.fill("#cannot", "left at once")
    leave_and_return(page)
    holds("left at once")
    page.context.set_offline(True)
    page.fill("#cannot", "left without a network")
    page.wait_for_selector("text=Offline: your work is kept here")
    page.click("nav a:has-text('My list')")
    page.wait_for_selector("text=The station cannot be reached. Trying again")
    no_serious_findings(page)
    page.context.set_offline(False)
    page.wait_for_selector("a.primary")  # the list comes by itself
    page.wait_for_selector("text=The station cannot be reached", state="detached")
    page.goto(case)
    holds("left without a network")
    page.fill("#cannot", "closed at once")
    page.on("dialog", lambda asked: asked.accept())
    page.close(run_before_unload=True)
    page = desk.contexts[-1].new_page()
    page.on("pageerror", lambda error: desk.errors.append(str(error)))
    page.goto(desk.address)
    station_has(page, case, "cannot", "closed at once")
    page.goto(case)
    holds("closed at once")
    page.fill("#cannot", "signed out at once")
    page.click("text=Sign out")
    page.wait_for_selector("input[autocomplete=username]")
    sign_in(page, "R1")
    page.goto(case)
    holds("signed out at once")


def test_enter_submits_and_stays_and_shift_enter_goes_on(desk: Desk) -> None:
    """Whoever sees a slip at once amends it without looking for the case."""
    desk.running.freeze("R1", "R2")
    page = desk.sit("R1")
    begin(page)
    read_one(page, "2")  # the training case
    answer_by_keys(page)
    here = page.url
    page.keyboard.press("2")
    page.keyboard.press("Enter")
    page.wait_for_selector("text=Amend")
    page.wait_for_timeout(500)
    assert page.url == here
    page.keyboard.press("Enter")  # held a little too long
    page.wait_for_timeout(500)
    assert page.url == here
    page.keyboard.press("u")
    page.wait_for_function("() => document.activeElement.matches('textarea')")
    page.keyboard.type("a slip")
    page.keyboard.press("Shift+Enter")
    page.wait_for_function("(old) => location.href !== old", arg=here)
    assert written_comments(desk.running) == ["", "", ""]


def test_a_correction_is_kept_while_one_looks_elsewhere(desk: Desk) -> None:
    """It has no draft at the station; and it can be given up, or kept against another window's."""
    desk.running.freeze("R1", "R2")
    page = desk.sit("R1")
    begin(page)
    answer_by_keys(page)
    page.keyboard.press("2")
    page.keyboard.press("Enter")
    page.wait_for_selector("text=Amend")
    page.keyboard.press("u")
    comment, reason = page.get_by_label("Comment"), page.get_by_label("Reason for the correction")
    comment.fill("on a second look")
    leave_and_return(page)
    assert comment.input_value() == "on a second look"
    press(page, mark_button(page, "Leave it as it was"))
    page.wait_for_selector("text=Amend")
    assert comment.input_value() == ""
    page.keyboard.press("u")
    comment.fill("kept against the other")
    reason.fill("a second look")
    other = page.context.new_page()
    other.goto(page.url)
    other.wait_for_selector("text=Amend")
    other.keyboard.press("u")
    other.get_by_label("Comment").fill("from the other window")
    other.get_by_label("Reason for the correction").fill("faster")
    other.keyboard.press("Shift+Enter")
    other.wait_for_function("(old) => location.href !== old", arg=page.url)
    page.keyboard.press("Shift+Enter")
    page.wait_for_selector("text=Changed in another window")
    # Nothing is typed behind the question, and no key that was meant for a text answers it.
    assert page.evaluate("document.activeElement.getAttribute('role')") == "alertdialog"
    page.keyboard.type("x ")
    assert comment.input_value() == "kept against the other"
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.innerText") == "Keep what is here"
    page.keyboard.press("Enter")
    page.wait_for_selector("[role=alertdialog]", state="detached")
    assert comment.is_enabled()
    assert page.evaluate("document.activeElement.tagName") == "TEXTAREA"
    before = page.url
    reason.press("Shift+Enter")
    page.wait_for_function("(old) => location.href !== old", arg=before)
    assert written_comments(desk.running) == ["", "from the other window", "kept against the other"]


def written_comments(running: Running) -> list[str]:
    """Of every version of every rating, as they were written."""
    from sqlalchemy import select

    from situs.review.station.store.tables import Reading

    with running.database.read() as db:
        rated = db.scalars(select(Reading).where(Reading.stage == 2).order_by(Reading.id))
        return [str(row.body["comment"]) for row in rated]


class Vouching:
    """A provider that sends everybody straight back as R1."""

    def __init__(self, address: str) -> None:
        self.address = address

    def start(self) -> tuple[str, str]:
        return f"{self.address}/api/v1/auth/openid/back?state=s&code=c", "s"

    def finish(self, state: str, code: str) -> str:
        return "R1"


def test_people_of_a_provider_sign_in_and_unlock_on_the_page(
    new_station: Callable[..., Running], chromium: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They have no password here: a locked case opens by the provider too, with what was typed."""
    from situs.review.station import demo

    made: list[Any] = []
    real = demo.make_station
    monkeypatch.setattr(demo, "make_station", lambda *args: made.append(real(*args)) or made[-1])
    desk = Desk(new_station(), chromium)
    try:
        page = desk.open()
        assert page.query_selector("text=Sign in through") is None
        made[0].openid = Vouching(desk.address)
        desk.running.freeze("R1", "R2")
        sign_in_by_provider(page)
        assert desk.errors == []
    finally:
        desk.close()


def sign_in_by_provider(page: Any) -> None:
    """Also over a locked case."""
    page.reload()
    page.wait_for_selector("text=Sign in through your institution")
    no_serious_findings(page)
    press(page, "a[href$='openid/start']")
    page.wait_for_selector("a.primary")
    begin(page)
    page.fill("#cannot", "typed just before")
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("Shift+L")
    page.wait_for_selector("text=Locked")
    with page.context.expect_page() as other:
        press(page, ".cover a[href$='openid/start']")
    page.wait_for_selector(".cover", state="detached")
    other.value.close()
    page.wait_for_selector("text=Draft kept.")
    assert page.input_value("#cannot") == "typed just before"


@pytest.mark.parametrize(
    ("width", "height", "dark"), [(1400, 900, True), (820, 1180, False), (820, 1180, True)]
)
def test_every_screen_fits(desk: Desk, width: int, height: int, dark: bool, tmp_path: Path) -> None:
    """No screen is wider than its window, at desktop and tablet width, light and dark."""
    desk.running.freeze("R1", "R2")
    page = desk.sit("R1", width=width, height=height, dark=dark)
    shots = Path(os.environ.get("SITUS_SHOTS", tmp_path))
    name = f"{width}-{'dark' if dark else 'light'}"

    def fits(what: str) -> None:
        page.wait_for_timeout(300)
        page.screenshot(path=shots / f"{name}-{what}.png", full_page=True)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth + 1"), what

    fits("list")
    begin(page)
    page.wait_for_function("() => window.situsPlanes && window.situsPlanes.kept.size >= 3")
    fits("stage-1")
    answer_by_keys(page)
    page.wait_for_timeout(800)
    fits("stage-2")
    no_serious_findings(page)
    # Without scrolling: the picture, the question, what is done next, and what a key has done.
    in_sight = (
        "(s) => { const box = document.querySelector(s).getBoundingClientRect();"
        " return box.height > 0 && box.top >= 0 && box.bottom <= innerHeight; }"
    )
    page.keyboard.press("2")
    page.wait_for_selector(".state:has-text('score: 2')")
    for part in (".pane.main canvas", ".sheet h1", ".state", ".actions .primary"):
        assert page.evaluate(in_sight, part), part
    page.goto(desk.address + "/#help")
    page.wait_for_selector("kbd")
    fits("help")
    page.keyboard.press("Shift+L")
    page.wait_for_selector("input[type=password]")
    fits("locked")
    assert page.evaluate("document.activeElement.type") == "password"
    # Nothing of a case can be seen behind the lock, wherever one scrolls.
    assert (
        page.evaluate("getComputedStyle(document.querySelector('.behind')).visibility") == "hidden"
    )
    no_serious_findings(page)


@pytest.fixture(scope="session")
def marked(tmp_path_factory: pytest.TempPathFactory, situs: Callable[..., Any]) -> Path:
    """A bench of questions about marks in the pictures."""
    folder = tmp_path_factory.mktemp("marked")
    from situs.volumes.phantoms import make_patient, write_patient

    for index in range(2):
        patient = make_patient(23, index, spacing_mm=(4.0, 4.0, 4.0), noise=False)
        write_patient(patient, folder / "data" / f"patient{index}")
    args = ("--annotation", "exact", "--tasks", "marks", "--licence", "CC0-1.0")
    ran = situs("build", "masks", folder / "data", *args, "--out", folder / "bench")
    assert ran.code == 0, ran.err
    return folder / "bench"


def test_a_key_and_buttons_lead_to_the_marks(
    new_station: Callable[..., Running], chromium: Any, marked: Path
) -> None:
    """All marks alike, by letter: which of them is right cannot be told from the way to them."""
    desk = Desk(new_station(bench=marked, items=4, training=0), chromium)
    try:
        desk.running.freeze("R1", "R2")
        page = desk.sit("R1")
        begin(page)
        page.wait_for_function("() => window.situsPlanes && window.situsPlanes.kept.size >= 3")
        view = page.evaluate(
            "() => fetch('/api/v1/assignments/' + location.hash.split('/').pop()).then((r) =>"
            " r.json())"
        )
        marks = view["marks"]
        assert len(marks) > 1
        buttons = page.locator(".toolbar button", has_text="Go to mark")
        assert buttons.all_inner_texts() == [f"Go to mark {letter}" for letter, _ in marks]
        assert [letter for letter, _ in marks] == sorted(letter for letter, _ in marks)
        at = "() => window.situsPlanes.controls.at"
        for _, point in marks:
            page.keyboard.press("m")
            found = page.evaluate(at)
            assert [found[p] for p in ("sagittal", "coronal", "axial")] == [round(v) for v in point]
        buttons.first.click()
        assert page.evaluate(at)["coronal"] == round(marks[0][1][1])
        label = page.locator(".viewer .label", has_text=marks[0][0])
        label.first.wait_for(state="visible")
        if "SITUS_SHOTS" in os.environ:
            page.screenshot(path=Path(os.environ["SITUS_SHOTS"]) / "marks.png")
        assert desk.errors == []
    finally:
        desk.close()


def case_that_asks(running: Running, code: str, words: str) -> str:
    """The case of a reader whose question holds these words."""
    from sqlalchemy import select

    from situs.review.station.store.tables import Assignment, Snapshot, Unit, User

    query = (
        select(Assignment.public_id)
        .join(Unit, Unit.id == Assignment.unit_id)
        .join(Snapshot, Snapshot.hash == Unit.snapshot_hash)
        .join(User, User.id == Assignment.user_id)
        .where(User.code == code, Unit.kind == "item")
        .where(Snapshot.shown["question"].as_string().contains(words))
    )
    with running.database.read() as db:
        found = db.scalars(query).first()
    assert found is not None
    return str(found)


def test_a_mark_on_a_frame_is_drawn_and_nothing_is_said_of_millimetres(
    new_station: Callable[..., Running], chromium: Any, stacks: Path
) -> None:
    """On a stack without orientation: the mark at its pixel, which slice is meant, no scale."""
    desk = Desk(new_station(bench=stacks, items=60, training=0), chromium)
    try:
        desk.running.freeze("R1", "R2")
        page = desk.sit("R1")
        page.goto(desk.address + "/#case/" + case_that_asks(desk.running, "R1", "at the mark"))
        page.wait_for_function("() => window.situsPlanes && window.situsPlanes.kept.size >= 3")
        view = page.evaluate(
            "() => fetch('/api/v1/assignments/' + location.hash.split('/').pop()).then((r) =>"
            " r.json())"
        )
        (frame,) = view["frames"]
        assert f"About slice {frame + 1}." in page.inner_text(".sheet")
        assert page.evaluate("situsPlanes.controls.at.axial") == frame
        label = page.locator(".pane.main .label", has_text="P")
        label.wait_for(state="visible")
        dot, canvas = (page.locator(s).bounding_box() for s in (".pane.main .dot-in", "canvas"))
        ((_, (i, j, _)),) = view["marks"]
        columns, rows, _ = view["series"]["shape"]
        x = canvas["x"] + canvas["width"] * (columns - 0.5 - i) / columns
        y = canvas["y"] + canvas["height"] * (rows - 0.5 - j) / rows
        assert abs(dot["x"] + dot["width"] / 2 - x) < 1
        assert abs(dot["y"] + dot["height"] / 2 - y) < 1
        assert label.bounding_box()["y"] + label.bounding_box()["height"] < y, "it covers the mark"
        assert page.inner_text(".pane.main .scale") == ""
        assert "Axial" not in page.inner_text(".pictures")
        # Elsewhere, the way back to the slice that is meant.
        page.evaluate("situsPlanes.go(0)")
        press(page, ".asked-slice button")
        assert page.evaluate("situsPlanes.controls.at.axial") == frame
        assert desk.errors == []
    finally:
        desk.close()


@pytest.mark.parametrize("flipped", [False, True])
def test_a_box_is_kept_where_it_was_drawn(
    new_station: Callable[..., Running], chromium: Any, lesions: Path, flipped: bool
) -> None:
    """Drawn with the mouse, in either convention, or typed:
    the pixels that were sent are those under the pointer."""
    desk = Desk(new_station(bench=lesions, items=2, training=0), chromium)
    try:
        desk.running.freeze("R1", "R2")
        page = desk.sit("R1")
        begin(page)
        page.wait_for_selector("#draw")
        page.wait_for_function("() => window.situsPlanes && window.situsPlanes.kept.size >= 3")
        if flipped:
            page.keyboard.press("n")
        page.keyboard.press("w")
        page.wait_for_selector("#draw[aria-pressed=true]")
        corners = page.evaluate(
            """() => { const { canvas } = situsPlanes.controls.panes.axial, box = canvas.getBoundingClientRect();
              const [w, h] = situsPlanes.series.shape;
              return { box: [box.left, box.top, box.width, box.height], size: [w, h],
                at: situsPlanes.controls.at.axial }; }"""
        )
        left, top, width, height = corners["box"]
        columns, rows = corners["size"]
        page.mouse.move(left + 0.2 * width, top + 0.3 * height)
        page.mouse.down()
        page.mouse.move(left + 0.5 * width, top + 0.6 * height, steps=4)
        page.mouse.up()
        page.wait_for_selector(".drawn li")
        x0, x1 = (0.5, 0.8) if flipped else (0.2, 0.5)
        page.wait_for_selector("text=Draft kept.")
        kept = page.evaluate(
            "() => fetch('/api/v1/assignments/' + location.hash.split('/').pop()).then((r) =>"
            " r.json())"
        )
        (box,) = json.loads(next(iter(kept["draft"]["answers"].values())))
        assert box["frame"] == corners["at"]
        edges = [box["x0"] / columns, box["y0"] / rows, box["x1"] / columns, box["y1"] / rows]
        assert edges == pytest.approx([x0, 0.3, x1, 0.6], abs=1.5 / min(columns, rows))
        # Without a mouse: the edges are typed.
        page.get_by_text("Type a box").focus()
        page.keyboard.press("Enter")
        for edge in ("3", "4", "9", "11"):
            page.keyboard.press("Tab")
            page.keyboard.type(edge)
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        page.wait_for_selector(".drawn li:nth-child(2)")
        no_serious_findings(page)
        page.evaluate("document.activeElement.blur()")
        page.keyboard.press("2")
        page.keyboard.press("Enter")
        in_view(page, 2)
        page.click("text=Go to the key’s slice")
        page.wait_for_selector("path.bx.key")
        if "SITUS_SHOTS" in os.environ:
            page.screenshot(path=Path(os.environ["SITUS_SHOTS"]) / f"boxes-{flipped}.png")
        assert "2 boxes on slice" in page.inner_text(".revealed")
        assert desk.errors == []
    finally:
        desk.close()


@pytest.mark.real
def test_one_real_ct(
    new_station: Callable[..., Running], chromium: Any, tmp_path: Path, situs: Callable[..., Any]
) -> None:
    """A real abdomen: what the interface serves are the file's own voxels,
    and a whole project is read on it."""
    import nibabel

    given = os.environ.get("SITUS_REAL_DATA", "")
    study = Path(given) / "volumes" / "totalseg_s0009"
    if not given or not study.is_dir():
        pytest.skip("no real volumes: set SITUS_REAL_DATA")
    data = tmp_path / "data" / "s0009"
    shutil.copytree(study, data)
    built = situs(
        "build", "masks", data.parent, "--out", tmp_path / "bench", "--licence", "CC-BY-4.0"
    )
    assert built.code == 0, built.err
    running = new_station("real", bench=tmp_path / "bench", items=3, training=0)
    image = next(path for path in data.rglob("*.nii.gz") if "segmentations" not in path.parts)
    ordered = nibabel.as_closest_canonical(nibabel.load(image))
    values = np.asarray(ordered.dataobj)
    made = Desk(running, chromium)
    try:
        closed_forms(whole_project(made))
        page = made.open()
        sign_in(page, "R1")
        page.goto(made.address + "/#case/" + a_case_of(running, "R1"))
        page.wait_for_selector(".revealed")
        middle = values.shape[2] // 2
        page.wait_for_function("(n) => window.situsPlanes?.kept.has('axial/' + n)", arg=middle)
        shown = page.evaluate(
            "(n) => Array.from(window.situsPlanes.kept.get('axial/' + n))", middle
        )
        # RAS+ in the file's order; the picture begins at the patient's right and front.
        expected = np.rint(values[::-1, ::-1, middle].T)
        assert np.array(shown).reshape(expected.shape).tolist() == expected.tolist()
        shots = Path(os.environ.get("SITUS_SHOTS", tmp_path))
        page.wait_for_timeout(1500)
        page.screenshot(path=shots / "real.png")
        assert made.errors == []
    finally:
        made.close()
