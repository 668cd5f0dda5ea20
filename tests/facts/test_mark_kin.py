"""Structures that are marked together are never parts of one another, nor of one whole."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from _blocks import block_ledger

from situs.anatomy import are_akin, is_part, load_vocabulary, shipped_vocabularies, term, wholes
from situs.facts import Ledger, marked_structures
from situs.facts.masks.marks.kin import kin, nested

KNOWN = sorted(
    {name for v in shipped_vocabularies() for name in load_vocabulary(v).labels.values()}
)


def _chain(name: str) -> list[str]:
    """The table's own `part_of`, followed by hand."""
    result = [name]
    while (whole := term(result[-1]).part_of) is not None:
        result.append(whole)
    return result


def test_wholes_follow_the_table_for_every_known_structure():
    for name in KNOWN:
        assert wholes(term(name)) == set(_chain(name)), name


def test_kinship_over_the_whole_vocabulary():
    """Parts and wholes, siblings and partners are akin; nothing else is."""
    chains = {name: _chain(name) for name in KNOWN}
    terms = {name: term(name) for name in KNOWN}
    for number, (a, b) in enumerate(itertools.combinations(KNOWN, 2)):
        shared = not set(chains[a]).isdisjoint(chains[b]) or terms[a].partner == b
        if shared or number % 9 == 0:
            assert is_part(terms[a], terms[b]) == (a in chains[b] or b in chains[a]), (a, b)
            assert are_akin(terms[a], terms[b]) == are_akin(terms[b], terms[a]) == shared, (a, b)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("sacrum", "vertebrae_S1"),
        ("vertebrae_L5", "sacrum"),
        ("lung_upper_lobe_left", "lung_lower_lobe_left"),
        ("lung_left", "lung_upper_lobe_left"),
        ("heart", "heart_atrium_left"),
        ("heart_ventricle_left", "atrial_appendage_left"),
        ("cerebellar_crus_1_left", "cerebellar_vermis_lobule_9"),
        ("cerebellum", "thalamus_left"),
        ("kidney_left", "kidney_right"),
        ("iliopsoas_left", "iliopsoas_right"),
        ("duodenum", "small_bowel"),
        ("rib_left_3", "costal_cartilages"),
        ("prostate_peripheral_zone", "prostate"),
    ],
)
def test_pairs_that_share_a_whole_are_akin(a, b):
    assert are_akin(term(a), term(b))


@pytest.mark.parametrize(
    ("a", "b"), [("liver", "spleen"), ("aorta", "vertebrae_L1"), ("brain", "skull")]
)
def test_pairs_that_share_none_are_not(a, b):
    assert not are_akin(term(a), term(b))
    assert not is_part(term(a), term(b))


SHAPE = (60, 60, 12)
OUTER = {
    "liver": (2, 28, 2, 28),
    "spleen": (32, 58, 2, 28),
    "heart": (2, 28, 30, 58),
    "aorta": (32, 58, 32, 58),
}


def _ledger(more: dict[str, tuple[int, ...]]) -> Ledger:
    """Four large blocks in four corners and others laid over them:
    `x0, x1, y0, y1`, on all slices but two."""
    blocks = {
        n: ((x0, y0, 1), (x1, y1, SHAPE[2] - 1)) for n, (x0, x1, y0, y1) in (OUTER | more).items()
    }
    return block_ledger(SHAPE, 3.0, **blocks)


def _marked(ledger: Ledger) -> list[list[str]]:
    asked = [ledger.fact(f"marks.same.{n}") for n in range(4)]
    asked += [
        ledger.fact(kind, n) for n in ledger.structures for kind in ("marks.organ", "marks.among")
    ]
    return [marked_structures(fact) for fact in asked if fact.value is not None]


def test_overlapping_masks_are_never_marked_together_whatever_their_names():
    """The duodenum's mask lies half on the liver's here; the gallbladder's touches none."""
    ledger = _ledger({"pancreas": (14, 28, 14, 40), "urinary_bladder": (40, 46, 40, 46)})
    assert nested(ledger, "pancreas", "liver")
    assert nested(ledger, "urinary_bladder", "aorta"), "it lies inside"
    assert not kin(ledger, "liver", "spleen")
    sets = _marked(ledger)
    assert sets
    for inside in sets:
        assert not {"pancreas", "liver"} <= set(inside), inside
        assert not {"urinary_bladder", "aorta"} <= set(inside), inside


def test_parts_of_one_whole_are_never_marked_together_where_the_question_says_structure():
    apart = {"spleen": (28, 42, 2, 28), "vertebrae_L5": (42, 58, 2, 28), "sacrum": (42, 58, 28, 58)}
    ledger = _ledger(apart | {"aorta": (28, 42, 28, 58)})
    sets = [marked_structures(ledger.fact(f"marks.same.{number}")) for number in range(4)]
    for inside in sets:
        assert len(set(inside)) == 4
        assert not {"vertebrae_L5", "sacrum"} <= set(inside), inside


def test_a_mark_avoids_what_hides_in_its_structure():
    """A cyst and vessels that are never marked themselves."""
    ledger = _ledger({"hepatic_vessels": (8, 22, 8, 22)})
    inside = ledger.regions.labels.mask(ledger.regions.structures["hepatic_vessels"])
    points = [found["liver"] for found in ledger.mark_sites.anywhere.values() if "liver" in found]
    index = np.rint(ledger.regions.grid.affine.to_index(np.concatenate(points))).astype(int)
    assert len(index)
    assert not inside[tuple(index.T)].any()


def test_metres_for_millimetres_cost_no_more_than_millimetres(monkeypatch):
    """Depths are worked out for no more layers than the structure has, and one around it."""
    from scipy import ndimage

    seen = []
    whole = ndimage.distance_transform_edt

    def recorded(layers, **options):
        seen.append(layers.shape)
        return whole(layers, **options)

    monkeypatch.setattr(ndimage, "distance_transform_edt", recorded)
    liver = {"liver": ((4, 4, 4), (26, 26, 26))}
    tiny = block_ledger((30, 30, 30), 0.001, **liver)
    assert not any(tiny.mark_sites.anywhere.values())
    assert not seen
    usual = block_ledger((30, 30, 30), 2.0, **liver)
    assert any("liver" in found for found in usual.mark_sites.anywhere.values())
    assert max(max(shape) for shape in seen) <= 24
