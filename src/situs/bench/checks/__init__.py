"""Recomputing what a bench says: facts, answers, twins and anatomy."""
