"""Servers that speak Google's generateContent protocol."""
