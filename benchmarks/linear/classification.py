"""Logistic regression, linear support vector machines, and the online learners."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from benchmarks._case import MERCER, SCIKIT_LEARN, SKLEARNEX, Case, Contender, Data, Quality
from benchmarks.linear._problems import classes, fit, log_loss, parts, text, values

_LOGISTIC = "linear_model:LogisticRegression"
_LIBLINEAR = "benchmarks.linear._liblinear:Liblinear"


def _l2_objective(model: Any, outcome: Any, data: Data) -> float:
    return log_loss(outcome, data) + float((parts(outcome)[0] ** 2).sum()) / 2


def _l1_objective(model: Any, outcome: Any, data: Data) -> float:
    return log_loss(outcome, data) + float(np.abs(parts(outcome)[0]).sum())


def _smooth() -> Iterator[Case]:
    # The tolerance is on the gradient of the mean loss; where one stops earlier than another the objective shows it.
    tol = {"tol": 1e-6, "max_iter": 1000}
    who = (
        Contender(MERCER, f"mercer.{_LOGISTIC}", {"tol": 1e-6}),
        Contender(SCIKIT_LEARN, f"sklearn.{_LOGISTIC}", tol),
        Contender("newton-cholesky", f"sklearn.{_LOGISTIC}", {"solver": "newton-cholesky", **tol}),
        Contender(SKLEARNEX, f"sklearnex.{_LOGISTIC}", tol),
    )
    liblinear = Contender("liblinear", _LIBLINEAR, {"solver": 0, "tol": 1e-4})
    quality = Quality("objective", _l2_objective, rtol=1e-6)
    for name, data, also in (
        ("100,000 x 40, 2 classes", partial(classes, 100_000, 40), (liblinear,)),
        ("40,000 x 30, 6 classes", partial(classes, 40_000, 30, 6), ()),
    ):
        yield Case("LogisticRegression fit, l2", name, data, who + also, fit, quality)
    # Wide X at everyone's default tolerance, which is what users meet; Mercer's also bounds the duality gap.
    default = (Contender(MERCER, f"mercer.{_LOGISTIC}"), Contender(SCIKIT_LEARN, f"sklearn.{_LOGISTIC}"))
    loose = Quality("objective", _l2_objective, rtol=1e-2)
    for name, data in (
        ("200 x 3,000", partial(classes, 200, 3_000)),
        ("200 x 3,000, 3 classes", partial(classes, 200, 3_000, 3)),
        ("150 x 20", partial(classes, 150, 20)),
        ("20,000 x 50,000 text-like", partial(text, 20_000, 50_000)),
    ):
        yield Case("LogisticRegression fit, defaults", name, data, default, fit, loose)


def _sparse() -> Iterator[Case]:
    l1 = {"l1_ratio": 1.0}
    who = (
        Contender(MERCER, f"mercer.{_LOGISTIC}", {**l1, "tol": 1e-6}),
        Contender(SCIKIT_LEARN, f"sklearn.{_LOGISTIC}", {**l1, "solver": "liblinear", "tol": 1e-4, "max_iter": 1000}),
        Contender("saga", f"sklearn.{_LOGISTIC}", {**l1, "solver": "saga", "tol": 1e-4, "max_iter": 200}),
        Contender("liblinear", _LIBLINEAR, {"solver": 6, "tol": 1e-3}),
        Contender("skglm", f"{__name__}:SkglmLogistic"),
    )
    # liblinear penalises the intercept, which costs it some of the objective here.
    quality = Quality("objective", _l1_objective, rtol=1e-4)
    yield Case("LogisticRegression fit, l1", "60,000 x 40", partial(classes, 60_000, 40), who, fit, quality)
    sparse = partial(text, 20_000, 50_000)
    yield Case("LogisticRegression fit, l1", "20,000 x 50,000 text-like", sparse, who, fit, quality)


class SkglmLogistic:
    """skglm's estimator takes the penalty of the mean loss: 1 / n stands for C = 1."""

    def fit(self, X: Any, y: Any) -> Any:
        from skglm import SparseLogisticRegression

        return SparseLogisticRegression(alpha=1 / X.shape[0], tol=1e-6).fit(X, y)


def _mean_log_loss(model: Any, outcome: Any, data: Data) -> float:
    return log_loss(outcome, data)


def _cross_validated() -> Iterator[Case]:
    params = {"Cs": 10, "cv": 5, "l1_ratios": (0.0,), "scoring": "neg_log_loss", "use_legacy_attributes": False}
    name = "linear_model:LogisticRegressionCV"
    who = (
        Contender(MERCER, f"mercer.{name}", {**params, "n_jobs": -1}),
        Contender(SCIKIT_LEARN, f"sklearn.{name}", {**params, "n_jobs": -1}),
        Contender("newton-cholesky", f"sklearn.{name}", {**params, "n_jobs": -1, "solver": "newton-cholesky"}),
    )
    data = partial(classes, 20_000, 30)
    quality = Quality("log loss of the refit", _mean_log_loss, rtol=1e-3)
    yield Case("LogisticRegressionCV fit, 10 values of C, 5 folds", "20,000 x 30", data, who, fit, quality, is_quick=True)


