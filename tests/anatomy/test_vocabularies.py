"""Shipped vocabularies: ids against the published lists,
meanings against each other and against a real study."""

from __future__ import annotations

import csv
import os
import re
import subprocess
import sys
from collections import Counter
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

from situs.anatomy import (
    Naming,
    Suspect,
    Term,
    canonical_name,
    expected_side,
    is_spine,
    lesion_family,
    load_vocabulary,
    neighbours,
    shipped_vocabularies,
    suspects,
    term,
)
from situs.anatomy.spelling import keys_of
from situs.errors import SitusError
from situs.space import Side

pytestmark = pytest.mark.sampled

DATA = files("situs.anatomy").joinpath("data")
NAMES = [
    row["name"]
    for row in csv.DictReader(DATA.joinpath("structures.csv").read_text("utf-8").splitlines())
]
TERMS = {name: term(name) for name in NAMES}


def _words(text: str, separator: str | None = None) -> list[str]:
    return text.split(separator)


# wasserth/TotalSegmentator, totalsegmentator/map_to_binary.py, class_map["total"], in the order of
# its ids from 1
_TOTAL = (
    _words(
        """spleen kidney_right kidney_left gallbladder liver stomach pancreas adrenal_gland_right adrenal_gland_left
    lung_upper_lobe_left lung_lower_lobe_left lung_upper_lobe_right lung_middle_lobe_right lung_lower_lobe_right
    esophagus trachea thyroid_gland small_bowel duodenum colon urinary_bladder prostate kidney_cyst_left
    kidney_cyst_right sacrum vertebrae_S1"""
    )
    + [f"vertebrae_L{n}" for n in range(5, 0, -1)]
    + [f"vertebrae_T{n}" for n in range(12, 0, -1)]
    + [f"vertebrae_C{n}" for n in range(7, 0, -1)]
    + _words(
        """heart aorta pulmonary_vein brachiocephalic_trunk subclavian_artery_right subclavian_artery_left
    common_carotid_artery_right common_carotid_artery_left brachiocephalic_vein_left brachiocephalic_vein_right
    atrial_appendage_left superior_vena_cava inferior_vena_cava portal_vein_and_splenic_vein iliac_artery_left
    iliac_artery_right iliac_vena_left iliac_vena_right humerus_left humerus_right scapula_left scapula_right
    clavicula_left clavicula_right femur_left femur_right hip_left hip_right spinal_cord gluteus_maximus_left
    gluteus_maximus_right gluteus_medius_left gluteus_medius_right gluteus_minimus_left gluteus_minimus_right
    autochthon_left autochthon_right iliopsoas_left iliopsoas_right brain skull"""
    )
    + [f"rib_left_{n}" for n in range(1, 13)]
    + [f"rib_right_{n}" for n in range(1, 13)]
    + ["sternum", "costal_cartilages"]
)
# the same file, class_map["total_mr"]
_TOTAL_MR = _words("""
    spleen kidney_right kidney_left gallbladder liver stomach pancreas adrenal_gland_right adrenal_gland_left
    lung_left lung_right esophagus small_bowel duodenum colon urinary_bladder prostate sacrum vertebrae
    intervertebral_discs spinal_cord heart aorta inferior_vena_cava portal_vein_and_splenic_vein iliac_artery_left
    iliac_artery_right iliac_vena_left iliac_vena_right humerus_left humerus_right scapula_left scapula_right
    clavicula_left clavicula_right femur_left femur_right hip_left hip_right gluteus_maximus_left
    gluteus_maximus_right gluteus_medius_left gluteus_medius_right gluteus_minimus_left gluteus_minimus_right
    autochthon_left autochthon_right iliopsoas_left iliopsoas_right brain""")

