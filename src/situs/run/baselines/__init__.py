"""Answers without a model."""
