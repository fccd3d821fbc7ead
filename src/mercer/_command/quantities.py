"""Times, sizes and scores, read and shown."""

from __future__ import annotations

import re

from mercer._runs.errors import RunError

_UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}


def seconds_of(text: str, flag: str) -> float:
    """90, 90s, 5m, 1.5h or 1h30m in seconds."""
    parts = re.findall(r"(\d+(?:\.\d+)?)\s*([a-z]*)", text.strip().lower())
    is_whole = re.fullmatch(r"(\s*\d+(?:\.\d+)?\s*[a-z]*)+", text.strip().lower()) is not None
    if not parts or not is_whole or any(unit not in _UNITS for _, unit in parts):
        raise RunError(f"{flag} {text!r}: it must be a time such as 90s, 5m or 1h.")
    return sum(float(number) * _UNITS[unit] for number, unit in parts)


def bytes_of(text: str, flag: str) -> float:
    """20MB, 1.5 GB or a number of bytes."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kmgt]?)i?b?", text.strip().lower())
    if found is None:
        raise RunError(f"{flag} {text!r}: it must be a size such as 500kB, 20MB or 1GB.")
    return float(found[1]) * 1000.0 ** " kmgt".index(found[2] or " ")


def range_of(text: str, flag: str) -> tuple[int, int]:
    """4, 2-10 or 2..10 as the least and the most."""
    found = re.fullmatch(r"\s*(\d{1,6})\s*(?:(?:-|\.\.|to)\s*(\d{1,6})\s*)?", text)
    if found is None:
        raise RunError(f"{flag} {text!r}: it must be a number or a range, such as 4 or 2-10.")
    low = int(found[1])
    return low, low if found[2] is None else int(found[2])


def show_seconds(seconds: float | None) -> str:
    if seconds is None:
        return ""
    if seconds < 1e-3:
        return f"{seconds * 1e6:.0f} µs"
    if seconds < 1:
        return f"{seconds * 1e3:.3g} ms"
    if seconds < 60:
        return f"{seconds:.3g} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60} h {minutes % 60} min" if minutes >= 60 else f"{minutes} min {rest} s"


def show_microseconds(amount: float | None) -> str:
    return "" if amount is None else f"{amount:,.{0 if amount >= 10 else 2}f}"


def show_bytes(size: int | None) -> str:
    if size is None:
        return ""
    amount = float(size)
    for unit in ("B", "kB", "MB"):
        if amount < 1000:
            return f"{amount:.3g} {unit}"
        amount /= 1000
    return f"{amount:.3g} GB"


def show_score(score: float | None, spread: float | None = None) -> str:
    if score is None:
        return ""
    return f"{score:.4f}" if spread is None else f"{score:.4f} ± {spread:.4f}"


def show_figure(value: float | None) -> str:
    """A measure between -1 and 1."""
    return "" if value is None else f"{value:.3f}"