# What each dataset calls its classes: the `labels` of the ten MSD dataset.json files and of
# AMOS22's (with its misspelt "arota"); the BTCV organ list of Synapse syn3193805; KITS_LABEL_NAMES
# of neheller/kits23; the BraTS 2020 data page ("ET — label 4, ED — label 2, NCR/NET — label 1") and
# the BraTS 2023 one (NCR 1, ED 2, ET 3).
_PUBLISHED: dict[str, dict[int, str]] = {
    "msd_brain_tumour": {1: "edema", 2: "non-enhancing tumor", 3: "enhancing tumour"},
    "msd_heart": {1: "left atrium"},
    "msd_liver": {1: "liver", 2: "cancer"},
    "msd_hippocampus": {1: "Anterior", 2: "Posterior"},
    "msd_prostate": {1: "PZ", 2: "TZ"},
    "msd_lung": {1: "cancer"},
    "msd_pancreas": {1: "pancreas", 2: "cancer"},
    "msd_hepatic_vessel": {1: "Vessel", 2: "Tumour"},
    "msd_spleen": {1: "spleen"},
    "msd_colon": {1: "colon cancer primaries"},
    "amos": dict(
        enumerate(
            _words(
                "spleen,right kidney,left kidney,gall"
                " bladder,esophagus,liver,stomach,arota,postcava,pancreas,right adrenal gland,left"
                " adrenal gland,duodenum,bladder,prostate/uterus",
                ",",
            ),
            start=1,
        )
    ),
    "btcv": dict(
        enumerate(
            _words(
                "spleen,right kidney,left kidney,gallbladder,esophagus,liver,stomach,aorta,inferior"
                " vena cava,portal vein and splenic vein,pancreas,right adrenal gland,left adrenal"
                " gland",
                ",",
            ),
            start=1,
        )
    ),
    "kits": {1: "kidney", 2: "tumor", 3: "cyst"},
    "brats2015": {1: "necrosis", 2: "edema", 3: "non-enhancing tumor", 4: "enhancing tumor"},
    "brats2020": {1: "NCR/NET", 2: "ED", 4: "ET"},
    "brats2023": {1: "NCR", 2: "ED", 3: "ET"},
    # The wiki of VerSe 2020 (osf.io/b2wxj) and DATASET.md of StanfordMIMI/skm-tea.
    "verse": dict(
        enumerate(
            [f"vertebrae_C{n}" for n in range(1, 8)]
            + [f"vertebrae_T{n}" for n in range(1, 13)]
            + [f"vertebrae_L{n}" for n in range(1, 6)],
            start=1,
        )
    )
    | {26: "sacrum"},
    "skm_tea": {
        1: "patellar_cartilage",
        2: "femoral_cartilage",
        3: "medial_tibial_cartilage",
        4: "lateral_tibial_cartilage",
        5: "medial_meniscus",
        6: "lateral_meniscus",
    },
}

# AAL for SPM8, readme.txt III.2 "Anatomical-region-name Gray-level": stem and code without its last
# digit (1 left, 2 right), then the vermis. MRIcron's aal.nii.txt numbers the same list from 1 to
# 116.
_AAL_STEMS = _words(
    """Precentral 200 Frontal_Sup 210 Frontal_Sup_Orb 211 Frontal_Mid 220 Frontal_Mid_Orb 221
    Frontal_Inf_Oper 230 Frontal_Inf_Tri 231 Frontal_Inf_Orb 232 Rolandic_Oper 233 Supp_Motor_Area 240 Olfactory 250
    Frontal_Sup_Medial 260 Frontal_Med_Orb 261 Rectus 270 Insula 300 Cingulum_Ant 400 Cingulum_Mid 401
    Cingulum_Post 402 Hippocampus 410 ParaHippocampal 411 Amygdala 420 Calcarine 500 Cuneus 501 Lingual 502
    Occipital_Sup 510 Occipital_Mid 520 Occipital_Inf 530 Fusiform 540 Postcentral 600 Parietal_Sup 610
    Parietal_Inf 620 SupraMarginal 621 Angular 622 Precuneus 630 Paracentral_Lobule 640 Caudate 700 Putamen 701
    Pallidum 702 Thalamus 710 Heschl 810 Temporal_Sup 811 Temporal_Pole_Sup 812 Temporal_Mid 820
    Temporal_Pole_Mid 821 Temporal_Inf 830 Cerebelum_Crus1 900 Cerebelum_Crus2 901 Cerebelum_3 902 Cerebelum_4_5 903
    Cerebelum_6 904 Cerebelum_7b 905 Cerebelum_8 906 Cerebelum_9 907 Cerebelum_10 908"""
)
_AAL = {
    f"{stem}_{letter}": int(f"{code}{digit}")
    for stem, code in zip(_AAL_STEMS[::2], _AAL_STEMS[1::2], strict=True)
    for letter, digit in (("L", 1), ("R", 2))
} | {
    f"Vermis_{lobule}": code
    for lobule, code in zip(_words("1_2 3 4_5 6 7 8 9 10"), range(9100, 9171, 10), strict=True)
}


