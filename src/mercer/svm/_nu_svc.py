"""Support vector classification with kernels, by a share of the rows."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np

from mercer._arrays import FloatArray
from mercer._params import Rule
from mercer._tuning import Reals, Space
from mercer.svm._dual import Index, nu_classification
from mercer.svm._kernel_classifier import KernelClassifier
from mercer.svm._kernel_machine import GAMMAS, SHARE
from mercer.svm._machines import Part


class NuSVC(KernelClassifier):
    r"""Support vector classification with a kernel, where a share of the rows replaces C.

    Minimises, for labels :math:`y_i = \pm 1`,

    .. math:: \tfrac12 \|w\|^2 - \nu \rho + \tfrac1n \sum_i s_i \max(0, \rho - y_i f(x_i)), \qquad f(x) = w^\top \phi(x) + b,

    over w, b and :math:`\rho`, and divides f by :math:`\rho`. At most a share :math:`\nu` of the rows lies inside the margin,
    and at least that share supports it.

    Parameters
    ----------
    nu : float, default=0.5
        Between 0 and 1; infeasible where a class has less than half of it of all rows.
    kernel, degree, gamma, coef0, shrinking, probability, tol, cache_size, class_weight, verbose, max_iter, \
decision_function_shape, break_ties, random_state, max_time, n_jobs
        As in `SVC`.

    Attributes
    ----------
    support_, support_vectors_, n_support_, dual_coef_, coef_, intercept_, classes_, class_weight_, margin_, half_margin_, \
point_status_, probA_, probB_, kernel_, fit_status_, shape_fit_, n_iter_, history_, certificate_, n_features_in_, \
feature_names_in_
        As in `SVC`; the certificate's values are those before the division by :math:`\rho`, times n.

    Notes
    -----
    The dual keeps the sum of each class, so that pairs of rows are moved within a class. Otherwise as in `SVC`.

    References
    ----------
    B. Schölkopf et al., "New support vector algorithms", Neural Computation 12, 2000.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.svm import NuSVC
    >>> X, y = np.array([[-1.0, -1], [-2, -1], [1, 1], [2, 1]]), [1, 1, 2, 2]
    >>> NuSVC().fit(X, y).predict([[-0.8, -1]])
    array([1])
    """

    _search_space: ClassVar[Mapping[str, Space]] = {"gamma": GAMMAS, "nu": Reals(0.05, 0.5)}
    _parameter_rules: ClassVar[dict[str, Rule]] = {**KernelClassifier._parameter_rules, "nu": SHARE}

    def __init__(
        self,
        *,
        nu: float = 0.5,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        shrinking: bool = True,
        probability: bool | str = "deprecated",
        tol: float = 1e-3,
        cache_size: float = 200,
        class_weight: Mapping[Any, float] | str | None = None,
        verbose: int = False,
        max_iter: int = -1,
        decision_function_shape: str = "ovr",
        break_ties: bool = False,
        random_state: int | np.random.RandomState | None = None,
        max_time: float | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.nu = nu
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.shrinking = shrinking
        self.probability = probability
        self.tol = tol
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.verbose = verbose
        self.max_iter = max_iter
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.random_state = random_state
        self.max_time = max_time
        self.n_jobs = n_jobs

    def _problem(self, rows: Index, signs: FloatArray, costs: FloatArray, params: SimpleNamespace) -> Part:
        local = np.arange(len(rows), dtype=np.int32)
        dual = nu_classification(local, signs, costs, params.nu)
        if dual is None:
            raise ValueError(
                f"NuSVC: specified nu is infeasible: nu={params.nu:g} asks each of two classes for half of it of their rows, "
                "by weight, which the smaller one does not have. Give a smaller nu."
            )
        return Part(rows, lambda C: dual)

    def _scale(self, part: Part) -> tuple[float, float]:
        positive, negative = part.biases
        rho = (negative - positive) / 2
        if not rho > np.finfo(np.float64).eps:  # the best margin is none: nothing to divide by
            rho = 1.0
        return rho, (positive + negative) / 2 / rho
