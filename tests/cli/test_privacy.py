"""Data in our care: a name planted in paths and headers turns up in no bench, run or report."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import nibabel
import numpy as np
import pytest

from situs.bench import open_bench
from situs.volumes.phantoms import make_patient

NAME = "Zwetschkenbaum"
CODES = ("utf-8", "utf-16-le", "utf-16-be")
SPELLINGS = [spelt.encode(code) for spelt in (NAME, NAME.lower(), NAME.upper()) for code in CODES]


def header_with_name() -> nibabel.Nifti1Header:
    header = nibabel.Nifti1Header()
    for field, text in {"descrip": f"{NAME}^JANE 1950", "aux_file": NAME, "intent_name": NAME, "db_name": NAME}.items():
        header[field] = text.encode()
    return header


def write_nrrd(path: Path, mask: np.ndarray, affine: np.ndarray, **more: str) -> None:
    """A NRRD in RAS with the name in its comments, content and custom fields."""
    vectors = " ".join(f"({','.join(repr(float(v)) for v in affine[:3, k])})" for k in range(3))
    lines = [
        "NRRD0005",
        f"# {NAME}",
        f"content: {NAME}",
        "type: uchar",
        "dimension: 3",
        "space: right-anterior-superior",
    ]
    lines += [f"sizes: {' '.join(map(str, mask.shape))}", f"space directions: {vectors}", "encoding: raw"]
    lines += [f"space origin: ({','.join(repr(float(v)) for v in affine[:3, 3])})", f"PatientName:={NAME}"]
    lines += [f"{key}:={value}" for key, value in more.items()]
    path.write_bytes("\n".join([*lines, "", ""]).encode() + mask.tobytes(order="F"))


def write_mha(path: Path, mask: np.ndarray, affine: np.ndarray) -> None:
    """A MetaImage (which is in LPS) with the name as comment and custom field."""
    lps = np.diag([-1.0, -1.0, 1.0]) @ affine[:3]
    spacing = np.linalg.norm(lps[:, :3], axis=0)
    numbers = {"TransformMatrix": (lps[:, :3] / spacing).T.ravel(), "Offset": lps[:, 3], "ElementSpacing": spacing}
    lines = ["ObjectType = Image", "NDims = 3", f"Comment = {NAME}", f"PatientName = {NAME}", "BinaryData = True"]
    lines += [f"{key} = {' '.join(repr(float(v)) for v in values)}" for key, values in numbers.items()]
    lines += [f"DimSize = {' '.join(map(str, mask.shape))}", "ElementType = MET_UCHAR", "ElementDataFile = LOCAL", ""]
    path.write_bytes("\n".join(lines).encode() + mask.tobytes(order="F"))


@pytest.fixture(scope="session")
def cared_for(once: Callable[..., Path], situs: Callable[..., object]) -> Path:
    """Patients with the name wherever a file has room for one; bench, runs and scores made of them."""

    def make(folder: Path) -> None:
        data = folder / f"clinic of Dr {NAME}" / "data"
        for index in range(3):
            patient = make_patient(8, index, spacing_mm=(5.0, 5.0, 5.0), noise=False)
            affine = patient.grid.affine.matrix
            masks = data / f"{NAME}_{index}" / "segmentations"
            masks.mkdir(parents=True)
            image = nibabel.Nifti1Image(patient.image, affine, header_with_name())
            nibabel.save(image, masks.parent / ("ct.nii.gz" if patient.modality == "ct" else "mri.nii.gz"))
            for number, name in enumerate(patient.names):
                mask = patient.mask(name).astype(np.uint8)
                if index == 0 or number % 3 == 0:
                    nibabel.save(nibabel.Nifti1Image(mask, affine, header_with_name()), masks / f"{name}.nii.gz")
                elif number % 3 == 1:
                    write_nrrd(masks / f"{name}.nrrd", mask, affine)
                else:
                    write_mha(masks / f"{name}.mha", mask, affine)
            one = patient.mask("liver").astype(np.uint8)
            odd = nibabel.Nifti1Image(one, affine, header_with_name())
            nibabel.save(odd, masks / f"{NAME}_tumour.nii.gz")
        segments = {}
        for number, name in enumerate(("liver", "spleen", "kidney_left", "kidney_right")):
            segments |= {f"Segment{number}_Name": name, f"Segment{number}_LabelValue": str(number + 1)}
            segments |= {f"Segment{number}_Layer": "0", f"Segment{number}_ID": NAME, f"Segment{number}_Tags": NAME}
        labels = sum((n + 1) * patient.mask(segments[f"Segment{n}_Name"]).astype(np.uint8) for n in range(4))
        write_nrrd(data / f"{NAME}.seg.nrrd", labels.astype(np.uint8), affine, **segments)
        # One level below a folder with the name: a run must not remember the way from here to there.
        bench = folder / NAME / "bench"
        roots = (data, data / f"{NAME}.seg.nrrd")
        built = situs("build", "masks", *roots, "--annotation", "exact", "--out", bench)
        assert built.code == 0, built.err
        for model in ("oracle", "random", "prior"):
            assert situs("run", bench, "--model", model, "--out", folder / model).code == 0
            assert situs("score", bench, folder / model).code == 0

    return once("cared_for", make)


def telling(paths: list[Path], plain_content: Callable[[Path], bytes]) -> list[str]:
    """Files in which the name stands, however it is spelt or encoded."""
    found = []
    for path in paths:
        raw = plain_content(path) + path.read_bytes()
        if any(spelt in raw for spelt in SPELLINGS) or NAME.lower().encode() in raw.lower():
            found.append(path.name)
    return found


def test_the_name_was_planted(cared_for, plain_content) -> None:
    """Otherwise there would be nothing to find."""
    data = [path for path in (cared_for / f"clinic of Dr {NAME}").rglob("*") if path.is_file()]
    assert len(telling(data, plain_content)) == len(data) > 60
    bench = cared_for / NAME / "bench"
    assert telling([bench / "locations.json"], plain_content) == ["locations.json"]
    assert len(list(open_bench(bench).items())) > 30


def test_no_bench_or_run_holds_the_name(cared_for, plain_content) -> None:
    bench = [
        path for path in (cared_for / NAME / "bench").rglob("*") if path.is_file() and path.name != "locations.json"
    ]
    runs = [path for model in ("oracle", "random", "prior") for path in (cared_for / model).rglob("*")]
    # The way to a bench that lies elsewhere is as private as the bench's own locations.
    assert {path.name for path in runs} == {"run.json", "answers.jsonl", "scores.json", "locations.json"}
    runs = [path for path in runs if path.name != "locations.json"]
    assert telling([*bench, *runs], plain_content) == []


def test_no_file_name_of_a_bench_holds_the_name(cared_for) -> None:
    names = [str(p.relative_to(cared_for / NAME / "bench")) for p in (cared_for / NAME / "bench").rglob("*")]
    assert not any(NAME.lower() in name.lower() for name in names)


def test_no_report_holds_the_name(situs, cared_for, plain_content, tmp_path) -> None:
    """Also with pictures of restricted data."""
    runs = [cared_for / model for model in ("oracle", "random")]
    for flag in ((), ("--allow-pixels",)):
        out = tmp_path / f"report{len(flag)}.html"
        ran = situs("report", *runs, "--bench", cared_for / NAME / "bench", "--out", out, "--pictures", 3, *flag)
        assert ran.code == 0, ran.err
        assert telling([out], plain_content) == []


def test_no_picture_or_prompt_holds_the_name(situs, cared_for, plain_content, tmp_path) -> None:
    shown = situs("show", cared_for / NAME / "bench", "--out", tmp_path / "shown", "--json")
    assert shown.code == 0
    assert NAME.lower() not in shown.out.lower()
    assert telling(list((tmp_path / "shown").iterdir()), plain_content) == []


def test_a_private_bench_is_restricted(cared_for) -> None:
    assert open_bench(cared_for / NAME / "bench").info.restricted


@pytest.fixture
def named_studies(bench: Path, small: Path, tmp_path: Path) -> Path:
    """Two studies under names that may be a patient's."""
    for number in range(2):
        shutil.copytree(small / "data" / f"patient{number:03d}", tmp_path / "data" / f"{NAME}_{number}")
    return tmp_path / "data"


