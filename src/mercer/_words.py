"""What words mean: numbers, booleans and dates written as text. Each distinct word is read once."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from mercer._arrays import FloatArray

# A currency sign before or after, thousands parted by commas, a per cent sign.
_DECORATED = re.compile(r"\s*([+-]?)\s*[€$£¥]?\s*([+-]?)((?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?)\s*([€$£¥%]?)\s*")
_LEADING_ZERO = re.compile(r"\s*0\d")
_ISO = re.compile(
    r"\s*(\d{4})([-/])(\d{2})\2(\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?))?\s*(?:Z|[+-]\d{2}:?\d{2})?\s*"
)
_DOTTED = re.compile(r"\s*(\d{1,2})\.(\d{1,2})\.(\d{4})\s*")
# First what is false, then what is true.
BOOLEAN_PAIRS = (("false", "true"), ("no", "yes"), ("n", "y"), ("f", "t"), ("off", "on"))
_TRUTH = {word: float(truth) for pair in BOOLEAN_PAIRS for truth, word in enumerate(pair)}


def number_of(word: str) -> float:
    """The number that a word stands for ("12", "1e-3", "1,234.5", "12 %", "€ 5"), or NaN."""
    try:
        value = float(word)
    except ValueError:
        found = _DECORATED.fullmatch(word)
        if found is None or (found[1] and found[2]):
            return np.nan
        value = float(f"{found[1]}{found[2]}{found[3].replace(',', '')}")
        return value / 100 if found[4] == "%" else value
    return value if "_" not in word else np.nan


def truth_of(word: str) -> float:
    """1 or 0 for a word that says yes or no, or NaN."""
    return _TRUTH.get(word.strip().casefold(), np.nan)


def moment_of(word: str) -> np.datetime64:
    """The moment that a word stands for, by the clock on the wall: ISO 8601, YYYY/MM/DD or DD.MM.YYYY; otherwise NaT."""
    if found := _ISO.fullmatch(word):
        text = f"{found[1]}-{found[3]}-{found[4]}" + (f"T{found[5]}" if found[5] else "")
    elif found := _DOTTED.fullmatch(word):
        text = f"{found[3]}-{int(found[2]):02d}-{int(found[1]):02d}"
    else:
        return np.datetime64("NaT", "us")
    try:
        return np.datetime64(text, "us")
    except ValueError:  # a month 13, an hour 25
        return np.datetime64("NaT", "us")


def numbers_of(words: Sequence[str]) -> FloatArray:
    if words and "_" not in "".join(words):
        try:  # the usual case, many at once
            return np.array(words).astype(np.float64)
        except ValueError:
            pass
    return np.array([number_of(word) for word in words], dtype=np.float64)


def truths_of(words: Sequence[str]) -> FloatArray:
    return np.array([truth_of(word) for word in words], dtype=np.float64)


def moments_of(words: Sequence[str]) -> npt.NDArray[Any]:
    return np.array([moment_of(word) for word in words], dtype="datetime64[us]")


def are_numbers(words: tuple[str, ...]) -> bool:
    """Whether all words are numbers. Zeros in front ("007") are there to be kept: such words are keys."""
    if not words or np.isnan(number_of(words[0])) or any(map(_LEADING_ZERO.match, words)):
        return False
    return not np.isnan(numbers_of(words)).any()


def are_booleans(words: tuple[str, ...]) -> bool:
    """Whether the words are just one of the pairs, both of it."""
    folded = {word.strip().casefold() for word in words} if len(words) <= 8 else set()
    return any(folded == set(pair) for pair in BOOLEAN_PAIRS)


def are_moments(words: tuple[str, ...]) -> bool:
    return not any(np.isnat(moment_of(word)) for word in words)
