"""What support vector machines with kernels share: parameters, the rows that take part, values from support vectors."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from types import SimpleNamespace
from typing import Any, ClassVar, Self
from weakref import WeakKeyDictionary

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from mercer._arrays import FloatArray, check_weights, check_X, validate
from mercer._base import FitTask, MercerEstimator
from mercer._candidates import Candidates
from mercer._kernelized import KERNEL, check_sequences, is_gram
from mercer._lazy import lazy_property
from mercer._linear import linear_predictions
from mercer._parallel import effective_threads
from mercer._params import Bool, Infinity, Integer, Null, NumberOfJobs, OneOf, Real, Rule, Verbosity
from mercer._rows import count_rows, take_rows
from mercer._trace import Outcome, Record, Status
from mercer._tuning import Reals
from mercer.kernels import Kernel, KernelMatrix, Linear, Precomputed, as_kernel
from mercer.svm._dual import Index
from mercer.svm._lines import rough_matrix
from mercer.svm._machines import InseparableError, Machines, Part

FEW_VALUES = 1 << 20  # up to which sparse rows are as fast, and have the same bits as dense ones, when they are made dense
VALUES_AT_ONCE = 1 << 21  # of the kernel, in a prediction
COST = Real(above=0) | Infinity()
SHARE = Real(above=0, most=1)
GAMMAS = Reals(1e-4, 1e1, log=True)  # that are worth searching


def is_function(kernel: Any) -> bool:
    """Whether a kernel parameter is a function of the user's, which is handed rows as they are."""
    return callable(kernel) and not isinstance(kernel, Kernel)


def is_linear(kernel: Any) -> bool:
    return bool(kernel == "linear") if isinstance(kernel, str) else isinstance(kernel, Linear)


def takes_lists(kernel: Any) -> bool:
    """Whether rows need not be numbers: those of a function, and sequences."""
    return is_function(kernel) or (isinstance(kernel, Kernel) and kernel.takes == "sequences")


def values_of(function: Any, X: Any, Y: Any) -> FloatArray:
    """What a user's kernel gives for rows X and rows Y, as scikit-learn calls it: with all rows of the fit as Y."""
    found = function(X, Y)
    values = np.ascontiguousarray(found.toarray() if sp.issparse(found) else found, dtype=np.float64)
    shape = (count_rows(X), count_rows(Y))
    if values.shape != shape:
        raise ValueError(
            f"the kernel gave values of shape {values.shape} for {shape[0]} and {shape[1]} rows; it must give one for every "
            "two rows. X.shape[0] should be equal to X.shape[1] in a fit."
        )
    if not np.isfinite(values).all():
        raise ValueError("the kernel gave NaN or infinity; every value must be a finite number.")
    return values


# Support vectors of fitted machines with the kernel among them, packed. Predictions change no estimator, and no file holds it.
_PACKED: WeakKeyDictionary[KernelMachine, tuple[Any, KernelMatrix]] = WeakKeyDictionary()


