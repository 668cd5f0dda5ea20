"""The whole suite: the original run, a run for every probe, and the table of what they show."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Protocol

import msgspec

from situs.base.engines import HERE, Engine
from situs.base.files import canonical_json, digest, read_json, write_atomic
from situs.base.text import counted
from situs.bench import Bench, SamePatient
from situs.errors import SitusError
from situs.items import Item
from situs.probe.blind import (
    Blank,
    Hidden,
    KeptHidden,
    Noise,
    OneSlice,
    OtherPatient,
    Shuffled,
    Silent,
    WordsOnly,
)
from situs.probe.bodies import mirror_group
from situs.probe.catalogue import PROBES
from situs.probe.changes.bench import (
    ChangedBench,
    ChangedVolumes,
    changed_bench,
    write_items,
)
from situs.probe.changes.origin import OutcomeRow
from situs.probe.changes.patients import CHANGES
from situs.probe.diagnosis import Diagnosis, ProbeRuns, diagnose, evidence_of
from situs.probe.mirage import Mirage, mirage_of
from situs.probe.profiles import WORDINGS, one_slice, reconvened, reordered, resized, worded
from situs.probe.rotations import Rotations, YesBias, rotated, rotations_of, yes_bias
from situs.probe.shortcuts import ShortcutRow, shortcut_table
from situs.probe.sight_gain import (
    SHORTCUTS,
    ShortcutHits,
    SightGain,
    gain_between,
    gain_over_better,
    shortcut_hits,
)
from situs.probe.swap import swap_row
from situs.probe.table import ComparedRows, ProbeRow, compared, group_row, row_of
from situs.probe.wordings import Wordings, wordings_of
from situs.profiles import FileVolumes, Presenter, Profile, SliceStore
from situs.run import Presents, Prior, RunResult, Spec, Viewing, selected_items
from situs.score import (
    ALL_STRATA,
    HEADLINE,
    Selection,
    ShortcutGain,
    gain_over_best,
    select,
)
from situs.score.explain import (
    Answers,
    Budget,
    answers_of,
    budget_of,
    read_answers,
    scored_answers,
)

__all__ = ["Ask", "ProbeResult", "Probed", "Stopped", "probe", "probed_beside"]

ORIGINAL = "original"
RESULT = "probes.json"
ALWAYS = ("text", "silent")
"""Runs without pictures that a sight gain needs."""


class Ask(Protocol):
    """Puts the items of a bench to the model and leaves a run folder."""

    def __call__(
        self,
        bench: Bench,
        presenter: Presents,
        profile: Profile,
        out: Path,
        *,
        split: str | None,
        limit: int | None,
        withhold: str,
    ) -> RunResult:
        """One run, resumed if it was begun."""


class Stopped(Exception):
    """A run stopped early or was interrupted; the same command resumes it."""

    def __init__(self, name: str, result: RunResult) -> None:
        super().__init__(name)
        self.name = name
        self.result = result


class ProbeResult(msgspec.Struct, frozen=True):
    """Everything `situs probe` says."""

    diagnosis: Diagnosis
    """What kind of reader it is, in words."""
    probes: dict[str, ProbeRow]
    sight_gain: SightGain
    shortcuts: dict[str, ShortcutRow]
    """Rows that see no picture, on the same items:
    chance, the shortcuts, option tricks and prior boxes."""
    signatures: Budget
    """Why wrong answers of the original run are wrong."""
    rotations: Rotations | None = None
    wordings: Wordings | None = None
    yes_bias: YesBias | None = None
    """How much more often yes is said than right in the original run."""
    warnings: tuple[str, ...] = ()
    same_patient: SamePatient | None = None
    """What the bench's card says a patient's other answers tell,
    where the headline is what is shown."""


class ProbeOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Which items a suite asks about, and how it works on them."""

    split: str | None = None
    limit: int | None = None
    data: Path | None = None
    """The folder the volumes are in, if they were moved."""
    seed: int = 0
    """Of the bootstrap."""
    stratum: str = HEADLINE
    """The items that the sight gain is measured on (`select`)."""
    engine: Engine = HERE
    """Makes the changed patients."""
    hidden: Hidden | None = None
    """What the profile hides and why, where another suite of this bench and profile has told."""


_ALL_ITEMS = ProbeOptions()


def probe(
    bench: Bench,
    profile: Profile,
    names: Iterable[str],
    out: Path,
    ask: Ask,
    options: ProbeOptions = _ALL_ITEMS,
) -> ProbeResult:
    """Run the probes into folders under `out`, and say what they show.

    The runs `text` and `silent` are always made: the sight gain is measured against the better of
    them.
    """
    return _Suite(bench, profile, out, ask, options).run(list(names))


