"""A whole cohort: workers measure study by study, one pass arranges, one pass writes."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import msgspec

from situs._files import new_folder, write_atomic
from situs.anatomy import Term
from situs.bench import (
    FORMAT,
    Bench,
    BenchInfo,
    StudyRecord,
    TableWriter,
    content_hash,
    encode_info,
    write_card,
    write_locations,
)
from situs.build._study import StudyJob, StudyOutcome, process, with_sources
from situs.errors import Problem, Severity, SitusError
from situs.facts import Fact, Recipe
from situs.items import Item, Outline, Placement, arrange, outline, place
from situs.score import blind_scores

__all__ = ["BuildOptions", "BuildResult", "build_bench"]


class BuildOptions(msgspec.Struct, frozen=True):
    """What every way of building shares."""

    name: str
    recipe: Recipe
    seed: int = 0
    tasks: str | None = None
    per_study: int | None = None
    jobs: int = 1
    restricted: bool = True
    licence: str = ""
    skip_bad: bool = False
    overwrite: bool = False


class BuildResult(msgspec.Struct, frozen=True):
    """What was built."""

    studies: int
    items: int
    by_task: dict[str, int]
    by_stratum: dict[str, int]
    not_asked: dict[str, int]
    problems: list[Problem]


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
        placements = arrange(outlines, options.seed, options.recipe.strata_per_study)
        info = _write(scratch, files, placements, source, options, terms)
        for file in files:
            file.unlink()
        spool.rmdir()
    return BuildResult(
        info.counts["studies"], info.counts["items"], info.by_task, info.by_stratum, info.not_asked, bad + problems
    )


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


def _write(
    scratch: Path,
    files: list[Path],
    placements: dict[str, Placement],
    source: str,
    options: BuildOptions,
    terms: dict[str, Term],
) -> BenchInfo:
    tasks: Counter[str] = Counter()
    strata: Counter[str] = Counter()
    splits: Counter[str] = Counter()
    not_asked: Counter[str] = Counter()
    patients: set[str] = set()
    places: dict[str, Path] = {}
    used: set[str] = set()
    with (
        TableWriter(scratch / "studies.parquet", StudyRecord) as studies,
        TableWriter(scratch / "facts.parquet", Fact) as facts,
        TableWriter(scratch / "items.parquet", Item) as items,
    ):
        for file in files:
            outcome = msgspec.json.decode(file.read_bytes(), type=StudyOutcome)
            kept = [
                place(c.item, placements[c.item.item_id], outcome.study.split)
                for c in outcome.candidates
                if c.item.item_id in placements
            ]
            kept.sort(key=lambda item: (item.task, item.item_id))
            studies.write([outcome.study])
            facts.write(_kept_facts(outcome, kept))
            items.write(kept)
            tasks.update(item.task for item in kept)
            strata.update(item.stratum for item in kept)
            splits.update(item.split for item in kept)
            not_asked.update(outcome.not_asked)
            not_asked["no twin, or set aside to keep answers balanced"] += len(outcome.candidates) - len(kept)
            patients.add(outcome.study.patient_id)
            places.update((key, Path(path)) for key, path in outcome.places.items())
            used.update(outcome.study.series[0].structures)
    info = BenchInfo(
        name=options.name,
        format=FORMAT,
        source=source,
        seed=options.seed,
        restricted=options.restricted,
        licence=options.licence,
        recipe=options.recipe,
        terms={name: entry for name, entry in sorted(terms.items()) if name in used},
        counts={"studies": studies.count, "patients": len(patients), "facts": facts.count, "items": items.count},
        by_task=dict(sorted(tasks.items())),
        by_stratum=dict(sorted(strata.items())),
        by_split=dict(sorted(splits.items())),
        not_asked={reason: n for reason, n in sorted(not_asked.items()) if n},
        content_hash=content_hash(scratch),
    )
    write_locations(scratch, places)
    write_atomic(scratch / "bench.json", encode_info(info))
    write_atomic(scratch / "README.md", write_card(info, _without_looking(Bench(scratch, info))))
    return info


def _without_looking(bench: Bench) -> dict[str, dict[str, str]]:
    """Stratum → what each blind baseline reaches there on yes/no and choice questions, for the card."""
    tables = blind_scores(bench, bench.items, gives=None, metrics=["accuracy.closed", "chance"])
    result: dict[str, dict[str, str]] = defaultdict(dict)
    for name, scores in tables.items():
        for stratum, entries in scores.by_stratum.items():
            for entry in entries:
                row = "chance" if entry.metric == "chance" else name
                bounds = f" ({entry.ci95[0]:.2f}–{entry.ci95[1]:.2f})" if entry.ci95 else ""
                result[stratum][row] = "–" if entry.value is None else f"{entry.value:.2f}{bounds}"
    return dict(result)


_ALWAYS = ("voxels", "volume", "centroid", "box", "components", "touches_border", "extent", "largest", "right_share")


def _kept_facts(outcome: StudyOutcome, kept: list[Item]) -> list[Fact]:
    """Facts about every structure, and those the kept items rest on."""
    wanted = [fact.fact_id for fact in outcome.facts if fact.kind.split(".")[0] in _ALWAYS]
    wanted += [fact_id for item in kept for fact_id in item.fact_ids]
    return with_sources(outcome.facts, wanted)
