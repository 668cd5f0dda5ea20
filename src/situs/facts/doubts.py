"""What looks wrong about a study, and which of it the user vouches for:
the same for every kind of ledger."""

from __future__ import annotations

import functools

from situs.anatomy import Doubt, Suspicion

__all__ = ["ALL", "Doubted"]

ALL = "all"
"""Everything about a study is trusted."""


class Doubted:
    """A ledger whose study may look wrong."""

    trusted: frozenset[str]
    """What the user vouches for, though it looks wrong: `ALL`, a doubt, or a structure."""

    def _find_suspicions(self) -> list[Suspicion]:
        raise NotImplementedError

    @functools.cached_property
    def suspicions(self) -> list[Suspicion]:
        """What looks wrong about the study's anatomy, trusted or not."""
        return self._find_suspicions()

    @functools.cached_property
    def doubts(self) -> list[Suspicion]:
        """What cannot be relied on:
        suspicions that bear on questions and that nobody vouches for."""
        return [
            suspicion
            for suspicion in self.suspicions
            if suspicion.doubt is not None and not self.trusts(suspicion)
        ]

    def trusts(self, suspicion: Suspicion) -> bool:
        """Whether the user vouches for what a suspicion doubts."""
        whole_doubt = suspicion.doubt is not None and suspicion.doubt.value in self.trusted
        structures = suspicion.doubt is Doubt.STRUCTURE and self.trusted.issuperset(
            suspicion.structures
        )
        return ALL in self.trusted or whole_doubt or structures
