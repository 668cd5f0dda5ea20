"""What can be proved of data from sessions: that playing them back gives the same examples."""

from __future__ import annotations

from pathlib import Path

from situs.base.files import canonical_json, digest, read_json
from situs.bench import Bench
from situs.items import Item
from situs.tune.checks.problems import Problems
from situs.tune.record import Example, TrainingData
from situs.tune.selection import check_patients
from situs.tune.sessions import is_room_run, session_examples

__all__ = ["SessionCheck", "run_of"]


def run_of(data: TrainingData) -> Path | None:
    """The run the data were built from; None if it is not on this machine."""
    file = data.folder / "locations.json"
    run_folder = read_json(file, dict[str, str]).get("run", "") if file.is_file() else ""
    return Path(run_folder) if run_folder and is_room_run(Path(run_folder)) else None


class SessionCheck:
    """Plays the sessions back, scores them again, and compares turn by turn."""

    proves = (
        "conversations, pictures and replies are those of the sessions, played back",
        "every session was answered correctly after all of its evidence had been seen",
        "no example is of a test patient",
    )
    not_rendered = ""

    def __init__(
        self,
        data: TrainingData,
        run: Path,
        bench: Bench,
        problems: Problems,
        volumes: Path | None = None,
    ) -> None:
        self._problems = problems
        self._splits = check_patients(bench)
        self._expected = {
            example.item_id: _fingerprint(example, [digest(image.data) for image in images])
            for example, images in session_examples(
                run, tuple(data.manifest.counts), bench=bench.folder, data=volumes
            )
        }

    def add(self, example: Example, item: Item | None) -> None:
        """Compare one example with the turn it is said to be."""
        del item  # an example is a turn, which no item is
        if self._splits.get(example.patient_id) == "test":
            self._problems.add(
                "test-patient",
                example.item_id,
                f"its patient {example.patient_id} is in the test split",
            )
        expected = self._expected.get(example.item_id)
        names = [Path(name).stem for name in example.pictures]
        if expected is None:
            self._problems.add(
                "no-session", example.item_id, "no session that may be learnt from has this turn"
            )
        elif expected != _fingerprint(example, names):
            self._problems.add(
                "session-differs", example.item_id, "it is not what the session played back gives"
            )


def _fingerprint(example: Example, pictures: list[str]) -> str:
    about = (example.patient_id, example.study_id, example.split)
    return digest(canonical_json([about, example.turns, example.completion, pictures]))
