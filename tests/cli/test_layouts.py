"""Folders as people have them, from the command line:
what is found, what is asked, what was lost and why."""

from __future__ import annotations

import functools
import json
from pathlib import Path

import nibabel as nib
import numpy as np
import pytest

ORGANS = ("liver", "spleen", "kidney_right", "kidney_left", "stomach", "aorta", "gallbladder")
SPINE = tuple(f"vertebrae_{level}" for level in ("T11", "T12", "L1", "L2", "L3", "L4", "L5"))
NAMES = dict(enumerate((*ORGANS, *SPINE, "liver_lesion"), start=1))


@functools.cache
def patient(index: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Image, label map (`NAMES`) and affine of a phantom patient on 5 mm voxels."""
    from situs.volumes.phantoms import make_patient

    made = make_patient(8, index, spacing_mm=(5.0, 5.0, 5.0), noise=False)
    labels = np.zeros(made.image.shape, np.uint8)
    for value, name in NAMES.items():
        present = [
            own
            for own in made.names
            if own == name or (own.startswith("liver_lesion") and name in own)
        ]
        for own in present:
            labels[made.mask(own)] = value
    return made.image.astype(np.int16), labels, made.grid.affine.matrix


def save(path: Path, array: np.ndarray, affine: np.ndarray) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".mha":
        import SimpleITK

        image = SimpleITK.GetImageFromArray(array.transpose(2, 1, 0))
        flip = np.diag([-1.0, -1.0, 1.0])
        spacing = np.linalg.norm(affine[:3, :3], axis=0)
        image.SetSpacing([float(v) for v in spacing])
        image.SetDirection((flip @ affine[:3, :3] / spacing).ravel().tolist())
        image.SetOrigin((flip @ affine[:3, 3]).tolist())
        SimpleITK.WriteImage(image, str(path))
    else:
        nib.save(nib.Nifti1Image(array, affine), path)
    return path


def pair(image: Path, labels: Path, index: int = 0) -> None:
    values, map_, affine = patient(index)
    save(image, values, affine)
    save(labels, map_, affine)


def write_seg_nrrd(
    path: Path, labels: np.ndarray, affine: np.ndarray, names: dict[int, str]
) -> Path:
    """As 3D Slicer saves it: LPS, gzip, a key for each segment."""
    import gzip

    lps = np.diag([-1.0, -1.0, 1.0]) @ affine[:3]
    vectors = " ".join("({:.9g},{:.9g},{:.9g})".format(*lps[:, axis]) for axis in range(3))
    lines = [
        "NRRD0004",
        "type: unsigned char",
        "dimension: 3",
        "space: left-posterior-superior",
        "sizes: {} {} {}".format(*labels.shape),
        f"space directions: {vectors}",
        "kinds: domain domain domain",
        "encoding: gzip",
        "space origin: ({:.9g},{:.9g},{:.9g})".format(*lps[:, 3]),
    ]
    for number, (value, name) in enumerate(names.items()):
        lines += [
            f"Segment{number}_LabelValue:={value}",
            f"Segment{number}_Layer:=0",
            f"Segment{number}_Name:={name}",
        ]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes("\n".join(lines).encode() + b"\n\n" + gzip.compress(labels.tobytes(order="F")))
    return path


def slicer(root: Path) -> None:
    """One folder a case, the segmentation cropped to what it holds."""
    for index in range(2):
        image, labels, affine = patient(index)
        save(root / f"case{index}" / "CT chest.nii.gz", image, affine)
        inside = [slice(int(w.min()), int(w.max()) + 1) for w in np.nonzero(labels)]
        moved = affine.copy()
        moved[:3, 3] += affine[:3, :3] @ [part.start for part in inside]
        write_seg_nrrd(
            root / f"case{index}" / "Segmentation.seg.nrrd", labels[tuple(inside)], moved, NAMES
        )


def pairs_beside(root: Path) -> None:
    for index in range(2):
        pair(root / f"case{index}.nii.gz", root / f"case{index}_seg.nii.gz", index)


def multilabel(root: Path) -> None:
    """TotalSegmentator with --ml: one file, whose header names the labels."""
    for index in range(2):
        image, labels, affine = patient(index)
        save(root / f"p{index}" / "ct.nii.gz", image, affine)
        table = "".join(
            f'<Label Key="{value}" Red="0.0" Green="1.0" Blue="0.0"'
            f' Alpha="1"><![CDATA[{name}]]></Label>\n'
            for value, name in NAMES.items()
        )
        made = nib.Nifti1Image(labels, affine)
        xml = (
            "<CaretExtension><VolumeInformation"
            f' Index="0"><LabelTable>\n{table}</LabelTable></VolumeInformation>'
        )
        made.header.extensions.append(
            nib.nifti1.Nifti1Extension(0, f"{xml}</CaretExtension>".encode())
        )
        nib.save(made, root / f"p{index}" / "segmentations.nii.gz")


def mask_folders(root: Path, suffix: str = ".nii", folder: str = "segmentations") -> None:
    for index in range(2):
        image, labels, affine = patient(index)
        save(root / f"p{index}" / f"ct{suffix}", image, affine)
        for value, name in NAMES.items():
            save(
                root / f"p{index}" / folder / f"{name}{suffix}",
                (labels == value).astype(np.uint8),
                affine,
            )


def bids(root: Path, label_table: str = "beside") -> None:
    (root / "dataset_description.json").parent.mkdir(parents=True)
    (root / "dataset_description.json").write_text('{"Name": "torso", "BIDSVersion": "1.9.0"}')
    rows = "index\tname\n" + "".join(f"{value}\t{name}\n" for value, name in NAMES.items())
    for index, session in enumerate(("ses-1", "ses-2")):
        own = f"sub-01/{session}/anat/sub-01_{session}"
        made = root / "derivatives" / "seg" / f"{own}_desc-organs_dseg.nii.gz"
        pair(root / f"{own}_T2w.nii.gz", made, index)
        if label_table == "beside":
            made.with_name(made.name.replace(".nii.gz", ".tsv")).write_text(rows)
    if label_table == "above":
        (root / "derivatives" / "seg" / "desc-organs_dseg.tsv").write_text(rows)


def datasets(root: Path) -> None:
    """The parent of two nnU-Net tasks whose cases have the same names."""
    for index, task in enumerate(("Dataset001_A", "Dataset002_B")):
        pair(
            root / task / "imagesTr" / "case_001_0000.nii.gz",
            root / task / "labelsTr" / "case_001.nii.gz",
            index,
        )
        described = {
            "channel_names": {"0": "CT"},
            "labels": {"background": 0} | {name: value for value, name in NAMES.items()},
            "file_ending": ".nii.gz",
        }
        (root / task / "dataset.json").write_text(json.dumps(described))


def split_folders(root: Path) -> None:
    for index in range(2):
        pair(
            root / "images" / f"case{index}.nii.gz", root / "labels" / f"case{index}.nii.gz", index
        )


NAMED = {
    "slicer": slicer,
    "multilabel": multilabel,
    "masks .nii": mask_folders,
    "masks beside": lambda root: mask_folders(root, ".nii.gz", "."),
    "bids": bids,
    "bids, one table": lambda root: bids(root, "above"),
    "datasets": datasets,
}
UNNAMED = {"pairs": pairs_beside, "split": split_folders}


@pytest.mark.sampled(one_in=12)
@pytest.mark.parametrize("layout", [*NAMED, *UNNAMED])
def test_a_layout_builds_without_editing(layout, situs, tmp_path):
    root = tmp_path / "data"
    (NAMED | UNNAMED)[layout](root)
    given = ()
    if layout in UNNAMED:
        (tmp_path / "names.json").write_text(
            json.dumps({str(v): name for v, name in NAMES.items()})
        )
        given = ("--names", tmp_path / "names.json")
    ran = situs(
        "build",
        "masks",
        root,
        *given,
        "--tasks",
        "volume,lesion_side",
        "--out",
        tmp_path / "bench",
        "--json",
    )
    assert ran.code == 0, ran.err
    built = ran.json
    assert built["items"] > 0
    assert built["coverage"]["found"] == built["coverage"]["used"] == built["studies"] == 2
    assert built["coverage"]["without_image"] == built["coverage"]["with_unknown_names"] == 0
    checked = situs("check", tmp_path / "bench", "--json").json
    assert [problem for problem in checked["problems"] if problem["severity"] == "error"] == []
    assert checked["recomputed"] == built["items"]


BRATS = {
    "BraTS20_Training_001": ("_", ".nii", ("t1", "t1ce", "t2", "flair"), "t1ce"),
    "BraTS2021_00000": ("_", ".nii.gz", ("t1", "t1ce", "t2", "flair"), "t1ce"),
    "Brats17_TCIA_100_1": ("_", ".nii.gz", ("t1", "t2", "flair"), "flair"),
    "BraTS-GLI-00001-000": ("-", ".nii.gz", ("t1n", "t1c", "t2w", "t2f"), "t1c"),
    "BraTS-SSA-00002-000": ("-", ".nii.gz", ("t2w", "t2f"), "t2f"),
    "brats_2013_pat0001_1": ("VSD", ".mha", ("T1", "T1c", "T2", "Flair"), "T1c"),
}


@pytest.mark.parametrize("case", BRATS)
def test_brats_of_every_year(case, tmp_path):
    from situs.volumes import find_studies

    mark, suffix, parts, shown = BRATS[case]
    array, affine = np.zeros((6, 6, 6), np.int16), np.diag([1.0, 1.0, 1.0, 1.0])
    array[2:4, 2:4, 2:4] = 1

    def path(part: str) -> Path:
        if mark != "VSD":
            return tmp_path / "HGG" / case / f"{case}{mark}{part}{suffix}"
        name = (
            f"VSD.Brain_3more.XX.O.OT.54517{suffix}"
            if part == "seg"
            else f"VSD.Brain.XX.O.MR_{part}.54513{suffix}"
        )
        return tmp_path / "HGG" / case / name.removesuffix(suffix) / name

    for part in (*parts, "seg"):
        save(path(part), array, affine)
    for root in (tmp_path, tmp_path / "HGG", tmp_path / "HGG" / case):
        (study,) = find_studies(root)
        assert (study.stem, study.public_id, study.layout) == (case, case, "brats")
        assert (study.image, study.labels) == (path(shown), path("seg"))
    assert study.vocabulary == {"_": "brats2020", "-": "brats2023", "VSD": "brats2015"}[mark]


@pytest.mark.parametrize("labels", ["segmentation.nii.gz", "aggregated_MAJ_seg.nii.gz"])
@pytest.mark.parametrize("above", ["", "data", "dataset"])
def test_kits_of_every_year(labels, above, tmp_path):
    from situs.volumes import find_studies

    array, affine = np.ones((4, 4, 4), np.int16), np.eye(4)
    for number in range(2):
        folder = tmp_path / above / f"case_{number:05d}"
        save(folder / labels, array, affine)
        if number == 0:
            save(folder / "imaging.nii.gz", array, affine)
    first, second = find_studies(tmp_path)
    assert (first.public_id, second.public_id) == ("case_00000", "case_00001")
    assert first.image is not None
    assert second.image is None


TABLES = {
    "commas": ("studies.csv", ","),
    "semicolons": ("studies.csv", ";"),
    "tabs": ("studies.tsv", "\t"),
    "byte order mark": ("studies.csv", ";"),
}


@pytest.mark.sampled
@pytest.mark.parametrize("kind", TABLES)
def test_a_table_with_any_delimiter(kind, situs, tmp_path):
    name, delimiter = TABLES[kind]
    pair(tmp_path / "a.nii.gz", tmp_path / "a_seg.nii.gz")
    rows = [("study", "patient", "image", "labels"), ("s1", "p1", "a.nii.gz", "a_seg.nii.gz")]
    text = "\r\n".join(delimiter.join(row) for row in rows) + "\r\n"
    (tmp_path / name).write_bytes(
        (b"\xef\xbb\xbf" if kind == "byte order mark" else b"") + text.encode()
    )
    map_rows = (
        delimiter.join(("label", "name"))
        + "\n"
        + "".join(f"{v}{delimiter}{n}\n" for v, n in NAMES.items())
    )
    (tmp_path / "names.csv").write_text(map_rows)
    given = (
        "--names",
        tmp_path / "names.csv",
        "--tasks",
        "volume",
        "--out",
        tmp_path / "bench",
        "--json",
    )
    ran = situs("build", "masks", tmp_path / name, *given)
    assert ran.code == 0, ran.err
    assert (ran.json["studies"], ran.json["items"] > 0) == (1, True)


def test_what_was_lost_is_told_with_its_cure(situs, tmp_path):
    root = tmp_path / "data"
    mask_folders(root, ".nii.gz")
    (root / "p1" / "ct.nii.gz").unlink()
    save(
        root / "p1" / "segmentations" / "Dr Grey target.nii.gz",
        np.ones_like(patient(1)[1]),
        patient(1)[2],
    )
    save(root / "leftover" / "scan.nii.gz", patient()[0], patient()[2])
    options = ("--tasks", "volume", "--out", tmp_path / "bench")
    ran = situs("build", "masks", root, *options, "--json")
    assert ran.code == 0, ran.err
    expected = {
        "found": 2,
        "used": 2,
        "without_image": 1,
        "with_unknown_names": 1,
        "passed_over": 1,
    }
    assert {key: ran.json["coverage"][key] for key in expected} == expected
    told = {
        problem["code"]: problem
        for problem in ran.json["problems"]
        if problem["where"] == "studies"
    }
    assert (
        "1 of 2 studies has no image: no model can be shown them (p1)" in told["image"]["problem"]
    )
    assert "--names" in told["names"]["fix"]
    assert "leftover" in told["layout"]["problem"]
    shown = situs("build", "masks", root, *options, "--overwrite")
    assert "without image" in shown.out
    assert "1 of 2 studies has no image" in shown.err
    for file in (tmp_path / "bench").iterdir():
        assert b"Dr Grey" not in file.read_bytes()


def test_no_question_is_an_error_with_the_reasons_and_the_cure(situs, tmp_path):
    image, labels, affine = patient()
    save(tmp_path / "data" / "ct.nii.gz", image, affine)
    save(tmp_path / "data" / "seg.nii.gz", labels, affine)
    ran = situs("build", "masks", tmp_path / "data", "--out", tmp_path / "bench")
    assert ran.code == 2
    assert ran.err.count("\n") == 1
    assert "no question can be asked of 1 study" in ran.err
    assert "structures have names that no vocabulary knows ('label_1', " in ran.err
    assert "--names" in ran.err
    assert not (tmp_path / "bench").exists()


def test_labels_that_fit_no_image_are_kept_without_one(tmp_path):
    from situs.volumes import find_studies

    image, labels, affine = patient()
    save(tmp_path / "scan.nii.gz", image[1:], affine)
    save(
        tmp_path / "scan_seg.nii.gz",
        labels[:, :, 1:],
        affine * [[1, 1, 1, 1], [1, 1, 1, 1], [1, 1, 1.5, 1], [1] * 4],
    )
    (study,) = find_studies(tmp_path)
    assert study.image is None


def test_imported_items_are_told_nothing_of_a_headline(situs, tmp_path):
    """They have no twins to begin with, and nothing was left out."""
    row = {"study": "scan1", "question": "Is the spleen enlarged?", "answer": "no"}
    (tmp_path / "items.jsonl").write_text(json.dumps(row))
    ran = situs("import", "items", tmp_path / "items.jsonl", "--out", tmp_path / "bench")
    assert ran.code == 0, ran.err
    assert "imported 1" in ran.out
    assert "headline" not in ran.out
    assert "not asked" not in ran.out


def test_imported_items_are_linked_to_their_scans(situs, tmp_path):
    """A scan lies in any folder below, under the study's name; what has none is told."""
    image, _, affine = patient()
    save(tmp_path / "scans" / "batch" / "scan1.nii.gz", image, affine)
    rows = [
        {
            "study": "scan1",
            "question": "Which side is the spleen on?",
            "options": ["left", "right"],
            "answer": "left",
        },
        {
            "study": "scan2",
            "question": "Which side is the spleen on?",
            "options": ["left", "right"],
            "answer": "left",
        },
    ]
    (tmp_path / "items.jsonl").write_text("\n".join(map(json.dumps, rows)))
    given = (
        "--images",
        tmp_path / "scans",
        "--licence",
        "CC0-1.0",
        "--out",
        tmp_path / "bench",
        "--json",
    )
    ran = situs("import", "items", tmp_path / "items.jsonl", *given)
    assert ran.code == 0, ran.err
    (problem,) = ran.json["problems"]
    assert "1 of 2 volumes are missing" in problem["problem"]
    checked = situs("check", tmp_path / "bench", "--json").json
    assert (checked["problems"], checked["given"]) == ([], 2)
    import pyarrow.parquet as pq

    items = pq.read_table(tmp_path / "bench" / "items.parquet").to_pylist()
    (linked,) = (item for item in items if item["series"])
    shown = situs(
        "show",
        tmp_path / "bench",
        "--item",
        linked["item_id"],
        "--out",
        tmp_path / "seen",
        "--json",
    )
    assert shown.code == 0, shown.err
    assert shown.json["pictures"] > 0
    missing = situs(
        "import",
        "items",
        tmp_path / "items.jsonl",
        "--images",
        tmp_path / "none",
        *given[2:],
        "--overwrite",
    )
    assert (missing.code, "no such folder" in missing.err) == (2, True)


def test_a_knee_of_cartilage_alone_says_that_nobody_asks_about_it(situs, tmp_path):
    """Two flat plates, named rightly:
    that no marks fit in them is not the reason to be told first."""
    labels = np.zeros((30, 30, 20), np.uint8)
    labels[4:12, 5:25, 9:11], labels[18:26, 5:25, 9:11] = 3, 4
    save(tmp_path / "data" / "knee.nii.gz", labels, np.diag([0.8, 0.8, 1.0, 1.0]))
    args = ("--names", "skm_tea", "--out", tmp_path / "bench")
    ran = situs("build", "masks", tmp_path / "data" / "knee.nii.gz", *args)
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert "they contain nothing that Situs can ask about" in ran.err
    assert "situs build grades" in ran.err
