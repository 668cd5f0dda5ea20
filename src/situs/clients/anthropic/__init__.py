"""Servers that speak Anthropic's Messages protocol."""
