"""The trivial filter: templates that a blind panel answers without the scan become textbook, whole,
never item by item.

A template is a program: one text, whose options may differ from patient to patient, so that it is
shown once with each of its sets of options. Whether it is known is decided over all of them, on one
half of the patients (fold A), and reported on the other (fold B). A member knows an item only if it
is right in every rotation of the options: a guesser that keeps to a letter never is, one that keeps
to an option is right by luck in 1 of m. Templates are tried together (Benjamini and Hochberg 1995)
against chance + 5 points, patients as clusters: a template asks a patient once, so that the
binomial is exact. Beside the panel stands what the labels of fold A alone would say (the majority
answer, leaving each patient out, among the options that were shown); the larger of the two decides.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from situs.agents.author import panel_role, rotations
from situs.base.files import digest
from situs.build.authoring.prompts import Asked, Prompt
from situs.build.authoring.roles import Desk
from situs.judges import Asker

__all__ = ["PanelReport", "ask_panel", "find_trivial", "two_of_three"]

_ABOVE = 0.05
_ERROR = 0.01


class PanelReport(msgspec.Struct, frozen=True):
    """What the panel knew without looking."""

    templates: int
    trivial: int
    known_a: float
    """Share of items of fold A that the best member knows; B is the half that decided nothing."""
    known_b: float
    luck: float
    """Share that would be known by luck alone."""
    corrected_b: float
    """The share truly known in fold B (Rogan and Gladen 1978):
    (known − luck) / (1 − luck), not below 0."""
    kept_b: float | None
    """Share known in fold B among what was kept: inside luck if the filter is fair."""
    families: tuple[str, ...] = ()
    """Members that answered, by name; a contestant of the same family is flagged."""


Answers = dict[str, dict[str, str]]
"""Member → prompt id → the option it chose in every rotation;
missing where it did not keep to one."""


def ask_panel(
    desk: Desk, panel: Sequence[Asker], prompts: Mapping[str, Prompt]
) -> tuple[Answers, Answers]:
    """What each member knows of each prompt, and what it said to the first rotation."""
    known: Answers = {}
    first: Answers = {}
    for number, member in enumerate(panel):
        subjects, meaning = {}, {}
        for id_, prompt in sorted(prompts.items()):
            texts = dict(prompt.options)
            for turn, order in enumerate(rotations([value for value, _ in prompt.options])):
                key = f"{id_}r{turn}"
                options = {"ABCDEFGH"[n]: texts[value] for n, value in enumerate(order)}
                subjects[key] = {"question": prompt.question, "options": options}
                meaning[key] = dict(zip("ABCDEFGH", order))
        entries = desk.ask(
            f"panel {member.name}", member, panel_role(), subjects, f"panel-{number + 1}"
        )
        chosen_values = {
            key: meaning[key].get(entry["answer"], "") for key, entry in entries.items()
        }
        known[member.name] = {}
        first[member.name] = {}
        for id_, prompt in prompts.items():
            chosen = {chosen_values.get(f"{id_}r{turn}", "") for turn in range(len(prompt.options))}
            if len(chosen) == 1 and (value := chosen.pop()):
                known[member.name][id_] = value
            first[member.name][id_] = chosen_values.get(f"{id_}r0", "")
    return known, first


def in_fold_a(patient_id: str) -> bool:
    """Half of the patients, by hash."""
    return int(digest("fold", patient_id, size=4), 16) % 2 == 0


def _right(asked: Iterable[Asked], value: str | None) -> tuple[int, int]:
    entries = list(asked)
    return sum(one.key == value for one in entries), len(entries)


def _majority_right(template: Sequence[Prompt], folds: Sequence[Sequence[Asked]]) -> int:
    """How often the majority answer of the other patients is right, of those that are offered."""
    counts = Counter(one.key for fold in folds for one in fold)
    right = 0
    for prompt, fold in zip(template, folds, strict=True):
        offered = {value for value, _ in prompt.options}
        for one in fold:
            others = {key: n for key, n in (counts - Counter([one.key])).items() if key in offered}
            # Ties go to the first by name: someone who knows nothing else has to say something.
            right += bool(others) and min(others, key=lambda k: (-others[k], k)) == one.key
    return right


def _tail(right: int, total: int, chance: float) -> float:
    """P(at least so many right by luck), by the binomial of the mean chance.

    Where chances differ, that is at least the true one (Hoeffding 1956), if more are right than
    are expected.
    """
    if not total or chance >= 1 or right < total * chance + 1:
        return 1.0
    logs = (
        math.lgamma(total + 1)
        - math.lgamma(k + 1)
        - math.lgamma(total - k + 1)
        + k * math.log(chance)
        + (total - k) * math.log1p(-chance)
        for k in range(right, total + 1)
    )
    return min(1.0, sum(math.exp(value) for value in logs))


def find_trivial(
    prompts: Mapping[str, Prompt], known: Answers, families: Sequence[str]
) -> tuple[set[str], PanelReport]:
    """Prompts that need no sight, and how far the panel
    got on the half of the patients that decided nothing."""
    templates: dict[str, list[str]] = {}
    for id_, prompt in sorted(prompts.items()):
        templates.setdefault(prompt.program, []).append(id_)
    probabilities = [
        (probability, program)
        for program, ids in sorted(templates.items())
        if (probability := _by_luck({id_: prompts[id_] for id_ in ids}, known)) is not None
    ]
    found = _benjamini_hochberg(probabilities)
    trivial = {id_ for program in found for id_ in templates[program]}
    counts = (len(templates), len(found))
    return trivial, _report(prompts, known, trivial, families, counts)


def _by_luck(template: Mapping[str, Prompt], known: Answers) -> float | None:
    """P(the best of the members and the majority answer is right so often, of what it does not
    know) on fold A; None where no patient of it was asked."""
    folds = [[one for one in p.asked if in_fold_a(one.patient_id)] for p in template.values()]
    total = sum(map(len, folds))
    if not total:
        return None
    chances = (1 / len(prompt.options) + _ABOVE for prompt in template.values())
    limit = sum(len(fold) * chance for fold, chance in zip(folds, chances, strict=True)) / total
    tries = [
        sum(_right(fold, answers.get(id_))[0] for id_, fold in zip(template, folds, strict=True))
        for answers in known.values()
    ]
    tries.append(_majority_right(list(template.values()), folds))
    # The best of several members is tried as several (Bonferroni).
    return min(1.0, _tail(max(tries), total, limit) * len(tries))


def _benjamini_hochberg(probabilities: Sequence[tuple[float, str]]) -> set[str]:
    ordered = sorted(probabilities)
    last = 0
    for rank, (p, _) in enumerate(ordered, start=1):
        if p <= _ERROR * rank / len(ordered):
            last = rank
    return {id_ for _, id_ in ordered[:last]}


def _report(
    prompts: Mapping[str, Prompt],
    known: Answers,
    trivial: set[str],
    families: Sequence[str],
    counts: tuple[int, int],
) -> PanelReport:
    def share(fold_a: bool, but: set[str]) -> tuple[float | None, float]:
        """Share known by the best member, and the luck line."""
        total, luck = 0, 0.0
        right = dict.fromkeys(known, 0)
        for id_, prompt in prompts.items():
            fold = [one for one in prompt.asked if in_fold_a(one.patient_id) == fold_a]
            if id_ in but or not fold:
                continue
            total += len(fold)
            luck += len(fold) / len(prompt.options)
            for name, answers in known.items():
                right[name] += _right(fold, answers.get(id_))[0]
        if not total:
            return None, 0.0
        return max(right.values(), default=0) / total, luck / total

    known_a, _ = share(True, set())
    known_b, luck = share(False, set())
    kept_b, _ = share(False, trivial)
    corrected = max(0.0, ((known_b or 0.0) - luck) / (1 - luck)) if luck < 1 else 0.0
    return PanelReport(
        templates=counts[0],
        trivial=counts[1],
        known_a=round(known_a or 0.0, 4),
        known_b=round(known_b or 0.0, 4),
        luck=round(luck, 4),
        corrected_b=round(corrected, 4),
        kept_b=None if kept_b is None else round(kept_b, 4),
        families=tuple(families),
    )


def two_of_three(
    prompts: Mapping[str, Prompt], first: Answers
) -> tuple[set[str], dict[str, float]]:
    """SpatialMed's rule: items that two members got right by one try each leave; and what that does
    to a relative.

    A relative is a model that answers as most of the panel does: on what is left it scores below
    chance, since the items on which its family was right, by luck too, are gone.
    """
    removed: set[str] = set()
    left = right = 0
    chance = 0.0
    for id_, prompt in prompts.items():
        answers = [
            member_answers[id_] for member_answers in first.values() if member_answers.get(id_)
        ]
        common = Counter(answers).most_common(1)[0][0] if answers else None
        for one in prompt.asked:
            if sum(answer == one.key for answer in answers) >= 2:
                removed.add(one.item_id)
            else:
                left += 1
                right += common == one.key
                chance += 1 / len(prompt.options)
    scores = {
        "relative_accuracy": round(right / left, 4) if left else 0.0,
        "chance": round(chance / left, 4) if left else 0.0,
    }
    return removed, scores
