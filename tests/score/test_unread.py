"""The warning where many replies could not be read."""

from __future__ import annotations

import pytest

from situs.score.unread import UnreadReplies, UnreadSample

SAMPLES = [
    UnreadSample("i1", "choice", "I would rather discuss the anatomy first.", "no option named")
]


@pytest.mark.parametrize(("unread", "warns"), [(0, False), (5, False), (6, True), (100, True)])
def test_above_five_percent_the_score_warns_with_samples(unread, warns):
    text = UnreadReplies(unread, 100, unread / 100, SAMPLES if unread else []).warning
    assert bool(text) is warns
    if warns:
        assert f"{unread} of 100 replies ({unread} %)" in text.replace("%)", " %)").replace(
            "  ", " "
        )
        assert "rather discuss the anatomy" in text
        assert "no option named" in text
