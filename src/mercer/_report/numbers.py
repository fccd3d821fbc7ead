"""Numbers as a reader wants them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

NOTHING = "\N{EN DASH}"
MINUS = "\N{MINUS SIGN}"
_GAP = "\N{NO-BREAK SPACE}"  # between a number and its unit


def _signed(text: str) -> str:
    return text.replace("-", MINUS)


def decimals_for(values: Iterable[float | None], figures: int = 3) -> int:
    """Decimals that give the largest of some values at least these figures, so that a column of them is aligned."""
    largest = max((abs(value) for value in values if value is not None), default=0.0)
    if largest == 0 or largest >= 10**figures:
        return 0 if largest else figures
    return min(max(figures - 1 - math.floor(math.log10(largest)), figures if largest <= 1 else 0), 8)


def number(value: float | None, decimals: int | None = None) -> str:
    """A number with the decimals given, or with three or four figures."""
    if value is None:
        return NOTHING
    if decimals is None:
        if value and not 1e-4 <= abs(value) < 1e7:
            return _signed(f"{value:.2e}")
        decimals = decimals_for([value])
    text = f"{value:,.{decimals}f}"
    return _signed(text[1:] if text.startswith("-") and not text.strip("-0.,") else text)


def count(value: int | None) -> str:
    """A whole number."""
    return NOTHING if value is None else f"{value:,}"


def plural(value: int, noun: str, nouns: str | None = None) -> str:
    """A count with its noun."""
    return f"{value:,} {noun if value == 1 else nouns or noun + 's'}"


def percent(share: float | None) -> str:
    """A share; what is not nothing does not look like nothing."""
    if share is None:
        return NOTHING
    if 0 < share < 0.001:
        return f"<{_GAP}0.1{_GAP}%"
    return f"{100 * share:.1f}{_GAP}%" if share not in (0, 1) else f"{100 * share:.0f}{_GAP}%"


def seconds(value: float | None) -> str:
    """A time."""
    if value is None:
        return NOTHING
    if value < 0.0095:
        return f"{1e3 * value:.1f}{_GAP}ms"
    if value < 0.995:
        return f"{1e3 * value:.0f}{_GAP}ms"
    if value < 99.5:
        return f"{value:.1f}{_GAP}s"
    minutes, rest = divmod(round(value), 60)
    return f"{minutes}{_GAP}min {rest}{_GAP}s"


def size(value: int | None) -> str:
    """A number of bytes."""
    if value is None:
        return NOTHING
    scaled = float(value)
    for unit in ("B", "kB", "MB"):
        if scaled < 999.5:
            return f"{scaled:.0f}{_GAP}{unit}" if unit == "B" or scaled >= 99.5 else f"{scaled:.1f}{_GAP}{unit}"
        scaled /= 1000
    return f"{scaled:,.1f}{_GAP}GB"


def level(value: float) -> str:
    """The name of an interval of this level."""
    return f"{100 * value:.0f}{_GAP}% interval"


def interval(low: float | None, high: float | None, decimals: int | None = None) -> str:
    """Two ends."""
    return NOTHING if low is None or high is None else f"{number(low, decimals)} to {number(high, decimals)}"


def parameters(params: dict[str, Any] | None) -> str:
    """Parameters as in a call, numbers with six figures."""
    shown = {key: f"{value:.6g}" if isinstance(value, float) else repr(value) for key, value in (params or {}).items()}
    return ", ".join(f"{key}={value}" for key, value in shown.items())


def ticks(low: float, high: float, most: int = 6) -> list[float]:
    """Round numbers from low to high, at steps of 1, 2 or 5 times a power of ten."""
    if not high > low:
        return [low]
    raw = (high - low) / most
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= raw * (1 - 1e-9))
    first = math.ceil(low / step - 1e-9)
    return [round(index * step, 12) for index in range(first, math.floor(high / step + 1e-9) + 1)]


def tick_labels(values: Sequence[float]) -> list[str]:
    """Ticks with just the decimals that tell them apart."""
    if len(values) < 2:
        return [number(value) for value in values]
    step = abs(values[1] - values[0])
    decimals = max(0, -math.floor(math.log10(step) + 1e-9)) if step else 0
    return [number(value, decimals) for value in values]
