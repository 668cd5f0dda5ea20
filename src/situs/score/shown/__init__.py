"""What `score` and `compare` say, as tables: printed, written for a paper, shown in a notebook."""
