"""Support vector classification with kernels."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np

from mercer._arrays import FloatArray
from mercer._params import Rule
from mercer._tuning import Reals, Space
from mercer.svm._dual import Index, classification
from mercer.svm._kernel_classifier import KernelClassifier
from mercer.svm._kernel_machine import COST, GAMMAS
from mercer.svm._machines import Part


class SVC(KernelClassifier):
    r"""Support vector classification with a kernel, solved to a duality gap.

    Minimises, for labels :math:`y_i = \pm 1` and the space of the kernel :math:`k(x, z) = \phi(x)^\top \phi(z)`,

    .. math:: \tfrac12 \|w\|^2 + C \sum_i s_i \max(0, 1 - y_i f(x_i)), \qquad f(x) = w^\top \phi(x) + b,

    by its dual: :math:`\max \sum_i \alpha_i - \tfrac12 \sum_{ij} \alpha_i \alpha_j y_i y_j k(x_i, x_j)` over
    :math:`0 \le \alpha_i \le C s_i` and :math:`\sum_i \alpha_i y_i = 0`. The intercept b has no penalty. Of more than two
    classes, every pair has a machine, and the class that wins most pairs is predicted.

    Parameters
    ----------
    C : float, default=1.0
        The weight of the losses against the penalty. `inf` is the hard margin, an error where the classes are not separable.
    kernel : {"linear", "poly", "rbf", "sigmoid", "precomputed"} or other name, Kernel or callable, default="rbf"
        x'z, (gamma x'z + coef0)^degree, exp(-gamma |x - z|^2), tanh(gamma x'z + coef0); X is the kernel matrix itself; any
        name of `mercer.kernels.KERNELS`; a kernel of `mercer.kernels` (sums, products, and kernels of sequences too), which
        has its own parameters; a function of two matrices of rows that gives the matrix of values.
    degree : int, default=3
        Of the polynomial kernel.
    gamma : {"scale", "auto"} or float, default="scale"
        1 / (n_features X.var()), 1 / n_features, or a number >= 0.
    coef0 : float, default=0.0
        Of the polynomial and the sigmoid kernel.
    shrinking : bool, default=True
        Whether rows at bounds that would move with no other one are left out for a while, with their columns of the kernel;
        all rows are looked at again before the fit ends.
    probability : bool or "deprecated", default="deprecated"
        Whether `predict_proba` is to be there: takes five more fits. scikit-learn's default counts as False.
    tol : float, default=1e-3
        The fit stops when no optimality condition is violated by more; the gap reached is in `certificate_`.
    cache_size : float, default=200
        The memory for lines of the kernel matrix, in MB.
    class_weight : dict, "balanced" or None, default=None
        Multiplies C for the rows of a class.
    verbose : int, default=0
        Log each iteration to the logger `mercer`.
    max_iter : int, default=-1
        The most steps, each of which moves two rows, of each pair of classes; -1 is 10,000,000, or 100 for each row if that is
        more.
    decision_function_shape : {"ovr", "ovo"}, default="ovr"
        Whether `decision_function` has a column for each class or for each pair, where there are more than two.
    break_ties : bool, default=False
        Whether classes that win as many pairs are told apart by their scores; else the first of them is predicted.
    random_state : int, RandomState or None, default=None
        Draws the folds for `probability=True`; nothing else is random.
    max_time : float or None, default=None
        The most seconds, of each pair of classes.
    n_jobs : int or None, default=None
        The number of threads; None uses all that Mercer may use. The result does not depend on it.

    Attributes
    ----------
    support_ : array of shape (n_SV,)
        The numbers of the support vectors among the rows, class by class.
    support_vectors_ : {array, sparse matrix} of shape (n_SV, n_features)
        Empty for a precomputed kernel.
    n_support_ : array of shape (n_classes,)
    dual_coef_ : {array, sparse matrix} of shape (n_classes - 1, n_SV)
        :math:`\alpha_i y_i`; of more than two classes in LIBSVM's layout, against each other class one line.
    coef_ : {array, sparse matrix} of shape (n_pairs, n_features)
        For the linear kernel.
    intercept_ : array of shape (n_pairs,)
    classes_, class_weight_ : array of shape (n_classes,)
    margin_, half_margin_ : float or array of shape (n_pairs,)
        The width of the margin in the space of the kernel, 2 / \|w\|, and half of it.
    point_status_ : array of str of shape (n_samples,) or (n_samples, n_pairs)
        The place of each row of the fit: "outside", "on", "inside" the margin or "misclassified".
    probA_, probB_ : array of shape (n_pairs,)
        With `probability=True`.
    kernel_ : Kernel
        The kernel with its parameters as numbers.
    fit_status_ : int
        0 where the tolerance was reached, else 1.
    shape_fit_ : tuple
    n_iter_ : array of shape (n_pairs,)
        Steps of each pair.
    history_ : list of dict
        For each block of variables: `objective` (of the dual, minimised), `violation` before it, `n_steps`.
    certificate_ : Certificate
        Primal and dual value and the duality gap, summed over pairs; the largest violation against `tol`.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    Blocks of 512 variables that violate their optimality condition most are solved by sequential minimal optimisation with
    second-order pairs, and all values are updated once a block: O(512 n) and 256 new lines of the kernel at most. Lines are
    kept in single precision; the end is computed in double precision from all support vectors, and the iterations go on from
    there if the tolerance is not reached in it. A kernel that is not positive semi-definite is warned about when a pair of rows
    shows it. Equal rows with opposite labels, constant columns and rows without weight need no care.

    Differences from scikit-learn: `probability` is not deprecated, and the most probable class is the one that `predict` names;
    rows of weight zero are absent; the default `max_iter` ends; `max_time`, `n_jobs` and `C=inf` are new; float32 stays
    float32.

    References
    ----------
    R.-E. Fan, P.-H. Chen, C.-J. Lin, "Working set selection using second order information for training support vector
    machines", JMLR 6, 2005.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.svm import SVC
    >>> X, y = np.array([[0.0, 0], [1, 1], [0, 1], [1, 0]]), [0, 0, 1, 1]
    >>> model = SVC(gamma=1.0, C=10).fit(X, y)
    >>> model.predict([[0.1, 0.2], [0.9, 0.1]])
    array([0, 1])
    >>> model.dual_coef_.round(2), model.point_status_.tolist()
    (array([[-2.5, -2.5,  2.5,  2.5]]), ['on', 'on', 'on', 'on'])
    >>> bool(model.certificate_.gap < 1e-2)
    True
    """

    _search_space: ClassVar[Mapping[str, Space] | None] = {"gamma": GAMMAS, "C": Reals(1e-2, 1e3, log=True)}
    _parameter_rules: ClassVar[dict[str, Rule]] = {**KernelClassifier._parameter_rules, "C": COST}

    def __init__(
        self,
        *,
        C: float = 1.0,
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
        self.C = C
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
        return Part(rows, lambda C: classification(local, signs, C * costs))
