"""The forms in which replies write boxes: lines of prose and JSON objects."""
