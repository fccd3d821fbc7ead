"""Tests of `mercer._explaining`."""
