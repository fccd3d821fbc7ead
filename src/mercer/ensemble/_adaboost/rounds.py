"""The rounds of AdaBoost: weights of rows in, a member and its weight out. For classes (SAMME) and for numbers (R2)."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from mercer._arrays import FloatArray
from mercer._trace import Certificate, Record, Status
from mercer.ensemble._boosting.certificate import boosting_certificate
from mercer.ensemble._boosting.members import Members

_LEAST_WEIGHT = float(
    np.finfo(np.float64).eps
)  # a row that counts never counts for less: its weight could not come back from 0
_ROUNDING = 4 * _LEAST_WEIGHT  # of a sum of weights: what is at chance may come out just below


class Rounds:
    """What both kinds share: the weights of the rows and of the members."""

    _method: ClassVar[str]

    def __init__(self, members: Members, learning_rate: float) -> None:
        self.members, self._learning_rate = members, learning_rate
        n_rows = len(members.y)
        given = np.full(n_rows, 1.0) if members.weights is None else members.weights
        self._weights = given / given.sum()
        self._is_absent = given == 0
        self._least = np.where(self._is_absent, 0.0, _LEAST_WEIGHT)
        self.member_weights = list[float]()
        self.member_errors = list[float]()
        self._last_error = 0.0  # of the last member, kept or not
        self.is_done = False

    def step(self) -> Record:
        """One round."""
        raise NotImplementedError

    def _row_weights(self) -> FloatArray:
        weights: FloatArray = np.maximum(self._weights, self._least)
        return weights

    @property
    def _chance(self) -> float:
        """The error of a member that knows nothing."""
        raise NotImplementedError

    @property
    def _objective(self) -> float | None:
        """What the rounds lower, if they lower anything in particular."""
        return None

    def certificate(self, status: Status) -> Certificate:
        """What the last member was good for; one without fault leaves nothing to do."""
        if self._last_error == 0:
            return boosting_certificate(self._method, status, self._objective, "error of the last member", 0.0, 0.0)
        edge = self._chance - self._last_error
        return boosting_certificate(self._method, status, self._objective, "edge of the last member over chance", edge, 0.0)

    def _keep(self, error: float, weight: float) -> None:
        self.member_errors.append(error)
        self.member_weights.append(weight)

    def attributes(self) -> dict[str, Any]:
        return {
            **self.members.attributes(),
            "estimator_weights_": np.array(self.member_weights),
            "estimator_errors_": np.array(self.member_errors),
        }


class ClassRounds(Rounds):
    """Discrete AdaBoost for two classes, SAMME for more."""

    _method = "AdaBoost (SAMME)"

    def __init__(self, members: Members, learning_rate: float) -> None:
        super().__init__(members, learning_rate)
        assert members.classes is not None
        self._n_classes = len(members.classes)
        self.bounds, self.products = list[float](), list[float]()
        self._log_bound, self._log_product, self._edge = 0.0, 0.0, 0.5

    def step(self) -> Record:
        weights = self._row_weights()
        is_wrong = self.members.fit_next(weights) != self.members.y
        error = self._last_error = float(np.where(is_wrong, weights, 0.0).sum() / weights.sum())
        if error >= self._chance - _ROUNDING and error > 0:
            return self._refuse(error)
        weight = self._member_weight(error)
        self._keep(error, weight)
        self._tighten(error, weight)
        if error == 0:  # its weight has no bound: it decides alone
            self.members.keep_last()
            del self.member_errors[:-1], self.member_weights[:-1]
            self.is_done = True
        else:  # that the right ones lose is the same as that the wrong ones gain, and cannot overflow
            weights *= np.where(is_wrong, 1.0, np.exp(-weight))
            self._weights = weights / weights.sum()
        return self._record(error, weight)

    @property
    def _chance(self) -> float:
        return 1 - 1 / self._n_classes

    @property
    def _objective(self) -> float:
        """The bound of the training error, which each round lowers by its factor."""
        return self.products[-1]

    def _record(self, error: float, weight: float) -> Record:
        return {"error": error, "weight": weight, "bound": self.bounds[-1], "product": self.products[-1]}

    def _member_weight(self, error: float) -> float:
        if error == 0:
            return 1.0  # a member without fault is left alone; any weight will do, and this is scikit-learn's
        return float(self._learning_rate * (np.log((1 - error) / error) + np.log(self._n_classes - 1)))

    def _refuse(self, error: float) -> Record:
        """A member no better than chance ends the fit and is not kept."""
        self.members.drop_last()
        self.is_done, self._last_error = True, max(error, self._chance)  # which rounding may put just below
        if not self.member_errors:
            raise ValueError(
                f"AdaBoostClassifier: the first member has the weighted training error {error:.4g}, no better than chance "
                f"({self._chance:.4g} for {self._n_classes} classes). BaseClassifier in AdaBoostClassifier ensemble "
                "is worse than random, ensemble can not be fit; choose a stronger estimator."
            )
        return self._record(error, 0.0)

    def _tighten(self, error: float, weight: float) -> None:
        """Multiply the bounds of the training error by the round's factors.

        A row that the vote gets wrong was got wrong by members with half of the weight at least, so that the training error is
        at most the product of (1 - error + error exp(weight)) / exp(weight / 2), or one. With two classes and no shrinkage
        the factor is 2 sqrt(error (1 - error)), and that is at most exp(-2 (1/2 - error)^2). A member without error is left
        alone, and so is what it gets wrong: nothing.
        """
        if error > 0:
            self._log_product += np.logaddexp(np.log1p(-error), np.log(error) + weight) - weight / 2
        else:
            self._log_product = -np.inf
        self._log_bound = self._log_bound - 2 * (0.5 - error) ** 2 if self._has_edges else self._log_product
        self._edge = min(self._edge, 0.5 - error)
        self.products.append(float(np.exp(min(self._log_product, 0.0))))
        self.bounds.append(float(np.exp(min(self._log_bound, 0.0))))

    @property
    def _has_edges(self) -> bool:
        """Whether the bounds by the edges (1/2 - error) hold."""
        return self._n_classes <= 2 and self._learning_rate == 1

    def attributes(self) -> dict[str, Any]:
        bounds, products = np.array(self.bounds), np.array(self.products)
        by_least = float(np.exp(-2 * self._edge**2 * len(bounds))) if self._has_edges else 1.0
        return {
            **super().attributes(),
            "training_error_products_": products,
            "training_error_product_": float(products[-1]),
            "training_error_bounds_": bounds,
            "training_error_bound_": float(bounds[-1]),
            "training_error_edge_bound_": by_least,
        }


class NumberRounds(Rounds):
    """AdaBoost.R2."""

    _method = "AdaBoost.R2"
    _chance = 0.5

    def __init__(self, members: Members, learning_rate: float, loss: str) -> None:
        super().__init__(members, learning_rate)
        self._loss = loss

    def _losses(self, misses: FloatArray) -> FloatArray:
        """Of each row, from 0 to 1, where 1 belongs to the worst miss of all."""
        worst = misses[~self._is_absent].max()
        shares = np.where(self._is_absent, 0.0, misses / worst) if worst > 0 else np.zeros_like(misses)
        if self._loss == "square":
            return shares * shares
        return -np.expm1(-shares) if self._loss == "exponential" else shares

    def step(self) -> Record:
        weights = self._row_weights()
        losses = self._losses(np.abs(self.members.fit_next(weights) - self.members.y))
        error = self._last_error = float((weights * losses).sum() / weights.sum())
        if error >= 0.5 and self.member_errors:  # no better than chance; the first is kept for want of another
            self.members.drop_last()
            self.is_done = True
            return {"error": error, "weight": 0.0}
        is_last = error == 0 or error >= 0.5
        weight = 1.0 if is_last else float(self._learning_rate * np.log((1 - error) / error))
        self._keep(error, weight)
        self.is_done = is_last
        if not is_last:
            self._weights = weights * np.exp(-weight * (1 - losses))
            self._weights /= self._weights.sum()
        return {"error": error, "weight": weight}
