"""Mercer against its peers: time, memory and the quality reached. Run `python -m benchmarks --help`."""
