"""Every estimator whose fit adds up over parts, with the data that it takes and what a fit leaves to compare."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer._discovery import public_estimators
from mercer._parts.memory import MemorySource
from mercer._parts.passes import Parted

N_ROWS, N_FEATURES = 240, 4


@dataclass(frozen=True)
class Family:
    """An estimator, its target ("numbers", "classes" or None), and the attributes that two fits must share."""

    model: Any
    target: str | None
    compared: tuple[str, ...]

    @property
    def name(self) -> str:
        shown = ", ".join(f"{key}={value!r}" for key, value in changed(self.model).items())
        return f"{type(self.model).__name__}({shown})"


def changed(model: Any) -> dict[str, Any]:
    """The parameters that are not the defaults, arrays left out."""
    default = type(model)().get_params()
    found = {name: value for name, value in model.get_params().items() if not isinstance(value, np.ndarray)}
    return {name: value for name, value in found.items() if value != default[name] and value is not None}


def families() -> list[Family]:
    from mercer.cluster import KMeans
    from mercer.decomposition import PCA
    from mercer.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
    from mercer.linear_model import ElasticNet, Lasso, LinearRegression, LogisticRegression, Ridge
    from mercer.naive_bayes import BernoulliNB, ComplementNB, GaussianNB, MultinomialNB
    from mercer.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler

    line, counts = ("coef_", "intercept_"), ("feature_log_prob_", "class_count_")
    return [
        Family(StandardScaler(), None, ("mean_", "var_", "scale_")),
        Family(MinMaxScaler(), None, ("data_min_", "data_max_", "scale_")),
        Family(MaxAbsScaler(), None, ("max_abs_",)),
        Family(PCA(2), None, ("components_", "explained_variance_", "mean_", "noise_variance_")),
        Family(KMeans(3, init=table()[0][:3]), None, ("cluster_centers_", "inertia_")),
        Family(LinearRegression(), "numbers", line),
        Family(LinearRegression(fit_intercept=False), "numbers", line),
        Family(Ridge(2.0), "numbers", line),
        Family(Ridge(2.0, solver="svd"), "numbers", line),
        Family(Lasso(0.1, tol=1e-10), "numbers", line),
        Family(ElasticNet(0.1, positive=True, tol=1e-10), "numbers", line),
        Family(LogisticRegression(tol=1e-10), "classes", line),
        Family(LogisticRegression(tol=1e-10, solver="quasi-newton", fit_intercept=False), "classes", line),
        Family(LogisticRegression(tol=1e-10, class_weight="balanced"), "classes", line),
        Family(GaussianNB(), "classes", ("theta_", "var_", "class_prior_")),
        Family(MultinomialNB(), "classes", counts),
        Family(ComplementNB(), "classes", counts),
        Family(BernoulliNB(binarize=2.0), "classes", counts),
        Family(LinearDiscriminantAnalysis(), "classes", line),
        Family(LinearDiscriminantAnalysis("eigen", shrinkage=0.1), "classes", line),
        Family(QuadraticDiscriminantAnalysis(), "classes", ("means_", "priors_")),
    ]


def table() -> tuple[Any, Any, Any, Any]:
    """X (not negative), numbers, labels and weights (some of them zero)."""
    random = np.random.default_rng(7)
    X = np.abs(random.normal(size=(N_ROWS, N_FEATURES)) @ random.normal(size=(N_FEATURES, N_FEATURES)) + 3)
    y = X @ random.normal(size=N_FEATURES) + random.normal(size=N_ROWS)
    labels = np.array(["low", "middle", "high"])[np.digitize(y, np.quantile(y, [0.3, 0.6]))]
    return X, y, labels, random.integers(0, 3, N_ROWS).astype(float)


def in_parts(array: Any, cuts: Any) -> Parted:
    """An array cut before these rows."""
    return Parted(MemorySource(np.split(array, cuts)), n_columns=array.shape[1] if array.ndim == 2 else None)


def capable() -> Iterator[str]:
    """The names of the estimators that say that they take parts."""
    return (full.rpartition(".")[2] for full, cls in public_estimators().items() if getattr(cls, "_takes_parts", False))


def takes_weights(model: Any) -> bool:
    import inspect

    return "sample_weight" in inspect.signature(model.fit).parameters
