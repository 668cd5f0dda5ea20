"""Critics: models that object to a question,
and what they are worth by defects planted among sound ones."""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Collection, Mapping, Sequence
from importlib.resources import files
from typing import Any

import msgspec

from situs.agents.author.turn import turn_role
from situs.base.files import digest
from situs.clients.turns import ActionKind, Field
from situs.judges import Role
from situs.score import clopper_pearson

__all__ = [
    "CRITIC_FLAGS",
    "CriticReport",
    "critic_role",
    "plant_defects",
    "standing_flags",
    "weigh_critic",
]

_PLANTED = 0.15
"""Share of defects among what critics see."""
_FEWEST_PLANTED = 12
_MOST_FLAGS = 4


@functools.cache
def _table() -> dict[str, dict[str, dict[str, str]]]:
    text = files("situs.agents").joinpath("data", "critics.toml").read_text("utf-8")
    return tomllib.loads(text)


def _flags() -> tuple[str, ...]:
    return tuple(_table()["flag"])


CRITIC_FLAGS = _flags()


def critic_role(number: int) -> Role:
    """The role of the n-th critic: radiologist, anatomist, test writer, and so on in turn."""
    roles = _table()["role"]
    name = list(roles)[number % len(roles)]
    flags = "; ".join(f"{flag}: {entry['says']}" for flag, entry in _table()["flag"].items())
    task = f"""\
You are {roles[name]["says"]}. You vet exam questions on CT and MR scans. You are shown a question \
and its options, in \
no order. You do not see the scan, and are not told the answer.

Flag what is wrong with the question, by these words only: {flags}.
Quote the offending words of the question or option exactly with each flag. Most questions are \
sound: pass these."""
    return turn_role(f"critic-{name}", task, _actions(), _read)


def _actions() -> tuple[ActionKind, ...]:
    several = (1, _MOST_FLAGS)
    flags = Field("texts", "what is wrong", required=True, longest=40, count=several)
    words = Field("texts", "the offending words of each", required=True, count=several)
    return (
        ActionKind("pass", "Nothing is wrong with the question."),
        ActionKind("flag", "Something is wrong with it.", {"flags": flags, "words": words}),
    )


def _read(action: Mapping[str, Any]) -> dict[str, Any] | None:
    """The flags with their words; a flag that is none of ours is left out."""
    pairs = zip(action.get("flags", []), action.get("words", []))
    known = [pair for pair in pairs if pair[0] in CRITIC_FLAGS]
    return {
        "action": action["action"],
        "flags": [flag for flag, _ in known],
        "words": [words for _, words in known],
    }


def standing_flags(entry: Mapping[str, Any], subject: Mapping[str, Any]) -> list[str]:
    """The flags that quote words of what was shown; the others are void."""
    text = " ".join([str(subject["question"]), *map(str, subject.get("options", ()))]).lower()
    quoted = zip(entry["flags"], (words.strip().lower() for words in entry["words"]))
    return [flag for flag, words in quoted if len(words) > 1 and words in text]


def _broken(subject: Mapping[str, Any], kind: int) -> dict[str, Any]:
    """A question with a defect that everybody should see."""
    question, options = str(subject["question"]), list(subject.get("options", ()))
    if kind % 4 == 0 and len(options) > 1:
        return {"question": question, "options": [options[0], *options[:-1]]}
    if kind % 4 == 1:
        return {"question": question.rstrip("?") + ", or is it the other one?", "options": options}
    if kind % 4 == 2:
        hinted = question.rstrip("?") + f", which is of course {options[0] if options else 'yes'}?"
        return {"question": hinted, "options": options}
    words = question.split()
    return {"question": " ".join(reversed(words)), "options": options}


def plant_defects(subjects: Mapping[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Id → a defective copy of something shown;
    drawn by the ids, so that a resumed call plants the same."""
    ids = sorted(subjects, key=lambda id_: digest("plant", id_))
    count = max(_FEWEST_PLANTED, round(len(ids) * _PLANTED / (1 - _PLANTED)))
    drawn = [ids[n % len(ids)] for n in range(count)] if ids else []
    # The ids look like those of sound questions.
    return {
        "q" + digest("planted", str(n), id_, size=6): _broken(subjects[id_], n + n // len(ids))
        for n, id_ in enumerate(drawn)
    }


class CriticReport(msgspec.Struct, frozen=True):
    """What a critic is worth."""

    name: str
    seen: int
    flagged: int
    void: int
    sensitivity: float
    specificity: float
    lower: float
    """Lower end of the 95 % interval of balanced accuracy,
    from the exact intervals of the two rates."""
    active: bool
    """Whether its flags count: a critic that is no better than a coin is switched off."""
    true_per_1000: float | None
    """True defects found beyond the rules, per 1,000 questions in wordings that nobody read; 0 if
    none is shown. Questions in wordings that were read tell how often it objects to what is sound
    (Rogan and Gladen 1978): None where there are only these, or none of them."""


def weigh_critic(
    name: str,
    verdicts: Mapping[str, tuple[bool, int]],
    planted: Sequence[str],
    read: Collection[str] = (),
) -> CriticReport:
    """`verdicts`: id → whether it was flagged, and how many flags were void;
    `read`: ids of questions whose wordings people have read."""
    bad = [verdicts[id_][0] for id_ in planted if id_ in verdicts]
    hidden = set(planted)
    sound = [flag for id_, (flag, _) in verdicts.items() if id_ not in hidden]
    sensitivity = sum(bad) / len(bad) if bad else 0.0
    specificity = 1 - sum(sound) / len(sound) if sound else 0.0
    # Two one-sided errors of 2.5 % are shared by the two rates.
    low_a = clopper_pearson(sum(bad), len(bad), 0.975)[0] if bad else 0.0
    low_b = clopper_pearson(len(sound) - sum(sound), len(sound), 0.975)[0] if sound else 0.0
    lower = (low_a + low_b) / 2
    found = _found(
        sensitivity,
        [flag for id_, (flag, _) in verdicts.items() if id_ not in hidden and id_ not in read],
        [flag for id_, (flag, _) in verdicts.items() if id_ not in hidden and id_ in read],
    )
    return CriticReport(
        name=name,
        seen=len(verdicts),
        flagged=sum(sound),
        void=sum(void for _, void in verdicts.values()),
        sensitivity=round(sensitivity, 4),
        specificity=round(specificity, 4),
        lower=round(lower, 4),
        active=lower > 0.5,
        true_per_1000=None if found is None else round(1000 * found, 1),
    )


def _found(sensitivity: float, unread: Sequence[bool], controls: Sequence[bool]) -> float | None:
    """Share of unread questions in which a true defect was found.

    Objections to all of them less those that it makes to sound ones, too, are what it found of the
    defects there are; none, as long as luck may be all the difference.
    """
    if not unread or not controls:
        return None
    low = clopper_pearson(sum(unread), len(unread), 0.95)[0]
    high = clopper_pearson(sum(controls), len(controls), 0.95)[1]
    rate, false_rate = sum(unread) / len(unread), sum(controls) / len(controls)
    if low <= high or sensitivity <= false_rate:
        return 0.0
    return min(1.0, (rate - false_rate) / (sensitivity - false_rate)) * sensitivity
