"""A small cohort with a name planted wherever a name could hide, and runs on it;
built once a session."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import nibabel
import numpy as np
import pytest
from numpy.typing import NDArray

from situs.bench import encode_info, open_bench
from situs.build import BuildOptions, build_masks
from situs.facts import load_recipe
from situs.profiles import load_profile
from situs.run import parse_spec, run_baseline
from situs.volumes.phantoms import make_patient, write_patient

PLANTED = "quackenbush"
"""A surname in folder names, a header's text and a client's path."""

EVIL = '</script><script>alert("xss")</script><img src=x onerror=alert(1)> & "quoted"'


@dataclass(frozen=True)
class Cohort:
    """A bench and its runs."""

    bench: Path
    oracle: Path
    random: Path
    model: Path
    """Right on the first item, silent on the third, evil on the others."""


def payload_of(html: str) -> Any:
    """The JSON that the page's script reads."""
    found = re.search(r'<script type="application/json" id="payload">(.*?)</script>', html, re.S)
    assert found is not None
    return json.loads(found.group(1))


@pytest.fixture(scope="session", autouse=True)
def _encoded_once() -> Iterator[None]:
    """Reports of one cohort show the same slices: equal pixels are made a JPEG once."""
    from situs.report.pictures import embedded

    encode, known = embedded._encode, {}

    def remembered(grey: NDArray[np.uint8]) -> str:
        key = grey.shape, grey.tobytes()
        if key not in known:
            known[key] = encode(grey)
        return known[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(embedded, "_encode", remembered)
        yield


@pytest.fixture(scope="session")
def read_payload() -> Callable[[str], Any]:
    """`payload_of` as a fixture."""
    return payload_of


@pytest.fixture(scope="session")
def planted() -> str:
    """The name that must never turn up."""
    return PLANTED


@pytest.fixture(scope="session")
def evil() -> str:
    """A response that tries to break out of the page."""
    return EVIL


@pytest.fixture(scope="session")
def cohort(once: Callable[..., Path]) -> Cohort:
    """Four coarse phantom patients and three runs."""
    root = once(PLANTED, _make_cohort)
    return Cohort(root / "bench", root / "oracle", root / "random", root / "model")


def _make_cohort(root: Path) -> None:
    for index in range(4):
        folder = root / "data" / f"{PLANTED}_{index}"
        write_patient(make_patient(5, index, spacing_mm=(5.0, 5.0, 5.0), noise=False), folder)
        (folder / "truth.json").unlink()
        image_path = next(folder.glob("*.nii.gz"))
        image = nibabel.load(image_path)
        image.header["descrip"] = PLANTED.encode()
        nibabel.save(
            nibabel.Nifti1Image(image.dataobj[...], image.affine, image.header), image_path
        )
    bench = root / "bench"
    # So few patients have twins only if all of them are in one split and a text may be asked of one
    # of them.
    recipe = load_recipe()
    twins = msgspec.structs.replace(recipe.twins, fewest=1)
    recipe = msgspec.structs.replace(recipe, splits={"test": 1.0}, twins=twins)
    options = BuildOptions("cohort", recipe, restricted=False, licence="synthetic")
    build_masks([root / "data"], bench, options, names=None, annotation="exact")
    opened, profile = open_bench(bench), load_profile("default")
    for name in ("oracle", "random"):
        run_baseline(opened, parse_spec(name), profile, root / name)
    _make_model_run(root)


def _make_model_run(root: Path) -> None:
    run = root / "model"
    shutil.copytree(root / "oracle", run)
    info = json.loads((run / "run.json").read_text())
    info["client"] = f"hf:/home/{PLANTED}/model?key={PLANTED}&temperature=0.5"
    (run / "run.json").write_text(json.dumps(info))
    rows = [json.loads(line) for line in (run / "answers.jsonl").read_text().splitlines()]
    for row in rows[1:]:
        row["response"] = EVIL
    rows[-1] |= {"state": "failed", "response": "", "error": f"/home/{PLANTED}: connection lost"}
    kept = rows[:2] + rows[3:]
    (run / "answers.jsonl").write_text("".join(json.dumps(row) + "\n" for row in kept))


@pytest.fixture(scope="session")
def restricted(cohort: Cohort, tmp_path_factory: pytest.TempPathFactory) -> Cohort:
    """The same bench, restricted."""
    root = tmp_path_factory.mktemp("restricted")
    for path in (cohort.bench, cohort.oracle, cohort.random, cohort.model):
        shutil.copytree(path, root / path.name)
    bench = open_bench(root / "bench")
    (root / "bench" / "bench.json").write_bytes(
        encode_info(msgspec.structs.replace(bench.info, restricted=True))
    )
    return Cohort(root / "bench", root / "oracle", root / "random", root / "model")


@pytest.fixture(scope="session")
def html(cohort: Cohort, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A report of all three runs with six pictured items."""
    from situs.report import ReportOptions, write_report

    out = tmp_path_factory.mktemp("report") / "report.html"
    write_report([cohort.model, cohort.oracle, cohort.random], out, ReportOptions(pictures=6))
    return out.read_text("utf-8")
