"""The numbers of published benchmarks by the rules of their released code."""
