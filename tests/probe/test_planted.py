"""Clients with a planted behaviour are told apart by what the suite says of them."""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from planted import Honest, key_of

from situs.bench import open_bench
from situs.items import Boxes, Frames, Item, Number, YesNo, letter_of
from situs.probe import ChangedVolumes, changed_bench
from situs.probe.changes.origin import outcomes_of
from situs.probe.profiles import one_slice
from situs.profiles import Presenter, Profile, load_profile
from situs.run import read_hidden
from situs.score import binomial_interval_999

# Every slice: most answers that a mirror changes are about lesions so small that fewer slices hide
# them.
PROFILE = """
name = "small"
[view]
slices = 60
size_px = 96
[window.ct]
low = -160.0
high = 240.0
[window.mr]
low_percentile = 1.0
high_percentile = 99.0
"""


def in_words(item: Item, answer: Any = None) -> str | None:
    match answer or item.answer:
        case YesNo(value):
            return "yes" if value else "no"
        case Number(value, unit):
            return f"{value:.6g} {unit}"
        case Boxes() | Frames():
            return None
        case choice:
            return letter_of(item, choice.value)


def offered(item: Item) -> list[str]:
    if item.options:
        return list("ABCDEF"[: len(item.options)])
    return ["yes", "no"] if isinstance(item.answer, YesNo) else ["1", "1000"]


def tables(bench_path: Path, profile: Profile, folder: Path) -> dict[str, Any]:
    """What the planted clients know."""
    bench = open_bench(bench_path)
    items = [item for item in bench.items() if in_words(item) is not None]
    mirror = changed_bench(bench, bench.items(), "mirror", profile, folder / "bench-mirror")
    assert mirror.bench is not None
    twins = {item.twin_of: item for item in mirror.bench.items()}
    names = ("by_all", "mirrored", "offered", "usual", "shown")
    known: dict[str, Any] = {name: {} for name in names} | {"by_any": defaultdict(dict)}
    usual: dict[str, Counter[str]] = defaultdict(Counter)
    shown, single = Presenter(bench, profile), Presenter(bench, one_slice(profile))
    for item in items:
        own, truth = shown.present(item), in_words(item)
        key = key_of([image.digest for image in own.images], own.prompt)
        known["by_all"][key] = truth
        known["shown"][item.item_id] = key, own.prompt
        known["offered"][own.prompt] = offered(item)
        for image in (*own.images, *single.present(item).images):
            known["by_any"][image.digest][item.question] = truth
        twin = twins.get(item.item_id)
        known["mirrored"][key] = truth if twin is None else in_words(item, twin.answer)
        usual[item.question][str(truth)] += 1
    changed = Presenter(mirror.bench, profile, volumes=ChangedVolumes(bench, "mirror", profile))
    originals = {item.item_id: item for item in items}
    for twin in mirror.bench.items():
        if twin.twin_of in originals:
            own = changed.present(twin)
            key = key_of([image.digest for image in own.images], own.prompt)
            known["by_all"][key] = in_words(twin)
            known["shown"][twin.item_id] = key, own.prompt
            known["offered"][own.prompt] = offered(twin)
            known["mirrored"][key] = in_words(twin, originals[twin.twin_of].answer)
    known["usual"] = {question: counts.most_common(1)[0][0] for question, counts in usual.items()}
    return known


@pytest.fixture(scope="session")
def known(once: Callable[..., Path], tiny: Path) -> Path:
    """A folder with the profile and the table."""

    def make(folder: Path) -> None:
        (folder / "small.toml").write_text(PROFILE)
        found = tables(tiny / "bench", load_profile(str(folder / "small.toml")), folder)
        (folder / "table.json").write_text(json.dumps(found))

    return once("planted", make)


@pytest.fixture
def probed(
    known: Path, tiny: Path, situs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Any]:
    monkeypatch.setattr(sys, "path", [str(Path(__file__).parent), *sys.path])

    def call(name: str, probes: str, *more: object) -> Any:
        if "mirror" in probes and not (tmp_path / name).exists():
            shutil.copytree(known / "bench-mirror", tmp_path / name / "bench-mirror")
        model = f"plugin:planted:{name}?table={known / 'table.json'}"
        args = (
            "--model",
            model,
            "--profile",
            known / "small.toml",
            "--probes",
            probes,
            "--out",
            tmp_path / name,
        )
        # So few patients have hardly a headline.
        ran = situs("probe", tiny / "bench", *args, *more, "--stratum", "all", "--json")
        assert ran.code == 0, ran.err
        return ran.json

    return call


