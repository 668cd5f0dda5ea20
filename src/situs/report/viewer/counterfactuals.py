"""The counterfactual twins of items:
what a probe's run said of the changed scan, from the folder beside the run."""

from __future__ import annotations

import base64
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import msgspec

from situs.bench import open_bench
from situs.errors import SitusError
from situs.items import Item
from situs.items.answer_words import answer_words
from situs.probe import (
    CHANGES,
    FINDINGS,
    GroupSight,
    outcomes_of,
    probed_beside,
    verdict_words,
    volumes_of,
)
from situs.profiles import Presenter, Profile
from situs.report.scored import ReportedRun, mark_of
from situs.run import open_run
from situs.score.explain import Answered, read_answers
from situs.tables import INTERVAL, Cell, Table

__all__ = ["ChangedTwin", "Counterfactuals", "counterfactuals_of", "diagnosis_table"]

_IN_ORDER = "shuffled"
"""Its pictures are those of the scan itself, in another order."""


class ChangedTwin(msgspec.Struct, frozen=True, array_like=True):
    """One item asked of the changed scan."""

    probe: str
    outcome: str
    """`changed` or `unchanged`: what the change does to the right answer."""
    answer: str
    """The right answer now."""
    run: int
    mark: str
    said: str
    picture: str = ""
    """Into the shared pictures: the middle one that the model saw."""


class _Probed(msgspec.Struct, frozen=True):
    folder: Path
    probe: str
    profile: Profile
    run: int
    outcomes: dict[str, str]
    answers: Mapping[str, Answered]


class Counterfactuals:
    """The probes made beside the runs of a report."""

    def __init__(self, probed: Sequence[_Probed], data: Path | None) -> None:
        self._probed = probed
        self._data = data

    def twins(self) -> dict[str, tuple[ChangedTwin, ...]]:
        """Item → its twins, in the order of the probes."""
        twins_of: dict[str, list[ChangedTwin]] = defaultdict(list)
        for one in self._probed:
            for item_id, outcome in one.outcomes.items():
                twin = one.answers.get(f"{item_id}~{one.probe}")
                if twin is not None:
                    scored, right = twin.scored, answer_words(twin.item)
                    twins_of[item_id].append(
                        ChangedTwin(
                            one.probe, outcome, right, one.run, mark_of(scored), scored.parsed
                        )
                    )
        return {item_id: tuple(twins) for item_id, twins in twins_of.items()}

    def pictures(self, items: Iterable[str], budget: int) -> dict[tuple[str, str], tuple[str, str]]:
        """(item, probe) → key and data of the middle picture of the changed scan,
        while they fit; study by study."""
        pictures: dict[tuple[str, str], tuple[str, str]] = {}
        wanted, spent = set(items), 0
        for one in self._probed:
            if one.probe == _IN_ORDER:
                continue
            bench = open_bench(one.folder)
            try:
                presenter = Presenter(bench, one.profile, volumes=volumes_of(bench, self._data))
                for twin in sorted(_of(one, wanted), key=lambda item: item.study_id):
                    images = presenter.present(twin).images
                    if not images:
                        continue
                    image = images[len(images) // 2]
                    data = f"data:{image.media_type};base64,{base64.b64encode(image.data).decode()}"
                    spent += len(data)
                    if spent > budget:
                        return pictures
                    pictures[twin.twin_of, one.probe] = image.digest, data
            except SitusError:
                continue
        return pictures


def _of(one: _Probed, wanted: set[str]) -> list[Item]:
    return [twin.item for twin in one.answers.values() if twin.item.twin_of in wanted]


def counterfactuals_of(
    folders: Sequence[Path],
    runs: Sequence[ReportedRun],
    content_hash: str,
    data: Path | None = None,
) -> Counterfactuals:
    """Look beside each run for `bench-<probe>` and
    the run `<probe>` of the same model and profile."""
    probed: dict[Path, _Probed] = {}
    for run_number, (folder, run) in enumerate(zip(folders, runs)):
        for probe in CHANGES:
            made, asked = (
                folder.resolve().parent / f"bench-{probe}",
                folder.resolve().parent / probe,
            )
            known = outcomes_of(made)
            if made in probed or known is None or known.source_hash != content_hash:
                continue
            if not (asked / "answers.jsonl").is_file() or run.info.withheld:
                continue
            info, _ = open_run(asked, made)
            if (info.client, info.profile_hash) == (run.info.client, run.info.profile_hash):
                outcomes = {
                    row.item_id: row.outcome for row in known.rows if row.outcome != "undefined"
                }
                answers = read_answers(asked, made).by_id
                probed[made] = _Probed(made, probe, info.profile, run_number, outcomes, answers)
    return Counterfactuals(list(probed.values()), data)


def _group_row(run: str, name: str, group: GroupSight) -> tuple[Cell, ...]:
    """Sight in a group of tasks."""
    gain = group.gain
    words = f"gain {gain.words}; over its own answers to other patients {group.own_picture.words}"
    verdict = verdict_words(group.verdict)
    return (
        run,
        f"sight: {name}",
        verdict,
        words,
        "sight gain with chance credit",
        gain.value,
        gain.ci95,
        gain.n,
        gain.patients,
    )


def diagnosis_table(folders: Sequence[Path], runs: Sequence[ReportedRun]) -> Table | None:
    """What `situs probe` said of the runs it began with; None if none of these is one."""
    rows: list[tuple[Cell, ...]] = []
    for folder, run in zip(folders, runs):
        probed = probed_beside(folder)
        diagnosis = None if probed is None else probed.diagnosis
        findings = {} if diagnosis is None else diagnosis.findings
        if diagnosis is not None:
            rows.append((run.name, "diagnosis", diagnosis.kind, diagnosis.summary, "", *[None] * 4))
        order = [*FINDINGS, *sorted(findings.keys() - set(FINDINGS))]
        # What was found comes first, then what was not, then sight by group of tasks, the larger
        # groups first.
        named = sorted(
            (name for name in order if name in findings),
            key=lambda name: findings[name].verdict != "yes",
        )
        for name, one in ((name, findings[name]) for name in named):
            verdict = verdict_words(one.verdict)
            rests_on = one.n or None, one.patients or None
            rows.append(
                (
                    run.name,
                    name.replace("_", " "),
                    verdict,
                    one.words,
                    one.measure,
                    one.value,
                    one.ci95,
                    *rests_on,
                )
            )
        groups = {} if diagnosis is None else diagnosis.groups
        largest_first = sorted(groups.items(), key=lambda pair: -pair[1].gain.n)
        rows += [_group_row(run.name, name, group) for name, group in largest_first]
    columns = (
        "run",
        "finding",
        "verdict",
        "because",
        "measure",
        "value",
        "95 % interval",
        "items",
        "patients",
    )
    caption = (
        "From situs probe: a pattern in the answers, not what goes on inside the model. Intervals"
        " are 95 %."
    )
    styles = {"95 % interval": INTERVAL}
    table = Table("diagnosis", "Did it look?", columns, tuple(rows), caption, styles)
    return table if rows else None
