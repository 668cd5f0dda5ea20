"""A newcomer's task: one file outside the package, through every command."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

TASK = {"situs.tasks": {"angle": "situs_angle"}}
BLIND_MODEL = '''
class Yes:
    """Says yes, whatever it is shown."""

    remote = False

    def answer(self, request):
        return "Yes."
'''


@pytest.fixture(scope="module")
def angles(outside, image_phantoms, small, tmp_path_factory):
    """The package with the task, the patients,
    and the bench that it asked about them in two processes."""
    package = outside("angles")
    package.install_example("situs_angle", TASK, "Adding a task")
    folder = tmp_path_factory.mktemp("angles")
    image_phantoms(folder / "data", seed=2, count=12)
    words = ("--annotation", "exact", "--ids", "stem", "--tasks", "angle", "--jobs", 2)
    # Few patients have twins only if all of them are in one split.
    words += ("--recipe", small / "recipe.toml")
    built = package.json("build", "masks", folder / "data", *words, "--out", folder / "bench")
    return package, folder / "bench", built


def test_it_is_listed_and_asked_in_the_headline(angles):
    package, bench, built = angles
    assert "the long axes of two organs" in package.situs("list", "tasks")
    assert built["by_task"] == {"angle": built["items"]}
    items = [item for item in _rows(package, bench) if item["stratum"] == "headline"]
    forms = {item["form"] for item in items}
    assert forms == {"number", "yes_no"}


def test_angles_are_those_of_the_shapes(angles):
    """Against the angle of the axes that SimpleITK finds in the same masks."""
    sitk = pytest.importorskip("SimpleITK")
    package, bench, _ = angles
    rows = [item for item in _rows(package, bench) if item["form"] == "number"][:6]
    assert rows
    for row in rows:
        axes = [_long_axis(sitk, bench, row["study_id"], row[key]) for key in ("a", "b")]
        cosine = abs(sum(x * y for x, y in zip(*axes)))
        assert row["value"] == pytest.approx(math.degrees(math.acos(min(1.0, cosine))), abs=0.5)


def test_every_command_knows_it(angles, tmp_path):
    package, bench, built = angles
    checked = package.json("check", bench)
    assert (checked["recomputed"], checked["problems"]) == (built["items"], [])
    for model in ("oracle", "prior"):
        package.situs("run", bench, "--model", model, "--out", tmp_path / model)
    scored = package.json("score", bench, tmp_path / "oracle")
    values = {entry["metric"]: entry["value"] for entry in scored["overall"]}
    assert values["accuracy"] == 1.0
    assert values["within-interval@1"] == 1.0
    package.situs(
        *("report", tmp_path / "oracle", tmp_path / "prior", "--pictures", 1),
        *("--out", tmp_path / "report.html"),
    )
    assert "long axes" in (tmp_path / "report.html").read_text("utf-8")


def test_what_other_patients_expect_is_the_tasks_own(angles, tmp_path):
    """The vena cava and the pancreas cross at a wide angle in everyone:
    the prior knows, a guess does not."""
    package, bench, _ = angles
    package.situs("run", bench, "--model", "prior", "--out", tmp_path / "prior")
    scored = package.json("score", bench, tmp_path / "prior")
    assert _balanced(scored["overall"]) > 0.75
    assert _balanced(scored["baselines"]["random"]) < 0.75


def test_probes_change_the_patient_under_it(angles, tmp_path):
    """A mirror image has the same angles,
    so that whoever says the same is right as often as before."""
    package, bench, _ = angles
    package.install("yes_model", {"situs.clients": {"yes": "yes_model:Yes"}}, BLIND_MODEL)
    shown = package.json(
        "probe",
        bench,
        "--model",
        "plugin:yes",
        "--probes",
        "mirror",
        "--limit",
        6,
        "--out",
        tmp_path / "probes",
    )
    mirrored = shown["probes"]["mirror"]
    assert mirrored["n"] > 0
    assert mirrored["original"] == mirrored["changed"] == mirrored["both_right"]


def test_without_the_package_nothing_is_left_out_in_silence(angles, outside, tmp_path):
    package, bench, _ = angles
    package.situs("run", bench, "--model", "random", "--out", tmp_path / "random")
    without = outside("nothing")
    assert "install the package" in without.refused("score", bench, tmp_path / "random")
    assert "unknown task 'angle'" in without.refused(
        "build", "phantoms", "--studies", 1, "--tasks", "angle", "--out", tmp_path / "none"
    )


def test_a_task_of_a_module_is_known_to_worker_processes(outside, small, tmp_path):
    """Without an entry point: whoever imports the module has registered it."""
    package = outside("module")
    package.install_example("situs_angle", {}, "Adding a task")
    program = tmp_path / "program.py"
    program.write_text(
        "import sys, situs, situs_angle\n"
        "if __name__ == '__main__':\n"
        "    built = situs.build.masks(\n"
        "        sys.argv[1], out=sys.argv[2], annotation='exact', tasks='angle', jobs=2\n"
        "    )\n"
        "    assert built.info.by_task == {'angle': built.info.counts['items']}\n"
    )
    data = tmp_path / "data"
    data.mkdir()
    for patient in sorted((small / "data").iterdir())[:2]:
        (data / patient.name).symlink_to(patient)
    ran = package.python(program, data, tmp_path / "bench")
    assert ran.returncode == 0, ran.stderr


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("import nowhere", "cannot be imported (ModuleNotFoundError"),
        ("value = 3", "registers no task of that name"),
        (
            "import situs\n@situs.task('half', mix='comparison')\nclass Half: ...",
            "does not declare quotas",
        ),
    ],
)
def test_a_package_at_fault_is_named_in_one_line(outside, code, said):
    package = outside(f"fault{len(code)}")
    package.install("half", {"situs.tasks": {"half": "half"}}, code)
    assert said in package.refused("list", "tasks")
    package.situs("list", "profiles")  # nothing else suffers


def _balanced(entries: list[dict]) -> float:
    return next(entry["value"] for entry in entries if entry["metric"] == "accuracy.balanced")


def _rows(package, bench: Path) -> list[dict]:
    """The items, read by a program that has the package."""
    program = (
        "import json, sys, situs\nkeys = ('study_id', 'form', 'stratum')\nrows = [{key:"
        " getattr(item, key) for key in keys} | item.parameters | {'value': item.answer.value} for"
        " item in situs.open_bench(sys.argv[1]).items()]\nprint(json.dumps(rows))"
    )
    ran = package.python("-c", program, bench)
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


def _long_axis(sitk, bench: Path, study_id: str, name: str) -> list[float]:
    patient = bench.parent / "data" / study_id
    mask = sitk.ReadImage(str(patient / "segmentations" / f"{name}.nii.gz"))
    shapes = sitk.LabelShapeStatisticsImageFilter()
    shapes.Execute(sitk.Cast(mask > 0, sitk.sitkUInt8))
    return list(shapes.GetPrincipalAxes(1)[6:9])  # of three rows the last is the longest axis
