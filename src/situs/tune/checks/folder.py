"""What can be proved of training data from their own folder: files, pictures, splits."""

from __future__ import annotations

from pathlib import Path

from situs.base.files import digest, file_digest
from situs.errors import SitusError
from situs.tune.checks.problems import Problems
from situs.tune.pictures import is_uniform, opened_picture, picture_bytes
from situs.tune.record import MARKER, Example, TrainingData

__all__ = ["PROVED_OF_FOLDER", "FolderCheck", "check_files", "refuse", "refuse_changed"]

PROVED_OF_FOLDER = (
    "files are as the manifest says",
    "every picture is there, whole, and named by its content",
    "as many pictures as the prompt speaks of",
    "no patient, series or picture in two splits",
)


def check_files(data: TrainingData, problems: Problems) -> None:
    """The bytes of every file the manifest names."""
    for name, expected in data.manifest.files.items():
        path = data.folder / name
        if not path.is_file():
            problems.add("file-missing", name, "is missing")
        elif file_digest(path) != expected:
            problems.add("file-changed", name, "is not what the manifest says: it was changed")
    if data.profile.hash != data.manifest.profile_hash:
        problems.add(
            "profile-changed", "profile.toml", f"is not the profile that {MARKER} was written with"
        )


def refuse_changed(data: TrainingData) -> None:
    """Data that were changed since they were built are neither trained on nor exported."""
    problems = Problems()
    check_files(data, problems)
    refuse(problems, data.folder)


def refuse(problems: Problems, folder: Path) -> None:
    """The first problem as an error."""
    for one in problems.shown()[:1]:
        raise SitusError(f"{one.where}: {one.problem}", where=folder, fix="build the data again")


class FolderCheck:
    """Looks at examples one by one; remembers where patients, series and pictures were seen."""

    def __init__(self, folder: Path, problems: Problems) -> None:
        self._folder = folder
        self._problems = problems
        self._seen: dict[str, dict[str, str]] = {"patient": {}, "series": {}, "picture": {}}
        self._sizes: dict[str, tuple[int, int] | None] = {}

    def add(self, example: Example, split: str) -> None:
        """Look at one example of a split."""
        if example.split != split:
            self._problems.add(
                "split-mixed", example.item_id, f"says {example.split} but is in {split}"
            )
        if split == "test":
            self._problems.add("test-split", example.item_id, "is of the test split")
        self._once("patient", example.patient_id, split, example.item_id)
        self._once("series", f"{example.study_id}/{example.series}", split, example.item_id)
        for name in dict.fromkeys(example.pictures):
            if self.size(name, example.item_id) is not None:
                self._once("picture", name, split, example.item_id)
        if example.pictures and len(example.pictures) != example.shown:
            self._problems.add(
                "picture-count",
                example.item_id,
                f"its prompt speaks of {example.shown} pictures and it has {len(example.pictures)}",
            )
        if not example.completion.strip():
            self._problems.add("nothing-supervised", example.item_id, "has nothing to learn")

    def has_pictures(self, example: Example) -> bool:
        """Whether an example has pictures, all of them usable."""
        names = example.pictures
        return bool(names) and all(self.size(name, example.item_id) for name in names)

    def size(self, name: str, where: str) -> tuple[int, int] | None:
        """Width and height of a picture; None if it is not usable. Each is read once."""
        if name not in self._sizes:
            self._sizes[name] = self._read(name, where)
        return self._sizes[name]

    def _read(self, name: str, where: str) -> tuple[int, int] | None:
        path = self._folder / name
        if Path(name).is_absolute() or ".." in Path(name).parts or not path.is_file():
            self._problems.add("picture-missing", where, f"{name} is missing")
            return None
        try:
            data = picture_bytes(path)
            if digest(data) != path.stem:
                self._problems.add("picture-changed", where, f"{name} is not what its name says")
                return None
            with opened_picture(data) as picture:
                size = (picture.width, picture.height)
            if is_uniform(data):
                self._seen["picture"][name] = ""
            return size
        except (OSError, SyntaxError, ValueError):
            self._problems.add("picture-unreadable", where, f"{name} cannot be decoded")
            return None

    def _once(self, what: str, name: str, split: str, where: str) -> None:
        before = self._seen[what].setdefault(name, split)
        if before not in ("", split):
            self._problems.add(
                f"{what}-in-two-splits",
                where,
                f"{what} {name} is in {before} and in {split}",
                "rebuild the bench: what is learnt from the one would be tested on the other",
            )
