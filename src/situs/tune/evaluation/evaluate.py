"""`situs tune eval`: base, answer-only and box-supervised, through the ordinary run and score."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import msgspec

from situs.base.files import canonical_json, write_atomic
from situs.bench import Bench, open_bench
from situs.clients import Asking
from situs.errors import SitusError
from situs.probe.blind import Silent, WordsOnly
from situs.profiles import Presenter, Profile, SliceStore, load_profile
from situs.report import ReportOptions, write_report
from situs.run import read_hidden, respondent_of
from situs.score import Entry, Estimate, paired_difference, score_run
from situs.tune.evaluation.compare import (
    Difference,
    arm_entries,
    differences,
    group_entries,
    mean_over_seeds,
    means,
    seeds_ahead,
    smaller_gain,
    statement,
)
from situs.tune.evaluation.replies import ArmValues, read_arm
from situs.tune.training.folder import TrainingRun, open_training
from situs.tune.training.models import keep_quiet, need_packages

__all__ = ["EvalChoices", "Evaluated", "evaluate"]

RunBar = Callable[[str], AbstractContextManager[Callable[..., None]]]


class EvalChoices(msgspec.Struct, frozen=True):
    """How to ask."""

    split: str = "test"
    limit: int | None = None
    batch: int = 8
    max_tokens: int = 512
    device: str = ""
    sight: bool = True
    """Also ask without pictures, for the sight gain."""
    pictures: int = 24


class Evaluated(msgspec.Struct, frozen=True):
    """What the boxes did."""

    arms: dict[str, dict[str, Entry]]
    differences: tuple[Difference, ...]
    statement: str
    by_task: dict[str, dict[str, Entry]]
    by_size: dict[str, dict[str, Entry]]
    sight_gain: dict[str, Difference]
    """Arm → answers with pictures minus the better of two runs without: told so, or not."""
    forgetting: Difference | None
    seeds: int
    by_seed: dict[str, tuple[dict[str, float | None], ...]]
    """Arm → for each seed the mean of every metric."""
    compute: dict[str, dict[str, int]]
    report: str
    notes: tuple[str, ...]


def evaluate(
    runs: Sequence[Path],
    bench: Path,
    out: Path,
    *,
    controls: Sequence[Path] = (),
    untouched: Path | None = None,
    choices: EvalChoices | None = None,
    run_progress: RunBar = lambda name: nullcontext(lambda *args: None),
) -> Evaluated:
    """Ask all arms on held-out patients and compare them, paired by patient and over seeds.

    `runs` are box-supervised training runs that differ in their seed, `controls` the answer-only
    ones in the same order. `untouched` is a bench that none was trained on, for what was forgotten.
    """
    need_packages("torch", "transformers")
    keep_quiet()
    choices = choices or EvalChoices()
    if choices.split == "train":
        raise SitusError(
            "a model is not evaluated on what it learnt", where="--split", fix="use test or val"
        )
    if controls and len(controls) != len(runs):
        raise SitusError(
            f"{len(runs)} runs and {len(controls)} controls",
            where="--control",
            fix="give a control for each run, in the same order",
        )
    records = {"boxes": [open_training(run) for run in runs]}
    if controls:
        records["answer"] = [open_training(run) for run in controls]
    opened = open_bench(bench)
    notes = _check(records, opened)
    profile = load_profile(str(runs[0] / "profile.toml"))
    asker = _Asker(opened, profile, out, choices, run_progress)
    arms: dict[str, ArmValues] = {}
    seeds: dict[str, list[ArmValues]] = {}
    folders = {"boxes": list(runs), "answer": list(controls)}
    asked: dict[str, Path] = {}
    models = {"base": list(dict.fromkeys(record.config.model for record in records["boxes"]))}
    models |= {arm: [str(_model_of(run)) for run in arm_runs] for arm, arm_runs in folders.items()}
    for arm, arm_models in models.items():
        by_seed = []
        for number, model in enumerate(arm_models):
            run_folder = asker.ask(f"{arm}-{number}", model)
            asked.setdefault(arm, run_folder)
            by_seed.append(asker.read(run_folder))
        if by_seed:
            seeds[arm], arms[arm] = by_seed, mean_over_seeds(by_seed)
    sight = _sight_gain(asker, seeds, folders) if choices.sight else {}
    forgetting = None
    if untouched is not None:
        forgetting = _forgetting(untouched, profile, out, choices, run_progress, records, runs)
    paired_differences = tuple(differences(arms))
    report = out / "report.html"
    write_report(
        list(asked.values()),
        report,
        ReportOptions(bench=bench, pictures=choices.pictures, names=[*asked], stratum="all"),
    )
    result = Evaluated(
        {arm: arm_entries(values) for arm, values in arms.items()},
        paired_differences,
        statement(paired_differences, len(runs), seeds_ahead(seeds)),
        {arm: group_entries(values, "accuracy", values.tasks) for arm, values in arms.items()},
        {arm: group_entries(values, "grounding", values.sizes) for arm, values in arms.items()},
        sight,
        forgetting,
        len(runs),
        {arm: tuple(map(means, by_seed)) for arm, by_seed in seeds.items()},
        {arm: {"steps": arm_records[0].steps} for arm, arm_records in records.items()},
        str(report),
        notes,
    )
    write_atomic(out / "evaluation.json", msgspec.json.format(canonical_json(result), indent=2))
    return result


_BLIND = {"text": WordsOnly, "silent": Silent}
"""Two ways to keep pictures back: the prompt says so, or nothing is said. Which of them a model
does better in is not known beforehand."""


class _Asker:
    """Puts the same questions to every model."""

    def __init__(
        self,
        bench: Bench,
        profile: Profile,
        out: Path,
        choices: EvalChoices,
        run_progress: RunBar,
    ) -> None:
        self._bench, self._profile, self._out = bench, profile, out
        self._choices, self._run_progress = choices, run_progress

    def ask(self, name: str, model: str, *, withhold: str = "", beside: Path | None = None) -> Path:
        """One run, resumed if it was begun; scored as any other.

        `withhold` keeps all pictures back (see `_BLIND`); what is hidden then is what was hidden in
        the run `beside` it.
        """
        run_folder = self.folder(name)
        device = f"&device={self._choices.device}" if self._choices.device else ""
        spec = (
            f"hf:{model}?batch={self._choices.batch}&max_tokens={self._choices.max_tokens}{device}"
        )
        respondent = respondent_of(spec, Asking(), where="--model", run_progress=self._run_progress)
        presenter = Presenter(self._bench, self._profile, store=SliceStore())
        hidden = {} if beside is None else read_hidden(beside / "hidden.jsonl")
        try:
            respondent(
                self._bench,
                _BLIND[withhold](presenter, hidden) if withhold else presenter,
                self._profile,
                run_folder,
                split=self._choices.split,
                limit=self._choices.limit,
                withhold=withhold,
            )
        finally:
            respondent.close()
        if not withhold:
            score_run(self._bench.folder, run_folder)
        return run_folder

    def folder(self, name: str) -> Path:
        """Where a run lies."""
        return self._out / "runs" / name

    def read(self, run_folder: Path) -> ArmValues:
        """The replies' values."""
        return read_arm(
            self._bench, run_folder, self._profile, self._choices.split, self._choices.limit
        )


