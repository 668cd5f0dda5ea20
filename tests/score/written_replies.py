"""Replies put together from templates, with what they mean: assertion, negation, doubt, condition,
first guess.

Every template says one thing of one answer; sentences are joined by words that leave each part's
meaning as it is, so that the meaning of the whole follows from the parts. The templates are English
as models write it; none is taken from the reader's word lists.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from typing import NamedTuple


class Written(NamedTuple):
    """A reply and the answer it gives; None if it gives none."""

    reply: str
    means: object


ASSERTED = (
    "The answer is {}.", "It is {}.", "{}.", "I'd go with {}.", "I would choose {}.",
    "My answer: {}.", "I say {}.", "Clearly {}.", "It must be {}.",
    "I am confident that it is {}.", "So it's {}.", "Therefore, the answer is {}.",
    "The correct answer is {}.", "I believe it is {}.", "Most likely {}.", "I settle on {}.",
    "The images show that it is {}.", "That makes it {}.", "This points to {}.",
    "On balance, {}.", "The best answer is {}.", "Final answer: {}.", "I think the answer is {}.",
    "It has to be {}.", "Everything points to {}.", "My choice is {}.", "I pick {}.",
    "In my reading the answer is {}.", "Without doubt, it is {}.", "It can only be {}.",
    "In conclusion, {}.", "As far as I can see, it is {}.",
    "After checking all slices, I choose {}.", "Looking at the scan, it's {}.",
)  # fmt: skip
DENIED = (
    "The answer is not {}.", "It is not {}.", "It isn't {}.", "It cannot be {}.",
    "I don't think it is {}.", "It's certainly not {}.", "I would rule out {}.",
    "It is hardly {}.", "There is no way it is {}.", "I do not believe that it is {}.",
    "It can't possibly be {}.", "The answer cannot be {}.", "I'd never say {}.",
    "I wouldn't go with {}.", "It is unlikely to be {}.", "I reject {}.", "Definitely not {}.",
    "It's anything but {}.", "It won't be {}.", "The correct answer is clearly not {}.",
    "I see no reason to say {}.", "I would not choose {}.",
)  # fmt: skip
DOUBTED = (
    "It might be {}.", "Maybe {}.", "Perhaps it is {}.", "It could be {}.", "Possibly {}.",
    "I am not sure whether it is {}.", "It may be {}.", "I can't tell if it is {}.",
    "I wonder whether it is {}.", "It is unclear whether it is {}.", "I can't rule out {}.",
    "{} is conceivable.", "I cannot say whether it's {}.", "It's possible that it is {}.",
)  # fmt: skip
CONDITIONAL = (
    "If the scan is flipped, it is {}.", "It is {} if the slices run from feet to head.",
    "Unless the image is mirrored, it's {}.", "Were the patient prone, it would be {}.",
    "It would be {} if the spacing were 1 mm.", "Provided the labels are right, {}.",
    "In case the order is reversed, {}.", "{}, provided that the scan is not mirrored.",
)  # fmt: skip
FIRST = (
    "At first I thought it was {}", "Initially I would have said {}", "My first guess was {}",
    "At first glance it looks like {}", "I was going to say {}", "One might think it is {}",
    "My initial impression was {}", "I originally considered {}", "Some would say {}",
    "It is tempting to say {}", "Many readers would answer {}", "A colleague said {}",
)  # fmt: skip
TURNED = (
    ", but ",
    "; however, ",
    ". But ",
    ". However, ",
    ", yet ",
    ". On closer inspection, ",
    ". Looking again, ",
)
NEXT = (" ", "\n", "\n\n", " So: ", " Rather: ", " Instead: ")
OPENING = (
    "", "Looking at the images, I compared both structures. ",
    "The scan was reviewed slice by slice.\n", "Good question! ", "Let me work through this.\n\n",
    "Thank you for the images. ", "<think>Could be anything.</think>\n",
)  # fmt: skip
CLOSING = (
    "", " The relevant anatomy is well seen.", "\n\nLet me know if you need anything else.",
    " This is based on the axial slices.",
)  # fmt: skip


def _lower(sentence: str, answer: str) -> str:
    """The sentence as it goes on behind a comma."""
    return (
        sentence
        if sentence.startswith((answer, "I ", "I'd"))
        else sentence[0].lower() + sentence[1:]
    )


def replies(answers: dict[str, object], *, opposite: bool = False) -> Iterator[Written]:
    """Replies about answers (text → meaning).

    With two answers that exclude each other (`opposite`), denial is one.
    """
    for one, other in itertools.permutations(answers, 2):
        against = answers[other] if opposite else None
        for asserted in ASSERTED:
            yield Written(asserted.format(one), answers[one])
            for first, turn in itertools.product(FIRST, TURNED):
                yield Written(
                    first.format(other) + turn + _lower(asserted.format(one), one), answers[one]
                )
            for before, join in itertools.product(DENIED, NEXT):
                yield Written(before.format(other) + join + asserted.format(one), answers[one])
            for before, turn in itertools.product(DOUBTED, TURNED):
                yield Written(
                    before.format(other)[:-1] + turn + _lower(asserted.format(one), one),
                    answers[one],
                )
        for template in DENIED:
            yield Written(template.format(one), against)
        for template in (*DOUBTED, *CONDITIONAL):
            yield Written(template.format(one), None)
        for template in FIRST:
            yield Written(template.format(one) + ".", None)


def dressed(written: Written, generator: random.Random) -> Written:
    """The same between sentences that say nothing."""
    opening, closing = generator.choice(OPENING), generator.choice(CLOSING)
    return Written(opening + written.reply + closing, written.means)
