"""Axes to draw on, with no window behind them."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _no_window():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    yield
    import matplotlib.pyplot as plt

    plt.close("all")


@pytest.fixture
def ax():
    import matplotlib.pyplot as plt

    return plt.subplots()[1]
