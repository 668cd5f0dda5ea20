"""How often readers who never look are said to look, on the questions of real benches.

    python benchmarks/blind_readers.py COUNT BENCH …        COUNT readers on each bench
    python benchmarks/blind_readers.py COUNT BENCH+BENCH    benches joined to one
    …                            --patients 60 --seed 1     on so many patients, drawn anew

Nothing is drawn, asked or stored: a reader's replies are scored in this process and go through the
functions that `situs probe` decides by (with the probes text, silent, blank and other-patient).
Every reader has a kind, drawn shares and opinions of its own. Prints a line a bench, with the exact
95 % interval (Clopper and Pearson 1934), and after --sight how often a reader who sees a tenth of
the items is said to answer from the text only.
"""

from __future__ import annotations

import argparse
import resource
import sys
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import beta

from situs.base.files import digest
from situs.bench import open_bench
from situs.clients import Spec
from situs.items import Choice, Item, YesNo
from situs.probe.diagnosis import Diagnosis, ProbeRuns, diagnose, evidence_of
from situs.probe.table import compared
from situs.profiles import load_profile
from situs.run import AnswerRow, Viewing, make_baseline
from situs.score import Scored, Selection, score_answer
from situs.score.explain import Answered, Answers, Budget

PROBES = ("original", "text", "silent", "blank", "other-patient")
REFUSAL = "I cannot answer this without the images."
HEADLINE = Selection("headline", closed=True)
NO_SLIPS = Budget(items=0, wrong=0, rows=[], answers=[])


class Shown(NamedTuple):
    """A question, and whose pictures are shown with it: empty without."""

    item: Item
    pictures: str
    probe: str


Reader = Callable[[Shown, np.random.Generator], str]


