"""The scored answers of a run as columns: a row an answer, in the order of item ids.

Every table, comparison and breakdown reads these columns. Rows are kept in the order of their ids,
so that not even the last bit of a sum depends on the order of the bench.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["NOT_COUNTED", "UNANSWERED", "Coded", "Columns", "GradeColumns", "Rows"]

NOT_COUNTED = "not answerable"
"""The one state that stays outside accuracy: the profile hides what the item needs."""
UNANSWERED = ("refused", "unparsed")
"""States of replies that say nothing: where a gain is decided, they count as a guess."""

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Coded:
    """A column of words, each stored once:
    `names` in their order, and the place of each row's word among them."""

    codes: IntArray
    names: tuple[str, ...]

    @classmethod
    def of(cls, words: Any) -> Coded:
        """From an Arrow column of words."""
        encoded = words.combine_chunks().dictionary_encode()
        words_found = encoded.dictionary.to_pylist()
        order = sorted(range(len(words_found)), key=words_found.__getitem__)
        places = np.empty(len(words_found), dtype=np.int64)
        places[order] = np.arange(len(words_found))
        codes = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
        return cls(
            places[codes] if len(words_found) else codes,
            tuple(words_found[number] for number in order),
        )

    def at(self, row: int) -> str:
        """The word in a row."""
        return self.names[int(self.codes[row])]

    def is_(self, word: str) -> BoolArray:
        """Which rows hold the word."""
        code = self.names.index(word) if word in self.names else -1
        return np.asarray(self.codes == code)


@dataclass(frozen=True, slots=True)
class GradeColumns:
    """The grades of all answers, one after the other."""

    rows: IntArray
    """The answer each belongs to."""
    names: Coded
    """Sub-scores."""
    truths: IntArray
    told: IntArray
    """-1 where none was given."""
    nominal: BoolArray
    """Whether the grades are kinds, not steps."""
    absent: IntArray
    """The grade that means that the sign is not there; -1 where none does."""