class Sample:
    """The rows that take part in a fit, those of positive weight, and their kernel."""

    classes: Any  # of a classifier: its labels, the place of each row's among them, their weights, the costs of rows over C
    codes: Any
    class_weight: FloatArray
    costs: FloatArray
    targets: FloatArray  # of a regressor

    def __init__(self, X: Any, weights: FloatArray | None, params: SimpleNamespace, names: Any = None) -> None:
        self.n_rows = count_rows(X)
        self.places = np.arange(self.n_rows) if weights is None else np.flatnonzero(weights)
        self.weights = np.ones(self.n_rows) if weights is None else weights[self.places]
        if hasattr(X, "copy") and not is_gram(params.kernel):
            X = X.copy()  # the kernel is computed in two precisions and at several times: of the same rows, whoever writes to X
        self.X, self.params, self.n_threads = X, params, effective_threads(params.n_jobs)
        self._kept = X if len(self.places) == self.n_rows else self.take(self.places)
        self.kernel: Kernel
        if is_function(params.kernel):
            self.kernel = Precomputed()
            self.matrix = self.kernel.on(values_of(params.kernel, self._kept, self._kept))
        else:
            if sp.issparse(self._kept) and self._kept.shape[0] * self._kept.shape[1] <= FEW_VALUES:
                self._kept = self._kept.toarray()
            named = as_kernel(params.kernel, gamma=params.gamma, degree=params.degree, coef0=params.coef0)
            self.kernel = named.by_number(names).resolved(self._kept)
            of_all = self.kernel.takes == "gram"
            matrix = self.kernel.on(X if of_all else self._kept, n_threads=self.n_threads)
            self.matrix = matrix.take(self.places) if of_all and self._kept is not X else matrix
        self.dtype = self.matrix.dtype

    @lazy_property
    def rough(self) -> Any:
        """The kernel matrix in single precision, where that is near enough."""
        return rough_matrix(self.kernel, self._kept, self.matrix, self.n_threads)

    def take(self, index: Any) -> Any:
        """Rows of X, which may be a list (`takes_lists`)."""
        return take_rows(self.X, index)


