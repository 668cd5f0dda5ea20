"""How often a bench's key is wrong, by people who read a random sample of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import msgspec

from situs.bench import KeyReading, settle_keys
from situs.score.stats.exact import clopper_pearson

__all__ = ["KeyErrors", "key_errors"]


class KeyErrors(msgspec.Struct, frozen=True):
    """Errors among the items on whose key the readers decided."""

    errors: int
    decided: int
    unsure: int
    not_visible: int
    readers: int
    ci95: tuple[float, float] | None
    """Clopper and Pearson's exact interval; None if nothing was decided."""
    profiles: tuple[str, ...]

    @property
    def words(self) -> str:
        """As a card says it."""
        who = "1 reader" if self.readers == 1 else f"{self.readers} readers"
        profile_words = f"profile {', '.join(self.profiles)}"
        apart = f"{self.unsure} unsure and {self.not_visible} not visible are left out"
        if self.ci95 is None:
            return f"{who} decided on no key ({apart}; {profile_words})."
        low, high = (100 * v for v in self.ci95)
        return (
            f"key-error rate {100 * self.errors / self.decided:.1f} % ({self.errors} of"
            f" {self.decided} items drawn at random; exact 95 % interval {low:.1f}–{high:.1f} %),"
            f" by {who}, {profile_words}; {apart}."
        )


def key_errors(readings: Sequence[KeyReading]) -> KeyErrors | None:
    """The rate over all readings, one verdict an item; None if there are none."""
    if not readings:
        return None
    counts = Counter(settle_keys(list(readings)).values())
    errors, decided = counts["disagree"], counts["agree"] + counts["disagree"]
    return KeyErrors(
        errors,
        decided,
        counts["unsure"],
        counts["not_visible"],
        len({reading.reader for reading in readings if not reading.adjudicated}),
        clopper_pearson(errors, decided) if decided else None,
        tuple(sorted({reading.profile for reading in readings})),
    )
