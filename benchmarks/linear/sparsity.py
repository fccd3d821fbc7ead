"""Lasso and elastic net: one penalty, paths, cross-validation; tall correlated and wide data."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np

from benchmarks._case import MERCER, SCIKIT_LEARN, Case, Contender, Data, Quality, contenders
from benchmarks.linear._problems import fit, parts, shape_name, sparse_columns, sparse_regression, values

_SHAPES = [(100_000, 40), (500, 10_000)]
_SMALL = [(50, 5), (200, 3_000)]  # few rows, and wide with few rows
_SPARSE = [(20_000, 5_000, 0.005), (2_000, 20_000, 0.005), (20_000, 200, 0.05)]
_CV_SHAPES = [(400, 2_000), (20_000, 100), (50, 5), (20_000, 200, 0.05), (1_000, 2_000, 0.02)]
_SHARE = 0.05  # of the least penalty that gives zero
_RATIOS = {"Lasso": 1.0, "ElasticNet": 0.5}


def _data(n: int, d: int, density: float | None = None) -> Callable[[], Data]:
    if density is None:
        return partial(sparse_regression, n, d)
    return partial(_by_columns, n, d, density)


def _by_columns(n: int, d: int, density: float) -> Data:
    data = sparse_columns(n, d, density)
    return Data(data.X.tocsc(), data.y)


def _largest_alpha(data: Data, l1_ratio: float) -> float:
    centred = data.y - data.y.mean()
    return float(np.abs(data.X.T @ centred).max() / len(centred) / l1_ratio)


def _objective_of(coef: np.ndarray, residual: np.ndarray, alpha: float, l1_ratio: float) -> float:
    penalty = l1_ratio * np.abs(coef).sum() + (1 - l1_ratio) / 2 * (coef**2).sum()
    return float(residual @ residual / (2 * len(residual)) + alpha * penalty)


def _objective(l1_ratio: float, model: Any, outcome: Any, data: Data) -> float:
    alpha = _SHARE * _largest_alpha(data, l1_ratio)
    return _objective_of(parts(outcome)[0][0], data.y - values(outcome, data), alpha, l1_ratio)


def _prepare(l1_ratio: float, estimator: Any, data: Data) -> Any:
    ratio = {} if l1_ratio == 1.0 else {"l1_ratio": l1_ratio}
    return estimator(alpha=_SHARE * _largest_alpha(data, l1_ratio), **ratio)


def _fits() -> Iterator[Case]:
    for name, ratio in _RATIOS.items():
        # Tolerances are in each contender's own units, such that all reach the minimum to about six digits.
        who = (
            Contender(MERCER, f"mercer.linear_model:{name}", {"tol": 1e-6}),
            Contender(SCIKIT_LEARN, f"sklearn.linear_model:{name}", {"tol": 1e-6}),
            Contender("skglm", f"skglm:{name}", {"tol": 1e-4}),
        )
        quality = Quality("objective", partial(_objective, ratio), rtol=2e-6)
        for shape in (*_SHAPES, *_SMALL, *_SPARSE):
            yield Case(
                f"{name} fit, alpha = {_SHARE:g} of the largest",
                shape_name(*shape),
                _data(*shape),
                who,
                fit,
                quality,
                partial(_prepare, ratio),
                is_quick=False,
            )


class _SkglmPath:
    """skglm's path by repeated warm-started fits."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __call__(self, X: Any, y: Any, *, alphas: Any, l1_ratio: float) -> Any:
        import skglm

        ratio = {} if self._name == "Lasso" else {"l1_ratio": l1_ratio}
        model = getattr(skglm, self._name)(fit_intercept=False, tol=1e-4, warm_start=True, **ratio)
        return alphas, np.column_stack([model.set_params(alpha=alpha).fit(X, y).coef_.copy() for alpha in alphas])


def _path_function(function: Any, data: Data, l1_ratio: float) -> Any:
    """A function of the data that runs the path; X and y are centred, since no path function fits an intercept."""
    alphas = np.geomspace(1, 1e-3, 100) * _largest_alpha(data, l1_ratio)
    if isinstance(function, _SkglmPath):
        return partial(function, alphas=alphas, l1_ratio=l1_ratio)
    return partial(function, alphas=alphas, tol=1e-6, **({} if l1_ratio == 1.0 else {"l1_ratio": l1_ratio}))


def _run_path(run: Any, data: Data) -> Any:
    alphas, coefs, *_ = run(data.X, data.y)
    return SimpleNamespace(alphas=alphas, coefs=coefs)


def _path_objective(l1_ratio: float, model: Any, outcome: Any, data: Data) -> float:
    """Added up over the penalties."""
    residuals = data.y[:, None] - data.X @ outcome.coefs
    return sum(
        _objective_of(coef, residual, alpha, l1_ratio)
        for alpha, coef, residual in zip(outcome.alphas, outcome.coefs.T, residuals.T, strict=True)
    )


def _centred(n: int, d: int) -> Data:
    data = sparse_regression(n, d)
    return Data(np.asfortranarray(data.X - data.X.mean(axis=0)), data.y - data.y.mean())


SKGLM_LASSO, SKGLM_ELASTIC_NET = _SkglmPath("Lasso"), _SkglmPath("ElasticNet")


def _paths() -> Iterator[Case]:
    for name, function, ratio in (("Lasso", "lasso_path", 1.0), ("ElasticNet", "enet_path", 0.5)):
        peer = "SKGLM_LASSO" if name == "Lasso" else "SKGLM_ELASTIC_NET"
        plain = (
            Contender(MERCER, f"mercer.linear_model:{function}"),
            Contender(SCIKIT_LEARN, f"sklearn.linear_model:{function}"),
        )
        for n, d in _SHAPES:
            # On tall data skglm takes a second or more for each of the hundred fits.
            who = plain if n > d else (*plain, Contender("skglm", f"{__name__}:{peer}"))
            yield Case(
                f"{function}, 100 penalties from the largest to a thousandth",
                f"{n:,} x {d:,}",
                partial(_centred, n, d),
                who,
                _run_path,
                Quality("objectives added up", partial(_path_objective, ratio), rtol=2e-5),
                lambda function, data, ratio=ratio: _path_function(function, data, ratio),
            )


def _cross_validated() -> Iterator[Case]:
    for name in ("LassoCV", "ElasticNetCV"):
        for shape in _CV_SHAPES:
            yield Case(
                f"{name} fit, 5 folds, 100 penalties",
                shape_name(*shape),
                _data(*shape),
                contenders(f"linear_model.{name}", peers=(SCIKIT_LEARN,)),
                fit,
                Quality("least mean squared error over folds", _cv_error, rtol=1e-3),
                lambda estimator, data: estimator(cv=5, n_jobs=-1),
                is_quick=shape == (400, 2_000) and name == "LassoCV",
            )


def _cv_error(model: Any, outcome: Any, data: Data) -> float:
    return float(outcome.mse_path_.mean(axis=-1).min())


def cases() -> Iterator[Case]:
    yield from _fits()
    yield from _paths()
    yield from _cross_validated()