def _by_published_word(vocabulary: str) -> dict[int, str]:
    """Label → the dataset's own word for it, where the table gives one, else the name."""
    loaded = load_vocabulary(vocabulary)
    words = {name: word for word, name in loaded.aliases.items()}
    return {label: words.get(name, name) for label, name in loaded.labels.items()}


class TestIds:
    def test_totalsegmentator_ids_are_the_published_ones(self) -> None:
        assert load_vocabulary("totalsegmentator").labels == dict(enumerate(_TOTAL, start=1))
        assert len(_TOTAL) == 117

    def test_totalsegmentator_mr_ids_are_the_published_ones(self) -> None:
        assert load_vocabulary("totalsegmentator_mr").labels == dict(enumerate(_TOTAL_MR, start=1))
        assert len(_TOTAL_MR) == 50

    @pytest.mark.parametrize("vocabulary", _PUBLISHED)
    def test_ids_are_the_published_ones(self, vocabulary: str) -> None:
        assert _by_published_word(vocabulary) == _PUBLISHED[vocabulary]

    def test_aal_ids_are_the_published_ones(self) -> None:
        assert len(_AAL) == 116
        assert _by_published_word("aal116") == dict(enumerate(_AAL, start=1))
        assert _by_published_word("aal116_codes") == {code: name for name, code in _AAL.items()}

    def test_the_same_class_has_the_same_name_everywhere(self) -> None:
        assert (
            load_vocabulary("amos").labels[2] == load_vocabulary("btcv").labels[2] == "kidney_right"
        )
        assert (
            load_vocabulary("amos").labels[9]
            == load_vocabulary("btcv").labels[9]
            == "inferior_vena_cava"
        )
        msd, old, new = (
            load_vocabulary(n).labels for n in ("msd_brain_tumour", "brats2020", "brats2023")
        )
        assert msd[3] == old[4] == new[3] == "brain_tumour_enhancing"
        assert msd[1] == old[2] == new[2] == "brain_tumour_edema"
        assert msd[2] == old[1] == "brain_tumour_non_enhancing_core"

    @pytest.mark.parametrize("word", sorted(_AAL))
    def test_the_side_of_an_aal_region_is_its_last_letter(self, word: str) -> None:
        loaded = load_vocabulary("aal116")
        side = {"L": Side.LEFT, "R": Side.RIGHT}.get(word[-1])
        assert loaded.term(word).side is side
        assert canonical_name(word) == loaded.aliases[word]


@pytest.mark.parametrize("vocabulary", [name for name in shipped_vocabularies() if name != "aal"])
class TestTables:
    def test_labels_are_unique_and_every_name_is_defined(self, vocabulary: str) -> None:
        rows = list(
            csv.DictReader(DATA.joinpath(f"{vocabulary}.csv").read_text("utf-8").splitlines())
        )
        assert set(rows[0]) <= {"label", "name", "alias", "exhaustive"}
        for column in ("label", "name"):
            assert [word for word, n in Counter(row[column] for row in rows).items() if n > 1] == []
        assert {row["name"] for row in rows} <= set(NAMES)
        assert all(int(row["label"]) > 0 for row in rows)

    def test_a_partner_of_a_class_is_a_class(self, vocabulary: str) -> None:
        names = set(load_vocabulary(vocabulary).ids)
        assert {partner for name in names if (partner := TERMS[name].partner)} <= names


def test_the_vocabularies_of_the_brief_are_shipped() -> None:
    assert set(shipped_vocabularies()) == {
        "totalsegmentator",
        "totalsegmentator_mr",
        *_PUBLISHED,
        "aal",
        "aal116",
        "aal116_codes",
    }


def test_aal_knows_both_numberings() -> None:
    both, plain, codes = (load_vocabulary(name) for name in ("aal", "aal116", "aal116_codes"))
    assert both.labels == plain.labels | codes.labels
    assert len(both.labels) == 232
    assert both.ids == plain.ids


