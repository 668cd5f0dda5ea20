"""Questions about drawn marks in a quiz: the picture that is shown first has them."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from situs.bench import open_bench
from situs.items import marks_of
from situs.profiles import Presenter, load_profile
from situs.profiles.geometry.layout import mark_points
from situs.review.quiz_pictures import QuizPictures


def test_the_first_picture_has_the_marks(bench: Path) -> None:
    """Which picture that is follows from where the slices lie."""
    opened = open_bench(bench)
    presenter = Presenter(opened, load_profile("default"))
    items = list(opened.items())
    marked = next(item for item in items if marks_of(item))
    layout = presenter.layout(marked)
    (point, *_) = mark_points(marked, layout.lattice).values()
    off = [abs(frame.tiles[0].from_source(point[None])[0][2]) for frame in layout.frames]
    assert QuizPictures(presenter).add(marked).opening == int(np.argmin(off))
    plain = next(item for item in items if not marks_of(item))
    assert QuizPictures(presenter).add(plain).opening is None
