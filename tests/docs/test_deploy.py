"""What the pages on clusters show, and the files in `deploy`, hold together."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml

_ROOT = Path(__file__).parents[2]
_PAGE = (_ROOT / "docs" / "clusters.md").read_text("utf-8")


def ray_job() -> dict[str, Any]:
    """The RayJob that the page shows."""
    (shown,) = re.findall(r"```yaml\n(.*?)```", _PAGE, re.DOTALL)
    job: dict[str, Any] = yaml.safe_load(shown)
    return job


def test_the_image_has_the_ray_that_is_pinned() -> None:
    (pinned,) = re.findall(r"^ray==(.+)$", (_ROOT / "constraints.txt").read_text(), re.MULTILINE)
    image = (_ROOT / "deploy" / "ray" / "Dockerfile").read_text()
    assert f"FROM rayproject/ray:{pinned}-py312\n" in image
    assert ray_job()["spec"]["rayClusterSpec"]["rayVersion"] == pinned
    for copied in re.findall(r"^COPY --chown=ray (.*) /tmp", image, re.MULTILINE):
        for name in copied.split():
            assert (_ROOT / name).exists()
            assert f"!{name}" in (_ROOT / ".dockerignore").read_text().splitlines()


def test_the_job_ends_what_it_started_and_asks_for_a_token() -> None:
    spec = ray_job()["spec"]
    assert spec["shutdownAfterJobFinishes"] is True
    cluster = spec["rayClusterSpec"]
    assert cluster["authOptions"] == {"mode": "token"}
    groups = [cluster["headGroupSpec"], *cluster["workerGroupSpecs"]]
    for group in groups:
        pod = group["template"]["spec"]
        (container,) = pod["containers"]
        assert [mount["name"] for mount in container["volumeMounts"]] == ["data"]
        assert [volume["name"] for volume in pod["volumes"]] == ["data"]
        # Ray counts the limits of a pod as what its node has.
        assert container["resources"]["limits"]["memory"]
    for group in cluster["workerGroupSpecs"]:
        assert group["minReplicas"] <= group["replicas"] <= group["maxReplicas"]


def test_the_slurm_example_is_valid_shell_and_asks_for_a_token() -> None:
    import subprocess

    (script,) = [
        block
        for block in re.findall(r"```bash\n(.*?)```", _PAGE, re.DOTALL)
        if "ray start" in block
    ]
    subprocess.run(["bash", "-n"], input=script, text=True, check=True)
    assert script.index("RAY_AUTH_MODE=token") < script.index("ray start")
