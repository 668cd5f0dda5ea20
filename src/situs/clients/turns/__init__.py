"""One action a turn: what a model may do, how it is told, and how its reply is read and checked."""

from situs.clients.turns.contract import ActionKind, Field, schema_of, tools_of
from situs.clients.turns.proofs import is_proved, record_proof
from situs.clients.turns.reading import Action, Misread, read_action

__all__ = [
    "Action",
    "ActionKind",
    "Field",
    "Misread",
    "is_proved",
    "read_action",
    "record_proof",
    "schema_of",
    "tools_of",
]
