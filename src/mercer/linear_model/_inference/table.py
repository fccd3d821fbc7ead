"""Tables of coefficients: names of the rows, the frame and the text. What the summaries of all models share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mercer._aligned import aligned, as_frame
from mercer._arrays import FloatArray


def names_of_features(estimator: Any, n_features: int, given: Sequence[str] | None) -> list[str]:
    """The names given, those of the frame that was fitted, or x0, x1, and so on."""
    if given is None:
        return [str(name) for name in getattr(estimator, "feature_names_in_", [f"x{j}" for j in range(n_features)])]
    if isinstance(given, str) or len(given) != n_features:
        raise ValueError(f"{type(estimator).__name__}: feature_names={given!r} is not valid; it must hold {n_features} names.")
    return [str(name) for name in given]


def coefficient_frame(owner: str, names: list[str], columns: Mapping[str, FloatArray], conf_int: FloatArray) -> Any:
    """The table of coefficients as a pandas DataFrame."""
    return as_frame(owner, {**columns, "conf_low": conf_int[:, 0], "conf_high": conf_int[:, 1]}, names)


def coefficient_text(
    title: str,
    figures: Sequence[tuple[str, ...]],
    names: list[str],
    columns: Mapping[str, FloatArray],
    conf_int: FloatArray,
    alpha: float,
) -> str:
    """Figures of the whole fit, and below them the coefficients, their errors, statistics, p-values and intervals."""
    head = ("", *columns, f"[{alpha / 2:.4g}", f"{1 - alpha / 2:.4g}]")
    forms = (".6g", ".4g", ".3f", ".3g", ".6g", ".6g")
    lines = zip(*columns.values(), *conf_int.T, strict=True)
    body = [(name, *map(format, line, forms)) for name, line in zip(names, lines, strict=True)]
    top, table = aligned(figures, left=(0, 2)), aligned([head, *body], left=(0,))
    rule = "-" * max(map(len, [*top, *table]))
    return "\n".join([title, rule, *top, rule, *table, rule])
