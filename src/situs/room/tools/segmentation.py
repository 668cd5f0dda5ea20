"""The segmentation tool of a session: truthful, within its interval, or lying in one named way."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from situs.base.files import digest
from situs.bench import Bench
from situs.errors import SitusError
from situs.facts import Fact, Ledger, number
from situs.items import Answer, Item
from situs.probe import Patient
from situs.room.tools.ladder import Tools
from situs.room.tools.lies import lied_answer, lied_patient, lying_ledger
from situs.room.tools.measures import Segmentation, ToolWord, Value, say_values, tool_values
from situs.room.view.opened import OpenScan, OpenScans

__all__ = ["SegmentationTool"]

_CANNOT_LIE = "no segmentation could be made of this scan"


class SegmentationTool:
    """One rung of the ladder on the series of a bench."""

    def __init__(self, tools: Tools, bench: Bench, scans: OpenScans) -> None:
        self._tools = tools
        self._bench = bench
        self._scans = scans

    @property
    def lie(self) -> str:
        """Which lie it tells; empty for the truth."""
        return self._tools.lie

    def for_item(self, item: Item, opened: OpenScan) -> Segmentation | None:
        """What an item's session may ask; None where there is no such tool."""
        if not self._tools.segmentation:
            return None

        def answer(structure: str, other: str) -> ToolWord:
            return self._word(item, opened, structure, other)

        return answer

    def lied_answer(self, item: Item, opened: OpenScan) -> Answer | None:
        """The answer that whoever believes the tool gives;
        None if that is no lie, or the lie changes nothing."""
        if not self._tools.lie or opened.ledger is None:
            return None
        lying = self._ledger(opened)
        return None if lying is None else lied_answer(item, lying, opened.ledger)

    def _word(self, item: Item, opened: OpenScan, structure: str, other: str) -> ToolWord:
        ledger, truthful = self._ledger(opened), opened.ledger
        if ledger is None or truthful is None:
            raise SitusError(_CANNOT_LIE)
        shift: Callable[[Fact], float] = number
        if self._tools.noisy:
            shift = _within_interval(item)
        values = tool_values(ledger, structure, other, shift)
        truth: dict[str, Value] = {}
        if self._tools.lie:
            truth = _if_known(truthful, structure, other)
        words = say_values(structure, other, values)
        return ToolWord(structure, other, words, values, self._tools.lie, truth)

    def _ledger(self, opened: OpenScan) -> Ledger | None:
        if not self._tools.lie:
            return opened.ledger
        return opened.once(f"lie:{self._tools.lie}", lambda: self._lying(opened))

    def _lying(self, opened: OpenScan) -> Ledger | None:
        patient = opened.patient
        if patient is None:
            return None
        body = lied_patient(self._tools.lie, patient, lambda: self._another(opened))
        return None if body is None else lying_ledger(body, self._bench)

    def _another(self, opened: OpenScan) -> Patient | None:
        """The patient whose measures a stale tool still holds:
        the next one, in an order drawn by the ids."""
        return self._scans.another_patient(opened.study, opened.series)


def _within_interval(item: Item) -> Callable[[Fact], float]:
    """A number within the fact's interval,
    drawn anew for every item and fact, and the same each time."""

    def told(fact: Fact) -> float:
        value = number(fact)
        low, high = fact.interval if fact.interval is not None else (value, value)
        seed = int(digest("noisy", item.item_id, fact.fact_id, size=4), 16)
        return float(np.random.default_rng(seed).uniform(low, high))

    return told


def _if_known(ledger: Ledger, structure: str, other: str) -> dict[str, Value]:
    try:
        return tool_values(ledger, structure, other, number)
    except SitusError:
        return {}
