"""Set-up for all tests."""

from __future__ import annotations

import pytest


def pytest_addoption(parser):
    parser.addoption("--slow", action="store_true", help="run the exhaustive sweeps too")


def pytest_collection_modifyitems(config, items):
    if config.getoption("--slow") or config.getoption("-m"):
        return
    skip = pytest.mark.skip(reason="an exhaustive sweep; run with --slow")
    for item in items:
        if "slow" in item.keywords:
            item.add_marker(skip)
