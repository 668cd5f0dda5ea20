"""What kind of reader a model is, in plain words, decided from one table of evidence."""

from __future__ import annotations

from collections.abc import Mapping

from situs.probe.diagnosis.evidence import Evidence
from situs.probe.diagnosis.further import CAUSES, DECLARED, INVERTS, further_findings
from situs.probe.diagnosis.kinds import KINDS, Kind, kind_findings
from situs.probe.diagnosis.reader import Reader
from situs.probe.diagnosis.records import FINDINGS, Diagnosis, Finding, GroupSight

__all__ = ["diagnose"]


def diagnose(evidence: Evidence) -> Diagnosis:
    """The verdicts that follow from the evidence."""
    reader = Reader(evidence)
    kind = next(kind for kind in KINDS if kind.holds(reader))
    made = kind_findings(reader, kind) | further_findings(reader, kind)
    findings = {name: made[name] for name in (*FINDINGS, *sorted(made.keys() - set(FINDINGS)))}
    return Diagnosis(
        kind=kind.name,
        summary=_summary(reader, kind, findings),
        items=evidence.items,
        findings=findings,
        groups=reader.groups,
        detectable=reader.detectable,
    )


_SAYS = {
    "mirrored": "Mirrored: takes left for right.",
    "mm_as_cm": "Reads mm as cm.",
    "one_slice_only": "Uses one slice only.",
    "follows_the_prior": "Follows the prior.",
    "ignores_lesions": "Ignores lesions.",
    "inverts_yes_no": f"{INVERTS[0].upper()}{INVERTS[1:]}.",
    **{cause.value: f"{words[0].upper()}{words[1:]}." for cause, words in CAUSES.items()},
    **{name: f"{words[0].upper()}{words[1:]}." for name, words in DECLARED.values()},
}


def _summary(reader: Reader, kind: Kind, findings: Mapping[str, Finding]) -> str:
    sentences = [kind.summary]
    groups = reader.groups
    if kind.name == "looks" and {
        group.verdict for group in groups.values() if group.gain.decides
    } - {"sees"}:
        sentences += _by_group(groups)
    limited = kind.name in ("unclear", "guesses", "reacts") and not reader.silenced
    if limited and reader.known:
        sentences.append(f"Gains above {reader.all.highest:+.2f} are excluded.")
    if kind.name == "unclear" and reader.moved is not None:
        group, n = reader.moved.group, reader.moved.n
        sentences.append(f"Its answers change in {group} only: {n:,} questions, too few to tell.")
    for name, finding in findings.items():
        if finding.verdict != "yes":
            continue
        if name in _SAYS:
            sentences.append(_SAYS[name])
        elif name == "option_habit" and reader.habit is not None:
            sentences.append(f"Habit: {reader.habit.name} ({reader.habit.followed:.0%}).")
        elif name == "yes_bias" and reader.yes is not None:
            sentences.append(f"Bias: {reader.yes.name} ({reader.yes.followed:.0%}).")
        elif name == "declines":
            sentences.append(
                f"Declines {reader.evidence.declined.value or 0.0:.0%} of the questions."
            )
    return " ".join(sentences)


def _by_group(groups: Mapping[str, GroupSight]) -> list[str]:
    listed: dict[str, list[str]] = {}
    for name, group in sorted(groups.items()):
        # A handful of questions is no part of what a bench asks about.
        group_verdict = group.verdict if group.gain.decides else "too few"
        listed.setdefault(group_verdict, []).append(name)
    words = {
        "sees": "Sight is shown for",
        "misled": "The pictures mislead it for",
        "none shown": "No sight is shown for",
        "unclear": "Cannot be told for",
        "too few": "Too few questions on",
    }
    return [
        f"{start} {', '.join(listed[verdict])}."
        for verdict, start in words.items()
        if verdict in listed
    ]
