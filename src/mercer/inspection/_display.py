"""Pictures of partial dependences with scikit-learn's display: `from_estimator` asks Mercer's `partial_dependence`."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, NamedTuple, Self

import numpy as np
import sklearn.inspection
from scipy.stats.mstats import mquantiles
from sklearn.base import is_regressor

from mercer._params import NumberOfJobs, Verbosity, check_value
from mercer._tables import Table
from mercer.inspection._grid import categorical_mask, names_of, number_of
from mercer.inspection._partial_dependence import as_checked_table, partial_dependence


class _Panel(NamedTuple):
    """One or two features, which of them hold categories, and the kind of their curves."""

    features: tuple[int, ...]
    is_categorical: tuple[bool, ...]
    kind: str


class PartialDependenceDisplay(sklearn.inspection.PartialDependenceDisplay):  # type: ignore[misc]  # scikit-learn has no types
    """Partial dependences and individual conditional expectations as curves, pairs of features as contours.

    The parameters and attributes are those of `sklearn.inspection.PartialDependenceDisplay`, of which this is one.

    Parameters
    ----------
    pd_results : list of Bunch
        What `partial_dependence` gives for each entry of `features`.
    features : list of tuple of int
        One or two features a panel.
    feature_names : list of str
    target_idx : int
        Which output of the results is drawn.
    deciles : dict
        The deciles of each feature by its number.
    kind, subsample, random_state, is_categorical
        As in `from_estimator`.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from mercer.ensemble import HistGradientBoostingRegressor
    >>> from mercer.inspection import PartialDependenceDisplay
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = HistGradientBoostingRegressor(max_iter=20).fit(X, y)
    >>> display = PartialDependenceDisplay.from_estimator(model, X, ["bmi", ("bmi", "s5")], grid_resolution=10)
    >>> display.axes_.shape
    (1, 2)

    References
    ----------
    J. H. Friedman, "Greedy function approximation: A gradient boosting machine", Annals of Statistics 29, 2001.
    """

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        features: Any,
        *,
        sample_weight: Any = None,
        categorical_features: Any = None,
        feature_names: Any = None,
        target: Any = None,
        response_method: str = "auto",
        n_cols: int = 3,
        grid_resolution: int = 100,
        percentiles: tuple[float, float] = (0.05, 0.95),
        custom_values: Any = None,
        method: str = "auto",
        n_jobs: int | None = None,
        verbose: int = 0,
        line_kw: Any = None,
        ice_lines_kw: Any = None,
        pd_line_kw: Any = None,
        contour_kw: Any = None,
        ax: Any = None,
        kind: Any = "average",
        centered: bool = False,
        subsample: Any = 1000,
        random_state: Any = None,
    ) -> Self:
        """Find partial dependences of a fitted model and draw them.

        The parameters are scikit-learn's, and those of `partial_dependence`; `n_jobs` and `verbose` have nothing to do where
        one call answers all points of a grid, and are only checked.

        Returns
        -------
        display : PartialDependenceDisplay
        """
        _check_axes(ax, len(features))
        _check_counts(n_jobs, verbose, subsample)
        target_idx = _output_of(estimator, target)
        table = as_checked_table(X)
        names = names_of(table, feature_names)
        panels = _panels(features, kind, categorical_features, names)
        _check_panels(panels, table, names, grid_resolution)
        options: dict[str, Any] = {
            "sample_weight": sample_weight,
            "feature_names": names,
            "categorical_features": categorical_features,
            "response_method": response_method,
            "method": method,
            "grid_resolution": grid_resolution,
            "percentiles": percentiles,
            "custom_values": custom_values,
        }
        results = [partial_dependence(estimator, table.data, panel.features, kind=panel.kind, **options) for panel in panels]
        n_outputs = len(results[0].average if panels[0].kind == "average" else results[0].individual)
        if is_regressor(estimator) and n_outputs > 1:
            target_idx = _target_of_many(target, n_outputs)
        numeric = {place for panel in panels if not any(panel.is_categorical) for place in panel.features}
        display = cls(
            pd_results=results,
            features=[panel.features for panel in panels],
            feature_names=names,
            target_idx=target_idx,
            deciles={place: mquantiles(table.column(place), prob=np.arange(0.1, 1.0, 0.1)) for place in numeric},
            kind=kind,
            subsample=subsample,
            random_state=random_state,
            is_categorical=[panel.is_categorical for panel in panels],
        )
        drawn: Self = display.plot(
            ax=ax,
            n_cols=n_cols,
            line_kw=line_kw,
            ice_lines_kw=ice_lines_kw,
            pd_line_kw=pd_line_kw,
            contour_kw=contour_kw,
            centered=centered,
        )
        return drawn


def _output_of(estimator: Any, target: Any) -> int:
    """Which output is drawn: that of a class where there are several, else the only one."""
    classes = getattr(estimator, "classes_", None)
    if classes is None or np.size(classes) <= 2:
        return 0
    if target is None:
        raise ValueError(f"target must be specified for multi-class; the classes are {np.asarray(classes).tolist()!r}.")
    found = np.flatnonzero(np.asarray(classes) == target)
    if not len(found):
        raise ValueError(f"target not in est.classes_, got {target}; the classes are {np.asarray(classes).tolist()!r}.")
    return int(found[0])


def _target_of_many(target: Any, n_targets: int) -> int:
    if target is None:
        raise ValueError("target must be specified for multi-output regressors")
    if not 0 <= target < n_targets:
        raise ValueError(f"target must be in [0, n_tasks], got {target}; the last of {n_targets} targets is {n_targets - 1}.")
    return int(target)


def _panels(features: Any, kind: Any, categorical_features: Any, names: Sequence[str]) -> list[_Panel]:
    kinds = [kind] * len(features) if isinstance(kind, str) else list(kind)
    if len(kinds) != len(features):
        raise ValueError(
            "When `kind` is provided as a list of strings, it should contain as many elements as `features`. `kind` contains "
            f"{len(kinds)} element(s) and `features` contains {len(features)} element(s)."
        )
    places = [_places(entry, names) for entry in features]
    if any(each != "average" and len(pair) > 1 for each, pair in zip(kinds, places, strict=True)):
        wanted = ["average" if len(pair) > 1 else each for each, pair in zip(kinds, places, strict=True)]
        raise ValueError(
            "ICE plot cannot be rendered for 2-way feature interactions. 2-way feature interactions mandates PD plots using "
            f"the 'average' kind: features={features!r} should be configured to use kind={wanted!r} explicitly."
        )
    beyond = next((place for pair in places for place in pair if place >= len(names)), None)
    if beyond is not None:
        raise ValueError(f"All entries of features must be less than len(feature_names) = {len(names)}, got {beyond}.")
    given = None if categorical_features is None or np.size(categorical_features) == 0 else categorical_features
    mask = categorical_mask(given, names)
    return [_Panel(pair, tuple(bool(mask[place]) for place in pair), each) for pair, each in zip(places, kinds, strict=True)]


def _places(entry: Any, names: Sequence[str]) -> tuple[int, ...]:
    words = "Each entry in features must be either an int, a string, or an iterable of size at most 2."
    try:
        listed = [entry] if isinstance(entry, (Integral, str)) else list(entry)
        places = tuple(number_of(each, names) for each in listed)
    except TypeError as error:
        raise ValueError(words) from error
    if not 1 <= len(places) <= 2:
        raise ValueError(words)
    return places


def _check_panels(panels: Sequence[_Panel], table: Table, names: Sequence[str], grid_resolution: int) -> None:
    """Refuse what the pictures cannot show."""
    if any(len(set(panel.is_categorical)) > 1 for panel in panels):
        raise ValueError("Two-way partial dependence plots are not supported for pairs of continuous and categorical features.")
    counts = [
        len({value for value in table.column(place).tolist() if value == value})
        for panel in panels
        for place, is_cat in zip(panel.features, panel.is_categorical, strict=True)
        if is_cat
    ]
    if counts and grid_resolution < min(counts):
        raise ValueError(
            "The resolution of the computed grid is less than the minimum number of categories in the targeted categorical "
            f"features. Expect the `grid_resolution` to be greater than {min(counts)}. Got {grid_resolution} instead."
        )
    if any(any(panel.is_categorical) and panel.kind != "average" for panel in panels):
        raise ValueError("It is not possible to display individual effects for categorical features.")


def _check_axes(ax: Any, n_panels: int) -> None:
    try:
        from matplotlib.axes import Axes
    except ImportError as error:
        raise ImportError("PartialDependenceDisplay needs matplotlib: pip install 'mercer[plots]'") from error
    if ax is not None and not isinstance(ax, Axes) and (n_axes := np.asarray(ax, dtype=object).size) != n_panels:
        raise ValueError(f"Expected ax to have {n_panels} axes, got {n_axes}")


def _check_counts(n_jobs: Any, verbose: Any, subsample: Any) -> None:
    check_value("PartialDependenceDisplay", "n_jobs", n_jobs, NumberOfJobs())
    check_value("PartialDependenceDisplay", "verbose", verbose, Verbosity())
    if isinstance(subsample, Integral) and int(subsample) <= 0:
        raise ValueError(f"When an integer, subsample={subsample} should be positive.")
    if isinstance(subsample, Real) and not isinstance(subsample, Integral) and not 0 < float(subsample) < 1:
        raise ValueError(f"When a floating-point, subsample={subsample} should be in the (0, 1) range.")
