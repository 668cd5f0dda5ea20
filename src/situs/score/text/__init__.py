"""Free text: wording, stated facts, verdicts and juries."""
