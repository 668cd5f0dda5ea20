"""Servers that speak OpenAI's protocol."""
