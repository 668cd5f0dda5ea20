"""DICOM-SEG written by highdicom and by hand,
and RTSTRUCT against matplotlib's point-in-polygon test."""

from __future__ import annotations

import zlib
from pathlib import Path

import highdicom as hd
import nibabel as nib
import numpy as np
import pydicom
import pytest
from dicom_make import AXIAL, head, item, numbers, pixels, save, write_series
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.path import Path as Outline
from pydicom.dataset import Dataset
from pydicom.encaps import encapsulate
from pydicom.sequence import Sequence
from pydicom.sr.codedict import codes
from pydicom.uid import JPEG2000Lossless, RLELossless

from situs.errors import SitusError
from situs.volumes import open_labels, open_volume
from situs.volumes.masks.polygons import fill_even_odd

RNG = np.random.default_rng(3)
IMAGE = RNG.integers(-1000, 1000, (6, 9, 7)).astype(np.int16)
SEG = "1.2.840.10008.5.1.4.1.1.66.4"
RTSTRUCT = "1.2.840.10008.5.1.4.1.1.481.3"


def describe(number: int, label: str) -> hd.seg.SegmentDescription:
    return hd.seg.SegmentDescription(
        number, label, codes.SCT.Organ, codes.SCT.Liver, hd.seg.SegmentAlgorithmTypeValues.MANUAL
    )


def write_seg(
    folder: Path, masks: np.ndarray, kind: str, labels: list[str], **options: object
) -> Path:
    """A segmentation of the series in `folder`, by highdicom."""
    images = [pydicom.dcmread(file) for file in sorted(folder.iterdir())]
    images.sort(key=lambda image: float(image.ImagePositionPatient[2]))
    for image in images:
        image.PatientSex = ""
    made = hd.seg.Segmentation(
        images,
        masks,
        kind,
        [describe(number, label) for number, label in enumerate(labels, start=1)],
        hd.UID(),
        1,
        hd.UID(),
        1,
        "maker",
        "model",
        "1",
        "serial",
        **options,
    )
    path = folder.parent / "seg"
    made.save_as(path)
    return path


@pytest.fixture
def series(tmp_path: Path) -> Path:
    write_series(tmp_path / "series", IMAGE)
    return tmp_path / "series"


def by_name(path: Path, **options: object) -> dict[str, np.ndarray]:
    labels = open_labels(path, **options).load()
    return {s.name: labels.mask(s) for s in labels.structures}


def blobs() -> np.ndarray:
    """Two segments [slice, row, column, segment] that overlap; the second leaves slices empty."""
    masks = np.zeros((6, 9, 7, 2), dtype=np.uint8)
    masks[1:5, 2:7, 1:5, 0] = 1
    masks[2:4, 4:9, 3:7, 1] = 1
    return masks


def test_binary_overlapping_and_sparse(series):
    masks = blobs()
    path = write_seg(series, masks, "BINARY", ["liver", "tumour"])
    labels = open_labels(path).load()
    assert [(s.label, s.name, s.layer) for s in labels.structures] == [
        (1, "liver", 0),
        (2, "tumour", 1),
    ]
    assert labels.grid.shape == (7, 9, 4)  # highdicom leaves out slices without any voxel
    for structure in labels.structures:
        np.testing.assert_array_equal(
            labels.mask(structure), masks[1:5, ..., structure.label - 1].T
        )
    assert labels.grid.affine.matrix[2, 3] == pytest.approx(-30.25 + 2.5)
    onto = open_labels(path, reference=series).load()
    image = open_volume(series)
    assert onto.grid == image.grid
    for structure in onto.structures:
        np.testing.assert_array_equal(onto.mask(structure), masks[..., structure.label - 1].T)
    assert open_labels(path, reference=image).grid == image.grid


def test_absent_frames_are_empty(series):
    masks = np.zeros((6, 9, 7), dtype=np.uint8)
    masks[[0, 1, 4], 2:5, 2:5] = 1
    labels = open_labels(write_seg(series, masks, "BINARY", ["liver"])).load()
    assert labels.grid.shape == (7, 9, 5)
    np.testing.assert_array_equal(labels.mask(labels.structures[0]), masks[:5].T > 0)


