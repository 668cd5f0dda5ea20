"""A second opinion on the answers of a bench, by code that shares nothing with Situs."""
