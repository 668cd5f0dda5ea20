"""Text metrics against their referees, row by row; and the rule labeller of categories against the
released labels.

`python benchmarks/text.py [--data SITUS_REAL_DATA]`: one JSON object. Ratios are CPU seconds of the
referees over ours in the same run. METEOR is timed only where WordNet 3.0 is installed, and NLTK
reads the same files.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import tempfile
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from situs.base.files import digest
from situs.errors import SitusError
from situs.score.text.bleu import bleu_statistics, corpus_bleu, sentence_bleu
from situs.score.text.meteor import meteor
from situs.score.text.rouge import ROUGES, rouge
from situs.score.text.wordnet import WordNet, find_wordnet
from situs.score.text.words import exact_match, prepared, token_f1

PARTS = 5
LEXNAMES = "".join(f"{n:02d}\tname.{n}\t1\n" for n in range(45))


def timed(seconds: dict[str, float], name: str, work: Callable[[], Any]) -> Any:
    begin = time.process_time()
    result = work()
    seconds[name] = time.process_time() - begin
    return result


def referees(
    said: list[str], gold: list[str], folder: Path | None
) -> tuple[dict[str, float], dict[str, Any]]:
    """Each referee called row by row, as users do."""
    import nltk
    from nltk.corpus.reader.wordnet import WordNetCorpusReader
    from nltk.translate.meteor_score import meteor_score
    from rouge_score.rouge_scorer import RougeScorer
    from sacrebleu.metrics import BLEU

    seconds: dict[str, float] = {}
    values: dict[str, Any] = {}
    corpus, single = BLEU(), BLEU(effective_order=True)
    values["bleu"] = timed(seconds, "bleu", lambda: corpus.corpus_score(said, [gold]).score)
    values["sentence"] = timed(
        seconds,
        "sentence bleu",
        lambda: [single.sentence_score(a, [b]).score for a, b in zip(said, gold)],
    )
    scorer = RougeScorer(list(ROUGES), use_stemmer=True)
    values["rouge"] = timed(
        seconds, "rouge", lambda: [scorer.score(b, a) for a, b in zip(said, gold)]
    )
    if folder is not None:
        with tempfile.TemporaryDirectory() as root:
            copy = Path(root) / "corpora" / "wordnet"
            shutil.copytree(folder, copy)
            (copy / "lexnames").write_text(LEXNAMES)
            nltk.data.path.insert(0, root)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                reader = WordNetCorpusReader(nltk.data.find("corpora/wordnet"), None)
            values["meteor"] = timed(
                seconds,
                "meteor",
                lambda: [
                    meteor_score([b.split()], a.split(), wordnet=reader) for a, b in zip(said, gold)
                ],
            )
            nltk.data.path.pop(0)
    return seconds, values


def ours(
    said: list[str], gold: list[str], wordnet: WordNet | None
) -> tuple[dict[str, float], dict[str, Any]]:
    seconds: dict[str, float] = {}
    values: dict[str, Any] = {}
    references = [[text] for text in gold]
    statistics = timed(seconds, "bleu", lambda: bleu_statistics(said, references))
    values["bleu"] = corpus_bleu(statistics)
    values["sentence"] = timed(seconds, "sentence bleu", lambda: sentence_bleu(statistics).tolist())
    values["rouge"] = timed(seconds, "rouge", lambda: rouge(said, references))
    if wordnet is not None:
        values["meteor"] = timed(
            seconds, "meteor", lambda: meteor(said, references, wordnet.synonyms).tolist()
        )
    timed(seconds, "exact", lambda: exact_match(said, references))
    timed(seconds, "token_f1", lambda: token_f1(said, references))
    return seconds, values


def compare(rows: list[dict[str, str]]) -> dict[str, Any]:
    held = [row for row in rows if row["prediction"].strip()]
    said, gold = (
        [prepared(row["prediction"]) for row in held],
        [prepared(row["answer"]) for row in held],
    )
    try:
        folder: Path | None = find_wordnet()
    except SitusError:
        folder = None
    mine, values = ours(said, gold, WordNet(folder) if folder is not None else None)
    theirs, expected = referees(
        said, gold, folder if folder is not None and folder.is_dir() else None
    )
    rouges = [{name: score[name].fmeasure for name in ROUGES} for score in expected["rouge"]]
    equal = values["bleu"] == expected["bleu"] and values["sentence"] == expected["sentence"]
    equal &= all(values["rouge"][name].tolist() == [row[name] for row in rouges] for name in ROUGES)
    if "meteor" in expected:
        equal &= values["meteor"] == expected["meteor"]
    shared = sum(mine[name] for name in theirs)
    return {
        "rows": len(held),
        "equal_to_the_last_digit": bool(equal),
        "seconds": mine,
        "seconds_all": sum(mine.values()),
        "referee_seconds": theirs,
        "ratio": sum(theirs.values()) / shared,
        "meteor": "timed" if "meteor" in expected else "WordNet is not installed",
    }


def category_f1(data: Path) -> dict[str, Any]:
    """Micro-F1 of the rule labeller, F1 of each category, and the same in five parts of the
    patients.

    Nothing is fitted, but the patterns were written by people who had read these questions: no part
    of the release is unseen, and on other questions the value is likely to be lower.
    """
    from situs.build import DIMENSIONS, dimensions_of

    whole = json.loads((data / "spatial_qa_filtered_full_with_categories.json").read_text())
    alias = {"Medial-Lateral Orientation": "Medial-Lateral Orientation (Centricity)"}
    parts = [{name: [0, 0, 0] for name in DIMENSIONS} for _ in range(PARTS)]
    for volume, held in whole.items():
        part = parts[int(digest(volume.rsplit("_", 2)[0]), 16) % PARTS]
        for pair in held["qa_pairs"]:
            given = {alias.get(name, name) for name in pair["category"]}
            found = set(dimensions_of(pair["question"], pair["answer"]))
            for name, counts in part.items():
                counts[0] += name in given and name in found
                counts[1] += name in found and name not in given
                counts[2] += name in given and name not in found
    return {
        "micro_f1": f1([counts for part in parts for counts in part.values()]),
        "in_sample": (
            "patterns written with these questions in view; nothing fitted, nothing held out"
        ),
        "micro_f1_by_fifth_of_patients": [f1(part.values()) for part in parts],
        "f1": {name: f1([part[name] for part in parts]) for name in DIMENSIONS},
    }


def f1(counts: Any) -> float:
    hits, extra, missed = (sum(column) for column in zip(*counts))
    return 2 * hits / (2 * hits + extra + missed)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", default=os.environ.get("SITUS_REAL_DATA", ""))
    data = Path(parser.parse_args(arguments).data) / "ct-spatialvqa"
    if not data.is_dir():
        parser.error("set SITUS_REAL_DATA, or --data, to the folder that holds ct-spatialvqa")
    result: dict[str, Any] = {}
    for path in sorted((data / "predictions").glob("*.jsonl")):
        rows = [json.loads(line) for line in path.read_text().splitlines()]
        result[path.name.partition("_")[0]] = compare(rows)
    result["categories"] = category_f1(data)
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