@pytest.mark.parametrize("name", NAMES)
class TestStructures:
    def test_sides_and_partners(self, name: str) -> None:
        entry = TERMS[name]
        side_words = re.findall(r"left|right", f"{name} {entry.plain}")
        assert bool(side_words) == (entry.side is not None)
        assert set(side_words) <= {str(entry.side)}
        if entry.naming is Naming.POSITIONAL:
            assert entry.partner is not None
            other = TERMS[entry.partner]
            assert (other.partner, other.side) == (
                name,
                entry.side.mirrored if entry.side else None,
            )
            same = ("naming", "system", "kind", "ask_size")
            assert [getattr(other, field) for field in same] == [
                getattr(entry, field) for field in same
            ]
            assert other.plain == re.sub(str(entry.side), str(other.side), entry.plain)
            assert len(other.synonyms) == len(entry.synonyms)
        else:
            assert entry.partner is None
        assert entry.side is not Side.BOTH
        assert entry.expected_side is not Side.BOTH

    def test_reads_well_after_the_article(self, name: str) -> None:
        plain = TERMS[name].plain
        words = plain.split(" ")
        assert re.fullmatch(r"[A-Za-z0-9 -]+", plain)
        assert all(
            word == word.lower() for word in words if not re.fullmatch(r"[CTLS]\d{1,2}", word)
        )
        assert words[0] not in ("the", "a", "an")

    def test_a_plural_is_never_the_subject_of_is(self, name: str) -> None:
        """`Is the kidneys …` would be wrong:
        several things in one mask are a group and have no size."""
        entry = TERMS[name]
        singular = {
            "pancreas",
            "esophagus",
            "humerus",
            "sacrum",
            "gyrus",
            "hippocampus",
            "cuneus",
            "precuneus",
        }
        head = entry.plain.split(" of ")[0].split(" at ")[0].split()[-1]
        plural = (
            head.endswith("s") and not head.endswith(("us", "is", "ss")) and head not in singular
        )
        if plural:
            assert entry.kind not in ("organ", "vessel", "lesion")
            assert not entry.ask_size

    def test_refers_only_to_defined_structures(self, name: str) -> None:
        entry = TERMS[name]
        assert set(entry.neighbours) <= set(NAMES) - {name}
        assert len(set(entry.neighbours)) == len(entry.neighbours)
        assert all(name in neighbours(other) for other in entry.neighbours)
        assert entry.part_of is None or entry.part_of in NAMES
        assert entry.canonical == entry.name == name
        assert entry.known

    def test_a_sided_neighbour_is_mirrored_for_the_partner(self, name: str) -> None:
        """Paired structures at the same level:
        what lies at the left kidney's left side lies so on the right."""
        entry = TERMS[name]
        if entry.partner is None:
            return
        paired = {n for n in entry.neighbours if TERMS[n].partner}
        assert {TERMS[n].partner for n in paired} == {
            n for n in neighbours(entry.partner) if TERMS[n].partner
        }

    def test_parts_end_somewhere(self, name: str) -> None:
        seen = [name]
        while (whole := TERMS[seen[-1]].part_of) is not None:
            assert whole not in seen
            seen.append(whole)

    def test_every_spelling_leads_back(self, name: str) -> None:
        entry = TERMS[name]
        spellings = [
            entry.name,
            entry.plain,
            *([entry.formal] if entry.formal else []),
            *entry.synonyms,
        ]
        for spelling in spellings:
            for written in (
                spelling,
                spelling.upper(),
                spelling.replace(" ", "_"),
                spelling.replace("_", "-"),
            ):
                assert canonical_name(written) == name
        assert entry.plain == term(entry.plain).plain


def test_no_two_structures_share_a_spelling() -> None:
    owners: dict[tuple[str, str], set[str]] = {}
    for entry in TERMS.values():
        for spelling in filter(None, (entry.name, entry.plain, entry.formal, *entry.synonyms)):
            for key in keys_of(spelling):
                owners.setdefault(key, set()).add(entry.name)
    assert {key: names for key, names in owners.items() if len(names) > 1} == {}


def test_no_plain_name_is_given_twice() -> None:
    assert [plain for plain, n in Counter(t.plain for t in TERMS.values()).items() if n > 1] == []