class Probed(msgspec.Struct, frozen=True):
    """What `situs probe` concluded about a run."""

    diagnosis: Diagnosis
    sight_gain: SightGain


def probed_beside(run: Path) -> Probed | None:
    """What was concluded about a run that `situs probe` began with; None for any other run."""
    path = run.resolve().parent / RESULT
    if run.resolve().name != ORIGINAL or not path.is_file():
        return None
    return read_json(path, Probed)


class _Suite:
    def __init__(
        self,
        bench: Bench,
        profile: Profile,
        out: Path,
        ask: Ask,
        options: ProbeOptions,
    ) -> None:
        self._bench = bench
        self._options = options
        self._profile = profile
        self._out = out
        self._ask = ask
        self._store = SliceStore()
        self._viewing = Viewing(bench, profile)
        self._prior = Prior(bench, Spec("prior"), self._viewing)
        self._compared: dict[str, ComparedRows] = {}
        self._budgets: dict[str, Budget] = {}
        self._mirage: Mirage
        self._rotation_table: Rotations | None = None
        self._wording_table: Wordings | None = None

    def run(self, names: list[str]) -> ProbeResult:
        self._bench.verify()
        self._bench.hold_items()  # shortcuts and blind rows go through them a dozen times
        select((), self._options.stratum, self._bench.info.by_stratum)  # before anybody is asked
        with self._leaving_nothing():
            self._made = self._derived(names)
            hits = self._shortcut_hits()
            self._asked(ORIGINAL, self._bench, self._presents(), self._profile)
        self._full = self._explained(ORIGINAL, None)
        blind = {name: self._blind(name, self._profile) for name in ALWAYS}
        rows: dict[str, ProbeRow] = {}
        self._blind_runs = blind
        for name in names:
            rows[name] = RUNS[name](self, name)
        counted = [item_id for item_id, one in self._full.by_id.items() if one.counts]
        shortcuts = hits.among(counted)
        gain = self._sight_gain(blind, shortcuts)
        for name in ALWAYS:
            if name not in rows:
                self._blind_row(name)
        terms, budget = self._bench.info.terms, self._budgets[ORIGINAL]
        runs = ProbeRuns(self._full, blind, self._compared, self._prior.left_open, terms)
        evidence = evidence_of(runs, self._selected(), budget, self._budgets["silent"])
        result = ProbeResult(
            diagnosis=diagnose(evidence),
            probes=rows,
            sight_gain=gain,
            shortcuts=shortcut_table(self._bench, self._full, shortcuts, self._selected()),
            signatures=budget,
            rotations=self._rotation_table,
            wordings=self._wording_table,
            yes_bias=yes_bias(self._full),
            warnings=self._warnings(rows),
            same_patient=self._same_patient(),
        )
        write_atomic(
            self._out / RESULT, msgspec.json.format(canonical_json(result), indent=1) + b"\n"
        )
        return result

    @contextmanager
    def _leaving_nothing(self) -> Iterator[None]:
        """A bench that contradicts itself shows before the first answer:
        nothing was paid for, and nothing stays."""
        new_folders = [path for path in (self._out, *self._out.parents) if not path.exists()]
        try:
            yield
        except SitusError:
            if self._out in new_folders and not (self._out / ORIGINAL).exists():
                shutil.rmtree(self._out, ignore_errors=True)
            for path in new_folders:
                with suppress(OSError):
                    path.rmdir()
            raise

    def _shortcut_hits(self) -> ShortcutHits:
        options = self._options
        items = selected_items(self._bench, options.split, options.limit, steps=False)
        return shortcut_hits(self._bench, self._viewing, SHORTCUTS, items)

    def _presents(self) -> Presents:
        """The original: whether an item is hidden is worked out, unless it is known."""
        presenter, hidden = self._presenter(self._profile), self._options.hidden
        return presenter if hidden is None else KeptHidden(presenter, hidden)

    def _presenter(self, profile: Profile) -> Presenter:
        return Presenter(self._bench, profile, store=self._store, data=self._options.data)

    def _asked(
        self, name: str, bench: Bench, presenter: Presents, profile: Profile, *, withhold: str = ""
    ) -> None:
        is_made = bench is not self._bench
        result = self._ask(
            bench,
            presenter,
            profile,
            self._out / name,
            split=None if is_made else self._options.split,
            limit=None if is_made else self._options.limit,
            withhold=withhold,
        )
        if result.interrupted or result.stopped:
            raise Stopped(name, result)

    def _blind(self, name: str, profile: Profile) -> Answers:
        hidden = self._full.hidden
        if name == "one-slice":
            profile = one_slice(profile)
        withheld = WITHHOLDING[name](self._presenter(profile), hidden, self._bench)
        self._asked(name, self._bench, withheld, profile, withhold=name if name in ALWAYS else "")
        if name == "silent":
            answers = self._explained(name, self._full)
            self._mirage = mirage_of(answers)
        else:
            run = scored_answers(self._out / name, self._bench.folder, hidden=hidden)
            answers = answers_of(run, self._full)
        self._compared[name] = compared(self._full, answers, None, lambda item_id: item_id)
        answers.forget_words()
        return answers

    def _explained(self, name: str, beside: Answers | None) -> Answers:
        """The answers of a run, of which it is also told why wrong ones are wrong."""
        hidden = None if beside is None else beside.hidden
        run = scored_answers(self._out / name, self._bench.folder, hidden=hidden)
        self._budgets[name] = budget_of(run, self._viewing, self._prior)
        return answers_of(run, beside)

    def _swapped(self, name: str) -> ProbeRow:
        return swap_row(self._full, seed=self._options.seed)

    def _withheld(self, name: str) -> ProbeRow:
        if name not in self._blind_runs:
            self._blind_runs[name] = self._blind(name, self._profile)
        return self._blind_row(name)

    def _blind_row(self, name: str) -> ProbeRow:
        return row_of("blind", self._compared[name], runs=(name,))

    def _represented(self, name: str) -> ProbeRow:
        profile = REPRESENTATIONS[name](self._profile)
        self._asked(name, self._bench, self._presenter(profile), profile)
        answers = read_answers(self._out / name, self._bench.folder, beside=self._full)
        rows = self._compared[name] = compared(self._full, answers, None, lambda item_id: item_id)
        return row_of("representation", rows, runs=(name,))

    def _items(self) -> list[Item]:
        return list(selected_items(self._bench, self._options.split, self._options.limit))

    def _derived(self, names: list[str]) -> dict[str, ChangedBench]:
        """The benches of the probes that need one of their own, before anybody is asked."""
        made: dict[str, ChangedBench] = {}
        for name in names:
            if name == "rotations":
                made[name] = self._rotated()
            elif name in CHANGES:
                folder = self._out / f"bench-{name}"
                made[name] = changed_bench(
                    self._bench,
                    self._items(),
                    name,
                    self._profile,
                    folder,
                    data=self._options.data,
                    engine=self._options.engine,
                )
        return made

    def _changed(self, name: str) -> ProbeRow:
        kind, folder, made = PROBES[name].kind, self._out / f"bench-{name}", self._made[name]
        if made.bench is None:
            return row_of(kind, [], made.outcomes)
        volumes = ChangedVolumes(self._bench, name, self._profile, data=self._options.data)
        presenter = Presenter(made.bench, self._profile, store=self._store, volumes=volumes)
        presents: Presents = presenter
        if name == "shuffled":
            reasons = self._full.hidden.items()
            presents = Shuffled(presenter, {f"{item_id}~{name}": why for item_id, why in reasons})
        self._asked(name, made.bench, presents, self._profile)
        answers = read_answers(self._out / name, folder)
        rows = compared(self._full, answers, made.outcomes, lambda item_id: f"{item_id}~{name}")
        self._compared[name] = rows
        groups = None
        if name == "mirror":
            bodies = {
                row.item.item_id: mirror_group(row.item, self._bench.info.terms) for row in rows
            }
            groups = group_row(kind, rows, bodies)
        return row_of(kind, rows, made.outcomes, runs=(name,), groups=groups)

    def _rotated(self) -> ChangedBench:
        twins = list(rotated(self._items()))
        if not twins:
            return ChangedBench(None, [])
        outcomes = [OutcomeRow(twin.item_id, "unchanged") for twin in twins]
        key = digest(self._bench.info.content_hash, "rotations", *(twin.item_id for twin in twins))
        folder = self._out / "bench-rotations"
        return write_items(self._bench, twins, outcomes, key, "rotations", self._profile, folder)

    def _rotations(self, name: str) -> ProbeRow:
        made, folder = self._made[name], self._out / "bench-rotations"
        if made.bench is None:
            nothing = Answers({}, self._full.shown, {})
            self._rotation_table = rotations_of(self._full, nothing)
            return row_of("choice", [])
        files = FileVolumes(self._bench, data=self._options.data)
        presenter = Presenter(made.bench, self._profile, store=self._store, volumes=files)
        self._asked("rotations", made.bench, presenter, self._profile)
        answers = read_answers(self._out / "rotations", folder)
        rows = compared(self._full, answers, None, lambda item_id: f"{item_id}~rotations.1")
        note = "of the first rotation; all of them are summed up under rotations"
        self._rotation_table = rotations_of(self._full, answers)
        return row_of("choice", rows, runs=(name,), note=note)

    def _wordings(self, name: str) -> ProbeRow:
        runs = {ORIGINAL: self._full}
        for number in range(len(WORDINGS)):
            run, profile = f"wording-{number + 1}", worded(self._profile, number)
            self._asked(run, self._bench, self._presenter(profile), profile)
            runs[run] = read_answers(self._out / run, self._bench.folder, beside=self._full)
        rows = compared(self._full, runs["wording-1"], None, lambda item_id: item_id)
        note = "of the first wording; all of them are summed up under wordings"
        self._wording_table = wordings_of(runs)
        names = tuple(run for run in runs if run != ORIGINAL)
        return row_of("choice", rows, runs=names, note=note)

    def _sight_gain(
        self, blind: dict[str, Answers], shortcuts: dict[str, dict[str, bool]]
    ) -> SightGain:
        selection, volume = self._selected(), blind.get("one-slice")
        without = {name: blind[name] for name in ALWAYS}
        against, gain = gain_over_better(self._full, without, selection)
        _, credited = gain_over_better(self._full, without, selection, chance_credit=True)
        alone = {
            name: gain_between(self._full, run, selection).blind for name, run in without.items()
        }
        strata = [*sorted({one.item.stratum for one in self._full.by_id.values()}), ALL_STRATA]
        model = {
            i: one.right
            for i, one in self._full.by_id.items()
            if one.counts and one.scored in selection
        }
        return SightGain(
            value=gain.value,
            ci95=gain.ci95,
            n=gain.n,
            patients=gain.patients,
            model=gain.model,
            text=alone["text"],
            silent=alone["silent"],
            against=against,
            mirage=self._mirage,
            with_chance_credit=credited,
            volume_gain=None if volume is None else gain_between(self._full, volume, selection),
            over_best_shortcut=self._over_best(model, shortcuts),
            by_stratum={
                name: gain_over_better(self._full, without, self._selected(name))[1]
                for name in strata
                if name
            },
            items=selection.words,
            note=gain.note,
        )

    def _over_best(
        self, model: dict[str, bool], shortcuts: dict[str, dict[str, bool]]
    ) -> ShortcutGain:
        items = sorted(model)
        others = {name: [right[item] for item in items] for name, right in shortcuts.items()}
        model_right = [model[item] for item in items]
        patients = [self._full.by_id[item].item.patient_id for item in items]
        return gain_over_best(model_right, others, patients, seed=self._options.seed)

    def _selected(self, stratum: str | None = None) -> Selection:
        return select(
            [self._full.columns], stratum or self._options.stratum, self._bench.info.by_stratum
        )

    def _same_patient(self) -> SamePatient | None:
        is_headline = self._selected().stratum == HEADLINE
        return self._bench.info.same_patient if is_headline else None

    def _warnings(self, rows: dict[str, ProbeRow]) -> tuple[str, ...]:
        result = [f"{name}: {row.note}" for name, row in rows.items() if not row.n]
        hidden = sum(not one.counts for one in self._full.by_id.values())
        if hidden:
            result.append(
                f"left out: {counted(hidden, 'item')} that cannot be answered under this"
                " profile, or that"
                " a judge would have to read"
            )
        return tuple(result)


