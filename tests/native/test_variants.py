"""Which compiled variant is loaded, and what `show_versions` says about it."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

import mercer
from mercer import _native


def _run(code, **environment):
    command = [sys.executable, "-c", code]
    return subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True, timeout=60, check=False)


def test_an_unknown_variant_is_an_import_error_that_names_what_would_do():
    done = _run("import mercer._native", MERCER_NATIVE="v99")
    assert done.returncode != 0
    message = done.stderr.strip().splitlines()[-1]
    assert message.startswith("ImportError")
    assert "MERCER_NATIVE='v99'" in message
    assert repr(_native.variant) in message


def test_a_variant_can_be_asked_for_by_name():
    for variant in _native._find_variants():
        done = _run("from mercer import _native; print(_native.variant, _native.kernels.__name__)", MERCER_NATIVE=variant)
        assert done.stdout.split() == [variant, f"mercer._native._kernels_{variant}"], done.stderr


def test_an_empty_request_is_none():
    done = _run("from mercer import _native; print(_native.variant)", MERCER_NATIVE="")
    assert done.stdout.strip() == _native._find_variants()[0], done.stderr


def test_a_processor_without_any_variant_is_told_so(monkeypatch):
    monkeypatch.delenv("MERCER_NATIVE", raising=False)
    monkeypatch.setattr(_native, "_find_variants", list)
    with pytest.raises(ImportError, match="Build from source"):
        _native._choose()


def test_variants_above_the_processors_level_are_not_offered(monkeypatch):
    monkeypatch.setattr(_native._cpu_level, "x86_level", lambda: 2)
    assert [name for name in _native._ORDER if _native._is_supported(name)] == ["native", "v2", "base"]


def test_show_versions_names_variant_threads_and_blas(capsys):
    mercer.show_versions()
    lines = dict(line.strip().split(": ", 1) for line in capsys.readouterr().out.splitlines())
    assert lines["mercer"] == mercer.__version__
    assert lines["native variant"] == _native.variant
    assert "processors" in lines["threads"]
    assert int(lines["threads"].split()[0]) >= 1
    assert "threads" in lines["BLAS"]
    assert {"python", "numpy", "scipy", "scikit-learn"} <= lines.keys()
