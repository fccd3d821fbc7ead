"""Labels, scores and weights that hypothesis makes for the metrics."""

from __future__ import annotations

import warnings

import numpy as np
from hypothesis import strategies as st

NAMES = {
    "int": np.array([0, 1, 2, 3]),
    "negative": np.array([-1, 1, 5, 7]),
    "far": np.array([-(10**12), 0, 3, 10**15]),
    "str": np.array(["ant", "bee", "cat", "dog"]),
    "object": np.array(["ant", "bee", "cat", "dog"], dtype=object),
    "float": np.array([0.0, 1.0, 2.0, 3.0]),
    "bool": np.array([False, True, False, True]),
}


@st.composite
def label_pairs(draw, kinds=tuple(NAMES), most_classes=4, least_rows=1):
    """y_true, y_pred and weights or None."""
    names = NAMES[draw(st.sampled_from(kinds))]
    n_classes = draw(st.integers(1, most_classes))
    n = draw(st.integers(least_rows, 25))
    place = st.lists(st.integers(0, n_classes - 1), min_size=n, max_size=n)
    return names[draw(place)], names[draw(place)], draw(weights(n))


@st.composite
def weights(draw, n):
    """None, or weights of which some may be zero but not all; dyadic, so that sums in any order are exact."""
    if draw(st.booleans()):
        return None
    values = draw(st.lists(st.integers(0, 8), min_size=n, max_size=n))
    return (np.array(values) if any(values) else np.ones(n)) / 4


@st.composite
def scored(draw, *, both_classes=False, least_rows=1):
    """Labels in {0, 1}, scores with many ties, and weights or None."""
    n = draw(st.integers(max(least_rows, 2 if both_classes else 1), 40))
    y = np.array(draw(st.lists(st.integers(0, 1), min_size=n, max_size=n)))
    if both_classes:
        y[:2] = 0, 1
    values = st.one_of(
        st.integers(-3, 3).map(float),
        st.floats(-1e6, 1e6),
        st.sampled_from([0.0, -0.0, 1e-300, -1e-300, 1e300, -1e300, 5e-324]),
    )
    scores = np.array(draw(st.lists(values, min_size=n, max_size=n)))
    if draw(st.booleans()):
        scores = np.clip(scores, -1e38, 1e38).astype(np.float32)
    return y, scores, draw(weights(n))


def outcome(function, *args, **kwargs):
    """What a call gives: its value, or the kind of its error."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return function(*args, **kwargs)
        except (ValueError, TypeError, AttributeError, ZeroDivisionError, NotImplementedError) as error:
            return type(error)


def _token(word):
    """Numbers by value: scikit-learn prints counts as floats where nothing is predicted rightly."""
    try:
        return float(word)
    except ValueError:
        return word


def assert_same(mine, theirs, rtol=1e-12, atol=1e-14):
    """Equal values, in whatever they are packed, or errors of the same kind."""
    if isinstance(theirs, type):
        assert isinstance(mine, type), f"{mine} instead of {theirs.__name__}"
        assert issubclass(mine, theirs)
    elif isinstance(theirs, (tuple, list)):
        assert len(mine) == len(theirs)
        for a, b in zip(mine, theirs, strict=True):
            assert_same(a, b, rtol, atol)
    elif isinstance(theirs, dict):
        assert mine.keys() == theirs.keys()
        for key in theirs:
            assert_same(mine[key], theirs[key], rtol, atol)
    elif isinstance(theirs, str):
        assert list(map(_token, mine.split())) == list(map(_token, theirs.split()))
    elif theirs is None:
        assert mine is None
    else:
        assert not isinstance(mine, type), f"{mine.__name__} instead of {theirs}"
        np.testing.assert_allclose(mine, theirs, rtol=rtol, atol=atol)