class Cohort:
    """Questions of one or more benches, and what patients have as answers to each of them."""

    def __init__(self, folders: list[Path], patients: int, seed: int) -> None:
        self.items: list[Item] = []
        self.truth: dict[str, str] = {}
        self.values: dict[str, list[str]] = defaultdict(list)
        self._shown: dict[str, Viewing] = {}
        self._scored: dict[tuple[str, str], Scored] = {}
        for folder in folders:
            self._add(folder, patients // len(folders), seed)
        names = sorted({item.patient_id for item in self.items})
        self.others = dict(zip(names, names[1:] + names[:1], strict=True))

    def _add(self, folder: Path, patients: int, seed: int) -> None:
        bench = open_bench(folder)
        profile = load_profile("sgmri-frames")
        oracle, shown = make_baseline(bench, Spec("oracle"), profile), Viewing(bench, profile)
        items = [item for item in bench.items() if item.form not in ("text", "caption")]
        names = sorted({item.patient_id for item in items})
        drawn = set(np.random.default_rng(seed).permutation(names)[:patients].tolist())
        for item in items:
            if item.patient_id not in drawn:
                continue
            match item.answer:
                case YesNo(value):
                    answer = "yes" if value else "no"
                case Choice(value):
                    answer = value
                case _:
                    answer = oracle.answer(item) or ""
            if answer:
                self.items.append(item)
                self._shown[item.item_id] = shown
                self.truth[item.item_id] = answer
                self.values[item.question].append(answer)

    def offered(self, item: Item) -> list[str]:
        """What may be said: the options, or what patients have."""
        if isinstance(item.answer, YesNo):
            return ["no", "yes"]
        values = [option.value for option in item.options]
        return (
            sorted(values)
            if isinstance(item.answer, Choice)
            else sorted({*self.values[item.question]})
        )

    def usual(self, item: Item, rank: int = 0) -> str:
        """The answer that most patients have, or the next ones."""
        counts = Counter(self.values[item.question])
        order = sorted(self.offered(item), key=lambda value: (-counts[value], value))
        return order[rank % len(order)]

    def say(self, item: Item, value: str) -> str:
        """A value as a model says it."""
        values = [option.value for option in item.options]
        is_option = isinstance(item.answer, Choice) and value in values
        return "ABCDEFGH"[values.index(value)] if is_option else value

    def answers(self, reader: Reader, probe: str, seed: int) -> Answers:
        """All answers of a reader under a probe."""
        rng = np.random.default_rng([seed, *probe.encode()])
        by_id = {}
        for item in self.items:
            pictures = {
                "original": item.patient_id,
                "blank": "black",
                "other-patient": self.others[item.patient_id],
            }.get(probe, "")
            by_id[item.item_id] = self._answered(item, reader(Shown(item, pictures, probe), rng))
        return Answers(by_id, None, {})  # type: ignore[arg-type]

    def _answered(self, item: Item, reply: str) -> Answered:
        row = AnswerRow(item.item_id, response=reply)
        key = item.item_id, reply
        if key not in self._scored:
            self._scored[key] = score_answer(item, row, None, shown=self._shown[item.item_id])
        return Answered(item, row, self._scored[key])

    def diagnosed(self, reader: Reader, seed: int) -> Diagnosis:
        """The verdict on a reader."""
        runs = {name: self.answers(reader, name, seed) for name in PROBES}
        full = runs.pop("original")
        rows = {name: compared(full, run, None, lambda i: i) for name, run in runs.items()}
        asked = ProbeRuns(full, runs, rows, lambda item: [self.usual(item)])
        return diagnose(evidence_of(asked, HEADLINE, NO_SLIPS, NO_SLIPS))


def _pick(values: list[str], *salt: object) -> str:
    return values[_drawn(*salt) % len(values)]


def _drawn(*words: object) -> int:
    """A number of the words alone. A checksum (CRC-32) will not do: it is linear, so that readers
    of different salts pick alike, and picks go with the question's own numbers."""
    return int(digest(*map(str, words), size=8), 16)


def coin(of: Cohort, salt: int) -> Reader:
    """Any of the answers offered."""
    return lambda shown, rng: of.say(shown.item, str(rng.choice(of.offered(shown.item))))


def sampled(of: Cohort, salt: int) -> Reader:
    """The answer of any patient who was asked the same."""
    return lambda shown, rng: of.say(shown.item, str(rng.choice(of.values[shown.item.question])))


def opinions(of: Cohort, salt: int) -> Reader:
    """One answer to a question, whoever is asked about."""
    return lambda shown, rng: of.say(
        shown.item, _pick(of.offered(shown.item), shown.item.question, salt)
    )


def usual(of: Cohort, salt: int) -> Reader:
    """What most patients of this very bench have."""
    return lambda shown, rng: of.say(shown.item, of.usual(shown.item))


def rarest(of: Cohort, salt: int) -> Reader:
    """What the fewest have."""
    return lambda shown, rng: of.say(shown.item, of.usual(shown.item, -1))


def letter(of: Cohort, salt: int) -> Reader:
    """One letter, yes or no in most of its answers; a coin in the others."""
    share, toss = 0.4 + 0.6 * (salt % 7) / 7, coin(of, salt)

    def read(shown: Shown, rng: np.random.Generator) -> str:
        if rng.random() >= share:
            return toss(shown, rng)
        values = [option.value for option in shown.item.options] or of.offered(shown.item)
        return of.say(shown.item, values[min(salt % 4, len(values) - 1)])

    return read


def pixels(of: Cohort, salt: int) -> Reader:
    """Another answer with every picture, right by luck only."""
    return lambda shown, rng: of.say(
        shown.item, _pick(of.offered(shown.item), shown.item.question, shown.pictures, salt)
    )


def by_patient(of: Cohort, salt: int) -> Reader:
    """The first, second … answer to all questions on a patient:
    right on all of them together, or on none."""

    def read(shown: Shown, rng: np.random.Generator) -> str:
        rank = _drawn(shown.pictures, salt) % 3
        return of.say(shown.item, of.usual(shown.item, rank))

    return read


def refuses_without(make: Callable[[Cohort, int], Reader]) -> Callable[[Cohort, int], Reader]:
    """Declines where there are no pictures."""

    def made(of: Cohort, salt: int) -> Reader:
        reader = make(of, salt)
        return lambda shown, rng: reader(shown, rng) if shown.pictures else REFUSAL

    return made


def refuses_some(of: Cohort, salt: int) -> Reader:
    """Declines two in five, and tosses a coin for the rest."""
    toss = coin(of, salt)
    return lambda shown, rng: REFUSAL if rng.random() < 0.4 else toss(shown, rng)


def by_name(of: Cohort, salt: int) -> Reader:
    """An answer of its own to each patient, whatever is shown: it goes by the patient's id."""
    return lambda shown, rng: of.say(
        shown.item, _pick(of.offered(shown.item), shown.item.patient_id, salt)
    )


def by_item(of: Cohort, salt: int) -> Reader:
    """An answer of its own to each item, by its id."""
    return lambda shown, rng: of.say(
        shown.item, _pick(of.offered(shown.item), shown.item.item_id, salt)
    )


def by_words(of: Cohort, salt: int) -> Reader:
    """An answer by how long the question is, or by its first or last letters."""

    def key(question: str) -> int:
        ends = len(question), ord(question[salt % 9]), len(question.split()), question.count("e")
        return ends[salt % 4] // (1 + salt % 3)

    def read(shown: Shown, rng: np.random.Generator) -> str:
        offered = of.offered(shown.item)
        return of.say(shown.item, offered[key(shown.item.question) % len(offered)])

    return read


def by_options(of: Cohort, salt: int) -> Reader:
    """The longest, the shortest, the first by the alphabet or the middle of what is offered."""
    orders: tuple[Callable[[list[str]], str], ...] = (
        lambda values: max(values, key=lambda value: (len(value), value)),
        lambda values: min(values, key=lambda value: (len(value), value)),
        lambda values: values[0],
        lambda values: values[len(values) // 2],
    )
    choose = orders[salt % len(orders)]
    return lambda shown, rng: of.say(shown.item, choose(of.offered(shown.item)))


def by_order(of: Cohort, salt: int) -> Reader:
    """Goes through the answers in turn, as the questions come."""
    turns: Counter[str] = Counter()

    def read(shown: Shown, rng: np.random.Generator) -> str:
        turns[shown.probe] += 1
        offered = of.offered(shown.item)
        return of.say(shown.item, offered[(turns[shown.probe] // (1 + salt % 3)) % len(offered)])

    return read


def by_count(of: Cohort, salt: int) -> Reader:
    """By how many questions its patient has, and how often this one is asked."""
    asked = Counter(item.patient_id for item in of.items)
    texts = Counter(item.question for item in of.items)

    def read(shown: Shown, rng: np.random.Generator) -> str:
        offered = of.offered(shown.item)
        own = asked[shown.item.patient_id] * (salt % 2) + texts[shown.item.question]
        return of.say(shown.item, offered[(own + salt) % len(offered)])

    return read


def wavering(make: Callable[[Cohort, int], Reader]) -> Callable[[Cohort, int], Reader]:
    """Now and then another answer than its own: sampled at some temperature."""

    def made(of: Cohort, salt: int) -> Reader:
        own, toss, share = make(of, salt), coin(of, salt), 0.05 + 0.5 * (salt % 11) / 11
        return lambda shown, rng: (toss if rng.random() < share else own)(shown, rng)

    return made


def refuses_unevenly(of: Cohort, salt: int) -> Reader:
    """Declines some share with pictures and another without; opinions or a coin for the rest."""
    own = (opinions, coin, usual, sampled)[salt % 4](of, salt)
    shares = {True: (salt % 10) / 10, False: (salt // 3 % 10) / 10}
    return lambda shown, rng: (
        REFUSAL if rng.random() < shares[bool(shown.pictures)] else own(shown, rng)
    )


def learned(of: Cohort, salt: int) -> Reader:
    """What most, or fewest, of some patients whose answers it has seen have to the question."""
    names = sorted({item.patient_id for item in of.items})
    known = {name for name in names if _drawn(name, salt) % 100 < 20 + salt % 60}
    seen: dict[str, Counter[str]] = defaultdict(Counter)
    for item in of.items:
        if item.patient_id in known:
            seen[item.question][of.truth[item.item_id]] += 1

    def read(shown: Shown, rng: np.random.Generator) -> str:
        counts, offered = seen[shown.item.question], of.offered(shown.item)
        ranked = sorted(offered, key=lambda value: (-counts[value], value))
        return of.say(shown.item, ranked[0 if salt % 2 else -1])

    return read


def some_pixels(of: Cohort, salt: int) -> Reader:
    """Another answer with every picture to some questions, its opinion on the others."""
    seen, own = pixels(of, salt), opinions(of, salt)

    def read(shown: Shown, rng: np.random.Generator) -> str:
        moved = _drawn(shown.item.question, salt, "moved") % 100 < 10 + salt % 80
        return (seen if moved and shown.pictures else own)(shown, rng)

    return read


def usual_with_pictures(of: Cohort, salt: int) -> Reader:
    """What is usual with its pictures, the rarest answer without."""
    common, rare = usual(of, salt), rarest(of, salt)
    return lambda shown, rng: (common if shown.pictures else rare)(shown, rng)


KINDS: dict[str, Callable[[Cohort, int], Reader]] = {
    "coin": coin,
    "another patient's answer": sampled,
    "opinions": opinions,
    "usual": usual,
    "rarest": rarest,
    "letter": letter,
    "pixels": pixels,
    "by patient": by_patient,
    "coin that refuses": refuses_without(coin),
    "usual that refuses": refuses_without(usual),
    "opinions that refuse": refuses_without(opinions),
    "pixels that refuse": refuses_without(pixels),
    "refuses two in five": refuses_some,
    "usual with pictures only": usual_with_pictures,
    "by name": by_name,
    "by item": by_item,
    "by words": by_words,
    "by options": by_options,
    "by order": by_order,
    "by count": by_count,
    "wavering opinions": wavering(opinions),
    "wavering usual": wavering(usual),
    "wavering pixels": wavering(pixels),
    "by name that refuses": refuses_without(by_name),
    "by patient that refuses": refuses_without(by_patient),
    "by words that refuses": refuses_without(by_words),
    "learned that refuses": refuses_without(learned),
    "refuses unevenly": refuses_unevenly,
    "learned": learned,
    "some pixels": some_pixels,
}


def a_tenth(of: Cohort, salt: int) -> Reader:
    """Sees a tenth of the items, has opinions on, guesses or knows what is usual of the others."""
    blind = (opinions, coin, usual)[salt % 3](of, salt)
    truths = {(item.patient_id, item.question): of.truth[item.item_id] for item in of.items}

    def read(shown: Shown, rng: np.random.Generator) -> str:
        seen = _drawn(shown.item.item_id, salt) % 10 == 0
        truth = truths.get((shown.pictures, shown.item.question))
        return of.say(shown.item, truth) if seen and truth else blind(shown, rng)

    return read


def exact(hits: int, n: int) -> tuple[float, float]:
    """The 95 % interval of a share."""
    low = float(beta.ppf(0.025, hits, n - hits + 1)) if hits else 0.0
    high = float(beta.ppf(0.975, hits + 1, n - hits)) if hits < n else 1.0
    return low, high


def told(name: str, hits: int, n: int, what: str) -> None:
    """A line with a share and its interval."""
    low, high = exact(hits, n)
    cpu = resource.getrusage(resource.RUSAGE_SELF).ru_utime
    print(f"{name}: {hits} of {n} {what}, {hits / n:.3f} ({low:.3f} to {high:.3f}); {cpu:.0f} CPU s",
          flush=True)  # fmt: skip


def main() -> None:
    """A line a bench, and one for all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("count", type=int)
    parser.add_argument("benches", nargs="+")
    parser.add_argument("--patients", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--sight", type=int, default=0)
    given = parser.parse_args()
    looks: Counter[str] = Counter()
    for number, names in enumerate(given.benches):
        folders = [Path(name) for name in names.split("+")]
        of = Cohort(folders, given.patients, given.seed)
        title = f"{'+'.join(folder.name for folder in folders)} ({len(of.items):,} items)"
        kinds: dict[str, Any] = defaultdict(Counter)
        for salt in range(given.count):
            name = list(KINDS)[salt % len(KINDS)]
            seed = 1000 * given.seed + 100_000 * number + salt
            kinds[name][of.diagnosed(KINDS[name](of, seed), seed).kind] += 1
        total: Counter[str] = sum(kinds.values(), Counter())
        told(title, total["looks"], given.count, "blind readers are said to look")
        for name, verdicts in kinds.items():
            print(f"    {name}: {dict(verdicts)}")
        looks += Counter(looks=total["looks"], n=given.count)
        if given.sight:
            found = Counter(
                of.diagnosed(a_tenth(of, salt), salt).kind for salt in range(given.sight)
            )
            told(
                title,
                found["text only"],
                given.sight,
                f"with a tenth of sight are text only {dict(found)}",
            )
    told("all", looks["looks"], looks["n"], "blind readers are said to look")


if __name__ == "__main__":
    sys.exit(main())
