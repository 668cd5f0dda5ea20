"""The card: a bench's README, saying what is in it, what was not asked and why."""

from __future__ import annotations

import html
from collections.abc import Mapping

from situs.base.text import counted, markdown_safe
from situs.bench.folder import BenchInfo

__all__ = ["HELD", "hub_licence", "write_card"]

_MOST_SUSPECTS = 50

_BLIND = (
    "`random` guesses; `majority` gives the most frequent answer of other patients to the same"
    " text, `minority` the rarest; `prior` knows the average anatomy of other patients. In"
    " brackets: 95 % intervals over patients."
)


def write_card(
    info: BenchInfo,
    baselines: Mapping[str, Mapping[str, str]] | None = None,
    tricks: Mapping[str, Mapping[str, str]] | None = None,
) -> str:
    """The card as Markdown. `baselines` and `tricks`:
    stratum → row name → what it reaches, where worked out."""
    lines = [
        *_front(info),
        f"# {markdown_safe(info.name)}",
        "",
        (
            f"A Situs bench: {counted(info.counts['items'], 'question')} on "
            f"{counted(info.counts['studies'], 'study', 'studies')} of "
            f"{counted(info.counts['patients'], 'patient')}, from {info.source}, seed {info.seed}."
        ),
        (
            "Every answer is read from one quoted sentence; `situs check` reads each one again from"
            " the report file."
            if info.source == "reports"
            else (
                "Every answer is computed from measured facts; `situs check` recomputes each from"
                " the evidence."
            )
        ),
        "**Not reader-verified**: no radiologist has vetted a sample of these items yet.",
        *(f"- {html.escape(note, quote=False)}" for note in info.notes),
        "",
        *_table("Questions by task", info.by_task),
        *_table("By stratum", info.by_stratum),
        (
            "`headline`: the same words are asked about several patients whose answers differ. Each"
            " answer is drawn from the options with equal chances, so the words alone cannot win"
            " (numbers: the same question about several patients). `textbook`: anyone who knows"
            " anatomy can answer, because the answer hardly changes between patients; a control,"
            " never in the headline. `untwinned`: asked about too few patients with different"
            " answers to be in the headline."
        ),
        "",
        *_mix(info),
        *_table("By split (of patients, by hash)", info.by_split),
        *_table("Not asked, and why", info.not_asked),
        *_suspects(info),
        "## When a question is asked",
        "",
        *HELD.get(info.source, _held_of_imports)(info),
        "",
    ]
    if baselines:
        lines += [
            "## How much needs no image",
            "",
            f"Yes/no and option questions. {_BLIND}",
            "",
        ]
        lines += _grid(baselines)
    if tricks:
        lines += ["Option questions, answered from the options alone:", "", *_grid(tricks)]
        lines += [
            "The most frequent answer is counted on these same questions, which flatters it.",
            "",
        ]
    if info.same_patient is not None:
        lines += [
            "## What a patient's other answers give away",
            "",
            (
                f"{info.same_patient.words} One patient's answers are related, and balancing over"
                " patients cannot change that: ask one question at a time, and never show a model"
                " the answers to others."
            ),
            "",
        ]
    licence = markdown_safe(info.licence) or "not stated"
    care = (
        "restricted: never sent to another machine unless you allow it"
        if info.restricted
        else "not restricted"
    )
    lines += [
        "## Data",
        "",
        f"Licence: {licence}; {care}. The bench holds hashes and opaque ids, no path.",
        "",
    ]
    return "\n".join(lines)


def hub_licence(licence: str) -> str:
    """A licence as the card's head on the Hugging Face hub wants it:
    `other` if it is no plain name."""
    name = licence.lower().replace(" ", "-")
    return name if name and all(c.isalnum() or c in "-." for c in name) else "other"


def _front(info: BenchInfo) -> list[str]:
    """The head that lets `datasets.load_dataset(FOLDER, "items")` read the tables as they are."""
    tables = ("items", "facts", "studies")
    lines = ["---", f"license: {hub_licence(info.licence)}", "configs:"]
    for name in tables:
        lines += [f"- config_name: {name}", *(["  default: true"] if name == "items" else [])]
        lines += ["  data_files:", "  - split: bench", f"    path: {name}.parquet"]
    return [*lines, "---", ""]


def _suspects(info: BenchInfo) -> list[str]:
    """Studies that look wrong, and what is in doubt for it."""
    doubted = [suspect for suspect in info.suspects if suspect.doubt]
    if not doubted:
        return []
    rows = [
        f"| {s.study_id} | {s.doubt} | {s.problem} |"
        f" {'asked: the builder vouches' if s.trusted else 'not asked'} |"
        for s in doubted[:_MOST_SUSPECTS]
    ]
    more = len(doubted) - len(rows)
    return [
        "## Suspect studies",
        "",
        (
            "Their anatomy looks wrong. Questions that depend on what is in doubt are not asked,"
            " unless the builder vouched for it (`--trust`)."
        ),
        "",
        "| study | in doubt | why | questions that depend on it |",
        "|---|---|---|---|",
        *rows,
        *([f"and {more:,} more, listed in `bench.json`"] if more > 0 else []),
        "",
    ]


