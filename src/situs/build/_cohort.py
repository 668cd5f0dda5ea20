"""A whole cohort: workers measure study by study, one pass arranges, one pass writes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import msgspec

from situs._files import new_folder
from situs.anatomy import Term
from situs.build._study import StudyJob, StudyOutcome, process, with_sources
from situs.build._writer import BenchWriter, BuildOptions, BuildResult
from situs.errors import Problem, Severity, SitusError
from situs.facts import Fact
from situs.items import Item, Outline, Placement, arrange, outline, place

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
    with new_folder(out, marker="bench.json", overwrite=options.overwrite) as scratch:
        jobs = jobs_in(scratch)
        spool = scratch / ".spool"
        spool.mkdir()
        outlines: list[Outline] = []
        files: list[Path] = []
        problems: list[Problem] = []
        bad: list[Problem] = []
        for number, outcome in enumerate(_run(jobs, options.jobs)):
            progress(number + 1, len(jobs))
            if isinstance(outcome, Problem):
                bad.append(outcome)
                continue
            files.append(spool / f"{number:07d}.json")
            files[-1].write_bytes(msgspec.json.encode(outcome))
            outlines.extend(outline(candidate) for candidate in outcome.candidates)
            problems.extend(outcome.problems)
        if bad and (not options.skip_bad or len(bad) == len(jobs)):
            raise _unreadable(bad, len(jobs))
        placements = arrange(outlines, options.seed, options.recipe.strata_per_study, options.recipe.mix)
        with BenchWriter(scratch, source, options, terms) as writer:
            writer.trust({job.study_id: job.trusted for job in jobs if job.trusted})
            _write(writer, files, placements)
        spool.rmdir()
        return writer.finish(bad + problems)


def _unreadable(bad: list[Problem], total: int) -> SitusError:
    if total == 1:
        return SitusError(bad[0].problem, fix=bad[0].fix)
    fix = "mend them" if len(bad) == total else "mend them, or add --skip-bad"
    return SitusError(f"{len(bad)} of {total} studies cannot be used; the first: {bad[0].problem}", fix=fix)


def _attempt(job: StudyJob) -> StudyOutcome | Problem:
    try:
        return process(job)
    except SitusError as error:
        return Problem(Severity.ERROR, "study", job.study_id, error.one_line(), "")


def _run(jobs: Sequence[StudyJob], workers: int) -> Iterator[StudyOutcome | Problem]:
    """Outcomes in the order of the jobs, whatever the number of workers."""
    if workers <= 1 or len(jobs) <= 1:
        yield from map(_attempt, jobs)
        return
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        pending = []
        for job in jobs:
            pending.append(pool.submit(_attempt, job))
            if len(pending) > 2 * workers:
                yield pending.pop(0).result()
        for future in pending:
            yield future.result()


def _write(writer: BenchWriter, files: list[Path], placements: dict[str, Placement]) -> None:
    for file in files:
        outcome = msgspec.json.decode(file.read_bytes(), type=StudyOutcome)
        kept = [
            place(c.item, placements[c.item.item_id], outcome.study.split)
            for c in outcome.candidates
            if c.item.item_id in placements
        ]
        kept.sort(key=lambda item: (item.task, item.item_id))
        set_aside = {"no twin, or set aside to keep answers and mix balanced": len(outcome.candidates) - len(kept)}
        not_asked = outcome.not_asked | set_aside
        writer.add(outcome.study, _kept_facts(outcome, kept), kept, not_asked, outcome.places)
        writer.add_suspects(outcome.suspects)
        file.unlink()


def _kept_facts(outcome: StudyOutcome, kept: list[Item]) -> list[Fact]:
    """Facts about every structure, and those the kept items rest on."""
    used = (fact_id for item in kept for fact_id in item.fact_ids)
    return with_sources(outcome.facts, [*outcome.basics, *used])
