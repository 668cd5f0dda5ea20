"""Training data as files of other trainers, each with a launch file that fits them."""
