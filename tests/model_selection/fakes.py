"""Small estimators that take part in tuning, and count what is asked of them."""

from __future__ import annotations

from collections import Counter

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from mercer.model_selection import OutOfBagView

CALLS: Counter[str] = Counter()  # by name of method; tests reset it


class Shrunken(RegressorMixin, BaseEstimator):
    """Ridge regression by the normal equations: y ~ X b, b = (X'WX + alpha I)^-1 X'Wy. `power` raises the penalty."""

    def __init__(self, alpha=1.0, power=1):
        self.alpha = alpha
        self.power = power

    def fit(self, X, y, sample_weight=None):
        CALLS["fit"] += 1
        if self.alpha < 0:
            raise ValueError(f"alpha={self.alpha} is negative")
        return self._solve(np.asarray(X), np.asarray(y), sample_weight, self.alpha)

    def _solve(self, X, y, sample_weight, alpha):
        w = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight)
        self.coef_ = np.linalg.solve((X * w[:, None]).T @ X + alpha**self.power * np.eye(X.shape[1]), (X * w[:, None]).T @ y)
        return self

    def predict(self, X):
        CALLS["predict"] += 1
        return np.asarray(X) @ self.coef_


class SweptShrunken(Shrunken):
    """The same with a sweep over alpha, unless `power` is 3."""

    def sweep_parameters(self):
        return ["alpha"] if self.power != 3 else []

    def sweep(self, X, y, name, values, *, sample_weight=None):
        CALLS["sweep"] += 1
        assert name == "alpha"
        for value in values:
            if value < 0:
                raise ValueError(f"alpha={value} is negative")
            yield SweptShrunken(value, self.power)._solve(np.asarray(X), np.asarray(y), sample_weight, value)


class JointlyShrunken(Shrunken):
    """The same with one sweep over alpha and power."""

    def sweep_parameters(self):
        return ["alpha", "power"]

    def sweep(self, X, y, name, values, *, sample_weight=None):
        return self.sweep_points(X, y, [{name: value} for value in values], sample_weight=sample_weight)

    def sweep_points(self, X, y, points, *, sample_weight=None):
        CALLS["sweep"] += 1
        for point in points:
            model = JointlyShrunken(**{**self.get_params(), **point})
            if model.alpha < 0:
                raise ValueError(f"alpha={model.alpha} is negative")
            yield model._solve(np.asarray(X), np.asarray(y), sample_weight, model.alpha)


class Means(ClassifierMixin, BaseEstimator):
    """The nearest class mean after shrinking means towards the middle; out-of-bag rows are those of odd number."""

    def __init__(self, shrink=0.0, offset=0.0):
        self.shrink = shrink
        self.offset = offset

    def fit(self, X, y, sample_weight=None):
        CALLS["fit"] += 1
        self.classes_ = np.unique(y)
        middle = X.mean(axis=0)
        self.means_ = np.array([middle + (1 - self.shrink) * (X[y == c].mean(axis=0) - middle) for c in self.classes_])
        return self

    def decision(self, X):
        distance = ((np.asarray(X)[:, None] - self.means_ - self.offset) ** 2).sum(axis=2)
        share = np.exp(-distance + distance.min(axis=1, keepdims=True))
        return share / share.sum(axis=1, keepdims=True)

    predict_proba = decision

    def predict(self, X):
        CALLS["predict"] += 1
        return self.classes_[self.decision(X).argmax(axis=1)]


class BaggedMeans(Means):
    """The same with rows out of bag; `keeps` tells whether sweeps give the fitted model too."""

    def __init__(self, shrink=0.0, offset=0.0, keeps=True):
        super().__init__(shrink, offset)
        self.keeps = keeps

    def out_of_bag_parameters(self):
        return ["shrink"]

    def sweep_out_of_bag(self, X, y, name, values, *, sample_weight=None):
        CALLS["sweep_out_of_bag"] += 1
        has_votes = np.arange(len(y)) % 2 == 1
        for value in values:
            model = BaggedMeans(value, self.offset, self.keeps).fit(X[~has_votes], y[~has_votes])
            share = model.decision(X[has_votes])
            view = OutOfBagView(has_votes, model.classes_[share.argmax(axis=1)], share, model.classes_, "classifier")
            yield (BaggedMeans(value, self.offset, self.keeps).fit(X, y) if self.keeps else None), view


class Sometimes(RegressorMixin, BaseEstimator):
    """Predicts `value`; fails to fit above 5 and predicts NaN at exactly 5."""

    def __init__(self, value=0.0):
        self.value = value

    def fit(self, X, y):
        if self.value > 5:
            raise RuntimeError(f"value={self.value} is above 5")
        self.fitted_ = True
        return self

    def predict(self, X):
        return np.full(len(X), np.nan if self.value == 5 else self.value)

    def score(self, X, y):
        return -float(np.mean((self.predict(X) - y) ** 2))


class Growing(RegressorMixin, BaseEstimator):
    """Learns the mean by halves, a step an epoch, and adds `error`; from epoch `turn` on it is worse by the epoch.

    A fit ends by itself at epoch `enough`, and fails at epoch `doom`. Without `looks` it has none.
    """

    def __init__(self, error=0.0, turn=1000, enough=1000, doom=1000, looks=True, max_iter=18):
        self.error = error
        self.turn = turn
        self.enough = enough
        self.doom = doom
        self.looks = looks
        self.max_iter = max_iter

    def fit(self, X, y, sample_weight=None):
        *_, (model, _) = self.fit_in_stages(X, y, [self.max_iter], sample_weight=sample_weight)
        self.__dict__.update(vars(model))
        return self

    def halving_parameter(self):
        return "max_iter" if self.looks else None

    def fit_in_stages(self, X, y, stages, *, sample_weight=None):
        CALLS["fit"] += 1
        mean, last = np.average(y, weights=sample_weight), min(self.enough, self.max_iter)
        for epoch in range(1, last + 1):
            CALLS["epoch"] += 1
            if epoch == self.doom:
                raise ValueError(f"doom={self.doom} has come")
            if epoch in stages or epoch == last:
                model = Growing(**self.get_params())
                model.guess_ = mean + self.error + 0.5**epoch + max(0, epoch - self.turn)
                yield model, epoch == last

    def predict(self, X):
        return np.full(len(X), self.guess_)
