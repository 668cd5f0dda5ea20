"""`situs export`: which items go out, what is left behind,
and one folder written whole or not at all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from situs.base.docstrings import summary
from situs.base.files import canonical_json
from situs.base.publish import new_folder
from situs.bench import Bench, open_bench
from situs.errors import SitusError, did_you_mean
from situs.export.about import About, public_name
from situs.export.croissant import write_croissant
from situs.export.evidence import Scope
from situs.export.example import Example, example_of, said_of
from situs.export.hf import write_hf
from situs.export.inspect_ai import write_inspect
from situs.export.lmms_eval import write_lmms_eval
from situs.export.markups import write_markups
from situs.export.reasonknee import write_reasonknee
from situs.export.traces import traces_of, write_traces
from situs.export.vlmevalkit import write_vlmevalkit
from situs.export.written import Written
from situs.items import Item
from situs.profiles import Presenter, load_profile
from situs.run import open_run, selected_items
from situs.score import open_replies, read_run

__all__ = ["EVIDENCE_FORMATS", "FORMATS", "Exported", "export_bench", "export_run", "known_formats"]

FORMATS: dict[str, Callable[[Iterator[Example], Path, About], Written]] = {
    "lmms-eval": write_lmms_eval,
    "vlmevalkit": write_vlmevalkit,
    "inspect": write_inspect,
    "hf": write_hf,
}


def _write_segmentations(bench: Bench, scope: Scope, folder: Path, about: About) -> Written:
    """Images and masks of every study as DICOM images and segmentations;
    needs the extra `dicom`."""
    return _dicom_writer()(bench, scope, folder, about, report=False)


def _write_reports(bench: Bench, scope: Scope, folder: Path, about: About) -> Written:
    """As dicom-seg, with a structured report of every measurement (TID 1500);
    needs the extra `dicom`."""
    return _dicom_writer()(bench, scope, folder, about, report=True)


def _dicom_writer() -> Callable[..., Written]:
    try:
        from situs.export.dicom.writer import write_studies
    except ModuleNotFoundError as error:
        fix = "pip install 'situs[dicom]'"
        raise SitusError(f"needs the package {error.name}", where="--to", fix=fix) from error
    return write_studies


EVIDENCE_FORMATS: dict[str, Callable[[Bench, Scope, Path, About], Written]] = {
    "dicom-seg": _write_segmentations,
    "dicom-sr": _write_reports,
    "slicer-markups": write_markups,
    "croissant": write_croissant,
}
"""Formats of what was measured: they hold no prompt, so that no profile goes with them."""
_WITH_PIXELS = ("dicom-seg", "dicom-sr")

_REASONKNEE = "3dreasonknee"
"""The published form of graded knees; it holds no pictures, and compound answers as they are."""
_TRACES = "traces"
"""Sessions of a run in a room; it holds their pictures."""
_MARKER = "export.json"
_EVERYTHING = Scope()
_NOT_ANSWERABLE = "not answerable under the profile"
_NO_METRIC = "a {form} answer, which these tools do not score"

Progress = Callable[[int, int], None]


class Exported(msgspec.Struct, frozen=True):
    """What was written, and what was not."""

    to: str
    items: int
    pictures: int
    left_out: dict[str, int]
    """Reason → items."""
    restricted: bool
    load: str
    """How the tool loads it."""
    counted: str = "items"
    """What `items` counts; `studies` where a format writes those."""


def known_formats() -> dict[str, str]:
    """Every format, and what it holds."""
    writers: dict[str, Callable[..., Written]] = {
        **FORMATS,
        _REASONKNEE: write_reasonknee,
        _TRACES: write_traces,
        **EVIDENCE_FORMATS,
    }
    return {name: summary(write) for name, write in writers.items()}


def export_bench(
    folder: Path,
    to: str,
    out: Path,
    scope: Scope = _EVERYTHING,
    *,
    profile: str | None = None,
    allow_restricted: bool = False,
    overwrite: bool = False,
) -> Exported:
    """A bench with the pictures and words of a profile, or what was measured in it
    (`EVIDENCE_FORMATS`).

    The limit of a scope counts items, or studies where a format writes those.
    """
    _check_format(to)
    if to == _TRACES:
        fix = "export a run in a room (situs run --room)"
        raise SitusError("is an export format for runs, not benches", where=f"--to {to}", fix=fix)
    bench = open_bench(folder)
    if bench.info.restricted and not allow_restricted:
        fix = "add --allow-restricted if you may hold such a copy; it is marked as restricted"
        raise SitusError(
            "its data are restricted: pictures would leave the bench", where=folder, fix=fix
        )
    if to in EVIDENCE_FORMATS:
        return _export_evidence(bench, to, out, profile, scope, overwrite)
    chosen = load_profile(profile or "default")
    if to == _REASONKNEE:
        about = About(bench.info, chosen.name, chosen.hash)
        items = _progressing(bench, scope.split, scope.limit, scope.progress)
        return _write_folder(
            to,
            out,
            about,
            lambda scratch: write_reasonknee(items, bench, scratch, about),
            {},
            overwrite,
        )
    presenter = Presenter(bench, chosen, data=scope.data)
    left_out: Counter[str] = Counter()

    def examples() -> Iterator[Example]:
        for item in _by_study(_progressing(bench, scope.split, scope.limit, scope.progress)):
            if not item.series or not presenter.series(item).image_hash:
                left_out["its study has no image"] += 1
                continue
            if presenter.hidden(item):
                left_out[_NOT_ANSWERABLE] += 1
                continue
            presented = presenter.present(item)
            example = example_of(item, presented.prompt, presented.images)
            if example is None:
                left_out[_NO_METRIC.format(form=item.form)] += 1
            else:
                yield example

    about = About(bench.info, chosen.name, chosen.hash, pixels=True)
    return _write(to, out, about, examples(), left_out, overwrite)


def _export_evidence(
    bench: Bench, to: str, out: Path, profile: str | None, scope: Scope, overwrite: bool
) -> Exported:
    """What was measured, as files of another tool."""
    options: dict[str, object] = {"--profile": profile}
    if to == "croissant":
        # It describes the tables as they are, and their hashes.
        options |= {"--split": scope.split, "--limit": scope.limit}
    for option, value in options.items():
        if value is not None:
            raise SitusError(
                f"{option} does not apply to {to}", where="--to", fix=f"leave {option} out"
            )
    about = About(bench.info, pixels=to in _WITH_PIXELS)
    write = EVIDENCE_FORMATS[to]
    return _write_folder(
        to, out, about, lambda folder: write(bench, scope, folder, about), {}, overwrite
    )


def export_run(
    run: Path,
    to: str,
    out: Path,
    *,
    bench: Path | None = None,
    data: Path | None = None,
    allow_restricted: bool = False,
    overwrite: bool = False,
    progress: Progress = lambda done, total: None,
) -> Exported:
    """The answers of a run in the tool's own result form, without pictures; or its sessions, as
    `traces`.

    What the tool reads is what Situs read from each response, so that both count the same answers;
    the words themselves stand beside it.
    """
    _check_format(to)
    if to == _REASONKNEE or to in EVIDENCE_FORMATS:
        raise SitusError(
            "is an export format for benches, not runs", where=f"--to {to}", fix="export the bench"
        )
    if to == _TRACES:
        return _export_traces(run, out, bench, data, allow_restricted, overwrite)
    info, opened = open_run(run, bench)
    scored = read_run(open_replies(run, opened.folder))
    rows = scored.replies.rows
    left_out: Counter[str] = Counter()

    def examples() -> Iterator[Example]:
        total = len(scored.final.table)
        for number, (item, record) in enumerate(scored.pairs(), start=1):
            progress(number, total)
            outcome = record.outcome
            if outcome.right is None:
                left_out[_NOT_ANSWERABLE] += 1
                continue
            row = rows.get(item.item_id)
            example = example_of(item, said=said_of(outcome, row.response if row else ""))
            if example is None:
                left_out[_NO_METRIC.format(form=item.form)] += 1
            else:
                yield example

    about = About(opened.info, info.profile.name, info.profile_hash, model=public_name(info.client))
    return _write(to, out, about, examples(), left_out, overwrite)


def _export_traces(
    run: Path,
    out: Path,
    bench: Path | None,
    data: Path | None,
    allow_restricted: bool,
    overwrite: bool,
) -> Exported:
    """Sessions that were right and saw what they answered, as conversations with pictures."""
    info, opened = open_run(run, bench)
    if opened.info.restricted and not allow_restricted:
        fix = "add --allow-restricted if you may hold such a copy; it is marked as restricted"
        raise SitusError(
            "its data are restricted: pictures would leave the bench", where=run, fix=fix
        )
    about = About(
        opened.info,
        info.profile.name,
        info.profile_hash,
        model=public_name(info.client),
        pixels=True,
    )
    left_out: Counter[str] = Counter()

    def write(folder: Path) -> Written:
        traces = traces_of(run, bench=opened.folder, data=data, left_out=left_out)
        written = write_traces(traces, folder, about)
        return msgspec.structs.replace(written, left_out=dict(left_out))

    return _write_folder(_TRACES, out, about, write, {}, overwrite)


def _check_format(to: str) -> None:
    known = known_formats()
    if to not in known:
        raise SitusError(f"unknown format {to!r}", where="--to", fix=did_you_mean(to, known))


def _progressing(
    bench: Bench, split: str | None, limit: int | None, progress: Progress
) -> Iterator[Item]:
    total = sum(1 for _ in selected_items(bench, split, limit, steps=False))
    if not total:
        raise SitusError(
            "no item to export",
            where=f"--split {split}",
            fix="leave --split out, or name one it has",
        )
    for number, item in enumerate(selected_items(bench, split, limit), start=1):
        yield item
        progress(number, total)


def _by_study(items: Iterator[Item]) -> Iterator[Item]:
    """Study by study, so that each volume is read once."""
    groups: dict[tuple[str, str], list[Item]] = {}
    for item in items:
        groups.setdefault((item.study_id, item.series), []).append(item)
    for group in groups.values():
        yield from group


def _write(
    to: str,
    out: Path,
    about: About,
    examples: Iterator[Example],
    left_out: Counter[str],
    overwrite: bool,
) -> Exported:
    return _write_folder(
        to, out, about, lambda folder: FORMATS[to](examples, folder, about), left_out, overwrite
    )


def _write_folder(
    to: str,
    out: Path,
    about: About,
    write: Callable[[Path], Written],
    known: dict[str, int],
    overwrite: bool,
) -> Exported:
    with new_folder(out, marker=_MARKER, overwrite=overwrite) as folder:
        written = write(folder)
        left_out = Counter(known)
        left_out.update(written.left_out)
        if not written.items:
            reasons = ", ".join(sorted(left_out)) or "nothing in it that this format holds"
            raise SitusError(
                f"no item could be exported ({reasons})",
                where=out,
                fix="try another format or profile",
            )
        exported = Exported(
            to,
            written.items,
            written.pictures,
            dict(sorted(left_out.items())),
            bool(about.banner),
            written.load,
            written.counted,
        )
        (folder / _MARKER).write_bytes(
            msgspec.json.format(canonical_json(exported), indent=2) + b"\n"
        )
    return exported
