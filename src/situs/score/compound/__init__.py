"""Answers of several parts: boxes and grades, a choice and a number."""
