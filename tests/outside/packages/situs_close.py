"""A metric of one's own: how near a number comes, in thirds of the truth."""

import situs


@situs.metric("close-thirds@1", forms=["number"], golden=[(10.0, 10.0, 1.0), (15.0, 10.0, 0.5)])
def close_thirds(said, truth):
    """1 at the truth, 0 from a whole truth off."""
    return max(0.0, 1.0 - abs(said - truth) / abs(truth)) if truth else None
