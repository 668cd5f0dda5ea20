"""The frame of every build: studies are worked on once, those that cannot be used are named,
questions are placed.

A source lists its jobs (`StudyWork`), says what a worker does with one, and asks its questions.
Spreading the work over processes, keeping it on disk, progress, refusing or skipping what cannot be
read, splits and placement are here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import groupby
from pathlib import Path
from typing import Any, Generic, TypeVar

import msgspec

from situs.base.publish import work_folder
from situs.bench import Bench, Locations, StudyRecord, split_patients
from situs.build.shards import adopt_shards, finished_shard
from situs.build.spool import Job, Spool, map_studies
from situs.build.study import with_sources
from situs.build.writer import BuildOptions
from situs.errors import Problem, SitusError
from situs.facts import Fact
from situs.items import Item, Placement, place

__all__ = [
    "Progress",
    "StudyWork",
    "facts_behind",
    "finished_studies",
    "in_bench_order",
    "known_places",
    "placed",
    "rows_by_study",
    "with_splits",
]

Progress = Callable[[int, int], None]
Outcome = TypeVar("Outcome")


class StudyWork(msgspec.Struct, Generic[Job, Outcome], frozen=True):
    """What is to be done with the studies of a source."""

    jobs: Sequence[Job]
    open_worker: Callable[[], Callable[[Job], Outcome]]
    """Called once in each process; gives the function that does a job."""
    outcome: Any
    """The type of an outcome, by which it is read from disk."""
    files_of: Callable[[Job, Outcome], Sequence[Path]]
    """The files an outcome rests on: while these stay as they are, it is not worked out again."""
    name: str = "studies"
    """Of the folder of outcomes; different for each work of a build."""

    def spool(self, scratch: Path) -> Spool[Outcome]:
        """The outcomes on disk, in the folder that will become the bench."""
        return Spool(work_folder(scratch) / self.name, self.outcome)


def finished_studies(
    work: StudyWork[Job, Outcome],
    scratch: Path,
    options: BuildOptions,
    problems: list[Problem],
    progress: Progress = lambda done, total: None,
) -> Iterator[tuple[int, Outcome]]:
    """The number of each job that can be used, and its outcome, in their order.

    Those that cannot are added to the problems. Once all are worked on, they are an error, unless
    the user skips them and others are left.
    """
    bad: list[Problem] = []
    total = len(work.jobs)
    spool = work.spool(scratch)
    if options.shards:
        source = work.name, work.outcome
        adopt_shards(options.shards, spool, total, work_folder(scratch), source)
    wanted = range(total) if options.shard is None else options.shard.of_jobs(total)
    outcomes = map_studies(
        work.open_worker,
        {number: work.jobs[number] for number in wanted},
        options.engine,
        spool,
        work.files_of,
    )
    for done, (number, outcome) in enumerate(zip(wanted, outcomes), start=1):
        progress(done, len(wanted))
        if isinstance(outcome, Problem):
            bad.append(outcome)
        else:
            yield number, outcome
    if bad and (not options.skip_bad or len(bad) == len(wanted)):
        raise _unusable(bad, len(wanted))
    problems.extend(bad)
    if options.shard is not None:
        raise finished_shard(options.shard, work.name, total, len(bad), work_folder(scratch))


def _unusable(bad: Sequence[Problem], total: int) -> SitusError:
    first, skip = bad[0], "" if len(bad) == total else ", or add --skip-bad"
    if len(bad) == 1:
        return SitusError(first.problem, fix=f"{first.fix or 'repair or remove it'}{skip}")
    text = "; ".join(filter(None, (first.problem, first.fix)))
    problem = f"{len(bad)} of {total} studies cannot be used; the first: {text}"
    return SitusError(problem, fix=f"fix them{skip}")


def with_splits(records: Sequence[StudyRecord], options: BuildOptions) -> list[StudyRecord]:
    """The studies with the split of their patients, which depends on the size of the cohort."""
    patients = (record.patient_id for record in records)
    splits = split_patients(patients, options.recipe, options.seed)
    return [msgspec.structs.replace(record, split=splits[record.patient_id]) for record in records]


def placed(items: Iterable[Item], placements: Mapping[str, Placement], split: str) -> list[Item]:
    """The finished items of a study, those that are asked, in the order of the bench."""
    asked = [
        place(item, placements[item.item_id], split) for item in items if item.item_id in placements
    ]
    return in_bench_order(asked)


def in_bench_order(items: Iterable[Item]) -> list[Item]:
    """By task, then by id."""
    return sorted(items, key=lambda item: (item.task, item.item_id))


def facts_behind(known: Iterable[Fact], basics: Iterable[str], items: Iterable[Item]) -> list[Fact]:
    """The facts a bench keeps of a study:
    those it always keeps (ids), and those its items rest on."""
    used = (fact_id for item in items for fact_id in item.fact_ids)
    return with_sources(known, [*basics, *used])


def rows_by_study(bench: Bench) -> Iterator[tuple[StudyRecord, list[Fact], list[Item]]]:
    """The studies of a bench with their facts and items, so that no cohort is held in memory."""
    facts = groupby(bench.facts(), key=lambda fact: fact.study_id)
    items = groupby(bench.items(), key=lambda item: item.study_id)
    next_facts, next_items = next(facts, None), next(items, None)
    for study in bench.studies():
        own_facts: list[Fact] = []
        own_items: list[Item] = []
        if next_facts is not None and next_facts[0] == study.study_id:
            own_facts, next_facts = list(next_facts[1]), next(facts, None)
        if next_items is not None and next_items[0] == study.study_id:
            own_items, next_items = list(next_items[1]), next(items, None)
        yield study, own_facts, own_items


def known_places(study: StudyRecord, locations: Locations) -> dict[str, str]:
    """Hash of each piece of a study's evidence that is at hand → its path."""
    hashes = [h for s in study.series for h in (s.image_hash, s.labels_hash) if h]
    places = {}
    for content in (*hashes, *study.evidence.values()):
        with suppress(SitusError):
            places[content] = str(locations.find(content))
    return places
