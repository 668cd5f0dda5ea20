"""BERTScore (Zhang et al. 2020) as the released `bert_score` package has it for English:
RoBERTa-large, its 17th layer, every word of equal weight, F1 rescaled. The weights are the user's;
torch and transformers load when asked for."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from situs.base.files import read_json
from situs.errors import SitusError

__all__ = ["BertScore", "find_roberta"]

_LAYERS, _LAYER = 24, 17
_BASELINE = 0.83122575
"""F1 of unrelated sentences at that layer:
`rescale_baseline/en/roberta-large.tsv` of bert_score 0.3.13."""
_LONGEST = 512
_FILES = ("config.json", "model.safetensors")
_HINT = (
    "download FacebookAI/roberta-large and set SITUS_ROBERTA to its folder; pip install 'situs[hf]'"
)


def find_roberta() -> Path:
    """The folder with the weights: SITUS_ROBERTA, or the cache of transformers."""
    for folder in _places():
        if all((folder / name).is_file() for name in _FILES):
            break
    else:
        from_environment = os.environ.get("SITUS_ROBERTA")
        problem = (
            f"SITUS_ROBERTA={from_environment} lacks {' or '.join(_FILES)}"
            if from_environment
            else "RoBERTa-large is not here"
        )
        raise SitusError(problem, fix=_HINT)
    if (
        importlib.util.find_spec("torch") is None
        or importlib.util.find_spec("transformers") is None
    ):
        raise SitusError("torch or transformers is not installed", fix="pip install 'situs[hf]'")
    return folder


def _places() -> Iterator[Path]:
    if os.environ.get("SITUS_ROBERTA"):
        yield Path(os.environ["SITUS_ROBERTA"])
        return
    home = Path(os.environ.get("HF_HOME") or Path.home() / ".cache" / "huggingface")
    hub = Path(os.environ.get("HF_HUB_CACHE") or home / "hub")
    for name in ("models--FacebookAI--roberta-large", "models--roberta-large"):
        yield from sorted((hub / name / "snapshots").glob("*"))


class BertScore:
    """Rescaled F1 of replies against references, one pair at a time."""

    def __init__(self, folder: Path) -> None:
        config = read_json(folder / "config.json", dict[str, Any])
        if config.get("model_type") != "roberta" or config.get("num_hidden_layers") != _LAYERS:
            description = f"{config.get('model_type')} of {config.get('num_hidden_layers')} layers"
            raise SitusError(f"is {description}, not RoBERTa-large", where=folder, fix=_HINT)
        import torch
        from transformers import AutoModel, AutoTokenizer

        self._device = "cuda" if torch.cuda.is_available() else "cpu"
        try:
            # Words are read as inside a sentence, the first one too, as bert_score does.
            self._tokens = AutoTokenizer.from_pretrained(
                folder, local_files_only=True, add_prefix_space=True
            )
            model = AutoModel.from_pretrained(
                folder, local_files_only=True, num_hidden_layers=_LAYER
            )
        except (OSError, ValueError) as error:
            raise SitusError(f"cannot be read ({error})", where=folder, fix=_HINT) from error
        self._model = model.to(self._device, torch.float32).eval()
        self._embedded = lru_cache(maxsize=256)(self._embed)

    def f1(self, said: Sequence[str], true: Sequence[str]) -> list[float]:
        """One value a pair; below 0 where they are less alike than unrelated sentences."""
        return [self._pair(*pair) for pair in zip(said, true)]

    def _pair(self, said: str, true: str) -> float:
        (theirs, weights), (ours, own) = self._embedded(true.strip()), self._embedded(said.strip())
        alike = ours @ theirs.T
        f1 = 0.0
        if own.any() and weights.any():
            precision, recall = (
                float(np.average(a, weights=w))
                for a, w in ((alike.max(1), own), (alike.max(0), weights))
            )
            f1 = 2 * precision * recall / (precision + recall)
        return (f1 - _BASELINE) / (1 - _BASELINE)

    def _embed(self, text: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """A unit vector for each token, and its weight: none for the marks of begin and end."""
        import torch

        ids = self._tokens(text, truncation=True, max_length=_LONGEST)["input_ids"]
        with torch.inference_mode():
            hidden = self._model(torch.tensor([ids], device=self._device)).last_hidden_state[0]
        vectors = hidden.cpu().numpy().astype(np.float64)
        marks = {self._tokens.cls_token_id, self._tokens.sep_token_id}
        weights = np.array([float(token not in marks) for token in ids])
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True), weights
