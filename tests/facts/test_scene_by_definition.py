"""What a study's anatomy is judged by, on blocks of which every number is known."""

from __future__ import annotations

import numpy as np
import pytest
from _blocks import block_ledger

from situs.anatomy.plausible import VERTEBRAE
from situs.facts.masks import scene


def test_tissue_under_a_mask() -> None:
    """200 voxels tell, 199 do not. What lies below -50 HU is fat or air."""
    blocks = {"liver": ((2, 2, 2), (12, 12, 4)), "spleen": ((20, 2, 2), (30, 12, 5))}
    ledger = block_ledger((40, 20, 12), 1.0, **blocks)
    image = np.full((40, 20, 12), -1000.0)
    image[2:12, 2:12, 2:4] = 60.0
    image[2:7, 2:12, 2] = -100.0
    image[7, 2:12, 2] = -50.0
    image[20:30, 2:12, 2:5] = 40.0
    found = scene._tissues(ledger, image)
    assert found["liver"] == pytest.approx(((140 * 60 - 50 * 100 - 10 * 50) / 200, 0.25))
    assert found["spleen"] == pytest.approx((40.0, 0.0))
    short = {"liver": ((2, 2, 2), (12, 12, 4)), "spleen": ((2, 2, 6), (3, 3, 205))}
    assert set(
        scene._tissues(block_ledger((20, 20, 210), 1.0, **short), np.zeros((20, 20, 210)))
    ) == {"liver"}


def test_shares_of_overlap_and_of_surface() -> None:
    """Of 1000 and 500 voxels they share 100; of the duodenum's 6 × 5 × 5 mm² one face lies on the
    pancreas."""
    overlapping = block_ledger(
        (40, 20, 20), 1.0, liver=((2, 2, 2), (12, 12, 12)), spleen=((11, 2, 2), (16, 12, 12))
    )
    assert scene._overlaps(overlapping) == {("liver", "spleen"): pytest.approx(0.2)}
    first, second = next(iter(scene.BITTEN))
    beside = block_ledger(
        (40, 20, 20), 1.0, **{first: ((2, 2, 2), (12, 12, 12)), second: ((12, 4, 4), (17, 9, 9))}
    )
    assert scene._bitten(beside) == {(second, first): pytest.approx(1.0 / 6.0)}
    turned = block_ledger(
        (40, 20, 20), 1.0, **{second: ((2, 2, 2), (12, 12, 12)), first: ((12, 4, 4), (17, 9, 9))}
    )
    assert scene._bitten(turned) == {(first, second): pytest.approx(1.0 / 6.0)}


def test_vessels_beside_each_other() -> None:
    """The vena cava 24 mm right of the aorta over three layers of 10 mm, and not over two."""
    for layers, known in ((3, True), (2, False)):
        ledger = block_ledger(
            (60, 20, 60), 1.0,
            aorta=((10, 5, 10), (16, 11, 40)),
            inferior_vena_cava=((34, 5, 40 - 10 * layers), (40, 11, 50)),
        )  # fmt: skip
        assert dict(scene._beside(ledger)) == (
            {("inferior_vena_cava", "aorta"): pytest.approx(24.0)} if known else {}
        )


def test_levels_between_the_vertebrae_of_a_row() -> None:
    row = np.array([3.0, 4.0, 7.0, 8.0])
    assert [scene._levels_apart(row, at) for at in (3.5, 4.0, 5.0, 7.0)] == [1.0, 3.0, 3.0, 1.0]


def test_centres_of_a_spine_in_one_mask() -> None:
    """A column from 4 to 23 mm: its boundary, in layers of 10 mm, the first and the last in part."""
    ledger = block_ledger((20, 20, 40), 1.0, vertebrae=((6, 7, 4), (11, 12, 24)))
    found = scene._vertebrae_mm(ledger)
    assert found[:, :2] == pytest.approx(np.array([[8.0, 9.0]] * 3))
    # The lowest layer, of 25 voxels a slice at its end and of 16 on the others.
    lowest = (25 * 4 + 16 * sum(range(5, 10))) / (25 + 16 * 5)
    assert found[0, 2] == pytest.approx(lowest)
    assert found[1, 2] == pytest.approx(14.5)