def test_names_can_be_given(series):
    path = write_seg(series, blobs(), "BINARY", ["liver", "tumour"])
    assert set(by_name(path, names={1: "spleen"})) == {"spleen", "tumour"}


@pytest.mark.parametrize("kind", ["PROBABILITY", "OCCUPANCY"])
def test_fractional(series, kind):
    shares = RNG.random((6, 9, 7))
    path = write_seg(
        series, shares, "FRACTIONAL", ["liver"], fractional_type=kind, max_fractional_value=200
    )
    labels = open_labels(path)
    assert "at or above 0.5" in labels.warnings[0]
    found = labels.load()
    assert "at or above 0.5" in found.warnings[0]
    dataset = pydicom.dcmread(path)
    heights = [
        f.PlanePositionSequence[0].ImagePositionPatient[2]
        for f in dataset.PerFrameFunctionalGroupsSequence
    ]
    stored = dataset.pixel_array[np.argsort(heights)]
    np.testing.assert_array_equal(found.mask(found.structures[0]), (stored / 200 >= 0.5).T)
    assert (np.abs(stored / 200 - shares) < 0.01).all()


@pytest.mark.parametrize("syntax", [None, RLELossless])
def test_label_map(series, syntax):
    values = RNG.integers(0, 3, (6, 9, 7)).astype(np.uint8)
    options = {"transfer_syntax_uid": syntax} if syntax else {}
    path = write_seg(series, values, "LABELMAP", ["liver", "spleen"], **options)
    found = by_name(path)
    assert set(found) == {"liver", "spleen"}
    np.testing.assert_array_equal(found["liver"], values.T == 1)
    np.testing.assert_array_equal(found["spleen"], values.T == 2)


def hand_made(values: np.ndarray, kind: str, owners: list[int] | None, **tags: object) -> Dataset:
    """A segmentation written by hand, for what highdicom will not write."""
    dataset = pixels(head(SEG), values)
    dataset.SegmentationType = kind
    shared = item(
        PlaneOrientationSequence=item(ImageOrientationPatient=numbers(AXIAL)),
        PixelMeasuresSequence=item(PixelSpacing=["1", "1"], SliceThickness="2"),
    )
    dataset.SharedFunctionalGroupsSequence = Sequence([shared])
    frames = []
    for k in range(len(values)):
        frame = item(PlanePositionSequence=item(ImagePositionPatient=numbers((0, 0, 2 * k))))
        if owners:
            frame.SegmentIdentificationSequence = Sequence(
                [item(ReferencedSegmentNumber=owners[k])]
            )
        frames.append(frame)
    dataset.PerFrameFunctionalGroupsSequence = Sequence(frames)
    for keyword, value in tags.items():
        setattr(dataset, keyword, value)
    return dataset


def segment(number: int, label: str, meaning: str = "Kidney", side: str | None = None) -> Dataset:
    code = item(CodeValue="1", CodingSchemeDesignator="SCT", CodeMeaning=meaning)
    if side:
        code.SegmentedPropertyTypeModifierCodeSequence = Sequence([item(CodeMeaning=side)])
    return item(SegmentNumber=number, SegmentLabel=label, SegmentedPropertyTypeCodeSequence=code)


@pytest.mark.filterwarnings("ignore:The value length")
def test_names_come_from_codes_and_are_cleaned(tmp_path):
    values = np.arange(4, dtype=np.uint8).repeat(6).reshape(1, 4, 6)
    listed = [
        segment(1, " left\x07\n kidney "),
        segment(2, "", side="Right"),
        segment(3, "x" * 500),
    ]
    path = save(
        hand_made(values, "LABELMAP", None, SegmentSequence=Sequence(listed)), tmp_path / "s"
    )
    assert list(by_name(path)) == ["left kidney", "Right Kidney", "x" * 200]


