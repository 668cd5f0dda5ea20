"""Folders as published datasets and clinics have them:
which image belongs to which labels, and what is not found."""

from __future__ import annotations

import json
import re
from pathlib import Path

import nibabel as nib
import numpy as np
import pytest

from situs.anatomy import canonical_name, load_vocabulary, shipped_vocabularies
from situs.errors import SitusError
from situs.volumes import find_studies, open_labels, open_volume

SHAPE = (8, 9, 10)
RNG = np.random.default_rng(5)


def write(path: Path, array: np.ndarray, moved: float = 0.0) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    affine = np.diag([1.0, 1.0, 2.0, 1.0])
    affine[0, 3] = moved
    nib.save(nib.Nifti1Image(array, affine), path)
    return path


def image(path: Path, moved: float = 0.0) -> Path:
    return write(path, RNG.integers(0, 900, SHAPE).astype(np.int16), moved)


def labels(path: Path, moved: float = 0.0, slices: int = SHAPE[2]) -> Path:
    array = np.zeros(SHAPE, np.uint8)
    array[1:4, 1:8, 1:9], array[4:7, 1:8, 1:9] = 1, 2
    return write(path, array[:, :, :slices], moved)


def mask(path: Path, slices: int = SHAPE[2]) -> Path:
    array = np.zeros(SHAPE, np.uint8)
    array[1:4, 1:8, 1:9] = 1
    return write(path, array[:, :, :slices])


PUBLISHED = {
    "LiTS": ("volume-{}.nii", "segmentation-{}.nii"),
    "LiTS, by batch": ("Training Batch 1/volume-{}.nii", "Training Batch 1/segmentation-{}.nii"),
    "BTCV": ("RawData/Training/img/img000{}.nii.gz", "RawData/Training/label/label000{}.nii.gz"),
    "ACDC": ("p{0}/patient00{0}_frame01.nii.gz", "p{0}/patient00{0}_frame01_gt.nii.gz"),
    "FLARE": ("images/FLARE22_Tr_000{}_0000.nii.gz", "labels/FLARE22_Tr_000{}.nii.gz"),
    "WORD": ("imagesVal/word_000{}.nii.gz", "labelsVal/word_000{}.nii.gz"),
    "HECKTOR": ("imagesTr/CHUM-00{}__CT.nii.gz", "labelsTr/CHUM-00{}.nii.gz"),
    "SegTHOR": ("Patient_{0}/Patient_{0}.nii.gz", "Patient_{0}/GT.nii.gz"),
    "VerSe": (
        "rawdata/sub-verse00{0}/sub-verse00{0}_ct.nii.gz",
        "derivatives/sub-verse00{0}/sub-verse00{0}_seg-vert_msk.nii.gz",
    ),
    "SKM-TEA": ("dicoms/MTR_00{}.nii.gz", "segmentation_masks/raw-data-track/MTR_00{}.nii.gz"),
    "a folder for each kind": ("p{0}/CT/abdomen.nii.gz", "p{0}/SEG/abdomen_seg.nii.gz"),
    "named for nothing": ("p{0}/mprage.nii.gz", "p{0}/wAAL116.nii.gz"),
}


@pytest.mark.parametrize("layout", PUBLISHED)
def test_each_case_has_its_own_image(layout, tmp_path):
    """All cases lie on one grid, so that only the names tell them apart."""
    pairs = {}
    for number in range(3):
        image_name, labels_name = (name.format(number) for name in PUBLISHED[layout])
        pairs[labels(tmp_path / labels_name)] = image(tmp_path / image_name)
    found = find_studies(tmp_path)
    assert {study.labels: study.image for study in found} == pairs
    assert len({study.stem for study in found}) == 3


def test_no_image_is_better_than_another_patients(tmp_path):
    for name in ("anna", "ben"):
        image(tmp_path / f"{name}.nii.gz")
    labels(tmp_path / "seg_7.nii.gz")
    labels(tmp_path / "seg_8.nii.gz")
    assert [study.image for study in find_studies(tmp_path)] == [None, None]


def test_the_vertebrae_of_verse_are_known(tmp_path):
    image(tmp_path / "rawdata/sub-verse004/sub-verse004_ct.nii.gz")
    labels(tmp_path / "derivatives/sub-verse004/sub-verse004_seg-vert_msk.nii.gz")
    assert [study.vocabulary for study in find_studies(tmp_path)] == ["verse"]


@pytest.mark.parametrize("name", ["T1w", "scan"])
def test_masks_beside_an_image_of_any_name(name, tmp_path):
    shown = image(tmp_path / f"{name}.nii.gz")
    for structure in ("liver", "spleen"):
        mask(tmp_path / f"{structure}.nii.gz")
    (study,) = find_studies(tmp_path)
    assert (study.image, study.layout) == (shown, "masks")
    opened = open_labels(study.labels, reference=open_volume(shown)).load()
    assert {structure.name for structure in opened.structures} == {"liver", "spleen"}


