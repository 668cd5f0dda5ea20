"""A client of your own in one file: it says yes where the pictures are bright."""

import io

import numpy as np
from PIL import Image


class Bright:
    """Answers from the mean grey of its pictures."""

    remote = False  # it sends nothing off this machine
    version = "1"  # its answers are cached under this

    def __init__(self, threshold="64"):
        """Settings arrive as text: `--model "bright?threshold=90"`."""
        self.threshold = float(threshold)

    def answer(self, request):
        """Text, or a `situs.Reply`."""
        greys = [
            np.asarray(Image.open(io.BytesIO(image.data))).mean() for image in request.images()
        ]
        return "yes" if greys and np.mean(greys) > self.threshold else "no"
