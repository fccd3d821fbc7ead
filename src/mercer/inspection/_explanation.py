"""`Explanation`: what each feature gave to each prediction, with how exact that is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from mercer._aligned import aligned, as_frame
from mercer._arrays import FloatArray

ROW, FEATURE, OUTPUT = "row", "feature", "output"

# The axes of each field of an explanation, of those that are left.
_AXES: Mapping[str, tuple[str, ...]] = {
    "values": (ROW, FEATURE, OUTPUT),
    "base_values": (ROW, OUTPUT),
    "data": (ROW, FEATURE),
    "feature_names": (FEATURE,),
    "output_names": (OUTPUT,),
    "predictions": (ROW, OUTPUT),
    "interactions": (ROW, FEATURE, FEATURE, OUTPUT),
    "standard_errors": (ROW, FEATURE, OUTPUT),
}

_MOST_LINES = 20


@dataclass(frozen=True, eq=False, repr=False)
class Explanation:
    r"""What each feature gave to each prediction.

    The values of a row add up to its prediction:

    .. math:: f(x_i) = b_i + \sum_j \phi_{ij} .

    An explanation is indexed as its values are, by numbers or names: `explanation[3]` is one row, `explanation[:, "age"]` one
    feature, `explanation[..., "setosa"]` one output. An axis that is indexed by one number or name is gone from every field.

    Parameters
    ----------
    values : ndarray of shape (n_rows, n_features) or (n_rows, n_features, n_outputs)
        What each feature gave.
    base_values : ndarray of shape (n_rows,) or (n_rows, n_outputs)
        The prediction where nothing is known of the row.
    data : ndarray of shape (n_rows, n_features), default=None
        The rows that were explained.
    feature_names, output_names : ndarray of str, default=None
        The names of features, and of outputs if there are several; features are called x0, x1, ... where nothing is said.
    method : str, default=""
        How the values were found, in a few words.
    predictions : ndarray of shape (n_rows,) or (n_rows, n_outputs), default=None
        What the model itself says of the rows.
    interactions : ndarray of shape (n_rows, n_features, n_features[, n_outputs]), default=None
        What pairs of features gave together, half of it at each of their two places; the diagonal has what each gave alone.
        They add up to `values` along either axis of features.
    standard_errors : ndarray of the shape of values, default=None
        Of values that were sampled; None where they are exact.
    n_evaluations : int, default=None
        For how many rows the model was asked; None where its structure was read instead.
    axes : tuple of str, default=None
        Which of "row", "feature" and "output" the values have; those of a whole explanation where nothing is said.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.inspection import Explanation
    >>> values, base_values, data = np.array([[2.0, -0.5]]), np.array([1.0]), np.array([[3.0, 4.0]])
    >>> explanation = Explanation(values, base_values, data, feature_names=["age", "size"])
    >>> print(explanation[0])
    age           3   +2
    size          4   -0.5
    base value        1
    sum               2.5
    """

    values: FloatArray
    base_values: FloatArray
    data: npt.NDArray[Any] | None = None
    feature_names: Any = None
    output_names: Any = None
    method: str = ""
    predictions: FloatArray | None = None
    interactions: FloatArray | None = None
    standard_errors: FloatArray | None = None
    n_evaluations: int | None = None
    axes: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        values = np.asarray(self.values)
        if self.axes is None and values.ndim not in (2, 3):
            raise ValueError(f"values has {values.ndim} axes; it must have two (rows, features), or outputs as a third.")
        axes = _AXES["values"][: values.ndim] if self.axes is None else self.axes
        sizes = dict(zip(axes, values.shape, strict=True))
        if self.feature_names is None and FEATURE in sizes:
            object.__setattr__(self, "feature_names", [f"x{j}" for j in range(sizes[FEATURE])])
        object.__setattr__(self, "axes", axes)
        for name, own in _AXES.items():
            field = getattr(self, name)
            if field is None or isinstance(field, str):
                continue
            array = np.asarray(field, dtype=object) if name.endswith("_names") else np.asarray(field)
            wanted = [(sizes[axis], axis) for axis in own if axis in sizes]
            if array.shape != tuple(size for size, _ in wanted):
                words = ", ".join(f"{size} {axis}s" for size, axis in wanted) or "one value"
                raise ValueError(
                    f"{name} has the shape {array.shape}; beside values of shape {values.shape} it must have {words}."
                )
            object.__setattr__(self, name, array)

    # ---- parts

    @property
    def shape(self) -> tuple[int, ...]:
        return self.values.shape

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("An explanation of one row, one feature and one output has no length.")
        return len(self.values)

    def __getitem__(self, key: Any) -> Explanation:
        """A part: of rows, then features, then outputs, by numbers, slices, masks, lists or names."""
        chosen = self._selectors(key if isinstance(key, tuple) else (key,))
        gone = {axis for axis, selector in chosen.items() if isinstance(selector, (int, np.integer))}
        parts = {
            name: _part(field, [axis for axis in own if axis in self._axes], chosen)
            for name, own in _AXES.items()
            if (field := getattr(self, name)) is not None and not isinstance(field, str)
        }
        if FEATURE in gone:
            parts["interactions"] = None  # of one feature they are no matrix
        return replace(self, **parts, axes=tuple(axis for axis in self._axes if axis not in gone))

    @property
    def _axes(self) -> tuple[str, ...]:
        assert self.axes is not None
        return self.axes

    def _selectors(self, key: tuple[Any, ...]) -> dict[str, Any]:
        dots = [place for place, entry in enumerate(key) if entry is Ellipsis]
        if dots:
            key = (*key[: dots[0]], *[slice(None)] * (len(self._axes) - len(key) + 1), *key[dots[0] + 1 :])
        if len(key) > len(self._axes):
            raise IndexError(f"There are {len(key)} indices; this explanation has the axes {', '.join(self._axes) or 'none'}.")
        return {axis: self._places(axis, entry) for axis, entry in zip(self._axes, key, strict=False)}

    def _places(self, axis: str, entry: Any) -> Any:
        """An index of numbers for one that may hold names."""
        if isinstance(entry, str):
            return self._place(axis, entry)
        if isinstance(entry, list):
            return np.asarray([self._place(axis, one) if isinstance(one, str) else one for one in entry])
        return entry

    def _place(self, axis: str, name: str) -> int:
        names = [] if axis == ROW or getattr(self, f"{axis}_names") is None else list(getattr(self, f"{axis}_names"))
        if name not in names:
            raise KeyError(f"There is no {axis} {name!r}; there are {', '.join(map(str, names)) or 'numbers alone'}.")
        return names.index(name)

    # ---- how exact

    @property
    def sums(self) -> FloatArray:
        """The base values and all that features gave: what should be the predictions."""
        values: FloatArray = self.base_values + self.values.sum(axis=self._axes.index(FEATURE))
        return values

    @property
    def additivity_error(self) -> float | None:
        """The largest difference of a sum from its prediction, over the larger of one and that; None where none is known."""
        if self.predictions is None or FEATURE not in self._axes:
            return None
        differences = np.abs(self.sums - self.predictions) / np.maximum(1.0, np.abs(self.predictions))
        return float(np.max(differences, initial=0.0))

    # ---- together

    def importances(self) -> FloatArray:
        """The mean absolute value of each feature over the rows, of shape (n_features,) or (n_features, n_outputs)."""
        sizes: FloatArray = np.abs(self.values)
        return sizes.mean(axis=0) if ROW in self._axes else sizes

    def to_frame(self) -> Any:
        """The values as a pandas DataFrame: a row for each that was explained, columns of features, for several outputs of each
        output's features."""
        values = self.values if ROW in self._axes else self.values[None]
        features = [self.feature_names] if FEATURE not in self._axes else list(self.feature_names)
        if OUTPUT not in self._axes:
            return as_frame("Explanation", dict(zip(features, values.reshape(len(values), -1).T, strict=True)))
        n_outputs = values.shape[-1]
        outputs = range(n_outputs) if self.output_names is None else self.output_names
        columns = [(output, feature) for feature in features for output in outputs]
        columns_of = dict(zip(columns, values.reshape(len(values), -1).T, strict=True))
        return as_frame(
            "Explanation", {(output, feature): columns_of[output, feature] for output in outputs for feature in features}
        )

    def to_shap(self) -> Any:
        """The same as a `shap.Explanation`, for the plots of the package shap."""
        try:
            import shap
        except ImportError as error:
            raise ImportError("Explanation.to_shap needs the package shap; install it, or use mercer.plots.") from error
        names = self.feature_names if isinstance(self.feature_names, str) else list(self.feature_names)
        outputs = self.output_names if isinstance(self.output_names, str | None) else list(self.output_names)
        return shap.Explanation(self.values, self.base_values, data=self.data, feature_names=names, output_names=outputs)

    def __str__(self) -> str:
        if FEATURE not in self._axes or OUTPUT in self._axes:
            return repr(self)
        return "\n".join(self._lines_of_row() if ROW not in self._axes else self._lines_of_rows())

    def __repr__(self) -> str:
        sizes = ", ".join(f"{size} {axis}{'s' * (size != 1)}" for axis, size in zip(self._axes, self.shape, strict=True))
        return f"Explanation({sizes or 'one value'}{f'; {self.method}' if self.method else ''})"

    def _lines_of_row(self) -> list[str]:
        data = [""] * len(self.values) if self.data is None else [_cell(value) for value in self.data]
        order = np.argsort(-np.abs(self.values), kind="stable")
        rows = [(str(self.feature_names[j]), data[j], f"{self.values[j]:+.4g}") for j in order[:_MOST_LINES]]
        if len(order) > _MOST_LINES:
            rows.append((f"{len(order) - _MOST_LINES} others", "", f"{self.values[order[_MOST_LINES:]].sum():+.4g}"))
        ends = [("base value", "", f"{float(self.base_values):.4g}"), ("sum", "", f"{float(self.sums):.4g}")]
        return aligned([*rows, *ends], left=(0, 2))

    def _lines_of_rows(self) -> list[str]:
        sizes = self.importances()
        order = np.argsort(-sizes, kind="stable")[:_MOST_LINES]
        rows = [("feature", "mean |value|"), *((str(self.feature_names[j]), f"{sizes[j]:.4g}") for j in order)]
        return [repr(self), *aligned(rows, left=(0,))]


def _part(field: Any, axes: Sequence[str], chosen: Mapping[str, Any]) -> Any:
    """A part of one field, an axis after the other, the last one first, so that the places of the others stay."""
    for place in reversed(range(len(axes))):
        if axes[place] in chosen:
            field = field[(slice(None),) * place + (chosen[axes[place]],)]
    return field


def _cell(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, (float, np.floating)) else str(value)
