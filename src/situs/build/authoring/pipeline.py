"""`situs author`: from a bench with evidence to a bench whose questions models planned, worded and vetted.

Code between asks is deterministic and asks come from their journals (`OUT.asked`), so that resuming is running again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from situs.agents.author import Cited
from situs.anatomy import Term, shipped_terms
from situs.base.engines import Engine
from situs.base.files import canonical_json, write_atomic
from situs.base.publish import new_folder
from situs.bench import BenchInfo, open_bench
from situs.build.authoring.card_notes import Findings, card_notes
from situs.build.authoring.citing import cell_of, cite_cells
from situs.build.authoring.planning import plan_programs
from situs.build.authoring.prompts import Prompt, collect
from situs.build.authoring.roles import AuthorRoles, Desk, RoleState
from situs.build.authoring.rules import broken_rule
from situs.build.authoring.studies import AuthorJob, open_author
from situs.build.authoring.trivial import PanelReport, ask_panel, find_trivial, two_of_three
from situs.build.authoring.vetting import Vetting, vet_prompts
from situs.build.authoring.wording import shape_wordings
from situs.build.frame import Progress, StudyWork, facts_behind, finished_studies, placed
from situs.build.spool import resume_key
from situs.build.study import StudyOutcome
from situs.build.writer import BenchWriter, BuildOptions
from situs.errors import Problem, SitusError
from situs.items import (
    Item,
    Outline,
    Placement,
    all_tasks,
    arrange,
    outline,
    with_declared,
)
from situs.items.programs import (
    BUILT_IN,
    Wording,
    fill,
    program_of,
    prove_text,
    read_bank,
    read_program,
    shape_of,
    wording_for,
    write_bank,
)
from situs.items.programs.names import Names
from situs.judges import AskedByID
from situs.library import open_library

__all__ = ["AuthorOptions", "Authored", "author_bench"]

_SOURCES = ("masks", "phantoms")


class AuthorOptions(msgspec.Struct, frozen=True):
    """What is authored, beside who does it."""

    seed: int = 0
    jobs: int = 1
    overwrite: bool = False
    data: Path | None = None
    library: Path | None = None
    wordings: Path | None = None
    """A bank of wordings to begin with."""
    protocol: str = ""
    """`spatialmed`: the published trivial filter, for comparison."""
    withdrawn: dict[str, str] = {}
    """Item → why it is left out: what readers of an earlier bench dropped, or asked to be fixed."""
    max_cost: float | None = None
    ended: Callable[[AskedByID], None] = lambda asked: None
    progress: Progress = lambda done, total: None
    tell: Callable[[str], None] = lambda text: None
    """Gets the funnel as it fills."""


class Authored(msgspec.Struct, frozen=True):
    """What was authored: the contract of `situs author --json`, and more."""

    proposed: int
    proved: int
    kept: int
    items: int
    funnel: dict[str, int]
    roles: dict[str, RoleState]
    cost: float | None
    by_stratum: dict[str, int]
    wordings: int
    critics: list[Any] = []
    panel: PanelReport | None = None
    protocol: dict[str, float] = {}
    citations: dict[str, Any] = {}
    problems: list[Problem] = []


def author_bench(folder: Path, out: Path, roles: AuthorRoles, options: AuthorOptions) -> Authored:
    """Author a bench at `out` from the studies of the bench in `folder`."""
    bench = open_bench(folder)
    if bench.info.source not in _SOURCES:
        fix = "author benches of `situs build masks` or `build phantoms`"
        raise SitusError(f"its source is {bench.info.source}", where=folder, fix=fix)
    if roles.librarian is not None and options.library is None:
        raise SitusError("a librarian needs a library", where="--librarian", fix="add --library")
    desk = Desk(
        out.with_name(f"{out.name}.asked"),
        restricted=bench.info.restricted,
        max_cost=options.max_cost,
        ended=options.ended,
    )
    settings = [bench.info.content_hash, options.seed, options.protocol, str(options.wordings)]
    desk.claim(roles, canonical_json(settings).decode())
    return _Authoring(folder, out, roles, options, desk).run()


class _Marks(NamedTuple):
    """What is noted on items beside their wording."""

    cited: dict[str, Cited]
    routed: set[str]
    """Programs that wait for readers."""
    dropped: set[str]

    def on(self, item: Item) -> Item:
        """The item with its citation, and whether it waits for readers."""
        program = program_of(item)
        assert program is not None
        cell = cell_of(program)
        tags = [*item.tags]
        if cell in self.cited:
            tags.append(f"cites:{self.cited[cell].citation.pmid}")
        if str(program) in self.routed:
            tags.append("routed:readers")
        return msgspec.structs.replace(item, tags=tuple(tags))


class _Authoring:
    """One call of `situs author`."""

    def __init__(
        self, folder: Path, out: Path, roles: AuthorRoles, options: AuthorOptions, desk: Desk
    ) -> None:
        self._bench = open_bench(folder)
        self._folder, self._out = folder, out
        self._roles, self._options, self._desk = roles, options, desk
        self._funnel: Counter[str] = Counter()
        self._names = _names(self._bench.info.terms)
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
        jobs = [AuthorJob(study, options.seed) for study in self._bench.studies()]
        key = resume_key("author", info.content_hash, options.seed)
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
        allowed = self._validated(plan)
        wordings = self._wordings(allowed)
        cited = self._cited(allowed)
        placements = self._arranged(build, allowed, frozenset())
        prompts = self._prompts(placements, wordings)
        vetting = vet_prompts(self._desk, self._roles.critics, prompts, self._funnel)
        textbook, dropped, panel, protocol = self._blind(prompts)
        if textbook:
            placements = self._arranged(build, allowed, frozenset(textbook))
            prompts = self._prompts(placements, wordings)
        marks = _Marks(cited, self._routed(vetting, prompts), dropped)
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
            citations={cell: msgspec.to_builtins(one.citation) for cell, one in cited.items()},
            problems=result.problems,
        )
        write_atomic(scratch / "authoring.json", _record(authored))
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

    def _validated(self, plan: set[str] | None) -> dict[str, str]:
        """Item id → program, of all questions that were planned and break no rule."""
        allowed: dict[str, str] = {}
        for outcome in self._outcomes():
            doubted = frozenset(
                word
                for suspect in outcome.suspects
                if suspect.doubt == "structure" and not suspect.trusted
                for word in suspect.problem.replace(",", " ").split()
            )
            for candidate in outcome.candidates:
                self._funnel["candidates"] += 1
                program = str(program_of(candidate.item))
                # Before the arrangement: an item taken out of it later would leave its twins alone.
                if reason := self._options.withdrawn.get(candidate.item.item_id):
                    self._funnel[reason] += 1
                    continue
                if plan is not None and program not in plan:
                    continue
                rule = broken_rule(candidate, doubted)
                if rule is not None:
                    self._funnel[f"rule {rule.id}"] += 1
                    continue
                self._funnel["questions proved"] += 1
                allowed[candidate.item.item_id] = program
        return allowed

    def _wordings(self, allowed: dict[str, str]) -> dict[str, Wording]:
        """Program → its wording, the same for every patient."""
        programs = {text: read_program(text) for text in sorted(set(allowed.values()))}
        shapes = {str(shape_of(program)): shape_of(program) for program in programs.values()}
        bank = read_bank(self._options.wordings) if self._options.wordings is not None else []
        proved = shape_wordings(
            self._desk,
            self._roles.writer,
            [shapes[text] for text in sorted(shapes)],
            bank,
            self._funnel,
        )
        self._tell()
        seed = self._options.seed
        return {
            text: wording_for(program, proved[str(shape_of(program))], seed)
            for text, program in programs.items()
        }

    def _cited(self, allowed: dict[str, str]) -> dict[str, Cited]:
        if self._roles.librarian is None or self._options.library is None:
            return {}
        cells = {cell_of(read_program(text)) for text in set(allowed.values())}
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
            # What is filtered item by item has no twins: those of a removed item would be uneven, and tell answers.
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
        return [_worded(item, wordings, self._names) for item in items]

    def _blind(
        self, prompts: dict[str, Prompt]
    ) -> tuple[set[str], set[str], PanelReport | None, dict[str, float]]:
        """Programs that are textbook, items that leave (published protocol), and what the panel knew."""
        if not self._roles.panel:
            return set(), set(), None, {}
        shown = {
            id_: p for id_, p in prompts.items() if len(p.options) > 1 and p.stratum != "textbook"
        }
        known, first = ask_panel(self._desk, self._roles.panel, shown)
        names = [member.name for member in self._roles.panel]
        trivial, report = find_trivial(shown, known, names)
        self._tell()
        if self._options.protocol == "spatialmed":
            dropped, scores = two_of_three(shown, first)
            self._funnel["removed by two of three"] += len(dropped)
            return set(), dropped, report, scores
        programs = {shown[id_].program for id_ in trivial}
        self._funnel["templates the panel knows"] += len(trivial)
        return programs, set(), report, {}

    def _routed(self, vetting: Vetting, prompts: dict[str, Prompt]) -> set[str]:
        """Programs that wait for readers: flagged by a critic that counts, or read by none."""
        routed: set[str] = set()
        for id_, found in vetting.flags.items():
            if id_ in prompts:
                for flag in set(found):
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
        marks: _Marks,
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
                writer.add(outcome.study, facts, items, outcome.not_asked, outcome.places)
                writer.add_suspects(outcome.suspects)
        return used

    def _tell(self) -> None:
        shown = ", ".join(f"{name} {n:,}" for name, n in sorted(self._funnel.items()) if n)
        self._options.tell(shown)


def _names(own: Mapping[str, Term]) -> Names:
    """What structures are called: the user's own terms before the shipped ones."""
    terms = {**shipped_terms(), **own}
    families = {name: entry for name, entry in terms.items() if entry.kind == "lesion"}
    return Names.of_terms(terms.values(), families)


def _worded(item: Item, wordings: Mapping[str, Wording], names: Names) -> Item:
    """The item in its program's wording, if the text still means the program and nothing else."""
    program = program_of(item)
    wording = wordings.get(str(program))
    if program is None or wording is None or wording.by == BUILT_IN:
        return item
    text = fill(wording.text, program, names)
    if prove_text(text, program, names) is not None:
        return item
    tags = (*item.tags, f"wording:{wording.wording_id}")
    return msgspec.structs.replace(item, question=text, tags=tags)


def _record(authored: Authored) -> bytes:
    """`authoring.json`: no seconds and no number of asks, so that a resumed call writes the same bytes."""
    plain = msgspec.to_builtins(authored)
    plain.pop("problems")
    plain.pop("cost")
    plain["roles"] = {
        name: {"state": state["state"], "why": state["why"]}
        for name, state in plain["roles"].items()
    }
    return msgspec.json.format(canonical_json(plain), indent=2) + b"\n"
