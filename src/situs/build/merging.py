"""Whole benches of one kind put together, such as those of two hospitals;
what does not fit together is named."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import msgspec

from situs.anatomy import Term
from situs.base.files import digest
from situs.base.publish import new_folder
from situs.bench import Bench, Locations, open_bench, split_of
from situs.build.frame import known_places, rows_by_study
from situs.build.writer import BenchWriter, BuildOptions, BuildResult
from situs.errors import SitusError
from situs.items import Item

__all__ = ["merge_benches"]


def merge_benches(folders: Sequence[Path], out: Path, *, overwrite: bool = False) -> BuildResult:
    """One bench with the studies of all, in the order given; refused where they contradict each
    other.

    Questions stay as they are, and twins stay among those of their own bench.
    """
    benches = [open_bench(folder) for folder in folders]
    _refuse_unlike(benches)
    _refuse_shared(benches)
    shared = _shared_groups(benches)
    first = benches[0].info
    options = BuildOptions(
        out.name,
        first.recipe,
        seed=first.seed,
        restricted=any(bench.info.restricted for bench in benches),
        licence=" and ".join(dict.fromkeys(bench.info.licence for bench in benches)),
    )
    notes = dict.fromkeys(note for bench in benches for note in bench.info.notes)
    with new_folder(out, marker="bench.json", overwrite=overwrite) as scratch:
        with BenchWriter(scratch, first.source, options, _terms(benches)) as writer:
            for bench in benches:
                writer.trust(bench.info.trusted)
                writer.add_suspects(bench.info.suspects)
                writer.count_not_asked(Counter(bench.info.not_asked))
                locations = Locations.read(bench.folder)
                for study, facts, items in rows_by_study(bench):
                    study_items = [_own_twins(item, bench, shared) for item in items]
                    writer.add(study, facts, study_items, {}, known_places(study, locations))
        names = ", ".join(bench.info.name for bench in benches)
        return writer.finish([], (*notes, f"Put together from {len(benches)} benches: {names}."))


_FIXES = {
    "source": (
        "a bench rests on one kind of evidence, by whose rules `situs check` recomputes it and the"
        " same words are asked of several patients: run and score each by itself"
    ),
    "format": "rebuild the older one with this version",
}


def _refuse_unlike(benches: Sequence[Bench]) -> None:
    """Benches of one kind only: a question means the same in all of them."""
    first = benches[0]
    for bench in benches[1:]:
        for what in ("source", "format", "seed", "recipe"):
            mine, theirs = getattr(bench.info, what), getattr(first.info, what)
            if mine != theirs:
                difference = f" ({mine}, not {theirs})" if what != "recipe" else ""
                problem = f"has a different {what} from {first.folder}{difference}"
                fix = _FIXES.get(what, "build both the same way")
                raise SitusError(problem, where=bench.folder, fix=fix)


def _refuse_shared(benches: Sequence[Bench]) -> None:
    """No study twice, no patient in two splits, and the splits of all together."""
    studies: dict[str, Path] = {}
    splits: dict[str, tuple[str, Path]] = {}
    for bench in benches:
        for study in bench.studies():
            other = studies.setdefault(study.study_id, bench.folder)
            if other != bench.folder:
                problem = f"study {study.study_id} is in {other} too"
                raise SitusError(problem, where=bench.folder, fix="leave it out of one of them")
            split, where = splits.setdefault(study.patient_id, (study.split, bench.folder))
            if split != study.split:
                problem = (
                    f"patient {study.patient_id} is in split {study.split}, in {where} in {split}"
                )
                fix = "build them as one cohort: a patient belongs to one split"
                raise SitusError(problem, where=bench.folder, fix=fix)
    info = benches[0].info
    shares = (info.recipe.splits, info.recipe.splits_of(len(splits)))
    for patient, (split, where) in splits.items():
        if split not in {split_of(patient, share, info.seed) for share in shares}:
            problem = f"patient {patient} would not stay in split {split} in the combined bench"
            fix = f"a cohort of {len(splits)} patients is split: build all studies as one"
            raise SitusError(problem, where=where, fix=fix)


def _terms(benches: Sequence[Bench]) -> dict[str, Term]:
    """The users' own terms; one name must mean the same everywhere."""
    terms: dict[str, tuple[Term, Path]] = {}
    for bench in benches:
        for name, term in bench.info.terms.items():
            known, where = terms.setdefault(name, (term, bench.folder))
            if known != term:
                problem = f"{name!r} means something else than in {where}"
                raise SitusError(problem, where=bench.folder, fix="use one name map for both")
    return {name: term for name, (term, _) in terms.items()}


def _shared_groups(benches: Sequence[Bench]) -> set[str]:
    """Groups of twins that several benches have:
    their answers are balanced in each, not over all."""
    counts = Counter(
        group
        for bench in benches
        for group in {item.twin_group for item in bench.items() if item.twin_group}
    )
    return {group for group, count in counts.items() if count > 1}


def _own_twins(item: Item, bench: Bench, shared: set[str]) -> Item:
    if item.twin_group not in shared:
        return item
    group = digest(item.twin_group, bench.info.content_hash, size=8)
    return msgspec.structs.replace(item, twin_group=group)
