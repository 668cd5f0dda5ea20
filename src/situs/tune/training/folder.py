"""The folder of a training run: what it was started with, its log, its checkpoints, its model."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import msgspec

from situs.base.files import canonical_json, check_own_folder, read_json, write_files
from situs.errors import SitusError
from situs.tune.training.config import Config
from situs.tune.training.plan import Plan

__all__ = ["TrainingRun", "copy_processor", "last_checkpoint", "open_training", "start_training"]

_WEIGHTS = re.compile(
    r".*\.(safetensors|bin|pt|pth|gguf)|.*\.index\.json|config\.json|generation_config\.json"
    r"|adapter_config\.json|training_args\.bin|README\.md|model_card\.md"
)
"""Files of a model folder that are not the processor's."""


class TrainingRun(msgspec.Struct, frozen=True):
    """`training.json`."""

    config: Config
    model_hash: str
    data_hashes: tuple[str, ...]
    plan_hash: str
    profile_hashes: tuple[str, ...]
    box_form: str
    target: str
    bench_hashes: tuple[str, ...]
    frozen: dict[str, int]
    """Part of the model → parameters that are not trained."""
    trained: dict[str, int]
    steps: int
    versions: dict[str, str]
    notes: tuple[str, ...] = ()


def start_training(out: Path, run: TrainingRun, plan: Plan, *, resume: bool) -> None:
    """Make the folder, or check that it is the same run.

    It keeps the profile its model must be asked with.
    """
    path = out / "training.json"
    if path.is_file():
        before = read_json(path, TrainingRun)
        _refuse_another(before, run, out)
        if not resume:
            raise SitusError(
                "holds a run that was begun before",
                where=out,
                fix="add --resume, or choose another --out",
            )
        return
    if resume:
        raise SitusError("holds no run to resume", where=out, fix="leave --resume out")
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise SitusError("exists and is not empty", where=out, fix="choose another --out")
    last = plan.data[plan.order[0][len(plan) - 1]]
    contents = {
        "profile.toml": (last.folder / "profile.toml").read_bytes(),
        path.name: msgspec.json.format(canonical_json(run), indent=2) + b"\n",
    }
    write_files(out, contents)


def open_training(out: Path) -> TrainingRun:
    """A run that was begun."""
    if not (out / "training.json").is_file():
        raise SitusError(
            "is not a training run: training.json is missing",
            where=out,
            fix="give the --out folder of situs tune run",
        )
    return read_json(out / "training.json", TrainingRun)


def _refuse_another(before: TrainingRun, now: TrainingRun, out: Path) -> None:
    for what, old, new in (
        ("profile", before.profile_hashes, now.profile_hashes),
        ("box form", before.box_form, now.box_form),
        ("data", before.data_hashes, now.data_hashes),
        ("base model", before.model_hash, now.model_hash),
        ("config", before.config, now.config),
        ("order of examples", before.plan_hash, now.plan_hash),
    ):
        if old != new:
            raise SitusError(
                f"was begun with another {what}",
                where=out,
                fix="choose another --out, or what it was begun with",
            )


def model_data(plan: Plan) -> dict[str, tuple[str, ...] | str]:
    """What of the data a run remembers."""
    manifests = [one.manifest for one in plan.data]
    last = manifests[plan.order[0][len(plan) - 1]]
    return {
        "data_hashes": tuple(one.hash for one in manifests),
        "profile_hashes": tuple(one.profile_hash for one in manifests),
        "bench_hashes": tuple(one.bench_hash for one in manifests),
        "box_form": last.box_form,
        "target": last.target,
        "plan_hash": plan.hash,
    }


def last_checkpoint(out: Path) -> Path | None:
    """The newest checkpoint that is complete; one that a kill left half-written is passed over.

    Refused where anything in the folder leads out of it: what continues there adds to its log,
    removes old checkpoints and writes the model.
    """
    check_own_folder(out, fix="put the file or folder itself there")
    folder = out / "checkpoints"
    checkpoints = sorted(
        (int(match[1]), entry)
        for entry in (folder.iterdir() if folder.is_dir() else ())
        if (match := re.fullmatch(r"checkpoint-(\d+)", entry.name))
    )
    for _, entry in reversed(checkpoints):
        if (entry / "trainer_state.json").is_file() and _is_whole(entry):
            return entry
    return None


def _is_whole(checkpoint: Path) -> bool:
    """The trainer writes its state last; a weights file cut short has no readable header."""
    from safetensors import safe_open

    weights = sorted(checkpoint.glob("*.safetensors"))
    for file in weights:
        try:
            with safe_open(file, framework="pt") as opened:
                opened.keys()
        except Exception:  # the reader has an error type of its own
            return False
    # DeepSpeed and FSDP write folders of shards, the latter with an index that is written last.
    shards = ("*.bin", "global_step*", "pytorch_model_fsdp*/.metadata")
    return bool(weights) or any(any(checkpoint.glob(name)) for name in shards)


def copy_processor(model: Path, out: Path) -> None:
    """Tokenizer, chat template and picture settings as the base model has them, file by file."""
    out.mkdir(parents=True, exist_ok=True)
    for entry in sorted(model.iterdir()):
        if entry.is_file() and not _WEIGHTS.fullmatch(entry.name):
            shutil.copyfile(entry, out / entry.name)
