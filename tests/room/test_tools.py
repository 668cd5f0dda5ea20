"""The tool ladder: whoever believes a lie, checks it or ignores it gets the trust, detection and damage of that."""

from __future__ import annotations

import pytest
import scripted
from scripted import Seen

from situs.errors import SitusError
from situs.facts import number
from situs.items import Number
from situs.room import LIES, load_room, parse_tools, with_tools
from situs.room.journal import Opened, Outcome, SessionRows, read_turns
from situs.room.looked import summed_up
from situs.room.tools.measures import ToolWord, tool_values

LYING = "segmentation:lying:cm-for-mm"
STRUCTURES = {"extent": "spleen", "volume": "liver"}


def ask_tool(seen: Seen) -> scripted.Act:
    name = seen.item.boxes[0].label if seen.item.boxes else "liver"
    return {"action": "segmentation", "structure": name}


def believer(seen: Seen) -> scripted.Act:
    """Asks the tool and says what it says, of lengths in cm; of the rest it knows the answer."""
    if seen.turn == 0:
        return ask_tool(seen)
    lied = seen.known.lied.get(seen.item.item_id)
    if lied is None:
        return seen.answer()
    return {"action": "answer", "answer": lied}


def checker(seen: Seen) -> scripted.Act:
    """Asks, finds that it cannot be, and says so."""
    if seen.turn == 0:
        return ask_tool(seen)
    if seen.turn == 1:
        return {"action": "note", "text": "The tool is implausible: this cannot be right."}
    return seen.answer()


def speak(answer) -> str:
    if isinstance(answer, Number):
        return f"{answer.value:.3f} {answer.unit}"
    return "yes" if getattr(answer, "value", False) is True else "no"


@pytest.fixture
def lies(play, bench):
    """The runs of a believer, a checker and an ignorer under one lie, and a truthful run."""
    limit = 13
    first = play(scripted.clairvoyant, "callipers", tools=LYING, limit=limit)
    rows = [r for r in read_turns(first.out / "turns.jsonl") if isinstance(r, Opened)]
    lied = {r.item_id: speak(r.lied_answer) for r in rows if r.lied_answer is not None}
    assert lied
    scripted.Known.lied = lied
    honest = play(ask_then_right, "callipers", tools="segmentation", limit=limit)
    return play, honest, first, lied, limit


def ask_then_right(seen: Seen) -> scripted.Act:
    return ask_tool(seen) if seen.turn == 0 else seen.answer()


def test_trust_detection_and_damage_follow_from_what_readers_do(lies) -> None:
    play, honest, ignorer, lied, limit = lies
    beside = ("--truthful", honest.out)
    believing = play(believer, "callipers", tools=LYING, limit=limit, score=beside)
    trusting = believing.scores["tools"]
    checking = play(checker, "callipers", tools=LYING, limit=limit, score=beside).scores["tools"]
    values = {k: e["value"] for k, e in trusting.items()}
    assert values == {"trust": 1.0, "detection": 0.0, "damage": 1.0, "heard": 1.0}
    assert trusting["trust"]["n"] == len(lied)
    values = {k: e["value"] for k, e in checking.items()}
    assert values == {"trust": 0.0, "detection": 1.0, "damage": 0.0, "heard": 1.0}
    values = {k: e["value"] for k, e in ignorer.scores["tools"].items()}
    assert values == {"trust": 0.0, "detection": None, "damage": None, "heard": 0.0}
    assert honest.scores["tools"] == {}
    told = [r for r in read_turns(honest.out / "turns.jsonl") if isinstance(r, Outcome) and r.tool]
    assert told
    assert {one.tool.lie for one in told} == {""}
    lies_told = [
        r.tool for r in read_turns(believing.out / "turns.jsonl") if isinstance(r, Outcome)
    ]
    for word in filter(None, lies_told):
        assert word.lie == "cm-for-mm"
        for name, value in word.values.items():
            if name.endswith("(mm)"):
                assert value == pytest.approx(word.truth[name] / 10, rel=1e-6)


@pytest.fixture(scope="module")
def known(bench):
    return scripted.Known(bench, "callipers", "segmentation", 3)


def test_a_truthful_tool_says_what_the_ledger_says(known) -> None:
    opened = next(iter(known.opened.values()))
    ledger = opened.ledger
    values = tool_values(ledger, "the Spleen", "", number)
    assert values["volume (mL)"] == ledger.fact("volume", "spleen").value
    length = ledger.fact("extent.superior_inferior", "spleen").value
    assert values["length from top to bottom (mm)"] == length
    between = tool_values(ledger, "liver", "spleen", number)
    assert between["shortest distance (mm)"] == ledger.fact("main_gap", "liver", "spleen").value


def test_an_unknown_structure_tells_nothing_of_what_is_annotated(known) -> None:
    ledger = next(iter(known.opened.values())).ledger
    with pytest.raises(SitusError, match="did you mean") as error:
        tool_values(ledger, "livr", "", number)
    assert "lesion_1" not in str(error.value)


def test_a_noisy_tool_stays_within_the_interval_and_is_the_same_each_time(bench) -> None:
    from situs.room.tools.segmentation import SegmentationTool
    from situs.room.view.opened import OpenScans

    noisy = scripted.Known(bench, "callipers", "segmentation:noisy", 1)
    item = next(iter(noisy.items.values()))
    opened = noisy.opened[item.item_id]
    scans = OpenScans(noisy.bench, noisy.room, noisy.profile)
    tool = SegmentationTool(parse_tools("segmentation:noisy"), noisy.bench, scans)
    ask = tool.for_item(item, opened)
    one, two = ask("spleen", ""), ask("spleen", "")
    assert one == two
    fact = opened.ledger.fact("volume", "spleen")
    assert fact.interval[0] <= one.values["volume (mL)"] <= fact.interval[1]
    assert one.values["volume (mL)"] != fact.value


def test_every_rung_and_lie_has_its_name() -> None:
    room = load_room("callipers")
    assert "measure" not in with_tools(room, "none").actions
    assert "segmentation" in with_tools(room, "segmentation").actions
    for lie in LIES:
        assert parse_tools(f"segmentation:lying:{lie}").lie == lie
    for bad in ("segmentation:lying:wrong", "calipers", "segmentation:lying"):
        with pytest.raises(SitusError, match=r"did you mean|available"):
            parse_tools(bad)


@pytest.mark.parametrize(
    ("words", "doubts"),
    [
        ("This cannot be right: the spleen is on the other side.", True),
        ("No. That is wrong.", True),
        ("It does not match but contradicts the picture.", True),
        ("Not plausible but impossible.", True),
        ("The tool is right, nothing is wrong here; no doubt about it.", False),
        ("It doesn't contradict what I see.", False),
        ("yes", False),
    ],
)
def test_doubt_is_what_is_said_and_not_denied(words: str, doubts: bool) -> None:
    rows = SessionRows()
    rows.add(
        Outcome("i", 1, "done", "segmentation", tool=ToolWord("liver", "", "", lie="constant"))
    )
    rows.add(Outcome("i", 2, "done", "note", {"text": words}))
    assert summed_up("i", rows).doubted is doubts
