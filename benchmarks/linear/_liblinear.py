"""LIBLINEAR's own Python interface, behind `fit`."""

from __future__ import annotations

from typing import Any

import numpy as np
from liblinear import liblinearutil


class Liblinear:
    """One of LIBLINEAR's solvers by its number, with a penalised bias as there is no other. Labels are 0 and 1."""

    def __init__(self, solver: int, C: float = 1.0, tol: float | None = None) -> None:
        self._options = f"-s {solver} -c {C} -B 1 -q" + ("" if tol is None else f" -e {tol}")

    def fit(self, X: Any, y: Any) -> Liblinear:
        model = liblinearutil.train(liblinearutil.problem(np.asarray(y), X), liblinearutil.parameter(self._options))
        (coef, bias), sign = model.get_decfun(), 1.0 if model.get_labels()[0] == 1 else -1.0
        self.coef_, self.intercept_ = sign * np.array(coef), sign * bias
        return self
