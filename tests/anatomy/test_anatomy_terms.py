"""Names: sides and partners of the shipped vocabulary,
and what an unlisted name tells by its words."""

from __future__ import annotations

import time

import pytest

from situs.anatomy import (
    Naming,
    canonical_name,
    is_head,
    is_spine,
    lesion_family,
    load_vocabulary,
    shipped_vocabularies,
    term,
    without_number,
)
from situs.space import Side

TOTALSEGMENTATOR = load_vocabulary("totalsegmentator")


def test_totalsegmentator_has_117_classes():
    """Version 2 of the `total` task: labels 1 to 117, each a name of its own."""
    assert sorted(TOTALSEGMENTATOR.labels) == list(range(1, 118))
    assert len(set(TOTALSEGMENTATOR.labels.values())) == 117
    assert TOTALSEGMENTATOR.ids == {name: label for label, name in TOTALSEGMENTATOR.labels.items()}


@pytest.mark.parametrize(
    ("label", "name"),
    [
        (1, "spleen"),
        (2, "kidney_right"),
        (3, "kidney_left"),
        (5, "liver"),
        (52, "aorta"),
        (90, "brain"),
        (117, "costal_cartilages"),
    ],
)
def test_totalsegmentator_labels(label, name):
    """https://github.com/wasserth/TotalSegmentator, class details of the total task."""
    assert TOTALSEGMENTATOR.labels[label] == name


@pytest.mark.parametrize("vocabulary", shipped_vocabularies())
def test_partners_are_symmetric_and_opposite(vocabulary):
    """The partner of my partner is me, on the other side;
    a word for a side in the name agrees with the side."""
    shipped = load_vocabulary(vocabulary)
    for name in shipped.ids:
        entry = shipped.term(name)
        words = {"left", "right"} & set(name.lower().split("_"))
        if len(words) == 1 and entry.side is not None:
            assert entry.side == words.pop(), name
        if entry.partner is None:
            continue
        partner = shipped.term(entry.partner)
        assert partner.partner == name
        assert entry.naming is partner.naming is Naming.POSITIONAL
        assert {entry.side, partner.side} == {Side.LEFT, Side.RIGHT}
        assert partner.side is entry.side.mirrored
        assert (entry.kind, entry.system, entry.ask_size) == (
            partner.kind,
            partner.system,
            partner.ask_size,
        )


@pytest.mark.parametrize("vocabulary", shipped_vocabularies())
def test_morphological_names_have_no_mirror_image(vocabulary):
    shipped = load_vocabulary(vocabulary)
    for name in shipped.ids:
        entry = shipped.term(name)
        if entry.naming is Naming.MORPHOLOGICAL:
            assert entry.partner is None
            assert entry.mirrored_name is None
        elif entry.naming is Naming.UNSIDED:
            assert entry.mirrored_name == name


@pytest.mark.parametrize(
    "name",
    [
        "lung_upper_lobe_left",
        "lung_middle_lobe_right",
        "atrial_appendage_left",
        "brachiocephalic_trunk",
    ],
)
def test_named_by_form(name):
    """DEFINITIONS, mirror names: chambers,
    lung lobes and the brachiocephalic trunk follow the form."""
    assert term(name).naming is Naming.MORPHOLOGICAL


@pytest.mark.parametrize(
    "name", ["kidney_left", "rib_left_7", "femur_right", "hip_left", "adrenal_gland_right"]
)
def test_named_by_place(name):
    assert term(name).naming is Naming.POSITIONAL
    assert term(term(name).mirrored_name).mirrored_name == name


@pytest.mark.parametrize("name", ["spleen", "liver", "aorta", "vertebrae_L3"])
def test_unsided_names_stay(name):
    assert term(name).mirrored_name == name


@pytest.mark.parametrize(
    ("name", "side", "partner"),
    [
        ("widget_left", "left", "widget_right"),
        ("Left Widget", "left", "Right Widget"),
        ("widget-RIGHT", "right", "widget-LEFT"),
        ("left_cleft", "left", "right_cleft"),
        ("bright_right", "right", "bright_left"),
        ("widget", None, None),
        ("leftover", None, None),
        ("left_right_widget", None, None),
    ],
)
def test_whole_words_of_an_unlisted_name(name, side, partner):
    """`left` inside another word is no side, and is not swapped."""
    entry = term(name)
    assert not entry.known
    assert entry.side == side
    assert entry.partner == partner


def test_an_unlisted_form_has_no_partner():
    assert term("widget_lobe_left").mirrored_name is None


@pytest.mark.parametrize(
    ("name", "family"),
    [
        ("liver_lesion", "liver_lesion"),
        ("liver_lesion_1", "liver_lesion"),
        ("kidney_lesion_12", "kidney_lesion"),
        ("liver", None),
        ("unheard_lesion_1", None),
    ],
)
def test_lesion_families(name, family):
    assert lesion_family(name) == family


def test_numbered_lesions_read_as_their_family():
    assert term("liver_lesion_2").plain == "liver lesion 2"
    assert term("liver_lesion_2").known


@pytest.mark.parametrize("name", ["LIVER_LESION_1_mask", "liver_lesion_1_seg", "Liver lesion 1"])
def test_a_numbered_lesion_in_the_name_of_a_mask_file(name):
    entry = term(name)
    assert (entry.kind, entry.plain, lesion_family(name)) == (
        "lesion",
        "liver lesion 1",
        "liver_lesion",
    )


@pytest.mark.parametrize(
    ("name", "spine"), [("vertebrae_L1", True), ("sacrum", True), ("hip_left", False)]
)
def test_the_spine_marks_the_midline(name, spine):
    assert is_spine(name) == spine


@pytest.mark.parametrize(
    ("name", "head"),
    [
        ("brain", True),
        ("skull", True),
        ("hippocampus_left", True),
        ("insula_right", True),
        ("brain_tumour_edema", True),
        ("brain_lesion_2", True),
        ("vermis_4_5", True),
        ("liver", False),
        ("vertebrae_C1", False),
        ("spinal_cord", False),
        ("no such thing", False),
    ],
)
def test_what_lies_in_the_head(name, head):
    assert is_head(name) is head


@pytest.mark.parametrize("name", ["widget_right", "Right widget", "right_widget", "widget (right)"])
def test_an_unknown_sided_name_reads_with_its_side_first(name):
    assert term(name).plain == "right widget"


@pytest.mark.parametrize("name", ["liver_mask", "Liver seg", "liver-segmentation"])
def test_words_for_files_are_no_part_of_a_name(name):
    assert canonical_name(name) == "liver"


@pytest.mark.parametrize("unit", [")", "_", "_1", " 1 ", "a_", "_1_mask", "lesion_1_", "left "])
def test_a_long_name_takes_as_long_as_it_is(unit) -> None:
    """Names come from files: a segment's, a region's, a column's."""

    def seconds(length: int) -> float:
        begun = time.thread_time()
        term((unit * length)[:length])
        return time.thread_time() - begun

    assert seconds(16_000) < 12 * max(seconds(4_000), 0.01)


@pytest.mark.parametrize(
    ("name", "family"),
    [
        ("liver_lesion_1_mask", "liver_lesion"),
        ("Liver lesion (12) seg", "Liver lesion"),
        ("lesion_1_2", "lesion_1"),
        ("lesion__7", "lesion"),
        ("lesion_1000", "lesion_1000"),
        ("lesion7", "lesion7"),
        ("_1", "_1"),
    ],
)
def test_a_name_without_its_number(name, family) -> None:
    assert without_number(name) == family
