"""Answers that stand in tables or JSON within a reply, as prose."""