def spine(first: str, last: str, *, pitch: int = 24, leave_out: tuple[str, ...] = ()) -> dict:
    """Cubes of 10 mm from the second-highest place downwards."""
    row = VERTEBRAE[VERTEBRAE.index(first) : VERTEBRAE.index(last) + 1]
    top = pitch * len(row)
    return {
        f"vertebrae_{level}": ((20, 20, top - pitch * n), (30, 30, top - pitch * n + 10))
        for n, level in enumerate(row)
        if level not in leave_out
    }


def rib_offs(number: int, height: int, away: int = 6, **more) -> list[float]:
    """By how much the rib's head misses its vertebra, its nearest point at this height."""
    blocks = spine("T8", "L2", **more)
    rib = {f"rib_left_{number}": ((30 + away, 22, height), (60 + away, 28, height + 1))}
    ledger = block_ledger((110, 50, 200), 1.0, **blocks, **rib)
    return [anchor.off_levels for anchor in scene._anchors(ledger)]


def test_where_the_heads_of_ribs_lie() -> None:
    """T8 lies at 168 + 4.5, each level 24 mm lower, and the curve is looked at every 3 mm. The tenth
    rib joins it four tenths of a level above T10, the eleventh a tenth above T11."""
    t8, pitch = 172.5, 24
    for number, height in ((10, 131), (10, 124), (11, 107), (11, 97)):
        levels = round((t8 - height) / pitch * 8) / 8
        expected = levels - (number - 8) + (0.4 if number == 10 else 0.1)
        assert rib_offs(number, height) == pytest.approx([expected])
    # Beyond the ends of the row, and more than two levels from it, it tells nothing.
    assert rib_offs(10, 180) == rib_offs(10, 20) == []
    # The curve runs through x = 24.5: the rib's nearest point is two levels off, then farther.
    assert len(rib_offs(10, 132, away=42)) == 1
    assert rib_offs(10, 132, away=43) == []
    # Two levels between neighbours are few, three are too many.
    assert len(rib_offs(10, 120, leave_out=("T10",))) == 1
    assert rib_offs(10, 120, leave_out=("T10", "T11")) == []


def sacrum_offs(gap: int, last: str = "L5", first: str = "L1") -> list[float]:
    """The lowest vertebra ends this far above the sacrum; a level is 40 mm."""
    row = spine(first, last, pitch=40)
    lowest = row[f"vertebrae_{last}"][0][2]
    sacrum = ((15, 15, lowest - gap - 15), (35, 35, lowest - gap))
    ledger = block_ledger((50, 50, 260), 1.0, **row, sacrum=sacrum)
    return [anchor.off_levels for anchor in scene._anchors(ledger)]


@pytest.mark.parametrize(
    ("gap", "last", "offs"),
    [
        (12, "L5", [0.0]),  # three tenths of a level: joined
        (13, "L5", []),
        (24, "L5", []),  # six tenths
        (25, "L5", [1.0]),  # one is missing between them
        (12, "L4", [-1.0]),
        (13, "L4", []),
        (12, "L2", [-3.0]),
    ],
)
def test_which_vertebra_joins_the_sacrum(gap: int, last: str, offs: list[float]) -> None:
    first = "T12" if last == "L2" else "L1"
    assert sacrum_offs(gap, last, first) == pytest.approx(offs)


def test_a_vertebra_four_levels_from_the_last_joins_nothing() -> None:
    assert sacrum_offs(5, "L1", "T10") == []


@pytest.mark.parametrize(("share", "offs"), [(60, [-1.0]), (59, [0.0])])
def test_a_tenth_of_a_vertebra_on_the_sacrum_is_grown_on(share: int, offs: list[float]) -> None:
    """Of 600 mm² of surface: what is one piece with the sacrum is its first segment."""
    row = spine("L1", "L5", pitch=40)
    low = row["vertebrae_L5"][0][2]
    sacrum = ((20, 20, low - 8), (30, 30, low - 1))
    foot = ((20, 20, low - 1), (20 + share // 10, 30, low))
    blocks = {**row, "sacrum": sacrum}
    ledger = block_ledger((50, 50, 260), 1.0, **blocks)
    layer = ledger.regions.labels.layers[list(blocks).index("sacrum")]
    layer[tuple(slice(a, b) for a, b in zip(*foot))] = 1
    layer[20 + share // 10, 20 : 20 + share % 10, low - 1] = 1
    assert ledger.contacts.area_mm2("sacrum", "vertebrae_L5") == share
    assert [anchor.off_levels for anchor in scene._anchors(ledger)] == offs
