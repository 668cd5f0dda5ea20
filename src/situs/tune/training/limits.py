"""What a run's pixel limits and length mean for its data, known before anything is loaded."""

from __future__ import annotations

from pathlib import Path

import msgspec

from situs.errors import SitusError
from situs.tune.forms import BOX_FORMS, smart_resize
from situs.tune.lengths import FAMILIES, Family, picture_family
from situs.tune.record import Lengths, Manifest
from situs.tune.training.config import Config
from situs.tune.training.plan import Plan

__all__ = ["lengths_of", "refuse_resized"]


def lengths_of(config: Config, manifest: Manifest) -> Lengths | None:
    """The lengths of the data for the model's family; where that is not known, the longest."""
    factors = {family.name: family.factor for family in FAMILIES}
    family = _family(config)
    fitting = [
        one
        for one in manifest.lengths
        if family is None or factors.get(one.family, family.factor) == family.factor
    ]
    return max(fitting or manifest.lengths, key=lambda one: one.longest, default=None)


def refuse_resized(config: Config, plan: Plan) -> None:
    """Boxes in pixels of the resized picture are wrong if the run resizes pictures once more."""
    family = _family(config)
    for data in plan.data:
        form = BOX_FORMS.get(data.manifest.box_form)
        if (
            family is None
            or form is None
            or not form.resized_to
            or data.manifest.target == "answer"
        ):
            continue
        for width, height in data.manifest.sizes:
            seen = smart_resize(width, height, family.factor, family.least, family.most)
            if seen != (width, height):
                raise SitusError(
                    f"boxes are in pixels of {width} × {height}, and under the run's limits the "
                    f"model sees {seen[0]} × {seen[1]}",
                    where=data.folder,
                    fix="change min_pixels and max_pixels, or build with another --size",
                )


def _family(config: Config) -> Family | None:
    """How the run cuts pictures; None where the model's folder is not here."""
    folder = Path(config.model)
    if not (folder / "preprocessor_config.json").is_file():
        return None
    family = picture_family(folder)
    return msgspec.structs.replace(
        family,
        least=config.min_pixels or family.least,
        most=config.max_pixels or family.most,
    )
