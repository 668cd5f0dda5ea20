"""`measure_file`: the facts of one label file, and which pairs are asked for;
recipes and their mistakes."""

from __future__ import annotations

from importlib.resources import files

import nibabel
import numpy as np
import pytest
from _blocks import block_labels

from situs.errors import SitusError
from situs.facts import load_recipe, measure_file


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """Liver and spleen touch; the left kidney stands apart. Labels as in TotalSegmentator."""
    labels = block_labels(
        (30, 20, 20),
        2.0,
        spleen=((2, 2, 2), (6, 6, 6)),
        liver=((6, 2, 2), (12, 8, 8)),
        kidney_left=((20, 12, 12), (24, 16, 18)),
    )
    array = sum(layer * value for layer, value in zip(labels.layers, (1, 5, 3))).astype(np.uint8)
    file = tmp_path_factory.mktemp("labels") / "labels.nii.gz"
    nibabel.save(nibabel.Nifti1Image(array, labels.grid.affine.matrix), file)
    return file


def measure(path, pairs=None, names="totalsegmentator"):
    return measure_file(path, names=names, pairs=pairs, annotation="automatic")


def test_structures(path):
    found = {s.name: s for s in measure(path).structures}
    assert {name: s.label for name, s in found.items()} == {
        "spleen": 1,
        "kidney_left": 3,
        "liver": 5,
    }
    assert {name: s.side for name, s in found.items()} == {
        "spleen": None,
        "kidney_left": "left",
        "liver": None,
    }
    kidney = found["kidney_left"]
    assert kidney.voxels == 4 * 4 * 6
    assert kidney.volume_ml == pytest.approx(4 * 4 * 6 * 8 / 1000)
    assert kidney.box_index == ((20, 12, 12), (24, 16, 18))
    assert kidney.box_mm == ((39.0, 23.0, 23.0), (47.0, 31.0, 35.0))
    assert kidney.extent_mm == {
        "left_right": 8.0,
        "anterior_posterior": 8.0,
        "superior_inferior": 12.0,
    }
    assert kidney.centroid_mm == (43.0, 27.0, 29.0)
    assert (kidney.touches_border, kidney.components) == (False, 1)


def test_without_names_labels_are_numbers(path):
    found = measure(path, names=None).structures
    assert [s.name for s in found] == ["label_1", "label_3", "label_5"]
    assert all(s.side is None for s in found)


@pytest.mark.parametrize(
    ("pairs", "expected"),
    [
        (None, []),
        ("all", [("kidney_left", "liver"), ("kidney_left", "spleen"), ("liver", "spleen")]),
        ("touching", [("liver", "spleen")]),
        ("liver,spleen", [("liver", "spleen")]),
        (" spleen , liver ", [("spleen", "liver")]),
    ],
)
def test_pairs(path, pairs, expected):
    assert [(p.a, p.b) for p in measure(path, pairs).pairs] == expected


def test_a_pair_is_told_from_a_to_b(path):
    (pair,) = measure(path, "kidney_left,spleen").pairs
    assert pair.direction == {
        "left_right": "right",
        "anterior_posterior": "anterior",
        "superior_inferior": "superior",
    }
    assert list(pair.direction_probability.values()) == pytest.approx([1.0] * 3)
    (back,) = measure(path, "spleen,kidney_left").pairs
    assert back.direction == {
        "left_right": "left",
        "anterior_posterior": "posterior",
        "superior_inferior": "inferior",
    }
    assert (pair.gap_mm, pair.touching, pair.contact_mm2) == (back.gap_mm, False, 0.0)


@pytest.mark.parametrize("pairs", ["some", "liver", "liver,liver", "liver,lung", "a,b,c"])
def test_pairs_that_cannot_be_read(path, pairs):
    with pytest.raises(SitusError) as caught:
        measure(path, pairs)
    assert caught.value.fix


def test_unknown_annotation_is_refused(path):
    with pytest.raises(SitusError, match="did you mean automatic"):
        measure_file(path, names=None, pairs=None, annotation="automatik")


def recipe_text() -> str:
    return files("situs.facts").joinpath("data", "recipe.toml").read_text("utf-8")


def test_a_recipe_of_ones_own(tmp_path):
    file = tmp_path / "recipe.toml"
    file.write_text(
        recipe_text().replace("direction_margin_mm = 10.0", "direction_margin_mm = 12.5"), "utf-8"
    )
    assert load_recipe(file).truth.direction_margin_mm == 12.5
    assert load_recipe().truth.direction_margin_mm == 10.0


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("direction_margin_mm = 10.0", "direction_margin_mm = 'ten'"),
        ("direction_margin_mm", "direction_margin"),
        ("train = 0.6", "train = 0.7"),
        ("[truth]", "[truth"),
    ],
)
def test_recipes_with_mistakes(tmp_path, old, new):
    file = tmp_path / "recipe.toml"
    file.write_text(recipe_text().replace(old, new), "utf-8")
    with pytest.raises(SitusError, match=r"recipe\.toml"):
        load_recipe(file)