def test_masks_whose_names_begin_with_their_case(tmp_path):
    image(tmp_path / "p7" / "p7_ct.nii.gz")
    for structure in ("kidney_left", "kidney_right"):
        mask(tmp_path / "p7" / f"p7_{structure}.nii.gz")
    (study,) = find_studies(tmp_path)
    opened = open_labels(study.labels, reference=study.image).load()
    assert {structure.name for structure in opened.structures} == {"kidney_left", "kidney_right"}


def test_the_image_beside_a_folder_of_masks(tmp_path):
    shown = image(tmp_path / "p1" / "image.nii.gz")
    mask(tmp_path / "p1" / "masks" / "Left Kidney.nii.gz")
    (study,) = find_studies(tmp_path)
    assert (study.image, study.stem) == (shown, "p1")


def test_labels_on_another_grid_say_so(tmp_path):
    image(tmp_path / "ct.nii.gz")
    labels(tmp_path / "seg.nii.gz", moved=0.5, slices=7)
    (study,) = find_studies(tmp_path)
    assert study.image is None
    assert "8 × 9 × 10 against 8 × 9 × 7 voxels" in study.misfit


def test_labels_with_fewer_slices_on_the_same_grid_are_a_part_of_it(tmp_path):
    shown = image(tmp_path / "ct.nii.gz")
    (study,) = find_studies(labels(tmp_path / "seg.nii.gz", slices=7).parent)
    assert study.image == shown
    opened = open_labels(study.labels, reference=shown).load()
    assert opened.grid.shape == SHAPE
    (warning,) = opened.warnings
    assert "8 × 9 × 7 of 8 × 9 × 10" in warning


def test_masks_with_fewer_slices_than_their_image_are_a_part_of_it(tmp_path):
    shown = image(tmp_path / "s1" / "ct.nii.gz")
    folder = tmp_path / "s1" / "segmentations"
    mask(folder / "liver.nii.gz", slices=7)
    (study,) = find_studies(tmp_path)
    assert study.image == shown
    alone = open_labels(folder).load()
    opened = open_labels(study.labels, reference=shown).load()
    assert opened.grid.shape == SHAPE
    np.testing.assert_array_equal(opened.layers[0][:, :, :7], alone.layers[0])
    assert not opened.layers[0][:, :, 7:].any()
    (warning,) = opened.warnings
    assert "8 × 9 × 7 of 8 × 9 × 10" in warning


def test_every_dataset_below_a_parent_is_found(tmp_path):
    for number in range(2):
        image(tmp_path / f"s000{number}" / "ct.nii.gz")
        mask(tmp_path / f"s000{number}" / "segmentations" / "liver.nii.gz")
        image(tmp_path / "kits" / f"case_0000{number}" / "imaging.nii.gz")
        labels(tmp_path / "kits" / f"case_0000{number}" / "segmentation.nii.gz")
        image(tmp_path / "lits" / f"volume-{number}.nii")
        labels(tmp_path / "lits" / f"segmentation-{number}.nii")
    found = find_studies(tmp_path)
    assert sorted(study.layout for study in found) == sorted(
        ["totalsegmentator", "kits", "pairs"] * 2
    )
    assert all(study.image is not None for study in found)


def test_a_dataset_called_liver_with_classes_of_its_own(tmp_path):
    image(tmp_path / "imagesTr" / "liver_001.nii.gz")
    labels(tmp_path / "labelsTr" / "liver_001.nii.gz")
    described = {"name": "Liver", "labels": {"0": "background", "1": "liver", "2": "cancer"}}
    (tmp_path / "dataset.json").write_text(json.dumps(described))
    assert find_studies(tmp_path)[0].vocabulary == "msd_liver"
    described["labels"]["3"] = "spleen"
    (tmp_path / "dataset.json").write_text(json.dumps(described))
    (study,) = find_studies(tmp_path)
    assert (study.vocabulary, study.names) == (None, {1: "liver", 2: "cancer", 3: "spleen"})


def test_the_odd_case_of_brats_2020(tmp_path):
    case = "BraTS20_Training_355"
    for part in ("t1", "t1ce", "t2", "flair"):
        image(tmp_path / case / f"{case}_{part}.nii")
    made = labels(tmp_path / case / "W39_1998.09.19_Segm.nii")
    (study,) = find_studies(tmp_path)
    assert (study.stem, study.labels, study.vocabulary) == (case, made, "brats2020")
    assert study.image == tmp_path / case / f"{case}_t1ce.nii"


