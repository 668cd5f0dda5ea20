"""Data in our care: a name planted in paths and headers turns up in no bench, run or report."""

from __future__ import annotations

import json
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
    for field, text in {
        "descrip": f"{NAME}^JANE 1950",
        "aux_file": NAME,
        "intent_name": NAME,
        "db_name": NAME,
    }.items():
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
    lines += [
        f"sizes: {' '.join(map(str, mask.shape))}",
        f"space directions: {vectors}",
        "encoding: raw",
    ]
    lines += [
        f"space origin: ({','.join(repr(float(v)) for v in affine[:3, 3])})",
        f"PatientName:={NAME}",
    ]
    lines += [f"{key}:={value}" for key, value in more.items()]
    path.write_bytes("\n".join([*lines, "", ""]).encode() + mask.tobytes(order="F"))


def write_mha(path: Path, mask: np.ndarray, affine: np.ndarray) -> None:
    """A MetaImage (which is in LPS) with the name as comment and custom field."""
    lps = np.diag([-1.0, -1.0, 1.0]) @ affine[:3]
    spacing = np.linalg.norm(lps[:, :3], axis=0)
    numbers = {
        "TransformMatrix": (lps[:, :3] / spacing).T.ravel(),
        "Offset": lps[:, 3],
        "ElementSpacing": spacing,
    }
    lines = [
        "ObjectType = Image",
        "NDims = 3",
        f"Comment = {NAME}",
        f"PatientName = {NAME}",
        "BinaryData = True",
    ]
    lines += [
        f"{key} = {' '.join(repr(float(v)) for v in values)}" for key, values in numbers.items()
    ]
    lines += [
        f"DimSize = {' '.join(map(str, mask.shape))}",
        "ElementType = MET_UCHAR",
        "ElementDataFile = LOCAL",
        "",
    ]
    path.write_bytes("\n".join(lines).encode() + mask.tobytes(order="F"))


@pytest.fixture(scope="session")
def cared_for(once: Callable[..., Path], situs: Callable[..., object]) -> Path:
    """Patients with the name wherever a file has room for one;
    bench, runs and scores made of them."""

    def make(folder: Path) -> None:
        data = folder / f"clinic of Dr {NAME}" / "data"
        for index in range(3):
            patient = make_patient(8, index, spacing_mm=(5.0, 5.0, 5.0), noise=False)
            affine = patient.grid.affine.matrix
            masks = data / f"{NAME}_{index}" / "segmentations"
            masks.mkdir(parents=True)
            image = nibabel.Nifti1Image(patient.image, affine, header_with_name())
            nibabel.save(
                image, masks.parent / ("ct.nii.gz" if patient.modality == "ct" else "mri.nii.gz")
            )
            for number, name in enumerate(patient.names):
                mask = patient.mask(name).astype(np.uint8)
                if index == 0 or number % 3 == 0:
                    nibabel.save(
                        nibabel.Nifti1Image(mask, affine, header_with_name()),
                        masks / f"{name}.nii.gz",
                    )
                elif number % 3 == 1:
                    write_nrrd(masks / f"{name}.nrrd", mask, affine)
                else:
                    write_mha(masks / f"{name}.mha", mask, affine)
            one = patient.mask("liver").astype(np.uint8)
            odd = nibabel.Nifti1Image(one, affine, header_with_name())
            nibabel.save(odd, masks / f"{NAME}_tumour.nii.gz")
        segments = {}
        for number, name in enumerate(("liver", "spleen", "kidney_left", "kidney_right")):
            segments |= {
                f"Segment{number}_Name": name,
                f"Segment{number}_LabelValue": str(number + 1),
            }
            segments |= {
                f"Segment{number}_Layer": "0",
                f"Segment{number}_ID": NAME,
                f"Segment{number}_Tags": NAME,
            }
        labels = sum(
            (n + 1) * patient.mask(segments[f"Segment{n}_Name"]).astype(np.uint8) for n in range(4)
        )
        write_nrrd(data / f"{NAME}.seg.nrrd", labels.astype(np.uint8), affine, **segments)
        # One level below a folder with the name: a run must not remember the way from here to
        # there.
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
        path
        for path in (cared_for / NAME / "bench").rglob("*")
        if path.is_file() and path.name != "locations.json"
    ]
    runs = [
        path for model in ("oracle", "random", "prior") for path in (cared_for / model).rglob("*")
    ]
    # The way to a bench that lies elsewhere is as private as the bench's own locations.
    assert {path.name for path in runs} == {
        "run.json",
        "answers.jsonl",
        "scores.json",
        "scores.blind.json",
        "scores.parquet",
        "locations.json",
    }
    runs = [path for path in runs if path.name != "locations.json"]
    assert telling([*bench, *runs], plain_content) == []


