"""Which command reads which file: every kind of file, and every command that opens a bench or a
run.

Words may hold `{file}` (the spoilt file), `{folder}` (where it lies), `{corpus}` (good files) and
`{out}`.
"""

from __future__ import annotations

import shutil
from pathlib import Path

__all__ = ["FILES", "OF_BENCH", "lay_out", "spell"]

Words = tuple[str, ...]
_OUT = ("--out", "{out}")
_ITEMS = "{corpus}/benches/items"
_SCANS = "{corpus}/benches/scans"
_JUDGED = "{corpus}/runs/judged"
_TRUST = ("--trust", "s1")  # five balls look like nobody's anatomy
_KNEE = ("{corpus}/split.csv", "{corpus}/knee.json")
_MASKS = ("--names", "{corpus}/names.csv", "--annotation", "manual", *_OUT)

FILES: tuple[tuple[str, Words], ...] = (
    ("labels.nii.gz", ("measure", "{file}", "--json")),
    ("labels.nii", ("measure", "{file}", "--pairs", "all", "--json", "--details")),
    ("labels.nii", ("build", "masks", "{file}", "--trust", "labels", *_MASKS)),
    ("second.nii", ("measure", "{file}")),
    ("labels.nrrd", ("measure", "{file}", "--details", "--json")),
    ("labels.seg.nrrd", ("measure", "{file}", "--pairs", "all")),
    ("labels.seg.nrrd", ("build", "masks", "{file}", "--trust", "labels", *_OUT)),
    ("labels.mha", ("measure", "{file}")),
    ("ct.nii.gz", ("show", "{file}", *_OUT)),
    ("ct.nii.gz", ("show", "{file}", "--profile", "three-views", "--out", "{out}.png")),
    ("study/ct.nii.gz", ("measure", "{folder}/study", "--json")),
    ("study/segmentations/liver.nii.gz", ("measure", "{folder}/study")),
    ("study/segmentations/liver.nii.gz", ("build", "masks", "{folder}/study", "--trust", "study", *_OUT)),
    ("dicom/series/1_002.dcm", ("show", "{folder}/dicom/series", *_OUT)),
    ("dicom/contours.dcm", ("measure", "{folder}/dicom", "--json")),
    ("dicom/contours.dcm", ("measure", "{file}")),
    ("segments/segments.dcm", ("measure", "{file}", "--json")),
    ("segments/segments.dcm", ("measure", "{file}", "--names", "{corpus}/names.csv", "--details", "--json")),
    ("names.csv", ("measure", "{corpus}/labels.nii.gz", "--names", "{file}")),
    ("names.csv", ("build", "masks", "{corpus}/table.csv", "--names", "{file}", *_TRUST, *_OUT)),
    ("names.json", ("measure", "{corpus}/labels.nii.gz", "--names", "{file}")),
    ("names.json", ("build", "masks", "{corpus}/table.csv", "--names", "{file}", *_TRUST, *_OUT)),
    ("table.csv", ("build", "masks", "{file}", *_TRUST, *_MASKS)),
    ("table.csv", ("build", "masks", "{file}", "--skip-bad", *_TRUST, *_MASKS)),
    ("recipe.toml", ("build", "masks", "{corpus}/table.csv", "--recipe", "{file}", *_TRUST, *_MASKS)),
    ("recipe.toml", ("build", "boxes", "{corpus}/boxes.csv", "--recipe", "{file}", *_OUT)),
    ("recipe.toml", ("build", "reports", "{corpus}/reports.csv", "--recipe", "{file}", *_OUT)),
    ("boxes.csv", ("build", "boxes", "{file}", "--per-study", "4", *_OUT)),
    ("boxes.csv", ("build", "boxes", "{file}", "--images", "{corpus}/stacks", "--per-study", "4", *_OUT)),
    ("boxes.csv", ("build", "boxes", "{file}", "--skip-bad", "--per-study", "4", *_OUT)),
    ("coco.json", ("build", "boxes", "{file}", *_OUT)),
    ("reviewed.csv", ("build", "boxes", "{corpus}/boxes.csv", "--lists", "{file}", "--per-study", "4", *_OUT)),
    ("sides.csv", ("build", "boxes", "{corpus}/boxes.csv", "--sides", "{file}", "--per-study", "4", *_OUT)),
    ("stacks/file1000000.h5", ("build", "boxes", "{corpus}/boxes.csv", "--images", "{folder}/stacks", *_OUT)),
    ("stacks/file1000001/003.png", ("build", "boxes", "{corpus}/boxes.csv", "--images", "{folder}/stacks", *_OUT)),
    ("reports.csv", ("build", "reports", "{file}", *_OUT)),
    ("reports.jsonl", ("build", "reports", "{file}", "--json", *_OUT)),
    ("grades.csv", ("build", "grades", "{file}", *_OUT)),
    ("grades.csv", ("build", "grades", "{file}", "--boxes", "{corpus}/regions.csv", "--skip-bad", *_OUT)),
    ("regions.csv", ("build", "grades", "{corpus}/grades.csv", "--boxes", "{file}", *_OUT)),
    ("bank.toml", ("build", "grades", "{corpus}/grades.csv", "--bank", "{file}", *_OUT)),
    ("columns.toml", ("build", "grades", "{corpus}/grades.csv", "--columns", "{file}", *_OUT)),
    ("items.jsonl", ("import", "items", "{file}", *_OUT)),
    ("items.jsonl", ("import", "items", "{file}", "--skip-bad", "--json", *_OUT)),
    ("qa.json", ("import", "ct-spatialvqa", "{file}", *_OUT)),
    ("reports.json", ("import", "ct-spatialvqa", "{corpus}/qa.json", "--reports", "{file}", *_OUT)),
    ("sgmri.json", ("import", "sgmri-vqa", "{file}", *_OUT)),
    ("results.json", ("import", "sgmri-vqa", "{file}", "--skip-bad", *_OUT)),
    ("split.csv", ("import", "3dreasonknee", "{file}", "{corpus}/knee.json", "--images", "{corpus}", *_OUT)),
    ("knee.json", ("import", "3dreasonknee", "{corpus}/split.csv", "{file}", "--images", "{corpus}", *_OUT)),
    ("fields.toml", ("import", "3dreasonknee", *_KNEE, "--fields", "{file}", *_OUT)),
    ("answers.jsonl", ("run", _ITEMS, "--model", "replay:{file}", *_OUT)),
    ("verdicts.jsonl", ("score", _ITEMS, _JUDGED, "--verdicts", "v={file}")),
    ("verdicts.jsonl", ("score", _ITEMS, _JUDGED, "--verdicts", "v={corpus}/verdicts.jsonl", "--human", "{file}")),
    ("room.toml", ("run", _SCANS, "--model", "peeker", "--room", "{file}", "--limit", "2", *_OUT)),
    ("sessions/turns.jsonl", ("score", _SCANS, "{folder}/sessions", "--json")),
    ("sessions/turns.jsonl", ("report", "{folder}/sessions", "--bench", _SCANS, "--out", "{out}.html")),
    ("sessions/turns.jsonl", ("export", "{folder}/sessions", "--bench", _SCANS, "--to", "traces", *_OUT)),
    ("sessions/room.json", ("export", "{folder}/sessions", "--bench", _SCANS, "--to", "traces", *_OUT)),
    ("halves/2/answers.jsonl", ("merge", "{folder}/halves/1", "{folder}/halves/2", *_OUT)),
    ("halves/2/run.json", ("merge", "{folder}/halves/1", "{folder}/halves/2", *_OUT)),
    ("default.toml", ("run", _ITEMS, "--model", "random", "--profile", "{file}", *_OUT)),
    ("default.toml", ("show", "{corpus}/ct.nii.gz", "--profile", "{file}", *_OUT)),
    ("default.toml", ("export", "{corpus}/benches/scans", "--to", "hf", "--profile", "{file}", *_OUT)),
    ("prices.toml", ("run", _ITEMS, "--model", "random", "--prices", "{file}", *_OUT)),
    ("sheet.csv", ("audit", "import", _ITEMS, "{file}")),
    ("sheet.csv", ("audit", "import", _ITEMS, "{file}", "--validator", "bob", "--json")),
    ("quiz.json", ("quiz", _ITEMS, "--import", "{file}", *_OUT)),
    ("taught/manifest.json", ("tune", "check", "{folder}/taught")),
    ("taught/train.jsonl", ("tune", "check", "{folder}/taught", "--json")),
    ("taught/train.jsonl", ("tune", "export", "{folder}/taught", "--to", "llama-factory", *_OUT)),
    ("taught/manifest.json", ("tune", "export", "{folder}/taught", "--to", "openai", *_OUT)),
    ("taught/profile.toml", ("tune", "check", "{folder}/taught")),
    ("taught/locations.json", ("tune", "check", "{folder}/taught")),
    ("station/station.json", ("review", "verify", "{folder}/station")),
    ("station/station.sqlite", ("review", "verify", "{folder}/station", "--json")),
    ("station/station.sqlite", ("review", "export", "{folder}/station", "--project", "p", *_OUT)),
    ("station/station.sqlite", ("review", "assign", "{folder}/station", "--project", "p", "--readers", "ann,bob")),
    ("config.toml", ("tune", "run", "{file}", "--data", "{corpus}/taught", "--model", "m", "--dry-run")),
    ("config.toml", ("tune", "run", "{file}", "--data", "{corpus}/taught", "--model", "m", "--launch-files", "{out}")),
    ("protocol.toml", ("review", "import", "{folder}/station", _SCANS, "--project", "q", "--items", "4", "--protocol", "{file}")),
    ("readings/requests.json", ("build", "masks", "{corpus}/table.csv", "--review", "{folder}/readings", *_TRUST, *_MASKS)),
    ("readings/station-export.json", ("build", "masks", "{corpus}/table.csv", "--review", "{folder}/readings", *_TRUST, *_MASKS)),
    ("readings/station-export.json", ("review", "import", "{folder}/empty", "{folder}/readings")),
    ("parts/2/studies/0000001.json", ("merge", "{folder}/parts/1", "{folder}/parts/2", *_OUT)),
    ("parts/2/shard.json", ("merge", "{folder}/parts/1", "{folder}/parts/2", *_OUT)),
    ("station/heads.log", ("review", "verify", "{folder}/station")),
    ("abstracts.jsonl", ("library", "build", "{file}", *_OUT)),
    ("abstracts.nbib", ("library", "build", "{file}", "--json", *_OUT)),
    ("abstracts.xml", ("library", "build", "{file}", *_OUT)),
    ("packed.xml.gz", ("library", "build", "{file}", *_OUT)),
    ("library/library.json", ("library", "search", "{folder}/library", "kidney", "--json")),
    ("library/library.sqlite", ("library", "search", "{folder}/library", "kidney", "lower")),
    ("library/library.sqlite", ("library", "show", "{folder}/library", "2")),
    ("library/library.sqlite", ("library", "cite", "{folder}/library", "2", "The right kidney lies 2 cm lower")),
)  # fmt: skip
"""A file of the corpus, and a command that reads it."""