_ASKED = (
    "looks_at_the_image",
    "text_only",
    "mirrored",
    "mm_as_cm",
    "one_slice_only",
    "follows_the_prior",
)


def verdicts(result: Any) -> dict[str, str]:
    return {name: one["verdict"] for name, one in result["diagnosis"]["findings"].items()}


def assert_diagnosed(result: Any, *found: str) -> None:
    """These findings are made and no others are, and the summary says so in words."""
    told = verdicts(result)
    assert [name for name, verdict in told.items() if verdict == "yes"] == list(found)
    assert list(told)[: len(_ASKED)] == list(_ASKED)
    words = {
        "looks_at_the_image": "Looks at the image: yes",
        "text_only": "Looks at the image: no; text only",
        "mirrored": "Mirrored: takes left for right",
        "mm_as_cm": "Reads mm as cm",
        "one_slice_only": "Uses one slice only",
        "follows_the_prior": "Follows the prior",
    }
    for name, said in words.items():
        assert (said in result["diagnosis"]["summary"]) is (name in found)
    for name in found:
        assert result["diagnosis"]["findings"][name]["words"]
        assert result["diagnosis"]["findings"][name]["ci95"] is not None


def assert_right_in_four_of_five(gain: Any) -> None:
    """As often as planted, and surely oftener than without what was withheld."""
    low, high = binomial_interval_999(gain["n"], 0.8)
    assert low <= gain["model"] * gain["n"] <= high
    assert gain["ci95"][0] > 0.0


def honest_after_a_mirror(table: Path, run: Path) -> tuple[int, int, int]:
    """Changed answers that were right before the mirror;
    how many of them are right after it; how many are the old."""
    reader, shown = Honest(str(table)), json.loads(table.read_text())["shown"]
    hidden = read_hidden(run / "original" / "hidden.jsonl") | read_hidden(
        run / "mirror" / "hidden.jsonl"
    )
    made = outcomes_of(run / "bench-mirror")
    assert made is not None
    pairs = [
        (row.item_id, f"{row.item_id}~mirror") for row in made.rows if row.outcome == "changed"
    ]
    seen = [
        (shown[old], shown[new])
        for old, new in pairs
        if old in shown and not {old, new} & hidden.keys()
    ]
    moved = [new for old, new in seen if reader.told(*old) == reader.by_all[old[0]]]
    followed = sum(reader.told(*new) == reader.by_all[new[0]] for new in moved)
    kept = sum(
        reader.told(*new) == reader.mirrored[new[0]] != reader.by_all[new[0]] for new in moved
    )
    return len(moved), followed, kept


def test_an_honest_reader_sees(
    probed: Callable[..., Any], known: Path, tmp_path: Path, situs, tiny: Path
) -> None:
    result = probed("Honest", "text,one-slice,swap,mirror")
    gain = result["sight_gain"]
    assert_diagnosed(result, "looks_at_the_image")
    assert verdicts(result)["one_slice_only"] == "no"
    volume, chance = gain["volume_gain"], result["shortcuts"]["chance"]
    assert_right_in_four_of_five(gain)
    assert_right_in_four_of_five(volume)
    low, high = binomial_interval_999(volume["n"], chance["value"])
    assert low <= volume["blind"] * volume["n"] <= high, "with one slice it guesses"
    assert gain["over_best_shortcut"]["best"] in ("majority", "prior", "nearest", "text-classifier")
    mirror = result["probes"]["mirror"]
    assert result["probes"]["one-slice"]["kept_old"] is None, "no right answer changes"
    moved, followed, kept = honest_after_a_mirror(known / "table.json", tmp_path / "Honest")
    assert mirror["n_followed"] == moved > 0
    assert mirror["followed"] == pytest.approx(followed / moved)
    assert mirror["kept_old"] == pytest.approx(kept / moved)
    assert mirror["changed"] > 0.6
    assert sum(group["n"] for group in mirror["groups"].values()) == mirror["n"]
    assert mirror["outcomes"]["changed"] > 0
    assert situs("score", tiny / "bench", tmp_path / "Honest" / "text", "--json").code == 0
    assert (
        situs(
            "score", tmp_path / "Honest" / "bench-mirror", tmp_path / "Honest" / "mirror", "--json"
        ).code
        == 0
    )
    page = (
        "report",
        tmp_path / "Honest" / "original",
        "--out",
        tmp_path / "r.html",
        "--pictures",
        2,
        "--json",
    )
    assert situs(*page).json["pictures_embedded"] == 2
    html = (tmp_path / "r.html").read_text()
    assert "Did it look?" in html
    pictured = re.findall(r'\["mirror","(?:un)?changed",[^]]*?"([0-9a-f]+)"\]', html)
    assert 1 <= len(pictured) <= 2, "the twins of items with pictures have one of the mirrored scan"
    assert f'"{pictured[0]}":"data:image/' in html
    both = (tmp_path / "Honest" / "original", tmp_path / "Honest" / gain["against"])
    compared = situs("compare", *both, "--stratum", "all", "--json").json
    assert compared["pairs"][0]["difference"] == pytest.approx(gain["value"])
    assert gain["model"] - max(gain["text"], gain["silent"]) == pytest.approx(gain["value"])


