"""Replies that describe a picture nobody showed."""

from __future__ import annotations

import pytest

from situs.items import Item, YesNo
from situs.probe import describes_a_picture
from situs.probe.mirage import mirage_of
from situs.run import AnswerRow
from situs.score import score_answer
from situs.score.explain import Answered, Answers

CLAIMS = [
    "The image shows a large mass.",
    "The image shows no lesion.",
    "In the provided images, the left kidney is larger.",
    "Based on the scan, the lesion lies on the right. (B)",
    "There is a hypodense lesion in segment 6.",
    "On slice 12 the spleen reaches L1.",
    "As seen on the axial slices, the answer is C.",
    "Looking at the scan, B.",
    "I can see the tumor in the left lobe.",
    "Unfortunately some images are missing; however, the scan shows a cyst.",
    "Findings: tear of the medial meniscus",
    "The spleen measures 11 cm on the coronal view.",
    "From the CT images provided I would say yes.",
    "The lesion is visible in several slices. Answer: A",
    "There is increased signal in the posterior horn, so yes.",
]
NO_CLAIMS = [
    "A",
    "Yes.",
    "Answer: B",
    "The left kidney is larger.",
    "slices 10 to 15",
    "I cannot see any image.",
    "No image was provided, but in general the liver is larger.",
    "Without the images I would guess A.",
    "If the image showed a lesion, it would be B.",
    "The left kidney is usually lower. On CT the liver typically appears larger.",
    "I don't see an image attached. Please upload it.",
    "There are no images in your message.",
    "There is no mass.",
    "Since no picture is shown, A.",
    "I am unable to view the scan.",
    "The images you mention aren't visible to me.",
    "120 mm",
    '{"answer": "B"}',
]


@pytest.mark.parametrize("reply", CLAIMS)
def test_a_claim_to_have_seen(reply: str) -> None:
    assert describes_a_picture(reply)


@pytest.mark.parametrize("reply", NO_CLAIMS)
def test_no_claim(reply: str) -> None:
    assert not describes_a_picture(reply)


def test_the_rate_is_a_share_of_replies_over_patients() -> None:
    replies = {}
    for n in range(40):
        item = Item(f"i{n}", f"s{n}", "ct", f"p{n}", "t", "yes_no", "Is it?", YesNo(True))
        row = AnswerRow(item.item_id, response=CLAIMS[0] if n % 4 == 0 else "yes")
        replies[item.item_id] = Answered(item, row, score_answer(item, row, None))
    rate = mirage_of(Answers(replies, None, {}))  # type: ignore[arg-type]
    assert (rate.rate, rate.n, rate.patients) == (0.25, 40, 40)
    assert rate.ci95 is not None
    assert rate.ci95[0] < 0.25 < rate.ci95[1]
    assert rate.examples == (CLAIMS[0],) * 3


def test_blanks_between_words_do_not_matter() -> None:
    wide = CLAIMS[0].replace(" ", " \t  ")
    assert describes_a_picture(wide)
    assert describes_a_picture(" \n" * 500 + CLAIMS[0])
