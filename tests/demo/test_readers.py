"""The demo's two readers: one measures what it is shown, the other has opinions.

That sight gain tells them apart is tested on the whole demo (tests/cli/test_commands.py, make
sweep).
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from situs.clients import Message, Request
from situs.demo import ConfidentGuesser, PhantomReader
from situs.demo.anatomy import measure_findings
from situs.demo.sight import classify, stack_of
from situs.profiles import Renderer, encode, layout_of, load_profile
from situs.volumes.phantoms import make_patient

_SEED = 4711
"""A population that the reader was not trained on (benchmarks/train_reader.py:
20261) and the demo does not show."""


def test_it_measures_what_the_phantom_was_made_of() -> None:
    """Liver volume against the closed form of the ellipsoid, through the pictures alone."""
    patient, profile = make_patient(_SEED, 0, modality="ct"), load_profile("default")
    layout = layout_of(profile, patient.grid)
    renderer = Renderer(profile, patient.image, patient.grid, patient.modality)
    pictures = [
        encode(renderer.picture(layout.lattice, frame), profile.encoding).data
        for frame in layout.frames
    ]
    origin = np.zeros((1, 2))
    gap = np.linalg.norm(layout.frames[1].to_source(origin) - layout.frames[0].to_source(origin))
    pixel = layout.frames[0].mm_per_pixel[0]
    found = measure_findings(classify(stack_of(pictures, pixel, float(gap), is_ct=True)))
    liver = next(one for one in patient.truth.structures if one.name == "liver")
    assert found.organs["liver"].volume_ml == pytest.approx(liver.volume_ml, rel=0.15)


def test_without_a_picture_the_reader_says_that_it_guesses() -> None:
    words = "You see nothing.\n\nIs the spleen larger than 200 mL?\nAnswer with yes or no."
    request = Request("k", (Message("user", (words,)),))
    assert "guess" in PhantomReader().answer(request)


def test_the_guesser_is_deaf_to_pictures() -> None:
    """The same words, with and without pictures, get the same reply."""
    words = (
        "A scan.\n\nWhich kidney is larger by volume?\n(A) the left\n(B) the right\nAnswer with the"
        " letter."
    )
    with_words = Request("k", (Message("user", (words,)),))
    assert ConfidentGuesser().answer(with_words) == ConfidentGuesser().answer(
        with_words.words_only()
    )


def test_the_weights_are_small() -> None:
    import situs.demo

    weights = Path(situs.demo.__file__).parent / "data" / "reader.npz"
    assert weights.stat().st_size < 300_000


def test_the_guesser_has_one_opinion_on_a_question() -> None:
    """Whatever the order of the options: only then does it gain nothing by its own patient."""
    said = set()
    for first, second in (("left", "right"), ("right", "left")):
        options = f"(A) the {first}\n(B) the {second}\n"
        words = f"A scan.\n\nWhich kidney is larger by volume?\n{options}Answer with the letter."
        reply = ConfidentGuesser().answer(Request("k", (Message("user", (words,)),)))
        said.add(first if reply.endswith("(A)") else second)
    assert len(said) == 1