class TestSpellings:
    @pytest.mark.parametrize(
        ("name", "canonical", "partner"),
        [
            ("left_kidney", "kidney_left", "right_kidney"),
            ("Left Kidney", "kidney_left", "Right Kidney"),
            ("LEFT KIDNEY", "kidney_left", "RIGHT KIDNEY"),
            ("LeftKidney", "kidney_left", "RightKidney"),
            ("kidney-right", "kidney_right", "kidney-left"),
            ("KidneyRight", "kidney_right", "KidneyLeft"),
            ("L kidney", "kidney_left", "R kidney"),
            ("Kidney Rt", "kidney_right", "Kidney Lt"),
            ("right lung", "lung_right", "left lung"),
            ("Left Rib 7", "rib_left_7", "Right Rib 7"),
            ("SupraMarginal_L", "supramarginal_gyrus_left", "SupraMarginal_R"),
            ("RAG", "adrenal_gland_right", None),
        ],
    )
    def test_positional_names_keep_their_style(
        self, name: str, canonical: str, partner: str | None
    ) -> None:
        entry, shipped = term(name), term(canonical)
        assert canonical_name(name) == canonical
        assert (entry.name, entry.partner, entry.known) == (name, partner, True)
        assert (entry.plain, entry.side, entry.naming) == (
            shipped.plain,
            shipped.side,
            Naming.POSITIONAL,
        )
        assert entry.mirrored_name == partner
        assert partner is None or term(partner).mirrored_name == name

    def test_a_lobe_has_no_mirrored_name_however_spelt(self) -> None:
        for name in ("left lung upper lobe", "Upper lobe of the left lung", "lung_upper_lobe_left"):
            assert canonical_name(name) == "lung_upper_lobe_left"
            assert term(name).mirrored_name is None

    @pytest.mark.parametrize(
        "name", ["tissue", "overlapping sphere", "T1", "L1", "left", "L", "", "John Smith liver"]
    )
    def test_what_is_not_in_the_table_stays_unknown(self, name: str) -> None:
        assert canonical_name(name) is None
        assert not term(name).known

    def test_segments_of_a_slicer_file(self) -> None:
        """Segment names of CTChest's .seg.nrrd (lassoan/slicerio)."""
        assert is_spine("thoracic vertebral column")
        assert is_spine("lumbar vertebral column")
        assert term("ribs").kind == "group"
        assert not is_spine("ribs")

    def test_only_whole_words_are_swapped(self) -> None:
        assert term("cleft left").partner == "cleft right"


class TestLesions:
    @pytest.mark.parametrize(
        ("name", "family"),
        [
            ("liver_lesion", "liver_lesion"),
            ("liver_lesion_1", "liver_lesion"),
            ("Liver lesion 12", "liver_lesion"),
            ("liver_tumour", "liver_tumour"),
            ("liver_tumor", "liver_tumour"),
            ("kidney_tumour_3", "kidney_tumour"),
            ("kidney_cyst", "kidney_cyst"),
            ("lung_tumour", "lung_tumour"),
            ("pancreas_tumour", "pancreas_tumour"),
            ("colon_cancer", "colon_cancer"),
            ("colon_cancer_2", "colon_cancer"),
            ("brain_tumour", "brain_tumour"),
            ("kidney_cyst_left", None),
            ("brain_tumour_edema", None),
            ("brain_tumour_enhancing", None),
            ("rib_left_1", None),
            ("liver", None),
            ("liver_1", None),
            ("liver_lesion_1_2", None),
            ("nonsense_lesion_1", None),
        ],
    )
    def test_family(self, name: str, family: str | None) -> None:
        assert lesion_family(name) == family

    def test_a_numbered_lesion_reads_with_its_number(self) -> None:
        assert term("liver_lesion_2").plain == "liver lesion 2"
        assert (term("liver_lesion_2").name, term("liver_lesion_2").kind) == (
            "liver_lesion_2",
            "lesion",
        )

    def test_a_lesion_names_its_organ_and_no_side(self) -> None:
        lesions = [t for t in TERMS.values() if t.kind in ("lesion", "lesion_part")]
        assert len(lesions) >= 15
        assert {entry.name for entry in lesions if entry.part_of is None} == {"lesion", "tumour"}
        for entry in (entry for entry in lesions if entry.part_of is not None):
            assert entry.side is None
            assert expected_side(entry.name) is None

    def test_exhaustive_is_a_matter_of_the_dataset(self) -> None:
        assert load_vocabulary("kits").term("kidney_cyst").exhaustive
        assert load_vocabulary("msd_liver").term("liver_tumour").exhaustive
        assert not load_vocabulary("msd_liver").term("liver").exhaustive
        assert not load_vocabulary("msd_hepatic_vessel").term("liver_tumour").exhaustive
        assert not term("kidney_cyst").exhaustive
        assert load_vocabulary("totalsegmentator").own_terms == {}