@pytest.mark.parametrize("case", ["BraTS-PED-00001-000", "BraTS-MEN-RT-0001-1"])
def test_brats_whose_labels_mean_something_else_are_not_named(case, tmp_path):
    image(tmp_path / case / f"{case}-t1c.nii.gz")
    labels(tmp_path / case / f"{case}-seg.nii.gz")
    assert find_studies(tmp_path)[0].vocabulary is None


def test_a_lesion_mask_of_bids_is_called_by_what_was_drawn(tmp_path):
    start = tmp_path / "sub-01" / "ses-1" / "anat" / "sub-01_ses-1_space-MNI"
    image(Path(f"{start}_T1w.nii.gz"))
    mask(Path(f"{start}_label-L_desc-T1lesion_mask.nii.gz"))
    assert find_studies(tmp_path)[0].names == {1: "T1lesion"}


@pytest.mark.parametrize(
    ("files", "words"),
    [
        (("p0.nii.gz", "p1.nii.gz"), "none of 2 volumes is named as labels, e.g. p0.nii.gz"),
        (("bert/mri/aseg.mgz",), r"\.mgz files are not read, e.g. aseg.mgz; convert them"),
    ],
)
def test_what_lies_there_instead_of_studies(files, words, tmp_path):
    for name in files:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        image(path) if name.endswith(".nii.gz") else path.touch()
    with pytest.raises(SitusError, match=words):
        find_studies(tmp_path)


def test_a_table_written_on_windows_with_other_words(tmp_path):
    shown, made = image(tmp_path / "data" / "a.nii.gz"), labels(tmp_path / "data" / "b.nii.gz")
    (tmp_path / "t.csv").write_text(
        "Case;Subject;Scan;Segmentation\ns1;p1;data\\a.nii.gz;data\\b.nii.gz\n"
    )
    (study,) = find_studies(tmp_path / "t.csv")
    assert (study.study, study.patient, study.image, study.labels) == ("s1", "p1", shown, made)


PAGE = (Path(__file__).parents[2] / "docs" / "your-data.md").read_text("utf-8")
MAKERS = {"image": image, "labels": labels, "mask": mask}


def blocks(kind: str) -> list[str]:
    """The fenced examples of one kind in the page about layouts and names."""
    return re.findall(rf"^```{kind}\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("block", blocks("layout"))
def test_a_folder_of_the_docs_is_found_as_it_stands(block, tmp_path):
    lines = [line.split("#") for line in block.splitlines()]
    made = {kind.strip(): [] for _, kind in lines}
    for path, kind in lines:
        made[kind.strip()].append(MAKERS[kind.strip()](tmp_path / path.strip()))
    found = find_studies(tmp_path)
    assert sorted(study.image for study in found) == sorted(made["image"])
    if "labels" in made:
        assert sorted(study.labels for study in found) == sorted(made["labels"])


def test_the_table_of_the_docs(tmp_path):
    (block,) = blocks("table")
    (tmp_path / "studies.csv").write_text(block)
    for name in ("a", "b"):
        image(tmp_path / "scans" / f"{name}.nii.gz")
        labels(tmp_path / "labels" / f"{name}.nii.gz")
    found = find_studies(tmp_path / "studies.csv")
    assert [(study.study, study.patient) for study in found] == [("s1", "p1"), ("s2", "p1")]


def test_the_name_maps_of_the_docs(tmp_path):
    values, patterns, parts = blocks("names")
    loaded = []
    for text in (values, patterns, parts):
        (tmp_path / "names.csv").write_text(text)
        loaded.append(load_vocabulary(str(tmp_path / "names.csv")))
    assert loaded[0].labels == {1: "liver", 2: "metastasis"}
    assert (loaded[0].term("metastasis").kind, loaded[0].term("metastasis").exhaustive) == (
        "lesion",
        True,
    )
    renamed = loaded[1].rules.renamed(
        {1: "GTV-1", 2: "gtv-2", 3: "Patella R", 4: "kneecap_right", 5: "a_aorta"}
    )
    assert renamed == {
        1: "lung_tumour_1",
        2: "lung_tumour_2",
        3: "patella_right",
        4: "patella_right",
        5: "aorta",
    }
    assert loaded[1].term("patella_right").plain == "right patella"
    assert loaded[2].term("hcc").kind == "lesion"


@pytest.mark.parametrize("word", re.findall(r"`--names (\w+)`", PAGE))
def test_the_vocabularies_of_the_docs_are_shipped(word):
    assert word in shipped_vocabularies()


def test_the_spellings_of_the_docs_are_one_structure():
    (listed,) = re.findall(r"in any spelling: (.*?)\.\n", PAGE)
    assert {canonical_name(name) for name in re.findall(r"`(.*?)`", listed)} == {"kidney_left"}
