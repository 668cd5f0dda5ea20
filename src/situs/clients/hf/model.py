"""A transformers image-text model from a folder on disk,
on the device and in the precision asked for."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec

from situs.base.files import digest, read_json
from situs.base.text import printable
from situs.clients.hf.processor import load_processor
from situs.clients.spec import Spec
from situs.errors import SitusError, did_you_mean

__all__ = [
    "HfOptions",
    "LoadedModel",
    "fingerprint",
    "image_token_id",
    "load_model",
    "read_options",
]

_KEYS = {
    "dtype",
    "device",
    "batch",
    "max_tokens",
    "temperature",
    "top_p",
    "seed",
    "trust_remote_code",
}
_DTYPES = ("float32", "bfloat16", "float16")
_WHOLE_BYTES = 64 << 20
_SAMPLES = 64
_SAMPLE_BYTES = 65536


class HfOptions(msgspec.Struct, frozen=True):
    """What the spec asks for; empty or 0 means: choose."""

    folder: Path
    model_type: str
    dtype: str
    device: str
    batch: int
    trust_remote_code: bool


class _Config(msgspec.Struct):
    """The part of `config.json` that is read before torch is loaded."""

    model_type: str = ""


class LoadedModel(msgspec.Struct, frozen=True):
    """A model ready to answer."""

    model: Any
    processor: Any
    device: str
    dtype: str
    image_token_id: int
    """What stands in a prompt for each piece of a picture."""
    context: int
    """Tokens a prompt and its answer may have together."""


def read_options(spec: Spec) -> HfOptions:
    """Check a spec, its folder and the installation without loading torch."""
    if not spec.name:
        raise SitusError("names no folder", where=str(spec), fix="write hf:path/to/model")
    for key in spec.settings:
        if key not in _KEYS:
            raise SitusError(
                f"unknown setting {key!r}", where=str(spec), fix=did_you_mean(key, _KEYS)
            )
    folder = Path(spec.name).expanduser()
    if not (folder / "config.json").is_file():
        fix = "download the model first; hf: reads a local folder and fetches nothing"
        raise SitusError("is not a model folder: config.json is missing", where=folder, fix=fix)
    for package in ("torch", "transformers"):
        if importlib.util.find_spec(package) is None:
            fix = (
                "pip install 'situs[hf]' (without a GPU, install torch's CPU build first: see"
                " pytorch.org)"
            )
            raise SitusError(
                f"hf: needs {package}, which is not installed", where=str(spec), fix=fix
            )
    dtype = spec.settings.get("dtype", "")
    if dtype and dtype not in _DTYPES:
        raise SitusError(
            f"unknown dtype {dtype!r}", where=str(spec), fix=did_you_mean(dtype, _DTYPES)
        )
    trust = spec.settings.get("trust_remote_code", "0")
    if trust not in ("0", "1"):
        raise SitusError(
            "trust_remote_code is 0 or 1",
            where=str(spec),
            fix="leave it out unless you read the code",
        )
    batch = spec.whole("batch", 0)
    if batch > 1024:
        raise SitusError("batch is above 1024", where=str(spec), fix="e.g. batch=8")
    model_type = read_json(folder / "config.json", _Config).model_type
    return HfOptions(
        folder, model_type, dtype, spec.settings.get("device", ""), batch, trust == "1"
    )


def fingerprint(folder: Path) -> str:
    """A short hash of configuration and weights, so that two models never share a name.

    Of a large file samples are read, spread over it: training changes all of its weights.
    """
    parts: list[bytes | str] = []
    for path in sorted(p for p in folder.iterdir() if p.is_file()):
        if path.suffix not in (".json", ".jinja", ".txt", ".model", ".safetensors", ".bin", ".py"):
            continue
        size = path.stat().st_size
        parts += [path.name, str(size)]
        with path.open("rb") as stream:
            if size <= _WHOLE_BYTES:
                parts.append(stream.read())
                continue
            for sample in range(_SAMPLES):
                stream.seek(sample * (size - _SAMPLE_BYTES) // (_SAMPLES - 1))
                parts.append(stream.read(_SAMPLE_BYTES))
    return digest(*parts, size=4)


def load_model(options: HfOptions) -> LoadedModel:
    """Load processor and weights; whatever the folder lacks is said in one line."""
    import torch
    from transformers import AutoModelForImageTextToText
    from transformers.utils import logging

    logging.disable_progress_bar()
    if options.trust_remote_code:
        folder = printable(str(options.folder))
        print(f"situs: WARNING: running the Python code that lies in {folder}", file=sys.stderr)
    processor = load_processor(
        options.folder, options.model_type, trust_remote_code=options.trust_remote_code
    )
    if not getattr(processor, "chat_template", None):
        fix = "add the model's chat_template.jinja; hf: asks chat models only"
        raise SitusError("has no chat template", where=options.folder, fix=fix)
    device = _device(options, torch)
    dtype = options.dtype or _default_dtype(device, torch)
    if device == "cpu" and dtype != "float32":
        _check_cpu(dtype)
    spread = {"device_map": "auto"} if device == "auto" else {}
    try:
        model = AutoModelForImageTextToText.from_pretrained(
            options.folder,
            dtype=getattr(torch, dtype),
            local_files_only=True,
            trust_remote_code=options.trust_remote_code,
            **spread,
        )
        model = model.eval() if spread else model.to(device).eval()
    except Exception as error:  # transformers raises many kinds for one cause: the folder
        text = " ".join(str(error).split())[:300]
        fix = (
            "is it a whole image-text model that this version of transformers knows, and does"
            " it fit the device?"
        )
        raise SitusError(f"cannot be loaded ({text})", where=options.folder, fix=fix) from error
    return LoadedModel(
        model=model,
        processor=processor,
        device=str(model.device),
        dtype=dtype,
        image_token_id=image_token_id(model.config, processor, options.folder),
        context=_context(model.config),
    )


def _device(options: HfOptions, torch: Any) -> str:
    device = options.device or ("cuda" if torch.cuda.is_available() else "cpu")
    kind, _, number = device.partition(":")
    known = {
        "cpu": True,
        "cuda": torch.cuda.is_available(),
        "mps": torch.backends.mps.is_available(),
        "auto": True,
    }
    if kind not in known or (number and not number.isdecimal()):
        fix = "device=cpu, cuda, cuda:N, mps, or auto to spread a large model"
        raise SitusError(f"unknown device {device!r}", where="--model", fix=fix)
    if not known[kind] or (kind == "cuda" and number and int(number) >= torch.cuda.device_count()):
        raise SitusError(
            f"there is no {device} here", where="--model", fix="leave device out, or device=cpu"
        )
    if kind == "auto" and importlib.util.find_spec("accelerate") is None:
        raise SitusError(
            "device=auto needs accelerate", where="--model", fix="pip install accelerate"
        )
    return device


def _default_dtype(device: str, torch: Any) -> str:
    """bfloat16 on a GPU that has it, float32 on a CPU."""
    if device == "mps" or (device != "cpu" and torch.cuda.is_available()):
        return "bfloat16" if device == "mps" or torch.cuda.is_bf16_supported() else "float16"
    return "float32"


def _check_cpu(dtype: str) -> None:
    """Multiply in another process first:
    where the machine forbids the instructions, torch takes the process down."""
    code = (
        f"import torch; a = torch.ones(64, 64, dtype=torch.{dtype}); assert float((a @ a)[0, 0])"
        " == 64"
    )
    command = [sys.executable, "-P", "-c", code]  # -P: no code from the current folder
    if subprocess.run(command, capture_output=True, check=False).returncode != 0:
        raise SitusError(
            f"this CPU cannot compute in {dtype}", where="--model", fix="leave dtype out: float32"
        )


def image_token_id(config: Any, processor: Any, folder: Path) -> int:
    """The token that stands in a prompt for each piece of a picture."""
    for holder in (config, processor):
        for name in ("image_token_id", "image_token_index"):
            value = getattr(holder, name, None)
            if isinstance(value, int):
                return value
    fix = "serve it and use openai:, or wrap it as plugin:"
    raise SitusError("does not say which token stands for an image", where=folder, fix=fix)


def _context(config: Any) -> int:
    text = config.get_text_config()
    value = getattr(text, "max_position_embeddings", None)
    return int(value) if isinstance(value, int) and value > 0 else sys.maxsize