class TestOwnFile:
    def _load(self, folder: Path, text: str) -> dict[str, Term]:
        path = folder / "names.csv"
        path.write_text(text)
        return load_vocabulary(str(path)).own_terms

    def test_label_and_name_are_enough(self, tmp_path: Path) -> None:
        own = self._load(tmp_path, "label,name\n1,Left Kidney\n2,Widget\n3,liver\n")
        assert own["Left Kidney"].partner == "Right Kidney"
        assert own["Left Kidney"].kind == "organ"
        assert own["Widget"].known
        assert own["liver"] == term("liver")

    def test_a_given_cell_wins_over_the_shipped_meaning(self, tmp_path: Path) -> None:
        own = self._load(tmp_path, "label,name,exhaustive,ask_size\n1,liver_tumour,yes,no\n")[
            "liver_tumour"
        ]
        assert (own.exhaustive, own.ask_size) == (True, False)
        assert (own.kind, own.part_of) == ("lesion", "liver")

    def test_every_column(self, tmp_path: Path) -> None:
        text = (
            "label,name,plain,formal,synonyms,side,partner,naming,system,kind,part_of,expected_side,neighbours,ask_size\n9,gizmo_l,left"
            " gizmo,gizmo"
            " sinister,gz;gzz,left,gizmo_r,positional,other,organ,liver,,liver;spleen,yes\n"
        )
        own = self._load(tmp_path, text)["gizmo_l"]
        assert (own.side, own.partner, own.mirrored_name) == (Side.LEFT, "gizmo_r", "gizmo_r")
        assert (own.synonyms, own.neighbours) == (("gz", "gzz"), ("liver", "spleen"))

    @pytest.mark.parametrize(
        "row",
        [
            "1,liver,maybe,",
            "1,liver,,up",
            "x,liver,,",
            "1,,,",
            "1,liver,yes,left\n1,spleen,,",
            "1,a,,\n2,a,,",
        ],
    )
    def test_a_bad_row_is_refused_with_its_place(self, tmp_path: Path, row: str) -> None:
        with pytest.raises(SitusError, match=r"names\.csv:\d"):
            self._load(tmp_path, f"label,name,exhaustive,expected_side\n{row}\n")


NORMAL = {
    "liver": "right",
    "gallbladder": "right",
    "spleen": "left",
    "stomach": "left",
    "pancreas": "both",
    "aorta": "left",
    "inferior_vena_cava": "right",
    "kidney_left": "left",
    "kidney_right": "right",
    "adrenal_gland_left": "left",
    "adrenal_gland_right": "right",
    "lung_lower_lobe_left": "left",
    "lung_lower_lobe_right": "right",
    "urinary_bladder": "both",
}
"""An abdomen as every textbook draws it."""
OTHER = {"left": "right", "right": "left", "both": "both"}