def _model_of(run: Path) -> Path:
    """The folder that hf: reads: the trained weights, or what the adapter was merged into."""
    folder = run / "model"
    if not (folder / "adapter_config.json").is_file():
        return folder
    merged = run / "merged.txt"
    if merged.is_file() and (merged_folder := Path(merged.read_text("utf-8").strip())).is_dir():
        return merged_folder
    raise SitusError(
        "holds an adapter, which has not been merged yet",
        where=run,
        fix="run situs tune merge first",
    )


def _check(records: dict[str, list[TrainingRun]], bench: Bench) -> tuple[str, ...]:
    """Arms must differ in what they were taught alone."""
    notes = []
    every = [record for arm_records in records.values() for record in arm_records]
    if any(record.target == "answer" for record in records["boxes"]):
        raise SitusError(
            "was taught answers only", where="RUN", fix="give the box-supervised run as RUN"
        )
    if any(record.target != "answer" for record in records.get("answer", ())):
        raise SitusError(
            "was taught boxes too", where="--control", fix="give an answer-only run as control"
        )
    for what, values in (
        ("profiles", {record.profile_hashes[-1] for record in every}),
        ("base models", _strangers(records)),
        ("numbers of steps", {record.steps for record in every}),
    ):
        if len(values) > 1:
            notes.append(f"the arms have different {what}: what they show is not the boxes alone")
    if any(bench.info.content_hash not in record.bench_hashes for record in every):
        notes.append(
            "this is not the bench of the training data: make sure that no patient is in both"
        )
    if "answer" not in records:
        notes.append("without an answer-only control, training and boxes cannot be told apart")
    return tuple(notes)


def _strangers(records: dict[str, list[TrainingRun]]) -> set[str]:
    """The bases of the first seed whose arms have different ones;
    every seed may have its own base."""
    for seed in zip(*records.values()):
        bases = {record.model_hash for record in seed}
        if len(bases) > 1:
            return bases
    return set()


def _sight_gain(
    asker: _Asker, seeds: dict[str, list[ArmValues]], folders: dict[str, list[Path]]
) -> dict[str, Difference]:
    """Answers with pictures minus those of the better run without, of each arm's first seed."""
    gains = {}
    for arm, arm_runs in folders.items():
        if not arm_runs:
            continue
        model, full = str(_model_of(arm_runs[0])), asker.folder(f"{arm}-0")
        over = []
        for withhold in _BLIND:
            name = f"{arm}-{withhold}"
            blind = asker.read(asker.ask(name, model, withhold=withhold, beside=full))
            over.append(_paired(seeds[arm][0], blind, arm, "without pictures"))
        gains[arm] = smaller_gain(over)
    return gains


def _forgetting(
    untouched: Path,
    profile: Profile,
    out: Path,
    choices: EvalChoices,
    run_progress: RunBar,
    records: dict[str, list[TrainingRun]],
    runs: Sequence[Path],
) -> Difference:
    """Answers of the tuned model minus the base's on a bench that neither was trained on."""
    asker = _Asker(open_bench(untouched), profile, out / "untouched", choices, run_progress)
    base = asker.read(asker.ask("base", records["boxes"][0].config.model))
    tuned = asker.read(asker.ask("boxes", str(_model_of(runs[0]))))
    return _paired(tuned, base, "boxes", "base")


def _paired(one: ArmValues, other: ArmValues, a: str, b: str) -> Difference:
    first, second = one.values["accuracy"], other.values["accuracy"]
    shared = sorted(first.keys() & second.keys())
    estimate: Estimate = paired_difference(
        [first[item] for item in shared],
        [second[item] for item in shared],
        [one.patients[item] for item in shared],
    )
    return Difference(
        a,
        b,
        "accuracy",
        estimate.value,
        estimate.ci95,
        estimate.p,
        estimate.n,
        estimate.clusters,
        estimate.note,
    )
