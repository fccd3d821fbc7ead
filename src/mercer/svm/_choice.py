"""Kernel machines whose C and gamma are chosen by cross-validation: one kernel matrix a gamma serves all folds and costs."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from functools import partial
from types import SimpleNamespace
from typing import Any, ClassVar, Self

import numpy as np
import sklearn
from sklearn.base import is_classifier

from mercer._arrays import FloatArray
from mercer._base import fit_method
from mercer._jobs import run_jobs
from mercer._params import (
    ArrayLike,
    Function,
    Null,
    OneOf,
    Real,
    Rule,
    ScorerName,
    Splitter,
    check_params,
    check_values,
)
from mercer._rows import take_rows
from mercer._stand_in import stand_in
from mercer._tuning import Space
from mercer.metrics import accuracy_score, get_scorer, r2_score
from mercer.svm._block_smo import BLOCK, BlockSMO
from mercer.svm._kernel_classifier import class_scores, labels_of, pairs_of
from mercer.svm._kernel_machine import KernelMachine, Sample
from mercer.svm._lines import AllLines, LineCache, Lines
from mercer.svm._machines import Part
from mercer.svm._svc import SVC
from mercer.svm._svr import SVR

COSTS = (0.1, 1.0, 10.0, 100.0, 1000.0)
GAMMA_FACTORS = (1 / 16, 1 / 4, 1.0, 4.0, 16.0)  # times gamma="scale", where none are given
MOST_BYTES = 1 << 30  # of a kernel matrix that is computed as a whole
ONE_GAMMA = OneOf("scale", "auto") | Real(least=0)

CHOICE_RULES: dict[str, Rule] = {
    "C": ArrayLike() | Real(above=0),
    "gamma": Null() | ONE_GAMMA | ArrayLike(),
    "cv": Splitter(),
    "scoring": Null() | ScorerName() | Function(),
}


class MachineChoice(KernelMachine):
    """What the classifier and the regressor that choose share."""

    C: Any
    gamma: Any

    @fit_method
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Choose C and gamma, and find the support vectors with them.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None
            Multiplies the cost of a row in the fits; scores count rows alike.

        Returns
        -------
        self
        """
        params = self._check()
        X, y, sample = self._check_data(X, y, sample_weight, params)
        gammas = self._gammas(sample, params)
        folds = self._folds(X, y, sample, params.cv)
        samples = [
            sample if gamma == params.gamma else self._check_data(X, y, sample_weight, self._with(params, gamma))[2]
            for gamma in gammas
        ]
        scores = self._mean_scores(samples, folds, params, y)
        best = np.unravel_index(np.argmax(scores), scores.shape)
        chosen = self._with(params, gammas[best[0]], params.costs[best[1]])
        self._solve(samples[best[0]], y, self._parts(samples[best[0]], chosen), chosen)
        self._add_probability(samples[best[0]], chosen)
        self._store({"C_": chosen.C, "gamma_": chosen.gamma, "best_score_": float(scores[best]), "cv_scores_": scores})
        return self

    def _check(self) -> SimpleNamespace:
        """The parameters, with lists of what is to be tried and the first of each in their places."""
        params, owner = check_params(self), type(self).__name__
        params.costs = check_values(owner, "C", np.atleast_1d(params.C).tolist(), Real(above=0))
        given = params.gamma
        is_one = given is None or isinstance(given, (str, float))
        params.gammas = None if given is None else [given] if is_one else check_values(owner, "gamma", list(given), ONE_GAMMA)
        params.C, params.gamma = params.costs[0], "scale" if given is None else params.gammas[0]
        return params

    @staticmethod
    def _with(params: SimpleNamespace, gamma: Any, cost: float = 1.0) -> SimpleNamespace:
        return SimpleNamespace(**{**vars(params), "gamma": gamma, "C": cost})

    def _gammas(self, sample: Sample, params: SimpleNamespace) -> list[Any]:
        """What is tried: of a kernel that has no gamma, one."""
        own = getattr(sample.kernel, "gamma", None) if isinstance(params.kernel, str) else None
        if own is None:
            return [params.gamma]
        if params.gammas is not None:
            return list(params.gammas)
        return [factor * own for factor in GAMMA_FACTORS]

    def _folds(self, X: Any, y: Any, sample: Sample, cv: Any) -> list[tuple[Any, Any]]:
        """Places of training and test rows among those of the sample."""
        if cv is None or isinstance(cv, int) or hasattr(cv, "split"):  # rows without weight are not counted
            kept, known = take_rows(X, sample.places), take_rows(y, sample.places)
            splits = sklearn.model_selection.check_cv(cv, known, classifier=is_classifier(self)).split(kept, known)
            every = np.arange(len(sample.places))
            return [(every[train], every[test]) for train, test in splits]
        place = np.full(sample.n_rows, -1)
        place[sample.places] = np.arange(len(sample.places))
        folds = [tuple(place[np.arange(sample.n_rows)[part]] for part in split) for split in cv]
        return [(train[train >= 0], test[test >= 0]) for train, test in folds]

    def _mean_scores(self, samples: list[Sample], folds: list[tuple[Any, Any]], params: SimpleNamespace, y: Any) -> FloatArray:
        """The mean score over the folds, a line for each sample (a gamma) and a column for each cost.

        Folds of as many gammas as there is memory for whole kernel matrices are solved side by side.
        """
        n, n_threads = samples[0].rough.n_rows, samples[0].n_threads
        n_at_once = MOST_BYTES // (n * n * samples[0].rough.dtype.itemsize)
        found: list[list[float]] = []
        for first in range(0, len(samples), max(1, n_at_once)):
            some = samples[first : first + max(1, n_at_once)]
            if n_at_once == 0:
                in_cache = MOST_BYTES // (n * some[0].rough.dtype.itemsize)
                cache = LineCache(some[0].rough, max(in_cache, BLOCK))
                found += [self._fold_scores(some[0], cache, fold, params, y, n_threads) for fold in folds]
                continue
            matrices = [sample.rough.rows(np.arange(n, dtype=np.int32)) for sample in some]
            share = max(1, n_threads // (len(some) * len(folds)))
            jobs = [
                partial(self._fold_scores, sample, AllLines(matrix), fold, params, y, share)
                for sample, matrix in zip(some, matrices, strict=True)
                for fold in folds
            ]
            with run_jobs(jobs, n_threads, in_threads=True) as scores:
                found += list(scores)
        means: FloatArray = np.asarray(found).reshape(len(samples), len(folds), -1).mean(axis=1)
        return means

    def _fold_scores(
        self, sample: Sample, lines: Lines, fold: tuple[Any, Any], params: SimpleNamespace, y: Any, n_threads: int
    ) -> list[float]:
        """A score for each cost, in the order given."""
        train, test = fold
        found: dict[float, list[FloatArray]] = {cost: [] for cost in params.costs}
        for part in self._fold_parts(sample, train, params):
            start = None
            for cost in sorted(found):
                solver = BlockSMO(
                    part.make(cost),
                    None,
                    lines,
                    tol=params.tol,
                    max_steps=None if params.max_iter == -1 else params.max_iter,
                    max_time=np.inf if params.max_time is None else params.max_time,
                    shrinking=params.shrinking,
                    n_threads=n_threads,
                    start=start,
                )
                while not solver.is_done:
                    solver.step()
                start = (solver.duals, solver.values)
                bias = solver.dual.biases(solver.duals, solver.dual.slopes(solver.values))
                found[cost].append(solver.values[test] + bias[0])
        rows = sample.places[test]
        return [self._score(np.column_stack(found[cost]), take_rows(y, rows), sample, params) for cost in params.costs]

    @abstractmethod
    def _fold_parts(self, sample: Sample, train: Any, params: SimpleNamespace) -> list[Part]:
        """The problems of the training rows, with a value for every row of the sample."""

    @abstractmethod
    def _score(self, values: FloatArray, y: Any, sample: Sample, params: SimpleNamespace) -> float: ...


class SVCCV(MachineChoice, SVC):
    r"""Support vector classification with C and gamma chosen by cross-validation.

    Every C and gamma is scored by `cv` folds. The kernel matrix is computed once for each gamma and serves all folds; along C
    each fit goes on from the last one; and the values of rows that a fold leaves out are there when its fit ends.

    Parameters
    ----------
    C : float or array of float, default=(0.1, 1, 10, 100, 1000)
        The costs to try.
    gamma : float, str, array of them or None, default=None
        What to try; None is "scale" times 1/16, 1/4, 1, 4 and 16. Not used by kernels that have no gamma.
    cv : int, splitter, iterable of (train, test) or None, default=None
        How rows are left out; None is five folds.
    scoring : str, callable or None, default=None
        How predictions are scored, higher being better; None is the accuracy.
    kernel, degree, coef0, shrinking, probability, tol, cache_size, class_weight, verbose, max_iter, decision_function_shape, \
break_ties, random_state, max_time, n_jobs
        As in `SVC`.

    Attributes
    ----------
    C_, gamma_ : float
        What was chosen; of equally good ones, the first.
    best_score_ : float
        The mean score of both over the folds.
    cv_scores_ : array of shape (n_gammas, n_Cs)
        The mean scores of all that was tried.
    support_, support_vectors_, n_support_, dual_coef_, coef_, intercept_, classes_, class_weight_, margin_, half_margin_, \
point_status_, probA_, probB_, kernel_, fit_status_, shape_fit_, n_iter_, history_, certificate_, n_features_in_, \
feature_names_in_
        Of the fit with them to all rows, as in `SVC`.

    Notes
    -----
    The matrix of all rows takes 4 n^2 bytes, up to 1 GB, and the folds are solved side by side; beyond that, lines of it are
    kept as in `SVC`. It is in single precision; the last fit is not.

    References
    ----------
    T. Hastie et al., "The entire regularization path for the support vector machine", JMLR 5, 2004.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.svm import SVCCV
    >>> random = np.random.RandomState(0)
    >>> X = random.randn(120, 2)
    >>> model = SVCCV(C=[0.1, 1, 10]).fit(X, (X**2).sum(axis=1) > 1.4)
    >>> model.C_, model.cv_scores_.shape
    (10.0, (5, 3))
    """

    _parameter_rules: ClassVar[dict[str, Rule]] = {**SVC._parameter_rules, **CHOICE_RULES}
    _search_space: ClassVar[Mapping[str, Space] | None] = None

    def __init__(
        self,
        *,
        C: Any = COSTS,
        gamma: Any = None,
        cv: Any = None,
        scoring: Any = None,
        kernel: Any = "rbf",
        degree: int = 3,
        coef0: float = 0.0,
        shrinking: bool = True,
        probability: bool | str = False,
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
        super().__init__(
            C=C,
            kernel=kernel,
            degree=degree,
            gamma=gamma,
            coef0=coef0,
            shrinking=shrinking,
            probability=probability,
            tol=tol,
            cache_size=cache_size,
            class_weight=class_weight,
            verbose=verbose,
            max_iter=max_iter,
            decision_function_shape=decision_function_shape,
            break_ties=break_ties,
            random_state=random_state,
            max_time=max_time,
            n_jobs=n_jobs,
        )
        self.cv = cv
        self.scoring = scoring

    def sweep_parameters(self) -> list[str]:
        """None: they are what it chooses."""
        return []

    def _fold_parts(self, sample: Sample, train: Any, params: SimpleNamespace) -> list[Part]:
        classes, codes = sample.classes, sample.codes[train]
        parts = []
        for first, second in pairs_of(len(classes)):
            rows = train[(codes == first) | (codes == second)].astype(np.int32)
            own = sample.codes[rows]
            if not ((own == first).any() and (own == second).any()):
                raise ValueError(
                    f"{type(self).__name__}: a fold of cv={params.cv!r} trains without rows of class {classes[first]!r} or "
                    f"{classes[second]!r}; every fold needs all classes. Give fewer folds."
                )
            signs = np.where(own == (second if len(classes) == 2 else first), 1.0, -1.0)
            parts.append(self._problem(rows, signs, sample.costs[rows], params).over(rows, rows))
        return parts

    def _score(self, values: FloatArray, y: Any, sample: Sample, params: SimpleNamespace) -> float:
        labels = labels_of(values, sample.classes, break_ties=params.break_ties)
        if params.scoring is None:
            return float(accuracy_score(y, labels))
        decision = values[:, 0] if values.shape[1] == 1 else class_scores(values, len(sample.classes))
        scorer = params.scoring if callable(params.scoring) else get_scorer(params.scoring)
        return float(scorer(stand_in(labels, classes=sample.classes, decision=decision), labels, y))


class SVRCV(MachineChoice, SVR):
    r"""Support vector regression with C and gamma chosen by cross-validation.

    Every C and gamma is scored by `cv` folds. The kernel matrix is computed once for each gamma and serves all folds; along C
    each fit goes on from the last one; and the values of rows that a fold leaves out are there when its fit ends.

    Parameters
    ----------
    C : float or array of float, default=(0.1, 1, 10, 100, 1000)
        The costs to try.
    gamma : float, str, array of them or None, default=None
        What to try; None is "scale" times 1/16, 1/4, 1, 4 and 16. Not used by kernels that have no gamma.
    cv : int, splitter, iterable of (train, test) or None, default=None
        How rows are left out; None is five folds.
    scoring : str, callable or None, default=None
        How predictions are scored, higher being better; None is the coefficient of determination.
    kernel, degree, coef0, tol, epsilon, shrinking, cache_size, verbose, max_iter, max_time, n_jobs
        As in `SVR`.

    Attributes
    ----------
    C_, gamma_ : float
        What was chosen; of equally good ones, the first.
    best_score_ : float
        The mean score of both over the folds.
    cv_scores_ : array of shape (n_gammas, n_Cs)
        The mean scores of all that was tried.
    support_, support_vectors_, n_support_, dual_coef_, coef_, intercept_, kernel_, fit_status_, shape_fit_, n_iter_, \
history_, certificate_, n_features_in_, feature_names_in_
        Of the fit with them to all rows, as in `SVR`.

    Notes
    -----
    As in `SVCCV`.

    References
    ----------
    A. J. Smola, B. Schölkopf, "A tutorial on support vector regression", Statistics and Computing 14, 2004.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.svm import SVRCV
    >>> X = np.random.RandomState(0).uniform(0, 6, (80, 1))
    >>> model = SVRCV(C=[0.1, 1, 10]).fit(X, np.sin(X[:, 0]))
    >>> model.best_score_ > 0.9
    True
    """

    _parameter_rules: ClassVar[dict[str, Rule]] = {**SVR._parameter_rules, **CHOICE_RULES}
    _search_space: ClassVar[Mapping[str, Space] | None] = None

    def __init__(
        self,
        *,
        C: Any = COSTS,
        gamma: Any = None,
        cv: Any = None,
        scoring: Any = None,
        kernel: Any = "rbf",
        degree: int = 3,
        coef0: float = 0.0,
        tol: float = 1e-3,
        epsilon: float = 0.1,
        shrinking: bool = True,
        cache_size: float = 200,
        verbose: int = False,
        max_iter: int = -1,
        max_time: float | None = None,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(
            kernel=kernel,
            degree=degree,
            gamma=gamma,
            coef0=coef0,
            tol=tol,
            C=C,
            epsilon=epsilon,
            shrinking=shrinking,
            cache_size=cache_size,
            verbose=verbose,
            max_iter=max_iter,
            max_time=max_time,
            n_jobs=n_jobs,
        )
        self.cv = cv
        self.scoring = scoring

    def sweep_parameters(self) -> list[str]:
        """None: they are what it chooses."""
        return []

    def _fold_parts(self, sample: Sample, train: Any, params: SimpleNamespace) -> list[Part]:
        rows = train.astype(np.int32)
        y, weights = sample.targets[rows], sample.weights[rows]
        return [Part(rows, lambda C: self._problem(y, C * weights, params)).over(rows, rows)]

    def _score(self, values: FloatArray, y: Any, sample: Sample, params: SimpleNamespace) -> float:
        if params.scoring is None:
            return float(r2_score(y, values[:, 0]))
        scorer = params.scoring if callable(params.scoring) else get_scorer(params.scoring)
        return float(scorer(stand_in(values[:, 0]), values[:, 0], y))