def test_no_file_name_of_a_bench_holds_the_name(cared_for) -> None:
    names = [
        str(p.relative_to(cared_for / NAME / "bench"))
        for p in (cared_for / NAME / "bench").rglob("*")
    ]
    assert not any(NAME.lower() in name.lower() for name in names)


def test_no_report_holds_the_name(situs, cared_for, plain_content, tmp_path) -> None:
    """Also with pictures of restricted data."""
    runs = [cared_for / model for model in ("oracle", "random")]
    for flag in ((), ("--allow-pixels",)):
        out = tmp_path / f"report{len(flag)}.html"
        ran = situs(
            "report",
            *runs,
            "--bench",
            cared_for / NAME / "bench",
            "--out",
            out,
            "--pictures",
            3,
            *flag,
        )
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
        shutil.copytree(
            small / "data" / f"patient{number:03d}", tmp_path / "data" / f"{NAME}_{number}"
        )
    return tmp_path / "data"


def ids(situs, data: Path, out: Path, *more: str) -> list[tuple[str, str]]:
    ran = situs(
        "build", "masks", data, "--annotation", "exact", "--tasks", "volume", "--out", out, *more
    )
    assert ran.code == 0, ran.err
    return sorted((study.study_id, study.patient_id) for study in open_bench(out).studies())


def test_ids_depend_on_the_key_and_the_name_only(
    situs, named_studies, tmp_path, monkeypatch
) -> None:
    monkeypatch.setenv("SITUS_ID_KEY", "one" * 8)
    first = ids(situs, named_studies, tmp_path / "a")
    elsewhere = shutil.copytree(named_studies, tmp_path / "elsewhere")
    assert ids(situs, elsewhere, tmp_path / "b") == first
    monkeypatch.setenv("SITUS_ID_KEY", "two" * 8)
    other = ids(situs, named_studies, tmp_path / "c")
    assert not {*sum(first, ())} & {*sum(other, ())}
    assert len({*sum(first, ())}) == 4


def test_without_a_key_a_private_one_is_made_once(
    situs, named_studies, tmp_path, monkeypatch
) -> None:
    monkeypatch.delenv("SITUS_ID_KEY")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    first, again = (ids(situs, named_studies, tmp_path / name) for name in "ab")
    key = tmp_path / "config" / "situs" / "id.key"
    assert first == again
    assert key.stat().st_mode & 0o077 == 0
    key.unlink()
    assert ids(situs, named_studies, tmp_path / "c") != first


def test_stems_are_kept_on_request(situs, named_studies, tmp_path) -> None:
    assert ids(situs, named_studies, tmp_path / "a", "--ids", "stem") == [
        (f"{NAME}_{n}",) * 2 for n in range(2)
    ]


@pytest.mark.parametrize("kind", ["opaque", "table", "stem"])
def test_a_tables_ids_are_kept_on_request_only(
    situs, named_studies, plain_content, tmp_path, kind
) -> None:
    table = tmp_path / "studies.csv"
    folders = [named_studies / f"{NAME}_{n}" for n in range(2)]
    images = [next(folder.glob("*.nii.gz")) for folder in folders]
    rows = [
        f"{NAME}-{n},Jane {NAME} {n},{images[n]},{folders[n] / 'segmentations'}\n" for n in range(2)
    ]
    table.write_text("study,patient,image,labels\n" + "".join(rows))
    found = ids(situs, table, tmp_path / "a", "--ids", kind)
    if kind == "opaque":
        assert not any(NAME in name for pair in found for name in pair)
        assert len({*sum(found, ())}) == 4
        out = tmp_path / "hf"
        assert (
            situs("export", tmp_path / "a", "--to", "hf", "--allow-restricted", "--out", out).code
            == 0
        )
        assert telling(written(out), plain_content) == []
    else:
        assert found == [(f"{NAME}-{n}", f"Jane {NAME} {n}") for n in range(2)]


