"""BERTScore with a tiny RoBERTa of as many layers as the large one,
against the formula on its hidden states."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from situs.errors import SitusError
from situs.score.text.bertscore import BertScore, find_roberta

pytestmark = pytest.mark.models

SAID = ["A tear of the medial meniscus.", "tear", "No finding", ""]
TRUE = ["There is a tear of the meniscus", "tear", "A cyst near the joint", "A cyst"]
BASELINE = 0.83122575  # bert_score, rescale_baseline/en/roberta-large.tsv, layer 17


@pytest.fixture(scope="module")
def roberta(tmp_path_factory: pytest.TempPathFactory) -> Path:
    import torch
    from tokenizers import ByteLevelBPETokenizer
    from transformers import RobertaConfig, RobertaModel, RobertaTokenizerFast

    folder = tmp_path_factory.mktemp("roberta")
    pieces = ByteLevelBPETokenizer()
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    pieces.train_from_iterator([*SAID, *TRUE], vocab_size=320, special_tokens=special)
    pieces.save_model(str(folder))
    RobertaTokenizerFast(str(folder / "vocab.json"), str(folder / "merges.txt")).save_pretrained(
        folder
    )
    torch.manual_seed(0)
    size = {
        "hidden_size": 16,
        "num_attention_heads": 2,
        "intermediate_size": 32,
        "num_hidden_layers": 24,
    }
    config = RobertaConfig(vocab_size=400, max_position_embeddings=514, pad_token_id=1, **size)
    RobertaModel(config).save_pretrained(folder)
    return folder


def test_equals_the_formula_on_the_seventeenth_layer(
    roberta: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch
    from transformers import AutoModel, AutoTokenizer

    monkeypatch.setenv("SITUS_ROBERTA", str(roberta))
    found = BertScore(find_roberta()).f1(SAID, TRUE)
    model, tokens = (
        AutoModel.from_pretrained(roberta).eval(),
        AutoTokenizer.from_pretrained(roberta),
    )

    def embedded(text: str) -> np.ndarray:
        with torch.inference_mode():
            held = model(
                **tokens(f" {text}", return_tensors="pt"), output_hidden_states=True
            ).hidden_states[17][0]
        return np.asarray(torch.nn.functional.normalize(held, dim=-1))

    for value, said, true in zip(found, SAID, TRUE):
        alike = embedded(said) @ embedded(true).T
        # The marks of begin and end may be matched, but do not count themselves.
        precision, recall = alike.max(1)[1:-1], alike.max(0)[1:-1]
        f1 = 2 / (1 / precision.mean() + 1 / recall.mean()) if said else 0.0
        assert value == pytest.approx((f1 - BASELINE) / (1 - BASELINE), abs=1e-4)
    assert found[1] == pytest.approx(1.0, abs=1e-5)


def test_another_model_is_refused(roberta: Path, tmp_path: Path) -> None:
    text = (
        (roberta / "config.json")
        .read_text("utf-8")
        .replace('"num_hidden_layers": 24', '"num_hidden_layers": 12')
    )
    (tmp_path / "config.json").write_text(text, "utf-8")
    with pytest.raises(SitusError, match="roberta of 12 layers"):
        BertScore(tmp_path)