OF_BENCH: tuple[Words, ...] = (
    ("check", "{bench}", "--json"),
    ("show", "{bench}", *_OUT),
    ("show", "{bench}", "--profile", "one-slice", "--json", *_OUT),
    ("debias", "{bench}", *_OUT),
    ("run", "{bench}", "--model", "oracle", *_OUT),
    ("run", "{bench}", "--model", "random", *_OUT),
    ("run", "{bench}", "--model", "majority", *_OUT),
    ("run", "{bench}", "--model", "prior", "--json", *_OUT),
    ("run", "{bench}", "--model", "nearest", *_OUT),
    ("score", "{bench}", "{run}", "--json"),
    ("score", "{bench}", "{run}", "--breakdowns", "--signatures"),
    ("score", "{bench}", "{run}/answers.jsonl", "--stratum", "all"),
    ("compare", "{run}", "{run}", "--bench", "{bench}", "--json"),
    ("report", "{run}", "--bench", "{bench}", "--out", "{out}.html"),
    ("quiz", "{bench}", "--items", "2", "--out", "{out}.html"),
    ("quiz", "{bench}", "--items", "2", "--verify", "--out", "{out}.html"),
    ("audit", "export", "{bench}", "--items", "2", "--raters", "ann,bob", "--out", "{out}.csv"),
    ("audit", "plan", "--bench", "{bench}", "--json"),
    ("export", "{bench}", "--to", "hf", *_OUT),
    ("export", "{bench}", "--to", "inspect", *_OUT),
    ("export", "{bench}", "--to", "vlmevalkit", *_OUT),
    ("export", "{bench}", "--to", "lmms-eval", *_OUT),
    ("export", "{bench}", "--to", "3dreasonknee", *_OUT),
    ("export", "{bench}", "--to", "croissant", *_OUT),
    ("export", "{bench}", "--to", "slicer-markups", "--limit", "1", *_OUT),
    ("export", "{bench}", "--to", "dicom-seg", "--limit", "1", *_OUT),
    ("export", "{bench}", "--to", "dicom-sr", "--limit", "1", *_OUT),
    ("export", "{run}", "--bench", "{bench}", "--to", "inspect", *_OUT),
    ("export", "{run}", "--bench", "{bench}", "--to", "lmms-eval", *_OUT),
    ("run", "{bench}", "--model", "peeker", "--room", "{corpus}/room.toml", "--limit", "3", *_OUT),
    ("run", "{bench}", "--model", "random", "--shard", "1/2", "--json", *_OUT),
    ("tune", "build", "{bench}", "--no-pictures", *_OUT),
    ("merge", "{bench}", "{corpus}/benches/words", *_OUT),
    ("author", "{bench}", "--per-study", "2", *_OUT),
    ("probe", "{bench}", "--model", "random", "--probes", "text", *_OUT),
    ("probe", "{bench}", "--model", "oracle", "--probes", "mirror", "--limit", "3", *_OUT),
    ("probe", "{bench}", "--model", "random", "--probes", "rotations,swap", "--json", *_OUT),
)  # fmt: skip
"""Every command that opens a bench, or a run with it."""


_CHANGED_TOO = {"protocol.toml": ("station",), "readings": ("empty",)}
"""A file or folder, and what the commands that read it write to."""


def lay_out(name: str, corpus: Path, folder: Path) -> Path:
    """A copy of a file of the corpus, with its neighbours where it has any, under `folder`."""
    top = Path(name).parts[0]
    if (corpus / top).is_dir():
        shutil.copytree(corpus / top, folder / top, dirs_exist_ok=True)
    else:
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copy(corpus / name, folder / name)
    for other in _CHANGED_TOO.get(top, ()):
        shutil.copytree(corpus / other, folder / other, dirs_exist_ok=True)
    if name == "table.csv":
        shutil.copy(corpus / "labels.nii.gz", folder)
    return folder / name


def spell(words: Words, **known: Path) -> list[str]:
    """The words with every place filled in."""
    return [word.format(**known) for word in words]