class KernelMachine(MercerEstimator, ABC):
    """What all five machines share."""

    _parameter_rules: ClassVar[dict[str, Rule]] = {
        "kernel": KERNEL,
        "degree": Integer(0),
        "gamma": OneOf("scale", "auto") | Real(least=0),
        "coef0": Real(),
        "shrinking": Bool(),
        "tol": Real(least=0),
        "cache_size": Real(above=0),
        "verbose": Verbosity(),
        "max_iter": Integer(-1, most=-1) | Integer(1),
        "max_time": Null() | Real(above=0),
        "n_jobs": NumberOfJobs(),
    }
    kernel: Any
    _kernel: Kernel
    support_: Any
    support_vectors_: Any
    dual_coef_: Any
    intercept_: Any

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = is_gram(self.kernel)
        tags.input_tags.sparse = not tags.input_tags.pairwise
        return tags

    def _check_rows(self, X: Any, *y: Any, **checks: Any) -> Any:
        """X as kernels take it, and y where there is one; a list stays one for kernels that take it."""
        if takes_lists(self.kernel) and not hasattr(X, "dtype"):
            X = check_sequences(self, X)
            if y and len(X) != len(y[0]):
                raise ValueError(
                    f"{type(self).__name__}: X has {len(X)} samples, but y has {len(y[0])}; there must be one y a row."
                )
            self.__dict__.pop("n_features_in_", None)
            return (X, np.asarray(y[0])) if y else X
        is_given = is_gram(self.kernel)
        if is_given and sp.issparse(X):
            raise TypeError(f"{type(self).__name__}: Sparse precomputed kernels are not supported; give X as a dense matrix.")
        found = validate(self, X, *y, sparse=None if is_given else "csr", **checks)
        given = found[0] if y else found
        if is_given and given.shape[0] != given.shape[1]:
            raise ValueError(
                f"{type(self).__name__}: Precomputed matrix must be a square matrix. Input is a "
                f"{given.shape[0]}x{given.shape[1]} matrix: one line and one column for each row of the data."
            )
        return found

    def _sample(self, X: Any, sample_weight: Any, params: SimpleNamespace) -> Sample:
        names = getattr(self, "feature_names_in_", None)
        return Sample(X, check_weights(sample_weight, count_rows(X), np.float64), params, names)

    def _solve(
        self, sample: Sample, y: Any, parts: list[Part], params: SimpleNamespace, before: Machines | None = None
    ) -> Machines:
        """Solve the parts and store what they come to; each goes on from where those of a smaller C ended, if there are any."""
        owner = type(self).__name__
        task = FitTask.start(self, sample.X, y, n_subtasks=None)
        try:
            solver = Machines(sample.matrix, sample.rough, parts, params, sample.n_threads, before)

            def fitted() -> dict[str, Any]:
                return {**self._common(sample), **self._fitted(sample, solver)}

            def outcome(status: Status, history: list[Record]) -> Outcome:
                return solver.outcome(status, history)

            self._unset("_probability", "_fit_rows")
            self._fit_by(solver, task, max_iter=np.iinfo(np.int64).max, verbose=params.verbose, fitted=fitted, outcome=outcome)
        except InseparableError:
            raise ValueError(
                f"{owner}: C=inf asks for no error at all, and the data are not separable with this kernel: costs up to 1e9 "
                "over the kernel's mean diagonal still bind. Give a finite C, or another kernel."
            ) from None
        except FloatingPointError:
            raise ValueError(
                f"{owner}: The dual coefficients or intercepts are not finite: values of the kernel overflow {sample.dtype}. "
                "The input data may contain large values and need to be preprocessed: scale X, or lower degree or gamma."
            ) from None
        return solver

    def _parts(self, sample: Sample, params: SimpleNamespace) -> list[Part]:
        """The problems of a fit."""
        raise NotImplementedError

    def sweep_parameters(self) -> list[str]:
        """The parameters that `sweep` takes: `C`, where it is one, along which solutions go on from one another."""
        is_one = "C" in self._parameter_rules and "nu" not in self._parameter_rules  # nu fixes sums that C scales
        return ["C"] if is_one and self._probability_is_off() else []

    def _add_probability(self, sample: Sample, params: SimpleNamespace) -> None:
        """What a classifier adds to a fit where it is asked for probabilities."""

    def _probability_is_off(self) -> bool:
        return getattr(self, "probability", False) is not True

    def sweep(self, X: Any, y: Any, name: str, values: Sequence[Any], *, sample_weight: Any = None) -> Iterator[Self]:
        """Fitted clones, one for each value of C in the order given: each goes on from the next smaller one.

        Parameters
        ----------
        X, y, sample_weight
            As for `fit`.
        name : {"C"}
        values : sequence of float

        Returns
        -------
        iterator of estimators
        """
        candidates = Candidates(self, name, values, self.sweep_parameters())
        first, params = candidates.estimators[0], candidates.params[0]
        X, y, sample = first._check_data(X, y, sample_weight, params)
        candidates.share_input(first)
        before = None
        for place in np.argsort(candidates.values, kind="stable"):
            own = candidates.params[place]
            before = candidates.fit(place, KernelMachine._solve, sample, y, self._parts(sample, own), own, before)
        return iter(candidates.estimators)

    def _check_data(self, X: Any, y: Any, sample_weight: Any, params: SimpleNamespace) -> tuple[Any, Any, Sample]:
        """X and y as a fit has them, and the rows that take part."""
        raise NotImplementedError

    def _common(self, sample: Sample) -> dict[str, Any]:
        shape = sample.X.shape if hasattr(sample.X, "shape") else (sample.n_rows,)
        rows = {"_fit_rows": sample.X} if is_function(sample.params.kernel) else {}
        return {"shape_fit_": shape, "_kernel": sample.kernel, **rows}

    @abstractmethod
    def _fitted(self, sample: Sample, solver: Machines) -> dict[str, Any]:
        """The attributes of what the parts hold now."""

    def _support(self, sample: Sample, is_support: Any, coef: FloatArray, intercept: FloatArray) -> dict[str, Any]:
        """Attributes of the chosen rows of the sample (a mask or an order) with their coefficients, a column each."""
        places = sample.places[is_support]
        vectors = np.empty((0, 0), dtype=sample.dtype) if is_gram(sample.params.kernel) else sample.take(places)
        coef = np.ascontiguousarray(coef, dtype=sample.dtype)
        return {
            "support_": places.astype(np.int32),
            "support_vectors_": vectors,
            "dual_coef_": sp.csr_matrix(coef) if sp.issparse(sample.X) else coef,
            "intercept_": np.ascontiguousarray(intercept, dtype=sample.dtype),
        }

    # ---- predictions

    def _check_new(self, X: Any) -> Any:
        if "support_" not in vars(self):  # what scikit-learn asks takes longer than the values of one row
            check_is_fitted(self)
        if takes_lists(self.kernel) and not hasattr(X, "dtype"):
            return check_sequences(self, X)
        is_given = is_gram(self.kernel)
        if is_given and hasattr(X, "shape") and len(X.shape) == 2 and X.shape[1] != self.shape_fit_[0]:
            raise ValueError(
                f"{type(self).__name__}: X.shape[1] = {X.shape[1]} should be equal to {self.shape_fit_[0]}, the number of "
                "samples at training time: a column for each of them."
            )
        return check_X(self, X, sparse=None if is_given else "csr", reset=False)

    @property
    def kernel_(self) -> Any:
        """The kernel with its parameters as numbers; a function as it was given."""
        check_is_fitted(self)
        return self.kernel if is_function(self.kernel) else self._kernel

    @property
    def _vectors(self) -> KernelMatrix:
        """The kernel among the support vectors, which are packed once for all predictions of a fit."""
        vectors, matrix = _PACKED.get(self, (None, None))
        if matrix is None or vectors is not self.support_vectors_:
            matrix = self._kernel.on(self.support_vectors_, n_threads=effective_threads(self.n_jobs))
            _PACKED[self] = self.support_vectors_, matrix
        return matrix

    def _kernel_values(self, X: Any) -> FloatArray:
        """The kernel of rows with all support vectors."""
        if is_function(self.kernel):
            of_all: FloatArray = values_of(self.kernel, X, self._fit_rows)
            return np.ascontiguousarray(of_all[:, self.support_])
        if self._kernel.takes == "gram":
            return np.ascontiguousarray(X[:, self.support_])
        return self._vectors.against(X)

    def _values(self, X: Any) -> FloatArray:
        """What the parts give: of shape (n_rows, n_parts)."""
        X = self._check_new(X)
        coef = self.dual_coef_.toarray() if sp.issparse(self.dual_coef_) else self.dual_coef_
        if is_linear(self.kernel):
            weights = self.coef_
            if sp.issparse(X) or sp.issparse(weights):
                product = X @ weights.T
                product = product.toarray() if sp.issparse(product) else np.asarray(product)
                values: FloatArray = product + self.intercept_
                return values
            return linear_predictions(X, weights, self.intercept_)
        n_rows = count_rows(X)
        at_once = max(1, VALUES_AT_ONCE // max(coef.shape[1], 1))
        if n_rows <= at_once:
            return self._combine(self._kernel_values(X), coef)
        blocks = [self._combine(self._kernel_values(X[i : i + at_once]), coef) for i in range(0, n_rows, at_once)]
        return np.concatenate(blocks)

    def _combine(self, values: FloatArray, coef: FloatArray) -> FloatArray:
        """The values of the parts from those of the kernel: one product with the coefficients."""
        if coef.shape[1] == 0:
            return np.repeat(self.intercept_[None], len(values), axis=0)
        return linear_predictions(values, coef, self.intercept_)

    @property
    def coef_(self) -> Any:
        """The weights of the features, for `kernel="linear"`."""
        if not is_linear(self.kernel):
            raise AttributeError("coef_ is only available when using a linear kernel")
        coef = self._linear_coef()
        (coef.data if sp.issparse(coef) else coef).flags.writeable = False  # computed anew each time: a change would be lost
        return coef

    def _linear_coef(self) -> Any:
        return self.dual_coef_ @ self.support_vectors_

    @property
    def n_support_(self) -> Index:
        """The number of support vectors, of each class where there are classes."""
        if "support_" not in vars(self):
            raise AttributeError(f"{type(self).__name__} is not fitted yet: n_support_ is there after fit.")
        return self._count_support()

    def _count_support(self) -> Index:
        return np.array([len(self.support_)], dtype=np.int32)

    @property
    def fit_status_(self) -> int:
        """0 where the fit has reached its tolerance, else 1."""
        if "certificate_" not in vars(self):
            raise AttributeError(f"{type(self).__name__} is not fitted yet: fit_status_ is there after fit.")
        return 0 if self.certificate_.converged else 1
