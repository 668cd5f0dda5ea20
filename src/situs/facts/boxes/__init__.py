"""Facts of boxes that readers drew on frames."""
