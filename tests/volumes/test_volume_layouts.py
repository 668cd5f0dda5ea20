"""Finding studies in folders and tables."""

from __future__ import annotations

from pathlib import Path

import pytest

from situs.errors import SitusError
from situs.volumes import StudySource, find_studies


def study(folder: Path, image: str | None = "ct.nii.gz") -> Path:
    (folder / "segmentations").mkdir(parents=True)
    if image:
        (folder / image).touch()
    return folder


def test_one_totalsegmentator_study(tmp_path, monkeypatch):
    folder = study(tmp_path / "s0009")
    expected = StudySource(
        "s0009", folder / "ct.nii.gz", folder / "segmentations", public_id="s0009"
    )
    assert find_studies(folder) == [expected]
    monkeypatch.chdir(folder)
    (found,) = find_studies(".")
    assert (found.stem, found.public_id) == ("s0009", "s0009")


def test_a_folder_of_studies_is_sorted(tmp_path):
    for name in ("s0100", "s0002", "Doe_Jane", "s00021"):
        study(tmp_path / name, "mri.nii.gz" if name == "s0100" else "ct.nii.gz")
    (tmp_path / "other").mkdir()
    found = find_studies(tmp_path)
    assert [source.stem for source in found] == ["Doe_Jane", "s0002", "s00021", "s0100"]
    assert [source.public_id for source in found] == [None, "s0002", None, "s0100"]
    assert found[3].image == tmp_path / "s0100" / "mri.nii.gz"


def test_masks_without_an_image(tmp_path):
    (found,) = find_studies(study(tmp_path / "a", None))
    assert found.image is None


@pytest.mark.parametrize("name", ["a.nii.gz", "a.nii", "a.seg.nrrd", "a.mha"])
def test_one_label_file(tmp_path, name):
    (tmp_path / name).touch()
    assert find_studies(tmp_path / name) == [StudySource("a", None, tmp_path / name)]


def test_a_table(tmp_path):
    for name in ("x.nii.gz", "y.nii.gz", "ct.nii.gz"):
        (tmp_path / name).touch()
    table = tmp_path / "t.csv"
    table.write_text(
        "\ufeffstudy,patient,image,labels\r\nS2,P1,ct.nii.gz,x.nii.gz\r\n\r\nS1,,,y.nii.gz\r\n",
        "utf-8",
    )
    assert find_studies(table) == [
        StudySource("y", None, tmp_path / "y.nii.gz", patient="S1", study="S1"),
        StudySource("x", tmp_path / "ct.nii.gz", tmp_path / "x.nii.gz", patient="P1", study="S2"),
    ]
    table.write_text("labels,study\nx.nii.gz,a\n")
    assert find_studies(table)[0].patient == "a"


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("", "no column study and labels"),
        ("study,image\n", "no column labels"),
        ("study,label\na,x.nii\n", "unknown column 'label'; did you mean labels"),
        ("study,study,labels\n", "twice"),
        ("study,labels\n", "no study found"),
        ("study,labels\na,x.nii\nb,x.nii\na,x.nii\n", "rows 2 and 4"),
        ("study,labels\na\n", "row 2 has 1 cells"),
        ("study,labels\n,x.nii\n", "row 2 has no study"),
        ("study,labels\na,\n", "row 2 has no study or no labels"),
        ('study,labels\na,"x.nii\n', "not valid CSV"),
        (
            "study,labels\n" + "".join(f"{n},gone{n}.nii\n" for n in range(7)),
            r"7 missing files \(row 2: .*gone4\.nii, …\)",
        ),
    ],
)
def test_tables_with_mistakes(tmp_path, text, match):
    (tmp_path / "x.nii").touch()
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(SitusError, match=match) as caught:
        find_studies(tmp_path / "t.csv")
    assert "\n" not in str(caught.value)
    assert "gone5" not in str(caught.value)


def test_a_table_that_is_not_text(tmp_path):
    (tmp_path / "t.csv").write_bytes(bytes(range(256)))
    with pytest.raises(SitusError, match="UTF-8"):
        find_studies(tmp_path / "t.csv")


@pytest.mark.parametrize("name", ["empty", "note.txt", "missing"])
def test_nothing_found_says_what_is_known(tmp_path, name):
    (tmp_path / "empty").mkdir()
    (tmp_path / "note.txt").touch()
    with pytest.raises(
        SitusError,
        match="no such file" if name == "missing" else "known layouts: totalsegmentator, msd",
    ):
        find_studies(tmp_path / name)
