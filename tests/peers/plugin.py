"""pytest plugin: scikit-learn's own tests under `mercer.patch_sklearn()`, each failure with its kind.

A failure is of one of four kinds. "private": the test reads names or attributes that are not public. "words": it wants
scikit-learn's message, warning or printed line. "taken": it wants an error where Mercer has an answer. "behaviour": all else,
which is what a user may meet; `reviewed.py` says where it is documented.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

# What the lines of an error look like when a test has reached for what is not public, or compares words.
PRIVATE = re.compile(
    r"no attribute '_(?!_)|cannot import name '_|has no attribute 'loss_functions'|expected sklearn\.|_loss\.loss\."
    r"|_criterion\.|NoneType' object has no attribute '(X_|training_size_|_sample)"
)
WORDS = re.compile(
    r"Regex pattern did not match|DID NOT WARN|Input: |\.search at|readouterr|Iter  |function search|assert None$"
)
TAKEN = re.compile("DID NOT RAISE")


def kind_of(text: str) -> str:
    """The kind of a failure, from its report."""
    errors = "\n".join(line for line in text.splitlines() if line.startswith("E"))
    kinds = {"private": PRIVATE, "words": WORDS, "taken": TAKEN}
    return next((kind for kind, pattern in kinds.items() if pattern.search(errors)), "behaviour")


def pytest_addoption(parser):
    parser.addoption("--report-to", help="the file that takes a line of JSON for each test")
    parser.addoption("--unpatched", action="store_true", help="scikit-learn as it is")


def pytest_configure(config):
    if not config.getoption("--unpatched"):
        import mercer

        mercer.patch_sklearn()


class Reporter:
    """Writes what became of each test."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def pytest_runtest_logreport(self, report):
        if report.when != "call" and not (report.failed or report.skipped):
            return
        line = {"test": report.nodeid, "outcome": report.outcome}
        if report.failed:
            line["kind"] = kind_of(report.longreprtext)
            line["error"] = next((text[:200] for text in report.longreprtext.splitlines() if text.startswith("E")), "")
        with self._path.open("a") as file:
            file.write(json.dumps(line) + "\n")

    def pytest_collectreport(self, report):
        if report.failed:
            line = {"test": report.nodeid, "outcome": "failed", "kind": kind_of(report.longreprtext), "error": "collection"}
            with self._path.open("a") as file:
                file.write(json.dumps(line) + "\n")


@pytest.hookimpl(trylast=True)
def pytest_sessionstart(session):
    path = session.config.getoption("--report-to")
    if path and not hasattr(session.config, "workerinput"):
        session.config.pluginmanager.register(Reporter(Path(path)))