def test_who_says_what_most_patients_have_keeps_the_old_answer(probed: Callable[..., Any]) -> None:
    result = probed("Usual", "blank,swap,mirror")
    assert_diagnosed(result, "text_only", "follows_the_prior")
    low, high = result["sight_gain"]["ci95"]
    assert low <= 0.0 <= high
    assert result["probes"]["mirror"]["followed"] == 0.0
    assert result["probes"]["blank"]["same_answer"] == 1.0


def test_a_reader_of_words_has_no_sight(probed: Callable[..., Any]) -> None:
    result = probed("TextOnly", "blank")
    assert_diagnosed(result, "text_only")
    # Its opinion on a text changes with the words, so elsewhere it may be luckier in one run than
    # in the other.
    low, high = result["sight_gain"]["by_stratum"]["all"]["ci95"]
    assert low <= 0.0 <= high


def test_a_reader_of_one_slice_gains_nothing_from_the_volume(probed: Callable[..., Any]) -> None:
    result = probed("OneSlice", "one-slice")
    assert_diagnosed(result, "looks_at_the_image", "one_slice_only")
    gain = result["sight_gain"]
    assert gain["ci95"][0] > 0.1
    assert gain["volume_gain"]["ci95"][0] <= 0.0


def test_a_mirrored_reader_is_wrong_where_sides_matter_and_right_elsewhere(
    probed: Callable[..., Any],
) -> None:
    result = probed("Mirrored", "mirror")
    # So small a bench asks too little about sides to name the slip; larger cohorts do
    # (test_diagnosis).
    assert_diagnosed(result, "looks_at_the_image")
    assert verdicts(result)["mirrored"] != "no"
    row = result["probes"]["mirror"]
    # A number may lie within the intervals of both patients; all else that a mirror changes was
    # wrong to begin with.
    assert row["n_changed"] >= 5
    assert row["n_followed"] <= row["n_changed"] / 4
    most = 1.0 - (row["n_changed"] - row["n_followed"]) / row["n"]
    assert 0.8 * most < row["original"] <= most
    assert 0.8 * most < row["changed"] <= most


def test_a_reader_of_wrong_units(probed: Callable[..., Any]) -> None:
    assert_diagnosed(probed("MmAsCm", "text"), "looks_at_the_image", "mm_as_cm")


def test_refusals_are_also_shown_with_chance_credit(
    probed: Callable[..., Any], tmp_path: Path
) -> None:
    result = probed("Refuses", "text")
    gain = result["sight_gain"]
    assert gain["text"] == gain["silent"] == 0.0
    assert gain["mirage"]["rate"] == 0.0
    credit, chance = gain["with_chance_credit"], result["shortcuts"]["chance"]
    assert credit["blind"] * credit["n"] == pytest.approx(chance["value"] * chance["n"])
    assert gain["with_chance_credit"]["value"] < gain["value"]
    # The same command again asks nothing and says the same.
    written = {p: p.stat().st_mtime_ns for p in (tmp_path / "Refuses").rglob("answers.jsonl")}
    assert len(written) >= 3
    assert probed("Refuses", "text") == result
    assert {p: p.stat().st_mtime_ns for p in written} == written


@pytest.mark.sweep
def test_looks_flipped_is_an_outcome_of_its_own(probed: Callable[..., Any]) -> None:
    rows = probed("Suspicious", "text,flip-ap", "--limit", 72)["probes"]
    assert rows["flip-ap"]["looks_flipped"] == 1.0
    assert any("nobody declared" in reason for reason in rows["flip-ap"]["undefined"])