def _mix(info: BenchInfo) -> list[str]:
    """Which share of the headline each class was to have, and which it has."""
    asked = info.headline_by_class
    total = sum(asked.values())
    if not total:
        return []
    target = info.recipe.mix
    names = [*target, *(name for name in asked if name not in target)]
    rows = [
        f"| {name} | {target.get(name, 0.0):.0%} | {asked.get(name, 0) / total:.0%} |"
        f" {asked.get(name, 0):,} |"
        for name in names
    ]
    lines = [
        "## Mix of the headline",
        "",
        "| class | target | reached | n |",
        "|---|---:|---:|---:|",
        *rows,
        "",
    ]
    return [*lines, "Where a cohort has too few questions of one class, the others fill in.", ""]


def _grid(table: Mapping[str, Mapping[str, str]]) -> list[str]:
    columns = sorted({name for row in table.values() for name in row})
    lines = ["| stratum | " + " | ".join(columns) + " |", "|---" * (len(columns) + 1) + "|"]
    lines += [
        f"| {markdown_safe(name)} | " + " | ".join(row.get(c, "–") for c in columns) + " |"
        for name, row in table.items()
    ]
    return [*lines, ""]


def _table(title: str, counts: Mapping[str, int]) -> list[str]:
    if not counts:
        return []
    rows = [f"| {markdown_safe(name)} | {count:,} |" for name, count in counts.items()]
    return [f"## {title}", "", "| | n |", "|---|---:|", *rows, ""]


def _held_of_masks(info: BenchInfo) -> list[str]:
    truth = info.recipe.truth
    return [
        (
            f"- A direction: centroids more than {truth.direction_margin_mm:g} mm apart along the"
            " axis, a random voxel of one beyond a random voxel of the other with P ≥"
            f" {truth.direction_probability:g}, both for any turn of the patient by up to"
            f" {truth.rotation_degrees:g}°; never between a structure and one that envelops it."
        ),
        (
            f"- A four-way direction: within {truth.dominance_degrees:g}° of one axis, for the same"
            " turns."
        ),
        (
            f"- A side: at least {truth.side_share:.0%} of the volume on one side of the spine or"
            " symmetry plane."
        ),
        (
            "- A comparison: the volumes' intervals do not overlap (half a voxel of boundary, or"
            " the annotation error)."
        ),
        f"- A volume: known to ±{truth.volume_half_width:.0%}, structure not cut by the scan.",
        (
            "- Millimetres and millilitres are those of the files' voxel sizes. A patient of an"
            " impossible size is doubted; one wrong by less than a fifth looks like another adult"
            " and is not noticed."
        ),
        "",
        "| annotation | surface error (mm) | volume error (%) |",
        "|---|---|---|",
        *(
            f"| {name} | {e.surface_mm:g} | {e.volume_percent:g} |"
            for name, e in info.recipe.annotation.items()
        ),
    ]


def _held_of_boxes(info: BenchInfo) -> list[str]:
    rules = info.recipe.boxes
    ious, gaps = (
        " and ".join(f"{v:g}" for v in values) for values in (rules.link_iou, rules.link_gaps)
    )
    return [
        (
            "- Answers say what a reader annotated, not what is present in the patient: one reader,"
            " not exhaustive."
        ),
        (
            f"- A negative: a volume read as normal, or a slice at least {rules.clear_frames} away"
            " from the finding and from anything it may be mistaken for, in a volume without a"
            " study label that could be it. A missing box alone proves nothing."
        ),
        (
            f"- A count: the same whether boxes are linked at an overlap above {ious} and over"
            f" {gaps} missing frames; at most {rules.count_most}."
        ),
        (
            "- A side: of the image, never of the patient, since these files state no orientation;"
            f" by the head's midline found in the image, {rules.side_share:.0%} of a box on one"
            " side, else both."
        ),
        "- Medial and lateral: only where a table of sides says so.",
        (
            "- Options: within a twin group each option is the right one once. Where all that apply"
            " are asked (`untwinned`), a finding is wrong about as often as it is right, as far as"
            " the slices allow."
        ),
        (
            "- What text alone can still use: a finding's usual place (prior boxes on"
            " localization), how many frames it usually spans, and, in `untwinned` questions, which"
            " findings go together. Compare with those blind rows."
        ),
    ]


def _held_of_reports(info: BenchInfo) -> list[str]:
    return [
        (
            "- Answers say what a report states, not what is present in the patient: one report,"
            " written for another purpose."
        ),
        (
            "- A place: one whole sentence states it; nothing hedged, denied, compared with another"
            " examination, or from history or technique; no other sentence of the report puts the"
            " same kind of finding elsewhere."
        ),
        "- What was not reported is not asked about: a report's silence proves nothing.",
        (
            "- A question a model wrote (`report_text`): its sentence is in the report word for"
            " word, and by rule the answer's words, sides and numbers are those of the sentence."
        ),
    ]


def _held_of_imports(info: BenchInfo) -> list[str]:
    return [
        (
            "- Answers are those of the published set; nothing was measured here. "
            "`situs check` counts them as given."
        ),
    ]


HELD = {
    "masks": _held_of_masks,
    "phantoms": _held_of_masks,
    "grades": _held_of_masks,
    "boxes": _held_of_boxes,
    "reports": _held_of_reports,
}
"""Source → what has to hold for its questions; a test holds it to the sources."""
