"""The user's own name maps, as CSV and JSON, and how their mistakes are told."""

from __future__ import annotations

import pytest

from situs.anatomy import load_vocabulary
from situs.errors import SitusError


def written(tmp_path, name: str, text: str) -> str:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_a_csv_of_labels_and_names(tmp_path):
    found = load_vocabulary(
        written(tmp_path, "names.csv", "label,name\n1,liver\n7,my_organ_left\n")
    )
    assert found.labels == {1: "liver", 7: "my_organ_left"}
    assert found.ids == {"liver": 1, "my_organ_left": 7}
    assert found.term("liver").kind == "organ"
    assert found.term("my_organ_left").partner == "my_organ_right"
    assert found.term("my_organ_left").known


def test_a_csv_may_say_what_a_name_means(tmp_path):
    text = (
        "label,name,plain,side,partner,naming,kind,ask_size\n4,wing_l,left"
        " wing,left,wing_r,positional,organ,yes\n"
    )
    entry = load_vocabulary(written(tmp_path, "names.csv", text)).term("wing_l")
    assert (entry.plain, entry.side, entry.mirrored_name, entry.ask_size) == (
        "left wing",
        "left",
        "wing_r",
        True,
    )


def test_a_json_map(tmp_path):
    found = load_vocabulary(written(tmp_path, "names.json", '{"1": "liver", "2": "spleen"}'))
    assert found.labels == {1: "liver", 2: "spleen"}
    assert found.term("spleen").kind == "organ"


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("a.csv", "label,name\n1,liver\n1,spleen\n", "label 1 occurs twice"),
        ("a.csv", "label,name\n1,liver\n2,liver\n", "'liver' occurs twice"),
        ("a.csv", "label,name,colour\n1,liver,red\n", "colour"),
        ("a.csv", "label,title\n1,liver\n", "title"),
        ("a.csv", "label,name,name\n1,liver,spleen\n", "columns"),
        ("a.csv", "", "missing"),
        ("a.csv", "label,name\n", "no rows"),
        ("a.csv", "label,name\nx,liver\n", "whole number"),
        ("a.csv", "label,name\n-1,liver\n", "whole number"),
        ("a.csv", "label,name\n1,\n", "bad row"),
        ("a.csv", "label,name\n1,liver,extra\n", "bad row"),
        ("a.csv", "label,name,side\n1,wing,up\n", "up"),
        ("a.json", '{"1": "liver", "2": "liver"}', "one name to two labels"),
        ("a.json", '{"1": "liver", "01": "spleen"}', "two names to one"),
        ("a.json", "{}", "empty"),
        ("a.json", '["liver"]', "not a name map"),
        ("a.json", '{"re:(": "liver"}', "not a regular expression"),
        ("a.csv", "label,name,kind\n1,thing,tumour\n", "unknown kind 'tumour'"),
        ("a.json", '{"1": 2}', "not a name map"),
        ("a.json", "{", "not a name map"),
        ("a.json", '{"-1": "liver"}', "whole number"),
    ],
)
def test_mistakes_are_told_with_their_place(tmp_path, name, text, words):
    with pytest.raises(SitusError, match=words) as caught:
        load_vocabulary(written(tmp_path, name, text))
    assert name in caught.value.one_line()
    assert caught.value.fix


def test_an_unknown_vocabulary_is_guessed():
    with pytest.raises(SitusError, match="did you mean totalsegmentator"):
        load_vocabulary("totalsegmentor")


def test_no_vocabulary_names_nothing():
    assert load_vocabulary(None).labels == {}


@pytest.mark.parametrize("key", ["9" * 5_000, "--5", "-1", "1" + "0" * 12])
def test_a_key_that_is_no_voxel_value_is_told(tmp_path, key):
    """Python refuses to read thousands of digits with an error of its own."""
    path = written(tmp_path, "names.json", f'{{"{key}": "liver", "2": "spleen"}}')
    if key == "--5":  # no number: a pattern for the names of files
        assert load_vocabulary(path).labels == {2: "spleen"}
        return
    with pytest.raises(SitusError, match="is not a whole number"):
        load_vocabulary(path)


def test_a_label_may_be_written_with_zeros_before_it(tmp_path):
    assert load_vocabulary(written(tmp_path, "names.json", '{"007": "liver"}')).labels == {
        7: "liver"
    }
