"""`situs author`: from a bench with evidence to a bench whose questions models planned, worded and
vetted.

Code between asks is deterministic and asks come from their journals (`OUT.asked`), so that resuming
is running again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from situs.agents.author import Cited
from situs.base.engines import Engine
from situs.base.files import canonical_json, digest, write_atomic
from situs.base.publish import asked_beside, new_folder
from situs.bench import BenchInfo, open_bench
from situs.build.authoring.card_notes import Findings, card_notes
from situs.build.authoring.citing import cell_of, cite_cells
from situs.build.authoring.marks import Marks
from situs.build.authoring.planning import plan_programs
from situs.build.authoring.prompts import Prompt, collect
from situs.build.authoring.record import Authored, AuthorOptions, authored_file
from situs.build.authoring.roles import AuthorRoles, Desk, Purse, check_roles
from situs.build.authoring.rules import validated
from situs.build.authoring.studies import AuthorJob, open_author
from situs.build.authoring.trivial import PanelReport, ask_panel, find_trivial, two_of_three
from situs.build.authoring.vetting import Vetting, vet_prompts
from situs.build.authoring.wording import names_with, program_wordings, shape_wordings, worded
from situs.build.frame import StudyWork, facts_behind, finished_studies, placed
from situs.build.spool import resume_key
from situs.build.study import StudyOutcome
from situs.build.writer import BenchWriter, BuildOptions
from situs.errors import Problem, SitusError
from situs.items import Item, Outline, Placement, all_tasks, arrange, outline, with_declared
from situs.items.programs import Wording, program_of, read_bank, read_program, write_bank
from situs.library import open_library

__all__ = ["author_bench"]

_SOURCES = ("masks", "phantoms")


def author_bench(folder: Path, out: Path, roles: AuthorRoles, options: AuthorOptions) -> Authored:
    """Author a bench at `out` from the studies of the bench in `folder`."""
    bench = open_bench(folder)
    if bench.info.source not in _SOURCES:
        fix = "author benches of `situs build masks` or `build phantoms`"
        raise SitusError(f"its source is {bench.info.source}", where=folder, fix=fix)
    if roles.librarian is not None and options.library is None:
        raise SitusError("a librarian needs a library", where="--librarian", fix="add --library")
    # What is given is read before anything is measured: of a large bench that takes hours.
    bank = read_bank(options.wordings) if options.wordings is not None else []
    if roles.librarian is not None and options.library is not None:
        open_library(options.library).close()
    purse = options.purse or Purse()
    check_roles(roles, purse, restricted=bench.info.restricted)
    desk = Desk(
        asked_beside(out),
        restricted=bench.info.restricted,
        purse=purse,
        ended=options.ended,
    )
    settings = [
        bench.info.content_hash,
        options.seed,
        options.per_study,
        options.protocol,
        # What the bank says, not where it lies: an edited one is another task.
        digest(canonical_json(msgspec.to_builtins(bank))) if bank else "None",
    ]
    desk.claim(roles, canonical_json(settings).decode())
    return _Authoring(folder, out, roles, options, desk, bank).run()


class _Authoring:
    """One call of `situs author`."""

    def __init__(
        self,
        folder: Path,
        out: Path,
        roles: AuthorRoles,
        options: AuthorOptions,
        desk: Desk,
        bank: list[Wording],
    ) -> None:
        self._bench = open_bench(folder)
        self._folder, self._out = folder, out
        self._roles, self._options, self._desk = roles, options, desk
        self._bank = bank
        self._funnel: Counter[str] = Counter()
        self._names = names_with(self._bench.info.terms)
        self._problems: list[Problem] = []

    def run(self) -> Authored:
        """From studies to a finished bench."""
        info, options = self._bench.info, self._options
        recipe = with_declared(info.recipe, all_tasks().values())
        build = BuildOptions(
            self._out.name,
            recipe,
            seed=options.seed,
            engine=Engine(jobs=options.jobs),
            restricted=info.restricted,
            licence=info.licence,
        )
        jobs = [
            AuthorJob(study, options.seed, options.per_study) for study in self._bench.studies()
        ]
        key = resume_key("author", info.content_hash, options.seed, options.per_study)
        with new_folder(
            self._out, marker="bench.json", overwrite=options.overwrite, resume_key=key
        ) as scratch:
            worker = partial(open_author, self._folder, options.data)
            work = StudyWork(jobs, worker, StudyOutcome, lambda job, outcome: [])
            finished = [
                number
                for number, _ in finished_studies(
                    work, scratch, build, self._problems, options.progress
                )
            ]
            self._outcomes: Callable[[], Iterator[StudyOutcome]] = lambda: map(
                work.spool(scratch).read, finished
            )
            return self._author(scratch, build, info)

    def _author(self, scratch: Path, build: BuildOptions, info: BenchInfo) -> Authored:
        plan = self._plan()
        allowed = validated(
            self._outcomes(), plan, self._options.withdrawn, info.terms, self._funnel
        )
        placements = self._arranged(build, allowed, frozenset())
        # Only what is asked is worded and cited; most of what could be asked is not.
        asked = {program for id_, program in allowed.items() if id_ in placements}
        proved = self._proved_wordings(asked)
        wordings = program_wordings(asked, proved, self._options.seed)
        cited = self._cited(asked)
        prompts = self._prompts(placements, wordings)
        vetting = vet_prompts(self._desk, self._roles.critics, prompts, wordings, self._funnel)
        textbook, dropped, panel, protocol = self._blind(prompts)
        if textbook:
            placements = self._arranged(build, allowed, frozenset(textbook))
            asked = {program for id_, program in allowed.items() if id_ in placements}
            wordings = program_wordings(asked, proved, self._options.seed)
            prompts = self._prompts(placements, wordings)
        marks = Marks(cited, self._routed(vetting, prompts), dropped, self._options.quotes)
        used = self._write(scratch, build, placements, wordings, marks)
        self._desk.absent([n for n in ("planner", "librarian", "writer") if not self._played(n)])
        self._desk.absent(["critics"] if not self._roles.critics else [])
        self._desk.absent(["panel"] if not self._roles.panel else [])
        findings = Findings(vetting.reports, panel, protocol, used)
        notes = card_notes(self._funnel, self._desk.states, findings)
        write_bank(scratch / "wordings.toml", used)
        result = self._writer.finish(self._problems, (*info.notes, *notes), may_be_empty=True)
        costs = [state.cost for state in self._desk.states.values()]
        authored = Authored(
            proposed=self._funnel["candidates"] if plan is None else len(plan),
            proved=self._funnel["questions proved"],
            kept=len({prompt.program for prompt in prompts.values()}),
            items=result.items,
            funnel=dict(sorted(self._funnel.items())),
            roles=dict(sorted(self._desk.states.items())),
            cost=None if None in costs else sum(cost or 0.0 for cost in costs),
            by_stratum=result.by_stratum,
            wordings=len(used),
            critics=vetting.reports,
            panel=panel,
            protocol=protocol,
            citations=_plain_citations(cited, quotes=self._options.quotes),
            problems=result.problems,
        )
        write_atomic(scratch / "authoring.json", authored_file(authored))
        return authored

    def _played(self, role: str) -> bool:
        return getattr(self._roles, role) is not None

    def _plan(self) -> set[str] | None:
        """Programs to be asked; None: all that can be."""
        if self._roles.planner is None:
            return None
        plan = plan_programs(self._desk, self._roles.planner, self._outcomes(), self._funnel)
        if plan is None:
            self._funnel["planner proposed nothing: all candidates"] += 1
        self._tell()
        return plan

    def _proved_wordings(self, programs: set[str]) -> dict[str, list[Wording]]:
        proved = shape_wordings(self._desk, self._roles.writer, programs, self._bank, self._funnel)
        self._tell()
        return proved

    def _cited(self, programs: set[str]) -> dict[str, Cited]:
        if self._roles.librarian is None or self._options.library is None:
            return {}
        cells = {cell_of(read_program(text)) for text in programs}
        with open_library(self._options.library) as library:
            return cite_cells(self._desk, self._roles.librarian, library, cells, self._funnel)

    def _arranged(
        self, build: BuildOptions, allowed: dict[str, str], textbook: frozenset[str]
    ) -> dict[str, Placement]:
        """Twins, strata and options; `textbook` are programs that need no sight."""
        outlines: list[Outline] = []
        for outcome in self._outcomes():
            for candidate in outcome.candidates:
                program = allowed.get(candidate.item.item_id)
                if program is not None:
                    one = msgspec.structs.replace(
                        candidate, textbook=candidate.textbook or program in textbook
                    )
                    outlines.append(outline(one, outcome.study.split))
        recipe, twins = build.recipe, build.recipe.twins
        if self._options.protocol == "spatialmed":
            # What is filtered item by item has no twins: those of a removed item would be uneven,
            # and tell answers.
            twins = msgspec.structs.replace(twins, fewest=len(outlines) + 2)
        return arrange(outlines, build.seed, recipe.strata_per_study, recipe.mix, twins)

    def _prompts(
        self, placements: dict[str, Placement], wordings: dict[str, Wording]
    ) -> dict[str, Prompt]:
        prompts: dict[str, Prompt] = {}
        for outcome in self._outcomes():
            for item in self._items(outcome, placements, wordings):
                collect(prompts, item, str(program_of(item)))
        return prompts

    def _items(
        self,
        outcome: StudyOutcome,
        placements: dict[str, Placement],
        wordings: dict[str, Wording],
    ) -> list[Item]:
        """The items of a study in their wordings."""
        items = placed(
            [candidate.item for candidate in outcome.candidates], placements, outcome.study.split
        )
        return [worded(item, wordings, self._names) for item in items]

    def _blind(
        self, prompts: dict[str, Prompt]
    ) -> tuple[set[str], set[str], PanelReport | None, dict[str, float]]:
        """Programs that are textbook,
        items that leave (published protocol), and what the panel knew."""
        if not self._roles.panel:
            return set(), set(), None, {}
        answerable = {
            id_: p for id_, p in prompts.items() if len(p.options) > 1 and p.stratum != "textbook"
        }
        known, first = ask_panel(self._desk, self._roles.panel, answerable)
        names = [name for name, chosen in first.items() if any(chosen.values())]
        trivial, report = find_trivial(answerable, known, names)
        self._tell()
        if self._options.protocol == "spatialmed":
            dropped, scores = two_of_three(answerable, first)
            self._funnel["removed by two of three"] += len(dropped)
            return set(), dropped, report, scores
        programs = {answerable[id_].program for id_ in trivial}
        self._funnel["templates the panel knows"] += len(programs)
        return programs, set(), report, {}

    def _routed(self, vetting: Vetting, prompts: dict[str, Prompt]) -> set[str]:
        """Programs that wait for readers: flagged by a critic that counts, or read by none."""
        routed: set[str] = set()
        for id_, raised in vetting.flags.items():
            if id_ in prompts:
                for flag in set(raised):
                    self._funnel[f"routed to readers: {flag}"] += 1
                routed.add(prompts[id_].program)
        unread = {prompt.program for prompt in prompts.values()} - vetting.programs
        if unread:
            self._funnel["routed to readers: read by no critic"] += len(unread)
        return routed | unread

    def _write(
        self,
        scratch: Path,
        build: BuildOptions,
        placements: dict[str, Placement],
        wordings: dict[str, Wording],
        marks: Marks,
    ) -> set[Wording]:
        info = self._bench.info
        used: set[Wording] = set()
        with BenchWriter(scratch, info.source, build, info.terms) as writer:
            self._writer = writer
            writer.trust(info.trusted)
            for outcome in self._outcomes():
                items = []
                for item in self._items(outcome, placements, wordings):
                    if item.item_id not in marks.dropped:
                        used.add(wordings[str(program_of(item))])
                        items.append(marks.on(item))
                facts = facts_behind(outcome.facts, outcome.basics, items)
                facts += marks.literature(items)
                writer.add(outcome.study, facts, items, outcome.not_asked, outcome.places)
                writer.add_suspects(outcome.suspects)
        return used

    def _tell(self) -> None:
        counts = ", ".join(f"{name} {n:,}" for name, n in sorted(self._funnel.items()) if n)
        self._options.tell(counts)


def _plain_citations(cited: Mapping[str, Cited], *, quotes: bool) -> dict[str, Any]:
    """Cell → where the words stand;
    abstracts may be protected, so the words themselves only on request."""
    plain = {cell: msgspec.to_builtins(one.citation) for cell, one in cited.items()}
    return {
        cell: one if quotes else {key: value for key, value in one.items() if key != "quote"}
        for cell, one in plain.items()
    }