def test_a_short_key_is_refused(situs, named_studies, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("SITUS_ID_KEY", "secret")
    ran = situs("build", "masks", named_studies, "--annotation", "exact", "--out", tmp_path / "a")
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert "SITUS_ID_KEY" in ran.err
    assert not (tmp_path / "a").exists()


def written(folder: Path) -> list[Path]:
    """All files of a bench but the private one."""
    return [path for path in folder.rglob("*") if path.is_file() and path.name != "locations.json"]


def importable(folder: Path) -> dict[str, list[object]]:
    """Source → the words of a command that makes a bench of a file full of names."""
    items = [
        {
            "study": f"{NAME}_{n}",
            "patient": NAME,
            "id": f"{NAME}-{n}",
            "question": f"Is {n} odd?",
            "answer": "yes",
        }
        for n in range(3)
    ]
    (folder / "items.jsonl").write_text("".join(json.dumps(row) + "\n" for row in items))
    reports = [f"{NAME}_{n},{NAME},There is a nodule in the left lung." for n in range(3)]
    (folder / "reports.csv").write_text("\n".join(["id,patient,findings", *reports]) + "\n")
    released = {
        f"{NAME}_{n}.nii.gz": {"qa_pairs": [{"question": "Where?", "answer": "Left."}]}
        for n in range(3)
    }
    (folder / "qa.json").write_text(json.dumps(released))
    return {
        "items": ["import", "items", folder / "items.jsonl"],
        "reports": ["build", "reports", folder / "reports.csv"],
        "ct-spatialvqa": ["import", "ct-spatialvqa", folder / "qa.json"],
    }


@pytest.mark.parametrize("source", ["items", "reports", "ct-spatialvqa"])
def test_names_of_an_imported_file_stay_out(situs, plain_content, tmp_path, source) -> None:
    words = importable(tmp_path)[source]
    ran = situs(*words, "--licence", "CC-BY-4.0", "--out", tmp_path / "bench")
    assert ran.code == 0, ran.err
    assert telling(written(tmp_path / "bench"), plain_content) == []
    kept = situs(*words, "--ids", "table", "--out", tmp_path / "named")
    assert kept.code == 0
    studies = [study.study_id for study in open_bench(tmp_path / "named").studies()]
    assert studies == sorted(f"{NAME}_{n}" for n in range(len(studies)))
    hashed = {item.item_id for item in open_bench(tmp_path / "bench").items()}
    assert (
        hashed == {item.item_id for item in open_bench(tmp_path / "named").items()}
        or source == "reports"
    )


def test_answers_of_another_tool_find_items_by_names_that_were_hashed(situs, tmp_path) -> None:
    situs(*importable(tmp_path)["items"], "--out", tmp_path / "bench")
    by_id = [{"id": f"{NAME}-{n}", "response": "yes"} for n in range(3)]
    by_volume = [
        {"volume": f"{NAME}_{n}", "question": f"Is {n} odd?", "response": "no"} for n in range(3)
    ]
    for name, rows in (("id", by_id), ("volume", by_volume)):
        (tmp_path / "answers.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        model = f"replay:{tmp_path / 'answers.jsonl'}"
        ran = situs("run", tmp_path / "bench", "--model", model, "--out", tmp_path / name, "--json")
        assert ran.code == 0, ran.err
        assert ran.json["states"] == {"answered": 3}


def test_what_tells_places_is_private_to_the_user(situs, cared_for, tmp_path) -> None:
    bench = cared_for / NAME / "bench"
    assert (bench / "locations.json").stat().st_mode & 0o077 == 0
    run = cared_for / "oracle"
    assert run.stat().st_mode & 0o077 == 0
    assert (run / "locations.json").stat().st_mode & 0o077 == 0


def test_an_unknown_mask_name_never_reaches_the_slice_cache(
    situs, named_studies, plain_content, tmp_path, monkeypatch
) -> None:
    for masks in named_studies.glob("*/segmentations"):
        shutil.copy(masks / "liver.nii.gz", masks / f"{NAME}_tumour.nii.gz")
    assert ids(situs, named_studies, tmp_path / "bench")
    monkeypatch.setenv("SITUS_CACHE", str(tmp_path / "cache"))
    (tmp_path / "agreeable.py").write_text(
        "class Model:\n    remote = False\n\n    def answer(self, request):\n        return 'yes'\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    ran = situs(
        "run", tmp_path / "bench", "--model", "plugin:agreeable:Model", "--out", tmp_path / "run"
    )
    assert ran.code == 0, ran.err
    cached = [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]
    assert any(b"liver" in path.read_bytes() for path in cached), (
        "how structures look is kept by name"
    )
    assert telling(cached, plain_content) == []