def test_padding_is_not_a_structure_and_zero_may_be(tmp_path):
    values = np.array([[[0, 0, 1, 1, 5, 5], [7, 7, 7, 7, 7, 7]]], dtype=np.uint8)
    listed = Sequence([segment(0, "liver"), segment(1, "spleen"), segment(3, "absent")])
    path = save(
        hand_made(values, "LABELMAP", None, SegmentSequence=listed, PixelPaddingValue=5),
        tmp_path / "s",
    )
    labels = open_labels(path).load()
    assert [(s.label, s.name) for s in labels.structures] == [(1, "spleen"), (4, "liver")]
    np.testing.assert_array_equal(labels.mask(labels.structures[1]), (values == 0).T)
    assert labels.warnings == (
        "empty segments: 3",
        "values that no segment lists are ignored: 7",
        "segment 0 is numbered 4",
    )


def test_frames_deflated_one_by_one(tmp_path):
    """Deflated Image Frame Compression (PS3.5 A.4.13), which pydicom 3.0 does not know."""
    bits = RNG.integers(0, 2, (3, 5, 7)).astype(np.uint8)
    made = hand_made(bits, "BINARY", [1, 1, 1], SegmentSequence=Sequence([segment(1, "liver")]))
    made.BitsAllocated = made.BitsStored = 1
    made.HighBit = 0
    packed = []
    for frame in bits:
        packer = zlib.compressobj(wbits=-15)
        raw = (
            packer.compress(np.packbits(frame.ravel(), bitorder="little").tobytes())
            + packer.flush()
        )
        packed.append(raw + b"\0" * (len(raw) % 2))
    made.PixelData = encapsulate(packed)
    made["PixelData"].VR = "OB"
    made["PixelData"].is_undefined_length = True
    made.file_meta.TransferSyntaxUID = JPEG2000Lossless
    path = save(made, tmp_path / "s")
    path.write_bytes(
        path.read_bytes().replace(JPEG2000Lossless.encode(), b"1.2.840.10008.1.2.8.1\0")
    )
    np.testing.assert_array_equal(by_name(path)["liver"], bits.T > 0)


def test_the_hash_is_that_of_the_same_labels_in_nifti(tmp_path):
    values = RNG.integers(0, 3, (4, 5, 6)).astype(np.uint8)
    listed = Sequence([segment(1, "liver"), segment(2, "spleen")])
    path = save(hand_made(values, "LABELMAP", None, SegmentSequence=listed), tmp_path / "s")
    nib.save(nib.Nifti1Image(values.T, np.diag([-1.0, -1, 2, 1])), tmp_path / "n.nii.gz")
    twin = open_labels(tmp_path / "n.nii.gz", {1: "liver", 2: "spleen"})
    assert open_labels(path).load().hash == twin.load().hash


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"SegmentSequence": Sequence([])}, "lists no segments"),
        ({"SegmentSequence": Sequence([segment(1, "a"), segment(1, "b")])}, "one twice"),
        ({"SegmentSequence": Sequence([segment(2, "a")])}, "no listed segment"),
        ({"SegmentationType": "ODD"}, "unknown type"),
        ({"NumberOfFrames": 3}, "lists 2 frames but declares 3|truncated"),
        (
            {"PerFrameFunctionalGroupsSequence": Sequence([Dataset(), Dataset()])},
            "name its segment|no position",
        ),
    ],
)
def test_refused_segmentations(tmp_path, change, match):
    values = np.ones((2, 4, 6), dtype=np.uint8)
    made = hand_made(
        values, "BINARY", [1, 1], **{"SegmentSequence": Sequence([segment(1, "a")])} | change
    )
    path = save(made, tmp_path / "s")
    with pytest.raises(SitusError, match=match) as caught:
        open_labels(path).load()
    assert "\n" not in str(caught.value)