Withheld = Callable[[Presenter, Hidden, Bench], KeptHidden]
WITHHOLDING: dict[str, Withheld] = {
    "text": lambda presenter, hidden, bench: WordsOnly(presenter, hidden),
    "silent": lambda presenter, hidden, bench: Silent(presenter, hidden),
    "blank": lambda presenter, hidden, bench: Blank(presenter, hidden, marks=False),
    "marks-on-blank": lambda presenter, hidden, bench: Blank(presenter, hidden, marks=True),
    "noise": lambda presenter, hidden, bench: Noise(presenter, hidden),
    "one-slice": lambda presenter, hidden, bench: OneSlice(presenter, hidden),
    "other-patient": OtherPatient,
}
"""Blind probe → what is shown in place of the pictures."""
REPRESENTATIONS: dict[str, Callable[[Profile], Profile]] = {
    "convention": reconvened,
    "slice-order": reordered,
    "spacing": resized,
}
"""Probe → the profile that shows the same patient otherwise, and says so."""
RUNS: dict[str, Callable[[_Suite, str], ProbeRow]] = {
    **dict.fromkeys(WITHHOLDING, _Suite._withheld),
    **dict.fromkeys(REPRESENTATIONS, _Suite._represented),
    **dict.fromkeys(CHANGES, _Suite._changed),
    "swap": _Suite._swapped,
    "rotations": _Suite._rotations,
    "wordings": _Suite._wordings,
}
"""Probe → how it is run; a test holds it to the catalogue."""
