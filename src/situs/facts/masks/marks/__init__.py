"""Facts of points marked in the pictures: where they may lie, and which may stand together."""