def test_two_frames_at_one_place_and_nothing_inside(tmp_path):
    listed = Sequence([segment(1, "a")])
    made = hand_made(np.ones((2, 4, 6), np.uint8), "BINARY", [1, 1], SegmentSequence=listed)
    frames = made.PerFrameFunctionalGroupsSequence
    frames[1].PlanePositionSequence = frames[0].PlanePositionSequence
    with pytest.raises(SitusError, match="two frames at one position"):
        open_labels(save(made, tmp_path / "s")).load()
    made = hand_made(np.zeros((2, 4, 6), np.uint8), "BINARY", [1, 1], SegmentSequence=listed)
    with pytest.raises(SitusError, match="no structure has a voxel"):
        open_labels(save(made, tmp_path / "s")).load()


def test_a_folder_with_one_segmentation(series):
    path = write_seg(series, blobs(), "BINARY", ["liver", "tumour"])
    folder = series.parent / "only"
    folder.mkdir()
    path.rename(folder / "1-1.dcm")
    assert set(by_name(folder)) == {"liver", "tumour"}
    (folder / "2.dcm").write_bytes((folder / "1-1.dcm").read_bytes())
    with pytest.raises(SitusError, match="holds 2 segmentations"):
        open_labels(folder)


def test_an_image_is_not_labels_and_labels_are_no_image(series):
    with pytest.raises(SitusError, match="neither a segmentation"):
        open_labels(next(series.iterdir()))
    with pytest.raises(SitusError, match="holds no segmentation"):
        open_labels(series)
    with pytest.raises(SitusError, match="is a segmentation, not an image; open it as labels"):
        open_volume(write_seg(series, blobs(), "BINARY", ["liver", "tumour"]))


def test_a_segmentation_of_another_grid(series, tmp_path):
    path = write_seg(series, blobs(), "BINARY", ["liver", "tumour"])
    write_series(tmp_path / "other", IMAGE, origin=(0, 0, 0))
    with pytest.raises(SitusError, match="frames do not lie on the grid"):
        open_labels(path, reference=tmp_path / "other")


def contour(points: np.ndarray, kind: str = "CLOSED_PLANAR") -> Dataset:
    return item(
        ContourGeometricType=kind,
        NumberOfContourPoints=len(points),
        ContourData=numbers(np.asarray(points).ravel()),
    )


def write_contours(
    path: Path, regions: dict[tuple[int, str], list[Dataset]], references: bool = True
) -> Path:
    dataset = head(RTSTRUCT)
    if references:
        named = item(SeriesInstanceUID=dataset.SeriesInstanceUID)
        study = item(RTReferencedSeriesSequence=named)
        dataset.ReferencedFrameOfReferenceSequence = Sequence(
            [item(RTReferencedStudySequence=study)]
        )
    dataset.SeriesInstanceUID += ".9"
    dataset.StructureSetROISequence = Sequence(
        [item(ROINumber=n, ROIName=name) for n, name in regions]
    )
    dataset.ROIContourSequence = Sequence(
        [
            item(ReferencedROINumber=n, ContourSequence=Sequence(found))
            for (n, _), found in regions.items()
        ]
    )
    return save(dataset, path)


def at(points: list[tuple[float, float]], k: int) -> np.ndarray:
    """Points (column, row) of a slice in LPS millimetres, by the geometry of `write_series`."""
    return np.array([(-10.0 + 0.5 * i, 20.5 + 0.75 * j, -30.25 + 2.5 * k) for i, j in points])


SQUARE = [(0.6, 1.3), (5.7, 1.3), (5.7, 7.6), (0.6, 7.6)]
HOLE = [(2.2, 3.4), (3.8, 3.4), (3.8, 5.5), (2.2, 5.5)]
KEYHOLE = [
    *SQUARE[:2],
    (5.7, 4.45),
    (3.8, 4.45),
    (3.8, 3.4),
    (2.2, 3.4),
    (2.2, 5.5),
    (3.8, 5.5),
    (3.8, 4.45),
]
KEYHOLE += [(5.7, 4.45), *SQUARE[2:]]


def inside(points: list[tuple[float, float]]) -> np.ndarray:
    """[column, row] by matplotlib."""
    grid = np.stack(np.meshgrid(np.arange(7), np.arange(9), indexing="ij"), axis=-1).reshape(-1, 2)
    return Outline([*points, points[0]]).contains_points(grid).reshape(7, 9)


