"""The tool ladder: whoever believes a lie,
checks it or ignores it gets the trust, detection and damage of that."""

from __future__ import annotations

import numpy as np
import pytest
import scripted
from scripted import Seen

from situs.errors import SitusError
from situs.facts import number
from situs.items import Answer, Number
from situs.room import LIES, load_room, parse_tools, with_tools
from situs.room.journal import Opened, Outcome, SessionRows, read_turns
from situs.room.looked import summed_up
from situs.room.tools.lies import as_told
from situs.room.tools.measures import ToolWord, tool_values, values_in_words
from situs.room.tools.segmentation import SegmentationTool
from situs.room.view.opened import OpenScans

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


def told_by(lie: str, known: scripted.Known, word: ToolWord) -> bool:
    """Whether the tool's word on the liver is the lie that its name says,
    by what the ledgers hold."""
    volume, depth = word.values["volume (mL)"], word.values["depth from front to back (mm)"]
    if lie == "constant":
        # A ball of 25 mm, in voxels of 5 mm.
        return volume == pytest.approx(4 / 3 * np.pi * 2.5**3, rel=0.05) and depth == 50.0
    if lie == "wrong-side":
        return (volume, word.values["side of the patient"]) == (word.truth["volume (mL)"], "left")
    scans = OpenScans(known.bench, known.room, known.profile)
    livers, organs = {}, {}
    for study in known.bench.studies():
        (series,) = study.series
        ledger = scans.peek((study.study_id, series.series)).ledger
        livers[study.study_id] = ledger.fact("volume", "liver").value
        if livers[study.study_id] == word.truth["volume (mL)"]:
            names = [name for name in series.structures if "lesion" not in name]
            organs = {name: ledger.fact("volume", name).value for name in names}
    pool = livers.values() if lie == "stale-patient" else organs.values()
    return volume in pool and volume != word.truth["volume (mL)"]


@pytest.mark.sampled
@pytest.mark.parametrize("lie", sorted(LIES.keys() - {"cm-for-mm"}))
def test_each_lie_is_told_and_weighed_by_what_readers_make_of_it(
    situs, play, bench, tmp_path, lie: str
) -> None:
    """Items are shared out among a truster, a checker and an ignorer;
    the shares are what the scores must be."""
    limit, tools = 20, f"segmentation:lying:{lie}"
    known = scripted.Known(bench, "callipers", tools, limit)
    scans = OpenScans(known.bench, known.room, known.profile)
    liar = SegmentationTool(parse_tools(tools), known.bench, scans)
    lied: dict[str, Answer] = {}
    for item in known.items.values():
        answer = liar.lied_answer(item, known.opened[item.item_id])
        if answer is not None:
            lied[item.item_id] = answer
    assert len(lied) >= 2
    roles = {item_id: number % 3 for number, item_id in enumerate(lied)}
    truster, checker_, ignorer = range(3)

    def reader(seen: Seen) -> scripted.Act:
        role = roles.get(seen.item.item_id, ignorer)
        if role == ignorer:
            return seen.answer()
        if seen.turn == 0:
            return {"action": "segmentation", "structure": "liver"}
        if role == checker_:
            return checker(seen)
        said = seen.known.spoken(seen.item, lied[seen.item.item_id])
        return {"action": "answer", "answer": said}

    room = ("--room", "callipers", "--tools", "segmentation", "--limit", limit)
    honest = situs("run", bench, "--model", "oracle", *room, "--out", tmp_path / "honest")
    assert honest.code == 0, honest.err
    beside = ("--truthful", tmp_path / "honest")
    played = play(reader, "callipers", tools=tools, limit=limit, score=beside)
    share = {role: list(roles.values()).count(role) for role in range(3)}
    heard = share[truster] + share[checker_]
    values = {name: entry["value"] for name, entry in played.scores["tools"].items()}
    assert values == pytest.approx(
        {
            "trust": share[truster] / len(lied),
            "detection": share[checker_] / heard,
            "damage": share[truster] / len(lied),
            "heard": heard / len(lied),
        }
    )
    rows = [r for r in read_turns(played.out / "turns.jsonl") if isinstance(r, Outcome)]
    words = [row.tool for row in rows if row.tool is not None]
    assert len(words) == heard
    assert all(word.lie == lie and told_by(lie, played.known, word) for word in words)


@pytest.fixture(scope="module")
def known(bench):
    return scripted.Known(bench, "callipers", "segmentation", 3)


@pytest.mark.parametrize(
    ("value", "unit", "in_unit"), [(0.235, "mL", 1.0), (0.4444, "cm", 0.1), (3.04, "mm", 1.0)]
)
def test_whoever_repeats_the_words_of_a_lie_follows_it(value, unit, in_unit) -> None:
    """The tool tells millimetres and millilitres to a tenth, whatever its own interval is."""
    told = float(values_in_words({"so": value / in_unit}).removeprefix("so "))
    low, high = as_told(Number(value, unit, (value, value))).interval
    assert low <= told * in_unit <= high
    assert high - low == pytest.approx(0.1 * in_unit)
    wide = as_told(Number(value, unit, (value - 1, value + 1)))
    assert wide.interval == (value - 1, value + 1)


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
