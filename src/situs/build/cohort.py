"""A whole cohort: workers measure study by study, one pass arranges, one pass writes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path

import msgspec

from situs.anatomy import Term
from situs.base.publish import new_folder, work_folder
from situs.build.spool import Spool, map_studies, resume_key
from situs.build.study import StudyJob, StudyOutcome, open_process, with_sources
from situs.build.writer import BenchWriter, BuildOptions, BuildResult
from situs.errors import Problem, SitusError
from situs.facts import Fact
from situs.items import (
    Item,
    Outline,
    Placement,
    all_tasks,
    arrange,
    outline,
    place,
    task_modules,
    with_declared,
)

__all__ = ["Progress", "build_bench"]

Progress = Callable[[int, int], None]


def build_bench(
    out: Path,
    source: str,
    jobs_in: Callable[[Path], Sequence[StudyJob]],
    options: BuildOptions,
    terms: dict[str, Term],
    progress: Progress = lambda done, total: None,
) -> BuildResult:
    """Build a bench at `out`. `jobs_in` lists the studies, given the scratch folder that will become the bench."""
    recipe = with_declared(options.recipe, all_tasks().values())
    options = msgspec.structs.replace(options, recipe=recipe)
    key = resume_key(source, *jobs_in(Path()))
    with new_folder(
        out, marker="bench.json", overwrite=options.overwrite, resume_key=key
    ) as scratch:
        jobs = jobs_in(scratch)
        spool = Spool(work_folder(scratch) / "studies", StudyOutcome)
        outlines: list[Outline] = []
        problems: list[Problem] = []
        bad: dict[int, Problem] = {}
        outcomes = map_studies(
            partial(open_process, task_modules()), jobs, options.jobs, spool, _files_of
        )
        for number, outcome in enumerate(outcomes):
            progress(number + 1, len(jobs))
            if isinstance(outcome, Problem):
                bad[number] = outcome
                continue
            outlines.extend(
                outline(candidate, outcome.study.split) for candidate in outcome.candidates
            )
            problems.extend(outcome.problems)
        if bad and (not options.skip_bad or len(bad) == len(jobs)):
            raise _unreadable(list(bad.values()), len(jobs))
        placements = arrange(
            outlines, options.seed, recipe.strata_per_study, recipe.mix, recipe.twins
        )
        finished = (spool.read(number) for number in range(len(jobs)) if number not in bad)
        with BenchWriter(scratch, source, options, terms) as writer:
            writer.trust({job.study_id: job.trusted for job in jobs if job.trusted})
            _write(writer, finished, placements)
        return writer.finish([*bad.values(), *problems])


def _files_of(job: StudyJob, outcome: StudyOutcome) -> list[Path]:
    return [job.labels, *map(Path, outcome.places.values())]


def _unreadable(bad: list[Problem], total: int) -> SitusError:
    if total == 1:
        return SitusError(bad[0].problem, fix=bad[0].fix)
    first = "; ".join(filter(None, (bad[0].problem, bad[0].fix)))
    fix = "fix them" if len(bad) == total else "fix them, or add --skip-bad"
    return SitusError(f"{len(bad)} of {total} studies cannot be used; the first: {first}", fix=fix)


def _write(
    writer: BenchWriter, outcomes: Iterable[StudyOutcome], placements: dict[str, Placement]
) -> None:
    for outcome in outcomes:
        kept = [
            place(c.item, placements[c.item.item_id], outcome.study.split)
            for c in outcome.candidates
            if c.item.item_id in placements
        ]
        kept.sort(key=lambda item: (item.task, item.item_id))
        set_aside = {
            "no twin, or set aside to keep answers and mix balanced": len(outcome.candidates)
            - len(kept)
        }
        not_asked = outcome.not_asked | set_aside
        writer.add(outcome.study, _kept_facts(outcome, kept), kept, not_asked, outcome.places)
        writer.add_suspects(outcome.suspects)


def _kept_facts(outcome: StudyOutcome, kept: list[Item]) -> list[Fact]:
    """Facts about every structure, and those the kept items rest on."""
    used = (fact_id for item in kept for fact_id in item.fact_ids)
    return with_sources(outcome.facts, [*outcome.basics, *used])