@pytest.mark.parametrize("where", ["same folder", "parent", "beside", "given"])
def test_contours_with_holes(series, where):
    folder = {"same folder": series, "parent": series / "rt", "beside": series.parent / "rt"}.get(
        where
    )
    path = (folder or series.parent / "a" / "b") / "rt.dcm"
    regions = {
        (1, "ring"): [contour(at(SQUARE, 2)), contour(at(HOLE, 2)), contour(at(SQUARE, 3))],
        (4, "keyhole"): [contour(at(KEYHOLE, 1)), contour(at(SQUARE[:1], 0), "POINT")],
    }
    write_contours(path, regions)
    labels = open_labels(path, reference=open_volume(series) if where == "given" else None)
    assert labels.grid.shape == (7, 9, 6)
    found = labels.load()
    ring, keyhole = np.zeros((2, 7, 9, 6), dtype=bool)
    ring[..., 2] = inside(SQUARE) ^ inside(HOLE)
    ring[..., 3] = inside(SQUARE)
    keyhole[..., 1] = inside(SQUARE) ^ inside(HOLE)
    assert [(s.label, s.name) for s in found.structures] == [(1, "ring"), (4, "keyhole")]
    np.testing.assert_array_equal(found.mask(found.structures[0]), ring)
    np.testing.assert_array_equal(found.mask(found.structures[1]), keyhole)
    assert found.warnings == ("1 points or open contours enclose nothing and are ignored",)


def test_contours_off_plane_are_counted(series):
    shifted = at(SQUARE, 2) + np.array([0, 0, 1.0])
    path = write_contours(
        series / "rt",
        {(1, "a"): [contour(shifted), contour(at(SQUARE, 2)), contour(at(SQUARE, 9))]},
    )
    with pytest.raises(SitusError, match="2 of 3 contours do not lie in a slice"):
        open_labels(path).load()


def test_contours_without_their_image(tmp_path):
    path = write_contours(tmp_path / "a" / "b" / "rt", {(1, "a"): [contour(at(SQUARE, 0))]})
    with pytest.raises(SitusError, match="is not beside it; give it as the reference"):
        open_labels(path)


def test_damaged_contours(series):
    for bad in (
        contour(at(SQUARE[:2], 0)),
        item(ContourGeometricType="CLOSED_PLANAR", ContourData=["1", "2"]),
    ):
        path = write_contours(series / "rt", {(1, "a"): [bad]})
        with pytest.raises(SitusError, match="not a list of points"):
            open_labels(path)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.floats(-3, 12), st.floats(-3, 12)), min_size=3, max_size=12))
def test_even_odd_fill_against_crossing_numbers(points):
    """The even-odd rule by definition: count the edges that a ray to the right crosses."""
    polygon = np.array(points) + np.array([np.pi, np.e]) / 1000
    found = fill_even_odd([polygon], 9, 7)
    for j, i in np.ndindex(9, 7):
        crossings, on_edge = 0, False
        for (x0, y0), (x1, y1) in zip(polygon, np.roll(polygon, -1, axis=0), strict=True):
            if (y0 <= j) != (y1 <= j):
                crossing = x0 + (j - y0) * (x1 - x0) / (y1 - y0)
                crossings += crossing > i
                on_edge |= abs(crossing - i) < 1e-9
        assert on_edge or found[j, i] == bool(crossings % 2)


def test_neighbours_share_an_edge_without_gap_or_overlap():
    left = np.array([(0, 0), (3, 0), (3, 6), (0, 6)], dtype=float)
    right = np.array([(3, 0), (6, 0), (6, 6), (3, 6)], dtype=float)
    one, other = fill_even_odd([left], 9, 9), fill_even_odd([right], 9, 9)
    assert not (one & other).any()
    np.testing.assert_array_equal(
        one | other, fill_even_odd([np.array([(0, 0), (6, 0), (6, 6), (0, 6)], float)], 9, 9)
    )