class Columns:
    """All answers of a run."""

    def __init__(self, table: pa.Table) -> None:
        """`table` as `records.scored_table` makes it, in the order of ids."""
        self.table = table

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def without(self, *names: str) -> Columns:
        """The same without some columns, for whoever holds several runs and needs none of these."""
        return Columns(self.table.drop_columns(list(names)))

    def coded(self, name: str) -> Coded:
        """A column of words: `patient_id`, `task`, `form`,
        `stratum`, `question`, `answer`, `twin_group`, `state`."""
        if name not in self._coded:
            self._coded[name] = Coded.of(self.table[name])
        return self._coded[name]

    @cached_property
    def _coded(self) -> dict[str, Coded]:
        return {}

    @cached_property
    def derived(self) -> dict[str, FloatArray]:
        """Values of metrics that were worked out of these columns."""
        return {}

    @cached_property
    def item_ids(self) -> list[str]:
        """The ids, in their order."""
        return list(self.table["item_id"].to_pylist())

    @cached_property
    def places(self) -> dict[str, int]:
        """Item id → its row."""
        return {item_id: row for row, item_id in enumerate(self.item_ids)}

    @cached_property
    def clusters(self) -> IntArray:
        """The patient of each row, by number; numbers follow the names' order."""
        return self.coded("patient_id").codes

    @cached_property
    def counted(self) -> BoolArray:
        """Whether a row is inside accuracy: what the profile hides is not."""
        return np.asarray(~self.coded("state").is_(NOT_COUNTED))

    @cached_property
    def right(self) -> BoolArray:
        """Whether it counts as right."""
        return np.asarray(self.tri_state("right") == 1)

    @cached_property
    def credit(self) -> FloatArray:
        """As `Scored.credit`: 1 if right, else 0;
        what was not answered counts as a uniform guess would."""
        guessed = self.has_state(*UNANSWERED) & ~np.isnan(self.chance)
        return np.where(guessed, self.chance, self.right.astype(np.float64))

    def has_state(self, *states: str) -> BoolArray:
        """Which rows ended in one of these states."""
        column = self.coded("state")
        return np.asarray(np.logical_or.reduce([column.is_(state) for state in states]))

    def tri_state(self, name: str) -> NDArray[np.int8]:
        """A column of yes, no or nothing:
        1, 0, -1 (`right`, `answer_right`, `place_right`, `hidden_right`)."""
        if name not in self._tri_states:
            self._tri_states[name] = _bools(self.table[name])
        return self._tri_states[name]

    @cached_property
    def _tri_states(self) -> dict[str, NDArray[np.int8]]:
        return {}

    @cached_property
    def decided(self) -> BoolArray:
        """Whether it is known to be right or wrong: what waits for a judge is neither yet."""
        judged = self.tri_state("right") >= 0
        return np.asarray(judged & ~self.has_state("unjudged"))

    @property
    def judged_ids(self) -> list[str]:
        """The items of which it is said whether they are right."""
        return [self.item_ids[row] for row in np.flatnonzero(self.tri_state("right") >= 0)]

    def numbers(self, name: str) -> FloatArray:
        """A column of numbers, NaN where there is none (`chance`,
        `truth`, or a metric of single answers)."""
        if name not in self.table.column_names:
            return np.full(len(self), np.nan)
        column = self.table[name].combine_chunks()
        return np.asarray(column.to_numpy(zero_copy_only=False), dtype=np.float64)

    @cached_property
    def chance(self) -> FloatArray:
        """What a uniform guess gets; NaN where there is no such thing."""
        return self.numbers("chance")

    @cached_property
    def truth(self) -> FloatArray:
        """The true number; NaN where none is asked for."""
        return self.numbers("truth")

    @cached_property
    def predictions(self) -> list[Fraction | None]:
        """The number that was said, exactly."""
        texts = self.table["prediction"].to_pylist()
        return [None if text is None else Fraction(text) for text in texts]

    @cached_property
    def predicted(self) -> BoolArray:
        """Whether a number was said."""
        return np.asarray(self.table["prediction"].is_valid().to_numpy(), dtype=bool)

    @cached_property
    def grades(self) -> GradeColumns:
        """Every grade that was asked for."""
        import pyarrow.compute as pc

        column = self.table["grades"].combine_chunks()
        flat = column.flatten()
        rows = np.asarray(pc.list_parent_indices(column), dtype=np.int64)
        one = {name: flat.field(name) for name in ("truth", "told", "absent")}
        truths, told, absent = (
            np.asarray(pc.fill_null(values, -1), dtype=np.int64) for values in one.values()
        )
        import pyarrow as pa

        names = Coded.of(pa.chunked_array([flat.field("name")]))
        nominal = np.asarray(flat.field("nominal").to_numpy(zero_copy_only=False), dtype=bool)
        return GradeColumns(rows, names, truths, told, nominal, absent)

    @cached_property
    def tags(self) -> tuple[IntArray, Coded]:
        """Every tag of every row, one after the other: the rows, and the tags."""
        import pyarrow as pa
        import pyarrow.compute as pc

        column = self.table["tags"].combine_chunks()
        rows = np.asarray(pc.list_parent_indices(column), dtype=np.int64)
        return rows, Coded.of(pa.chunked_array([column.flatten()]))

    def first_tagged(self, prefixes: Iterable[str]) -> list[str]:
        """What follows a prefix in the first tag of each row that begins with it; where several
        prefixes are given, the first of them that some tag of the row has. Empty where none has."""
        rows, tags = self.tags
        found = [""] * len(self)
        is_open = np.ones(len(self), dtype=bool)
        for prefix in prefixes:
            begins = np.array([name.startswith(prefix) for name in tags.names], dtype=bool)
            places = np.flatnonzero(begins[tags.codes]) if len(begins) else np.zeros(0, np.int64)
            tagged, first = np.unique(rows[places], return_index=True)
            for row, place in zip(tagged.tolist(), places[first].tolist()):
                if is_open[row]:
                    found[row] = tags.names[tags.codes[place]].removeprefix(prefix)
            is_open[tagged] = False
        return found

    def flagged(self, flags: Iterable[str]) -> BoolArray:
        """Which rows carry one of the flags."""
        import pyarrow as pa
        import pyarrow.compute as pc

        column = self.table["flags"].combine_chunks()
        has_flag = np.zeros(len(self), dtype=bool)
        hits = pc.is_in(column.flatten(), pa.array(sorted(flags), pa.string()))
        rows = np.asarray(pc.list_parent_indices(column), dtype=np.int64)
        has_flag[rows[np.asarray(hits, dtype=bool)]] = True
        return has_flag

    def where(self, mask: BoolArray) -> Rows:
        """Some of the rows."""
        return Rows(self, np.flatnonzero(mask))

    @property
    def all(self) -> Rows:
        """All of them."""
        return Rows(self, np.arange(len(self)))

    def rows_at(self, rows: Sequence[int]) -> Rows:
        """The rows with these numbers, in the order of ids."""
        return Rows(self, np.array(sorted(rows), dtype=np.int64))

    def state(self, row: int) -> str:
        """How one answer ended."""
        states = self.coded("state")
        return states.names[int(states.codes[row])]

    def reading(self, row: int) -> tuple[str, str]:
        """The state of one answer, and what was read."""
        return self.state(row), str(self.table["parsed"][row].as_py())

    def flags(self, row: int) -> tuple[str, ...]:
        """What a careful reader should know of how one answer was read."""
        return tuple(self.table["flags"][row].as_py())

    def reasons(self, state: str) -> Counter[str]:
        """What is said of the rows in a state, and how often;
        the first in the order of the bench comes first."""
        rows = np.flatnonzero(self.has_state(state))
        rows = rows[np.argsort(self.numbers("position")[rows], kind="stable")]
        return Counter(self.table["parsed"].take(rows).to_pylist())


@dataclass(frozen=True)
class Rows:
    """Some rows of a run, in the order of ids."""

    columns: Columns
    index: IntArray
    sub_score: int | None = None
    """The one sub-score whose grades count, by number; else all do."""

    def __len__(self) -> int:
        return len(self.index)

    def where(self, mask: BoolArray) -> Rows:
        """Those of them for which a column of all rows holds."""
        return self.only(self.index[mask[self.index]])

    def only(self, index: IntArray) -> Rows:
        """Those with these numbers."""
        return Rows(self.columns, index, self.sub_score)

    @cached_property
    def grade_rows(self) -> IntArray:
        """Their grades, by number among all."""
        grades = self.columns.grades
        chosen = self.inside[grades.rows]
        if self.sub_score is not None:
            chosen &= grades.names.codes == self.sub_score
        return np.flatnonzero(chosen)

    @cached_property
    def clusters(self) -> IntArray:
        """Their patients."""
        return self.columns.clusters[self.index]

    @cached_property
    def derived(self) -> dict[object, Any]:
        """What several metrics of these rows share, by whatever names it."""
        return {}

    @cached_property
    def inside(self) -> BoolArray:
        """Of all rows, whether each is one of these."""
        mask = np.zeros(len(self.columns), dtype=bool)
        mask[self.index] = True
        return mask


def _bools(column: pa.ChunkedArray) -> NDArray[np.int8]:
    import pyarrow as pa
    import pyarrow.compute as pc

    return np.asarray(pc.fill_null(pc.cast(column, pa.int8()), -1).to_numpy()).astype(np.int8)
