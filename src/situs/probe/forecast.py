"""What probing a model will take, told before anything is sent:
every run that would be made, together."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from pathlib import Path

import msgspec

from situs.bench import Bench
from situs.clients import Forecast
from situs.probe.changes.patients import CHANGES
from situs.probe.profiles import WORDINGS, worded
from situs.probe.rotations import rotated
from situs.probe.suite import ALWAYS, ORIGINAL, REPRESENTATIONS, WITHHOLDING
from situs.profiles import Presenter, Profile, SliceStore
from situs.run import Presents, Respondent, read_journal, selected_items

__all__ = ["forecast_probes"]


def forecast_probes(
    bench: Bench,
    profile: Profile,
    names: Iterable[str],
    out: Path,
    ask: Respondent,
    *,
    split: str | None = None,
    limit: int | None = None,
    data: Path | None = None,
) -> Forecast:
    """Requests, pictures, tokens, money and time of all runs that are not done; nothing is sent or
    written.

    Of changed patients the most is taken: some questions have no answer any more and will not be
    asked.
    """
    plans = _Plans(bench, profile, out, ask, split, limit, data)
    wanted = dict.fromkeys((ORIGINAL, *ALWAYS, *names))
    total = reduce(Forecast.plus, (one for name in wanted for one in plans.of(name)))
    runs = sum(len(plans.runs_of(name)) for name in wanted)
    return msgspec.structs.replace(total, basis=f"{runs} runs; {plans.one.basis}")


class _Plans:
    def __init__(
        self,
        bench: Bench,
        profile: Profile,
        out: Path,
        ask: Respondent,
        split: str | None,
        limit: int | None,
        data: Path | None,
    ) -> None:
        self._bench, self._profile, self._out, self._ask = bench, profile, out, ask
        self._split, self._limit, self._data = split, limit, data
        self._store = SliceStore()
        self.one = self._forecast(self._presenter(profile), "")
        """A run of the bench as it is, of which nothing is done."""

    def runs_of(self, name: str) -> list[str]:
        """The folders of a probe's runs; an exchange is worked out from the original one."""
        if name == "swap":
            return []
        if name == "wordings":
            return [f"wording-{number + 1}" for number in range(len(WORDINGS))]
        return [name]

    def of(self, name: str) -> list[Forecast]:
        """What each run of a probe takes."""
        if name in WITHHOLDING:
            return [self._forecast(WITHHOLDING[name](self._of_profile(), {}, self._bench), name)]
        if name in REPRESENTATIONS:
            return [self._forecast(self._presenter(REPRESENTATIONS[name](self._profile)), name)]
        if name == "wordings":
            return [
                self._forecast(self._presenter(worded(self._profile, number)), run)
                for number, run in enumerate(self.runs_of(name))
            ]
        if name in CHANGES or name == "rotations":
            return [self._of_own_items(name)]
        return [self._forecast(self._of_profile(), name)] if name == ORIGINAL else []

    def _of_own_items(self, name: str) -> Forecast:
        """A run of a bench that is not made yet, at the price of the original one's questions."""
        items = selected_items(self._bench, self._split, self._limit)
        count = sum(1 for _ in (rotated(list(items)) if name == "rotations" else items))
        journal = self._out / name / "answers.jsonl"
        done = len(read_journal(journal)) if journal.is_file() else 0
        return _scaled(self.one, max(0, count - done) / max(1, self.one.requests))

    def _forecast(self, presenter: Presents, run: str) -> Forecast:
        # A run of no name is one that nobody has begun.
        folder = self._out / (run or ".none")
        return self._ask.forecast(
            self._bench, presenter, folder, split=self._split, limit=self._limit
        )

    def _of_profile(self) -> Presenter:
        return self._presenter(self._profile)

    def _presenter(self, profile: Profile) -> Presenter:
        return Presenter(self._bench, profile, store=self._store, data=self._data)


def _scaled(one: Forecast, share: float) -> Forecast:
    def part(amount: float | None) -> float | None:
        return None if amount is None else amount * share

    return Forecast(
        round(one.requests * share),
        round(one.pictures * share),
        round(one.tokens_in * share),
        round(one.tokens_out * share),
        part(one.cost),
        part(one.cost_at_most),
        part(one.seconds),
        one.basis,
        round(one.hidden * share),
    )
