"""What every package may use: files written at once or not at all,
caches, locks, workers, kernels, text for people."""