def _hinge(power: int, model: Any, outcome: Any, data: Data) -> float:
    """The objective of the support vector machine with C = 1; the bias is free, as in Mercer by default."""
    sign = 2.0 * data.y - 1
    slack = np.maximum(1 - sign * values(outcome, data), 0)
    return float((slack**power).sum() + (parts(outcome)[0] ** 2).sum() / 2)


def _support_vectors() -> Iterator[Case]:
    for loss, power, number in (("squared_hinge", 2, 1), ("hinge", 1, 3)):
        params = {"loss": loss, "tol": 1e-4, "max_iter": 10_000}
        who = (
            Contender(MERCER, "mercer.svm:LinearSVC", params),
            Contender(SCIKIT_LEARN, "sklearn.svm:LinearSVC", params),
            Contender("liblinear", _LIBLINEAR, {"solver": number if loss == "hinge" else 2, "tol": 1e-3}),
        )
        yield Case(
            f"LinearSVC fit, {loss}",
            "100,000 x 40",
            partial(classes, 100_000, 40),
            who,
            fit,
            Quality("objective", partial(_hinge, power), rtol=1e-3),
        )


def _sparse_support_vectors() -> Iterator[Case]:
    """Text and the like, and few rows, at the default tolerances."""
    for loss, power in (("squared_hinge", 2), ("hinge", 1)):
        who = tuple(
            Contender(label, f"{package}.svm:LinearSVC", {"loss": loss})
            for label, package in ((MERCER, "mercer"), (SCIKIT_LEARN, "sklearn"))
        )
        quality = Quality("objective", partial(_hinge, power), rtol=5e-2)  # scikit-learn's bias has a penalty
        for name, data in (
            ("20,000 x 50,000 text-like", partial(text, 20_000, 50_000)),
            ("5,000 x 1,000 sparse", partial(text, 5_000, 1_000)),
            ("200 x 20", partial(classes, 200, 20)),
        ):
            yield Case(f"LinearSVC fit, {loss}, defaults", name, data, who, fit, quality)
    who = tuple(
        Contender(label, f"{package}.svm:LinearSVR") for label, package in ((MERCER, "mercer"), (SCIKIT_LEARN, "sklearn"))
    )
    quality = Quality("mean absolute error", _absolute_error, rtol=5e-2)
    for name, data in (("5,000 x 1,000 sparse", partial(text, 5_000, 1_000)), ("200 x 20", partial(classes, 200, 20))):
        yield Case("LinearSVR fit, defaults", name, data, who, fit, quality)


def _absolute_error(model: Any, outcome: Any, data: Data) -> float:
    return float(np.abs(values(outcome, data) - data.y).mean())


def _accuracy(model: Any, outcome: Any, data: Data) -> float:
    found = values(outcome, data)
    labels = (found > 0).astype(int) if found.ndim == 1 else found.argmax(axis=1)
    return float((labels == data.y).mean())


def _online() -> Iterator[Case]:
    # Ten epochs for everyone: what is compared is the epoch.
    epochs = {"max_iter": 10, "tol": None, "random_state": 0}
    for name, params in (
        ("SGDClassifier", {"loss": "log_loss"}),
        ("SGDClassifier", {"loss": "hinge", "penalty": "elasticnet"}),
        ("Perceptron", {}),
    ):
        who = tuple(
            Contender(label, f"{package}.linear_model:{name}", {**params, **epochs})
            for label, package in ((MERCER, "mercer"), (SCIKIT_LEARN, "sklearn"))
        )
        # Ten epochs do not converge, and the order of the rows differs: the accuracy is alike, not equal.
        quality = Quality("accuracy", _accuracy, atol=0.05, is_lower_better=False)
        table = " ".join([f"{name} fit, 10 epochs", *map(str, params.values())])
        for n_classes in (2, 6) if name == "Perceptron" or "hinge" not in params.values() else (2,):
            data = partial(classes, 100_000, 40, n_classes)
            yield Case(table, f"100,000 x 40, {n_classes} classes", data, who, fit, quality)
    # Whole fits as users make them, on text and on few rows: the number of passes counts too.
    for name, params in (
        ("SGDClassifier", {"random_state": 0}),
        ("SGDClassifier", {"random_state": 0, "loss": "log_loss"}),
        ("Perceptron", {}),
    ):
        who = tuple(
            Contender(label, f"{package}.linear_model:{name}", params)
            for label, package in ((MERCER, "mercer"), (SCIKIT_LEARN, "sklearn"))
        )
        quality = Quality("accuracy", _accuracy, atol=0.05, is_lower_better=False)
        table = " ".join([f"{name} fit, defaults", *(str(value) for key, value in params.items() if key != "random_state")])
        yield Case(table, "40,000 x 80,000 text-like", partial(text, 40_000, 80_000), who, fit, quality)
        yield Case(table, "200 x 20", partial(classes, 200, 20), who, fit, quality)


def cases() -> Iterator[Case]:
    yield from _smooth()
    yield from _sparse()
    yield from _cross_validated()
    yield from _support_vectors()
    yield from _sparse_support_vectors()
    yield from _online()
