"""Linear support vector classification."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from mercer._arrays import FloatArray, check_class_weight, check_weights, check_X_labels
from mercer._base import fit_method
from mercer._linear import SPARSE, LinearClassifier
from mercer._parallel import effective_threads
from mercer._params import (
    Bool,
    Integer,
    Mapped,
    Null,
    NumberOfJobs,
    OneOf,
    RandomState,
    Real,
    Rule,
    Verbosity,
    check_params,
    check_value,
)
from mercer._random import as_random_state
from mercer._tuning import Reals, Space
from mercer.svm._linear_machine import LinearMachine, MachineData
from mercer.svm._linear_svm import Machine
from mercer.svm._lock_step import LockStep
from mercer.svm._machine_solvers import CrammerSinger, MachineSolver, make_solver
from mercer.svm._margins import Margins, margins_of


class LinearSVC(LinearMachine, LinearClassifier):
    r"""Linear support vector classification, solved to a duality gap.

    Minimises, for labels :math:`y_i = \pm 1`,

    .. math:: \tfrac12 \|w\|^2 + C \sum_i s_i \max(0, 1 - y_i (x_i^\top w + b))^p

    with p = 2 (`loss="squared_hinge"`) or p = 1 (`loss="hinge"`), or with :math:`\|w\|_1` in place of
    :math:`\tfrac12 \|w\|^2` (`penalty="l1"`). The intercept b has no penalty. Of more than two classes, each is told from the
    rest; with `multi_class="crammer_singer"` all coefficients are found together, which minimises

    .. math:: \tfrac12 \sum_k \|w_k\|^2 + C \sum_i s_i \max_k \bigl( [k \ne y_i] + v_{ik} - v_{i y_i} \bigr),

    with the linear values :math:`v_{ik} = x_i^\top w_k + b_k`.

    Parameters
    ----------
    penalty : {"l1", "l2"}, default="l2"
        The norm of the coefficients; "l1" sets many of them to zero and needs the squared hinge.
    loss : {"hinge", "squared_hinge"}, default="squared_hinge"
        The loss of a row inside the margin or on the wrong side.
    dual : "auto" or bool, default="auto"
        True: dual coordinate descent, whose iterations cost no more than a look at X. False: few iterations, Newton's for the
        squared hinge (with a matrix of columns by columns, or by conjugate gradients where X is sparse) and interior points
        for the hinge. "auto": the latter up to 1000 columns; for sparse X, with the squared hinge and no more columns than
        rows. The solution is the same. With the l1 penalty only proximal Newton steps are at hand (False).
    tol : float, default=1e-4
        The fit stops when the duality gap is within `tol` times the objective; less than 1e-12 is taken as 1e-12.
    C : float, default=1.0
        The weight of the losses against the penalty.
    multi_class : {"ovr", "crammer_singer"}, default="ovr"
        One against the rest, or all classes in one problem, by dual coordinate descent: the l2 penalty of all coefficients and
        the multi-class hinge, whatever `loss` says, as in scikit-learn.
    fit_intercept : bool, default=True
        Whether there is an intercept.
    intercept_scaling : float, default=1
        The intercept is this number times a coefficient that has the penalty of the others, if it is other than 1 or with
        `penalize_intercept=True`; else the intercept has no penalty to scale.
    class_weight : dict, "balanced" or None, default=None
        Multiplies C for the rows of a class, where it is the class (or one of two) to be told from the rest.
    verbose : int, default=0
        Log each iteration to the logger `mercer`.
    random_state : int, RandomState or None, default=None
        Draws the order in which dual coordinate descent visits rows; nothing else is random.
    max_iter : int, default=1000
        The most iterations.
    penalize_intercept : bool, default=False
        Whether the intercept has a penalty too, as in scikit-learn: the objective is then LIBLINEAR's.
    n_jobs : int or None, default=None
        The number of threads; None uses all that Mercer may use. The result does not depend on it.

    Attributes
    ----------
    coef_ : array of shape (1, n_features) or (n_classes, n_features)
    intercept_ : array of shape (1,) or (n_classes,), or 0.0 without an intercept
    classes_ : array of shape (n_classes,)
    margin_ : float or array of shape (n_classes,)
        The width of the margin, 2 / \|w\|; `half_margin_` is half of it, the distance of rows on the margin from the boundary.
    n_iter_ : int
        Iterations, of the class that took most.
    history_ : list of dict
        For each iteration: `objective`, `gap` (both summed over classes) and what the method has beside.
    certificate_ : Certificate
        The objective, its dual value and the duality gap, summed over classes; the largest relative gap against `tol`.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    An iteration costs O(n d^2) with Newton's method (4 to 12 iterations) and interior points (10 to 30), O(n d) or as many
    operations as X has entries with dual coordinate descent (tens to thousands). Dense X is read in place, whatever its memory
    order, but copied for dual coordinate descent. The dual value comes from a feasible dual point, so that the gap bounds what
    is left to gain, whatever the method.

    Differences from scikit-learn: the intercept has no penalty, so that shifting a column of X changes no prediction, unless
    `penalize_intercept=True` or `intercept_scaling` is other than 1; `tol` is a relative duality gap; `loss="hinge"` goes with
    `dual=False`.

    References
    ----------
    C.-J. Hsieh et al., "A dual coordinate descent method for large-scale linear SVM", ICML 2008; of all classes at once,
    S. S. Keerthi et al., "A sequential dual method for large scale multi-class linear SVMs", KDD 2008.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.svm import LinearSVC
    >>> X = np.array([[0.0, 0], [1, 1], [3, 3], [4, 4]])
    >>> model = LinearSVC(loss="hinge", C=10).fit(X, ["a", "a", "b", "b"])
    >>> model.coef_.round(6), model.intercept_.round(6)
    (array([[0.5, 0.5]]), array([-2.]))
    >>> model.predict([[0, 2.5], [2.5, 2]])
    array(['a', 'b'], dtype='<U1')
    >>> bool(model.certificate_.gap <= 1e-4)
    True
    """

    _search_space: ClassVar[Mapping[str, Space]] = {"C": Reals(1e-4, 1e3, log=True)}
    _parameter_rules: ClassVar[dict[str, Rule]] = {
        "penalty": OneOf("l1", "l2"),
        "loss": OneOf("hinge", "squared_hinge"),
        "dual": OneOf("auto") | Bool(),
        "tol": Real(least=0),
        "C": Real(above=0),
        "multi_class": OneOf("ovr", "crammer_singer"),
        "fit_intercept": Bool(),
        "intercept_scaling": Real(above=0),
        "class_weight": Null() | OneOf("balanced") | Mapped(),
        "verbose": Verbosity(),
        "random_state": RandomState(),
        "max_iter": Integer(1),
        "penalize_intercept": Bool(),
        "n_jobs": NumberOfJobs(),
    }

    def __init__(
        self,
        penalty: str = "l2",
        loss: str = "squared_hinge",
        *,
        dual: str | bool = "auto",
        tol: float = 1e-4,
        C: float = 1.0,
        multi_class: str = "ovr",
        fit_intercept: bool = True,
        intercept_scaling: float = 1,
        class_weight: Mapping[Any, float] | str | None = None,
        verbose: int = 0,
        random_state: int | np.random.RandomState | None = None,
        max_iter: int = 1000,
        penalize_intercept: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        self.penalty = penalty
        self.loss = loss
        self.dual = dual
        self.tol = tol
        self.C = C
        self.multi_class = multi_class
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.verbose = verbose
        self.random_state = random_state
        self.max_iter = max_iter
        self.penalize_intercept = penalize_intercept
        self.n_jobs = n_jobs

    @fit_method
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> LinearSVC:
        """Find the coefficients.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Labels of two classes or more.
        sample_weight : array-like of shape (n_samples,), default=None
            Multiplies C: a row of weight two counts as two equal rows.

        Returns
        -------
        self
        """
        params = self._check()
        self._solve(self._check_data(X, y, sample_weight, params), params)
        return self

    @property
    def half_margin_(self) -> Any:
        """The distance from the boundary to the margin, 1 / |w|: a number, or one for each class against the rest."""
        norms = self._norms()
        with np.errstate(divide="ignore"):
            half = 1 / norms
        return float(half[0]) if len(half) == 1 else half

    @property
    def margin_(self) -> Any:
        """The width of the margin, 2 / |w|: a number, or one for each class against the rest."""
        return 2 * self.half_margin_

    def margins(self, X: Any, y: Any, *, tol: float = 1e-3) -> Margins:
        """Where rows lie: outside, on or inside the margin, or misclassified, and how far from the boundary.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Labels among `classes_`.
        tol : float, default=1e-3
            How near to 1 a functional margin is that counts as on the margin.

        Returns
        -------
        margins : Margins
            `functional`, `geometric` and `place`, one number or word a row; of more than two classes, a column for each class
            against the rest.

        Examples
        --------
        >>> import numpy as np
        >>> from mercer.svm import LinearSVC
        >>> X, y = np.array([[0.0, 0], [1, 1], [3, 3], [4, 4]]), [0, 0, 1, 1]
        >>> model = LinearSVC(loss="hinge", C=10).fit(X, y)
        >>> round(model.margin_, 4), model.margins(X, y).place.tolist()
        (2.8284, ['outside', 'on', 'on', 'outside'])
        """
        norms, owner = self._norms(), type(self).__name__
        tol = check_value(owner, "tol", tol, Real(least=0))
        labels = np.asarray(y)
        unknown = ~np.isin(labels, self.classes_)
        if labels.ndim != 1 or unknown.any():
            wrong = f"has shape {labels.shape}" if labels.ndim != 1 else f"holds {labels[unknown].tolist()[0]!r}"
            raise ValueError(f"{owner}: y {wrong}; it must hold one label a row, each among {self.classes_.tolist()!r}.")
        values = self.decision_function(X)
        if len(labels) != len(values):
            raise ValueError(f"{owner}: y has {len(labels)} labels and X {len(values)} rows; there must be one label a row.")
        if values.ndim == 1:
            return margins_of(values, np.where(labels == self.classes_[1], 1.0, -1.0), norms[0], tol)
        return margins_of(values, np.where(labels[:, None] == self.classes_, 1.0, -1.0), norms, tol)

    def _norms(self) -> FloatArray:
        """Of the coefficients of each boundary."""
        check_is_fitted(self)
        if self.multi_class == "crammer_singer" and len(self.classes_) > 2:
            raise AttributeError(
                f"{type(self).__name__}: the machine of Crammer and Singer has boundaries between pairs of classes, and no "
                "margin of one class; margins need two classes or multi_class='ovr'."
            )
        coef = self.coef_.toarray() if sp.issparse(self.coef_) else self.coef_
        norms: FloatArray = np.linalg.norm(coef.astype(np.float64), axis=1)
        return norms

    def _check(self) -> SimpleNamespace:
        params = check_params(self)
        _check_combination(type(self).__name__, params)
        return params

    def _check_data(self, X: Any, y: Any, sample_weight: Any, params: SimpleNamespace) -> MachineData:
        X, classes, codes = check_X_labels(self, X, y, sparse=SPARSE, finite="check" if sp.issparse(X) else "deferred")
        weights = check_weights(sample_weight, X.shape[0], np.float64)
        return MachineData(Machine.of(X, params, n_threads=effective_threads(params.n_jobs)), codes, weights, classes)

    def _lock_step(self, data: MachineData, params: SimpleNamespace, before: LockStep | None) -> LockStep:
        return LockStep(_solvers(data, params, before))

    def _attributes(self, data: MachineData, params: SimpleNamespace, coef: FloatArray, intercept: Any) -> dict[str, Any]:
        return {"coef_": coef, "intercept_": intercept, "classes_": data.classes}


def _check_combination(owner: str, params: SimpleNamespace) -> None:
    if params.multi_class == "crammer_singer":
        for name, value, fitting in (("penalty", "l1", "'l2'"), ("dual", False, "True or 'auto'")):
            if getattr(params, name) == value:
                raise ValueError(
                    f"{owner}: {name}={value!r} is not valid with multi_class='crammer_singer'; it must be {fitting}."
                )
    if params.penalty != "l1":
        return
    if params.loss == "hinge":
        raise ValueError(
            f"{owner}: penalty='l1' is not valid with loss='hinge'; it must be 'l2', or loss must be 'squared_hinge'."
        )
    if params.dual is True:
        raise ValueError(f"{owner}: dual=True is not valid with penalty='l1'; it must be False or 'auto'.")


def _solvers(data: MachineData, params: SimpleNamespace, before: LockStep | None) -> list[MachineSolver]:
    """One for two classes or for all classes at once, else one for each class against the rest."""
    machine, classes, codes, weights = data.machine, data.classes, data.targets, data.weights
    plain = np.ones(len(codes)) if weights is None else weights
    of_class = check_class_weight(params.class_weight, classes, codes, weights, np.float64)
    weighted = plain if of_class is None else of_class
    seed = int(as_random_state(params.random_state).randint(np.iinfo(np.int32).max))
    if params.multi_class == "crammer_singer":
        return [CrammerSinger(machine, codes, len(classes), params.C * weighted, tol=params.tol, seed=seed)]
    choice = {"penalty": params.penalty, "dual": params.dual, "tol": params.tol, "seed": seed}
    earlier: Sequence[MachineSolver | None] = [None] * len(classes) if before is None else before.solvers
    if len(classes) == 2:
        return [make_solver(machine, np.where(codes == 1, 1.0, -1.0), params.C * weighted, **choice, before=earlier[0])]
    of_classes = (codes == code for code in range(len(classes)))
    return [
        make_solver(machine, np.where(own, 1.0, -1.0), params.C * np.where(own, weighted, plain), **choice, before=last)
        for own, last in zip(of_classes, earlier, strict=True)
    ]
