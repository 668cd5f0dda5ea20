"""A whole cohort: workers measure study by study, one pass arranges, one pass writes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path

import msgspec

from situs.anatomy import Term
from situs.base.publish import new_folder
from situs.build.frame import Progress, StudyWork, facts_behind, finished_studies, placed
from situs.build.spool import resume_key
from situs.build.study import StudyJob, StudyOutcome, open_process
from situs.build.writer import BenchWriter, BuildOptions, BuildResult
from situs.errors import Problem
from situs.items import (
    Outline,
    Placement,
    all_tasks,
    arrange,
    choose_tasks,
    outline,
    task_modules,
    with_declared,
)

__all__ = ["build_bench"]

_SET_ASIDE = "too few patients with another answer, or set aside to keep answers balanced"


def build_bench(
    out: Path,
    source: str,
    jobs_in: Callable[[Path], Sequence[StudyJob]],
    options: BuildOptions,
    terms: dict[str, Term],
    progress: Progress = lambda done, total: None,
) -> BuildResult:
    """Build a bench at `out`.

    `jobs_in` lists the studies, given the scratch folder that will become the bench.
    """
    choose_tasks(options.tasks)  # an unknown one is refused before patients are made or measured
    recipe = with_declared(options.recipe, all_tasks().values())
    options = msgspec.structs.replace(options, recipe=recipe)
    key = resume_key(source, *jobs_in(Path()))
    with new_folder(
        out, marker="bench.json", overwrite=options.overwrite, resume_key=key
    ) as scratch:
        jobs = jobs_in(scratch)
        worker = partial(open_process, task_modules())
        work = StudyWork(jobs, worker, StudyOutcome, _files_of)
        outlines: list[Outline] = []
        unusable: list[Problem] = []
        warnings: list[Problem] = []
        finished = []
        seen_on_ct = 0
        for number, outcome in finished_studies(work, scratch, options, unusable, progress):
            finished.append(number)
            split = outcome.study.split
            # What readers withdrew leaves before the arrangement: later, it would leave its twins
            # alone.
            outlines.extend(
                outline(candidate, split)
                for candidate in outcome.candidates
                if candidate.item.item_id not in options.withdrawn
            )
            warnings.extend(outcome.problems)
            seen_on_ct += any(series.modality == "ct" for series in outcome.study.series)
        placements = arrange(
            outlines, options.seed, recipe.strata_per_study, recipe.mix, recipe.twins
        )
        outlines.clear()  # the larger part of what a cohort holds in memory
        outcomes = map(work.spool(scratch).read, finished)
        with BenchWriter(scratch, source, options, terms) as writer:
            writer.trust({job.study_id: job.trusted for job in jobs if job.trusted})
            _write(writer, outcomes, placements, options.withdrawn)
        return writer.finish([*unusable, *warnings], _notes(source, len(finished), seen_on_ct))


def _notes(source: str, studies: int, seen_on_ct: int) -> tuple[str, ...]:
    """What the card says of masks that no image could contradict;
    phantoms are exact by construction."""
    blind = studies - seen_on_ct
    if source != "masks" or not blind:
        return ()
    return (
        (
            f"Studies without a CT to check the masks against: {blind:,} of {studies:,}. Their"
            " answers rest on the masks alone: an organ drawn a few millimetres too large or too"
            " small all round goes unnoticed."
        ),
    )


def _files_of(job: StudyJob, outcome: StudyOutcome) -> list[Path]:
    return [job.labels, *map(Path, outcome.places.values())]


def _write(
    writer: BenchWriter,
    outcomes: Iterable[StudyOutcome],
    placements: dict[str, Placement],
    withdrawn: Mapping[str, str],
) -> None:
    for outcome in outcomes:
        candidates = [candidate.item for candidate in outcome.candidates]
        items = placed(candidates, placements, outcome.study.split)
        gone = Counter(withdrawn[c.item_id] for c in candidates if c.item_id in withdrawn)
        left = len(candidates) - gone.total() - len(items)
        set_aside = {_SET_ASIDE: left, **gone}
        facts = facts_behind(outcome.facts, outcome.basics, items)
        writer.add(outcome.study, facts, items, outcome.not_asked | set_aside, outcome.places)
        writer.add_suspects(outcome.suspects)
