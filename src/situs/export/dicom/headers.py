"""What every DICOM file that is written says of patient, study and maker: opaque ids, and no name.

Nothing is copied from the header of a source file. UIDs follow from the bench and the study, so
that the same bench gives the same files; a file's dates are a placeholder for the same reason.
"""

from __future__ import annotations

from pydicom.dataset import Dataset
from pydicom.uid import UID

from situs import __version__
from situs.base.files import canonical_json, digest
from situs.bench import BenchInfo, StudyRecord

__all__ = ["MAKER", "make_repeatable", "patient_header", "uid_of"]

MAKER = "Situs"
_PLACEHOLDERS = {"DA": "19000101", "TM": "000000", "DT": "19000101000000"}
"""Where the standard wants to know when a file was made."""
_DRAWN_UIDS = "1.2.826.0.1.3680043.10.511.3."
"""The root under which highdicom draws UIDs."""


def uid_of(info: BenchInfo, *parts: str) -> UID:
    """A UID of its own for one thing of one bench: `2.25.` and 128 bits (ISO 9834-8)."""
    return UID(
        f"2.25.{int(digest(canonical_json([info.content_hash, *map(str, parts)]), size=16), 16)}"
    )


def patient_header(info: BenchInfo, study: StudyRecord) -> Dataset:
    """Patient and study modules."""
    header = Dataset()
    header.PatientName = ""
    header.PatientID = study.patient_id[:64]
    header.PatientBirthDate = ""
    header.PatientSex = ""
    header.PatientIdentityRemoved = "YES"
    header.DeidentificationMethod = "Written from voxels; no header was copied"
    header.StudyInstanceUID = uid_of(info, "study", study.study_id)
    header.StudyID = ""
    header.StudyDate = ""
    header.StudyTime = ""
    header.AccessionNumber = ""
    header.ReferringPhysicianName = ""
    header.Manufacturer = MAKER
    header.ManufacturerModelName = MAKER
    header.SoftwareVersions = __version__
    return header


def make_repeatable(dataset: Dataset, info: BenchInfo, *parts: str) -> None:
    """Replace what differs each time a file is written:
    its dates, and UIDs that highdicom drew for inner use."""
    drawn: dict[str, UID] = {}
    for element in dataset.iterall():
        if not element.value:
            continue
        if element.VR == "UI" and str(element.value).startswith(_DRAWN_UIDS):
            known = drawn.setdefault(str(element.value), uid_of(info, *parts, str(len(drawn))))
            element.value = known
        elif element.VR in _PLACEHOLDERS:
            element.value = _PLACEHOLDERS[element.VR]