class TestSuspects:
    def test_a_normal_study_is_not_suspect(self) -> None:
        assert suspects(NORMAL) == []
        assert suspects({}) == []
        assert suspects(dict.fromkeys(NORMAL, "both")) == []

    def test_a_mirrored_volume(self) -> None:
        (found,) = suspects({name: OTHER[side] for name, side in NORMAL.items()})
        assert found.code is Suspect.MIRRORED
        assert {"liver", "spleen", "kidney_left"} <= set(found.structures)
        assert "liver lies left" in found.problem
        assert "orientation" in found.fix

    def test_names_swapped_throughout(self) -> None:
        planted = {name: OTHER[side] if term(name).side else side for name, side in NORMAL.items()}
        (found,) = suspects(planted)
        assert found.code is Suspect.SWAPPED_NAMES
        assert all(term(name).side for name in found.structures)
        assert "name map" in found.fix

    def test_a_mirrored_patient_whose_organs_are_rightly_named(self) -> None:
        """Positional names follow the place;
        the lobes, named by their form, lie on the other side."""
        moved = {
            n: OTHER[s] if term(n).naming is not Naming.POSITIONAL else s for n, s in NORMAL.items()
        }
        (found,) = suspects(moved)
        assert found.code is Suspect.SITUS_INVERSUS
        assert set(found.structures) == {"liver", "gallbladder", "spleen", "stomach"}

    def test_liver_and_spleen_alone_look_mirrored(self) -> None:
        (found,) = suspects({"liver": "left", "spleen": "right"})
        assert found.code is Suspect.MIRRORED

    def test_one_swapped_pair(self) -> None:
        (found,) = suspects(NORMAL | {"kidney_left": "right", "kidney_right": "left"})
        assert (found.code, found.structures) == (
            Suspect.SWAPPED_NAMES,
            ("kidney_left", "kidney_right"),
        )

    @pytest.mark.parametrize("name", [name for name, side in NORMAL.items() if side != "both"])
    def test_one_structure_on_the_wrong_side(self, name: str) -> None:
        (found,) = suspects(NORMAL | {name: OTHER[NORMAL[name]]})
        assert (found.code, found.structures) == (Suspect.WRONG_SIDE, (name,))
        assert f"lies on the patient's {OTHER[NORMAL[name]]}" in found.problem

    def test_without_unpaired_organs_both_causes_are_named(self) -> None:
        (found,) = suspects(
            {"Hippocampus_L": "right", "Hippocampus_R": "left", "Amygdala_L": "right"}
        )
        assert found.code is Suspect.SWAPPED_OR_MIRRORED
        assert "orientation" in found.fix

    def test_a_lesion_may_lie_anywhere(self) -> None:
        assert suspects(NORMAL | {"liver_lesion_1": "left", "kidney_tumour": "left"}) == []

    def test_own_terms_count(self) -> None:
        own = {"gizmo": Term("gizmo", "gizmo", expected_side=Side.LEFT, kind="organ")}
        assert suspects({"gizmo": "right"}) == []
        assert [s.code for s in suspects({"gizmo": "right"}, own)] == [Suspect.WRONG_SIDE]

    def test_an_unknown_side_is_refused(self) -> None:
        with pytest.raises(SitusError, match="left, right or both"):
            suspects({"liver": "up"})


def test_expected_sides() -> None:
    expected = {
        "liver": "right",
        "spleen": "left",
        "gallbladder": "right",
        "stomach": "left",
        "aorta": "left",
    }
    expected |= {
        "inferior_vena_cava": "right",
        "kidney_left": "left",
        "Left Kidney": "left",
        "lung_right": "right",
    }
    assert {name: str(expected_side(name)) for name in expected} == expected
    assert {
        expected_side(n)
        for n in ("pancreas", "heart_atrium_left", "colon", "vertebrae_L1", "nonsense")
    } == {None}


@pytest.mark.real
def test_expected_sides_hold_on_a_real_study() -> None:
    """Mask shares right of the line through the vertebral centroids, by nibabel alone."""
    folder = Path(
        os.environ.get("SITUS_REAL_DATA", "/nowhere"), "volumes/totalseg_s0009/segmentations"
    )
    if not folder.is_dir():
        pytest.skip("SITUS_REAL_DATA does not hold volumes/totalseg_s0009")
    import nibabel as nib

    def right_mm(name: str) -> tuple[np.ndarray, np.ndarray]:
        image = nib.load(folder / f"{name}.nii.gz")
        world = nib.affines.apply_affine(
            image.affine, np.argwhere(np.asanyarray(image.dataobj) > 0)
        )
        return (world[:, 0], world[:, 2]) if len(world) else (np.empty(0), np.empty(0))

    spine = [
        (x.mean(), z.mean()) for x, z in map(right_mm, (n for n in _TOTAL if is_spine(n))) if len(x)
    ]
    slope, start = np.polyfit([z for _, z in spine], [x for x, _ in spine], 1)
    observed = {}
    for name in (n for n in _TOTAL if expected_side(n) is not None):
        x, z = right_mm(name)
        if len(x) >= 100:
            share = float((x > start + slope * z).mean())
            observed[name] = "right" if share >= 0.9 else "left" if share <= 0.1 else "both"
    assert len(spine) >= 3
    assert {
        "liver": "right",
        "spleen": "left",
        "kidney_left": "left",
        "kidney_right": "right",
    }.items() <= observed.items()
    assert suspects(observed) == []
    (mirrored,) = suspects({name: OTHER[side] for name, side in observed.items()})
    assert mirrored.code is Suspect.MIRRORED


def test_importing_is_light_and_reads_no_table() -> None:
    program = (
        "import sys, situs.anatomy as a\n"
        "from situs.anatomy import terms\n"
        "heavy = {'scipy', 'nibabel', 'pyarrow', 'numba', 'matplotlib'} & set(sys.modules)\n"
        "print(sorted(heavy), terms.shipped_terms.cache_info().currsize)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[] 0"
