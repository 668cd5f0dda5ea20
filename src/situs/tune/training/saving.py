"""What a run leaves: weights or adapter,
and beside them the processor with the limits of the run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from situs.base.files import write_atomic
from situs.tune.training.config import Config
from situs.tune.training.folder import copy_processor

__all__ = ["save_model"]


def save_model(trainer: Any, config: Config, out: Path, *, writes: bool) -> tuple[str, ...]:
    """The tuned weights (or adapter) and the processor beside them.

    Every process gathers its shards; one of them `writes` the small files.
    """
    folder = out / "model"
    plugin = getattr(trainer.accelerator.state, "fsdp_plugin", None)
    if plugin is not None:
        # With sharded state the trainer's save_model writes nothing at all, without a word.
        plugin.set_state_dict_type("FULL_STATE_DICT")
    trainer.save_model(str(folder))
    if not writes:
        return ()
    copy_processor(Path(config.model), folder)
    _write_pixel_limits(folder, config)
    if config.tuning == "full":
        return ()
    # A plain save may leave base weights beside the adapter, which a loader would take for the
    # model.
    for stray in folder.glob("model*.safetensors"):
        stray.unlink()
    note = "vision is adapted too: merge before serving, since servers load language adapters only"
    return (note,) if config.lora.modules != "language" else ()


def _write_pixel_limits(folder: Path, config: Config) -> None:
    """The limits a model was trained with are those it must be asked with."""
    file = folder / "preprocessor_config.json"
    if not file.is_file() or not (config.min_pixels or config.max_pixels):
        return
    settings = json.loads(file.read_text("utf-8"))
    for name, edge in (("min_pixels", "shortest_edge"), ("max_pixels", "longest_edge")):
        if value := getattr(config, name):
            settings[name] = value
            if isinstance(settings.get("size"), dict):
                settings["size"][edge] = value
    write_atomic(file, json.dumps(settings, indent=2) + "\n")
