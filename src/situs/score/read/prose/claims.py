"""What a reply claims: which answers it names, and how they are meant."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from enum import Enum, IntEnum

__all__ = ["Certainty", "Claim", "Role", "Statement"]


class Role(IntEnum):
    """What a claim is in the reply; the higher, the more it counts."""

    WEAK = 0
    """A first guess, a step of the reasoning, an explanation."""
    PLAIN = 1
    LEAD = 2
    """Stands alone, or at the head of its sentence."""
    CONCLUDED = 3
    STATED = 4
    FINAL = 5


class Certainty(Enum):
    """How sure a claim is."""

    ASSERTED = "asserted"
    DOUBTED = "doubted"
    CONDITIONAL = "conditional"
    ASKED = "asked"
    ASIDE = "aside"


@dataclass(slots=True)
class Claim:
    """One or more answers named together, and how they are meant."""

    values: tuple[Hashable, ...]
    start: int
    end: int
    role: Role = Role.PLAIN
    certainty: Certainty = Certainty.ASSERTED
    negated: bool = False
    alternatives: bool = False
    """Joined by "or": one of them, which is not said."""
    verdict: bool = False
    """Judged one by one ("A: no")."""
    turns: int = 0
    """How often the reply had turned ("wait", "actually") before it."""
    subject: bool = False
    """Followed by a verb of its own ("the left is …")."""
    minor: bool = False
    """Said to hold a little only ("slightly above")."""
    likely: bool = False
    """Called likely, or probably so, itself."""
    licensed: bool = True
    """Whether all words of its clause are explained; an answer rests on at least one such claim."""
    after_or: bool = False
    """Joined to what was said before by "or"."""
    excepted: bool = False
    idle: bool = False
    """Of another kind than what is asked for, whatever the sentence says of it."""
    outdone: bool = False
    """Denied by the opposite of what is asked for ("the smaller one"): another has it."""
    retracted: bool = False

    @property
    def asserted(self) -> bool:
        """Whether the reply says that this is so."""
        return (
            self.certainty is Certainty.ASSERTED
            and not self.negated
            and not self.retracted
            and not self.excepted
        )

    @property
    def denied(self) -> bool:
        """Whether the reply says that this is not so."""
        return self.certainty is Certainty.ASSERTED and self.negated


@dataclass(slots=True)
class Statement:
    """A sentence with its claims."""

    start: int
    end: int
    claims: list[Claim]
    asks: bool
    alone: bool
    """Nothing but its claims and words that do not matter."""
    announced: Role | None = None
    """The role that it announces ("Final answer: …"), with or without a claim."""