def ids(situs, data: Path, out: Path, *more: str) -> list[tuple[str, str]]:
    ran = situs("build", "masks", data, "--annotation", "exact", "--tasks", "volume", "--out", out, *more)
    assert ran.code == 0, ran.err
    return sorted((study.study_id, study.patient_id) for study in open_bench(out).studies())


def test_ids_depend_on_the_key_and_the_name_only(situs, named_studies, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("SITUS_ID_KEY", "one")
    first = ids(situs, named_studies, tmp_path / "a")
    elsewhere = shutil.copytree(named_studies, tmp_path / "elsewhere")
    assert ids(situs, elsewhere, tmp_path / "b") == first
    monkeypatch.setenv("SITUS_ID_KEY", "two")
    other = ids(situs, named_studies, tmp_path / "c")
    assert not {*sum(first, ())} & {*sum(other, ())}
    assert len({*sum(first, ())}) == 4


def test_without_a_key_a_private_one_is_made_once(situs, named_studies, tmp_path, monkeypatch) -> None:
    monkeypatch.delenv("SITUS_ID_KEY")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    first, again = (ids(situs, named_studies, tmp_path / name) for name in "ab")
    key = tmp_path / "config" / "situs" / "id.key"
    assert first == again
    assert key.stat().st_mode & 0o077 == 0
    key.unlink()
    assert ids(situs, named_studies, tmp_path / "c") != first


def test_stems_are_kept_on_request(situs, named_studies, tmp_path) -> None:
    assert ids(situs, named_studies, tmp_path / "a", "--ids", "stem") == [(f"{NAME}_{n}",) * 2 for n in range(2)]


def test_a_tables_ids_are_kept(situs, named_studies, tmp_path) -> None:
    table = tmp_path / "studies.csv"
    rows = [f"study{n},patient{n},data/{NAME}_{n}/segmentations\n" for n in range(2)]
    table.write_text("study,patient,labels\n" + "".join(rows))
    assert ids(situs, table, tmp_path / "a") == [(f"study{n}", f"patient{n}") for n in range(2)]
