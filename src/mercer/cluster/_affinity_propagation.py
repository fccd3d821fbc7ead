"""Affinity propagation."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import ClusterMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from mercer._arrays import FloatArray, check_X, require_no_overflow
from mercer._base import FitTask, MercerEstimator, fit_method, run_solver
from mercer._matrix import native_rows
from mercer._native import kernels
from mercer._parallel import effective_threads
from mercer._params import (
    ArrayLike,
    Bool,
    Integer,
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
from mercer._trace import Certificate, Outcome, Record, Status, warn
from mercer.metrics.pairwise import euclidean_distances

IntArray = npt.NDArray[np.int64]

_PREFERENCE = Real() | Null() | ArrayLike()
_EXEMPLARS = "rows that changed between exemplar and not in the last convergence_iter rounds"


class AffinityPropagation(ClusterMixin, MercerEstimator):  # type: ignore[misc]
    r"""Clustering by messages between rows, of which some become exemplars.

    Looks for exemplars :math:`e(i)` that maximise :math:`\sum_i s(i, e(i))` where :math:`e(e(i)) = e(i)`; s(k, k) is the
    preference of row k for being one.

    Parameters
    ----------
    damping : float in [0.5, 1), default=0.5
        How much of its old value a message keeps in a round.
    max_iter : int, default=200
        The most rounds.
    convergence_iter : int, default=15
        The fit ends when the exemplars have not changed for so many rounds.
    copy : bool, default=True
        With affinity="precomputed" and False, preferences and noise are written to X where its memory order allows that, which
        saves its size.
    preference : float, array-like of shape (n_samples,) or None, default=None
        How much rows are wanted as exemplars: the higher, the more clusters. None is the median of the similarities.
    affinity : {"euclidean", "precomputed"}, default="euclidean"
        Similarities are minus the squared Euclidean distances, or X itself.
    verbose : int, default=False
        Log each round to the logger `mercer`.
    random_state : int, RandomState or None, default=None
        Draws the noise, as small as the rounding, that breaks ties.
    n_jobs : int or None, default=None
        The number of threads; None uses all that Mercer may use. The result does not depend on it.

    Attributes
    ----------
    cluster_centers_indices_ : int array of shape (n_clusters,)
        The rows that are exemplars.
    cluster_centers_ : array of shape (n_clusters, n_features)
        These rows, dense; not with affinity="precomputed".
    labels_ : int array of shape (n_samples,)
        -1 for all where no exemplar came out.
    affinity_matrix_ : array of shape (n_samples, n_samples)
        The similarities, with preferences and noise.
    n_iter_ : int
    history_ : list of dict
        For each round: `n_exemplars`, `n_changed` (rows that became an exemplar or ceased to be one).
    certificate_ : Certificate
        The similarity of the rows to their exemplars, negated, with the preferences; and how many rows were not settled.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    O(n^2) memory and time a round: one pass over similarities and two kinds of messages, in double precision. From the same
    `random_state` the noise is the peer's, and so are the messages up to rounding.

    References
    ----------
    B. J. Frey and D. Dueck, "Clustering by passing messages between data points", Science 315, 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.cluster import AffinityPropagation
    >>> X = np.array([[1.0, 2], [1, 4], [1, 0], [4, 2], [4, 4], [4, 0]])
    >>> model = AffinityPropagation(random_state=5).fit(X)
    >>> model.labels_
    array([0, 0, 0, 1, 1, 1])
    >>> model.predict([[0, 0], [4, 4]])
    array([0, 1])
    """

    _parameter_rules: ClassVar[dict[str, Rule]] = {
        "damping": Real(least=0.5, below=1),
        "max_iter": Integer(1),
        "convergence_iter": Integer(1),
        "copy": Bool(),
        "preference": _PREFERENCE,
        "affinity": OneOf("euclidean", "precomputed"),
        "verbose": Verbosity(),
        "random_state": RandomState(),
        "n_jobs": NumberOfJobs(),
    }

    def __init__(
        self,
        *,
        damping: float = 0.5,
        max_iter: int = 200,
        convergence_iter: int = 15,
        copy: bool = True,
        preference: float | npt.ArrayLike | None = None,
        affinity: str = "euclidean",
        verbose: int = False,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.damping = damping
        self.max_iter = max_iter
        self.convergence_iter = convergence_iter
        self.copy = copy
        self.preference = preference
        self.affinity = affinity
        self.verbose = verbose
        self.random_state = random_state
        self.n_jobs = n_jobs

    @fit_method
    def fit(self, X: Any, y: Any = None) -> AffinityPropagation:
        """Find exemplars among the rows of X.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), or array-like of shape (n_samples, n_samples)
            Rows, or with affinity="precomputed" their similarities.
        y : ignored

        Returns
        -------
        self
        """
        params = check_params(self)
        is_given = params.affinity == "precomputed"
        X = check_X(self, X, sparse=None if is_given else "csr")
        n_threads = effective_threads(params.n_jobs)
        similarities = _own(X, params.copy) if is_given else _similarities(self, X)
        task = FitTask.start(self, X, n_subtasks=params.max_iter)
        found = _propagate(type(self).__name__, similarities, params, n_threads, task, self._attributes(X, is_given))
        return self._finish(task, found.attributes, found.outcome, unset=("cluster_centers_", "history_"))

    def _attributes(self, X: Any, is_given: bool) -> Any:
        def attributes(exemplars: IntArray, labels: IntArray, similarities: FloatArray) -> dict[str, Any]:
            found = {"cluster_centers_indices_": exemplars, "labels_": labels, "affinity_matrix_": similarities}
            if is_given:
                return found
            centres = X[exemplars]
            return found | {"cluster_centers_": centres.toarray() if sp.issparse(centres) else centres.copy()}

        return attributes

    def predict(self, X: Any) -> IntArray:
        """The nearest exemplar of each row."""
        check_is_fitted(self)
        X = check_X(self, X, sparse="csr", reset=False)
        if not hasattr(self, "cluster_centers_"):
            raise ValueError(
                "AffinityPropagation: Predict method is not supported when affinity='precomputed'. Fit to rows instead."
            )
        centres = self.cluster_centers_
        if centres.shape[0] == 0:
            warn(
                "AffinityPropagation: This model does not have any cluster centers because affinity propagation did not "
                "converge. Labeling every sample as '-1'. Raise damping or max_iter.",
                ConvergenceWarning,
            )
            return np.full(X.shape[0], -1)
        if sp.issparse(centres):  # a user may have set them
            centres = centres.toarray()
        centres = centres.astype(X.dtype, copy=False)
        shift = None if sp.issparse(X) else centres.mean(axis=0)
        labels = np.empty(X.shape[0], dtype=np.int32)
        targets = np.ascontiguousarray(centres if shift is None else centres - shift)
        kernels.nearest_centres(native_rows(X, shift), targets, labels, effective_threads(self.n_jobs))
        return labels.astype(np.int64)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.affinity == "precomputed"
        tags.input_tags.sparse = self.affinity != "precomputed"
        return tags


def affinity_propagation(
    S: Any,
    *,
    preference: float | npt.ArrayLike | None = None,
    convergence_iter: int = 15,
    max_iter: int = 200,
    damping: float = 0.5,
    copy: bool = True,
    verbose: int = False,
    return_n_iter: bool = False,
    random_state: int | np.random.RandomState | None = None,
) -> tuple[Any, ...]:
    """`AffinityPropagation` of given similarities as a function.

    Parameters
    ----------
    S : array-like of shape (n_samples, n_samples)
        The similarities.
    preference, convergence_iter, max_iter, damping, copy, verbose, random_state
        As in `AffinityPropagation`.
    return_n_iter : bool, default=False
        Return the number of rounds too.

    Returns
    -------
    cluster_centers_indices : int array of shape (n_clusters,)
    labels : int array of shape (n_samples,)
    n_iter : int
        With `return_n_iter`.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.cluster import affinity_propagation
    >>> X = np.array([1.0, 1.1, 1.2, 8.0, 8.1, 8.2])
    >>> exemplars, labels = affinity_propagation(-np.subtract.outer(X, X) ** 2, random_state=0)
    >>> labels
    array([0, 0, 0, 1, 1, 1])
    """
    wants_n_iter = check_value("affinity_propagation", "return_n_iter", return_n_iter, Bool())
    model = AffinityPropagation(
        damping=damping,
        max_iter=max_iter,
        convergence_iter=convergence_iter,
        copy=copy,
        preference=preference,
        affinity="precomputed",
        verbose=verbose,
        random_state=random_state,
    ).fit(S)
    found = model.cluster_centers_indices_, model.labels_
    return (*found, model.n_iter_) if wants_n_iter else found


def _own(X: FloatArray, is_copied: bool) -> FloatArray:
    """Similarities to write to."""
    return X if not is_copied and X.flags.c_contiguous and X.flags.writeable else np.array(X, order="C")


def _similarities(estimator: Any, X: Any) -> FloatArray:
    """Minus the squared distances of all pairs of rows."""
    with np.errstate(over="ignore", invalid="ignore"):
        distances: FloatArray = euclidean_distances(X, squared=True)
    if not np.isfinite(distances).all():
        require_no_overflow(estimator, X, "squared distances between its rows")
    return np.asarray(np.negative(distances, out=distances))


@dataclass
class _Found:
    attributes: dict[str, Any]
    outcome: Outcome


def _propagate(owner: str, S: FloatArray, params: SimpleNamespace, n_threads: int, task: FitTask, attributes: Any) -> _Found:
    """Exemplars, labels and what was reached; S gets preferences and noise."""
    n = len(S)
    if S.shape[0] != S.shape[1]:
        raise ValueError(f"{owner}: The matrix of similarities must be a square array. Got {S.shape} instead.")
    preference = _checked_preference(owner, params.preference, S)
    if n == 1 or _are_all_equal(S, preference):
        return _arbitrary(S, preference, attributes)
    S.flat[:: n + 1] = preference
    noise = as_random_state(params.random_state).standard_normal(size=(n, n))
    S += (np.finfo(S.dtype).eps * S + np.finfo(S.dtype).tiny * 100) * noise
    messages = _Messages(S.astype(np.float64, copy=False), params.damping, params.convergence_iter, n_threads)

    def fitted() -> dict[str, Any]:
        found: dict[str, Any] = attributes(*messages.clusters(), S)
        return found

    status, history = run_solver(messages, task, max_iter=params.max_iter, verbose=params.verbose, fitted=fitted)
    exemplars, labels = messages.clusters()
    n_unsettled = messages.n_unsettled
    status = status.given(is_reached=n_unsettled == 0 and len(exemplars) > 0)
    objective = -float(S[np.arange(n), exemplars[labels]].sum(dtype=np.float64)) if len(exemplars) else None
    certificate = Certificate("affinity propagation, a local optimum", status, objective, _EXEMPLARS, float(n_unsettled), 0.0)
    warning = None
    if len(exemplars) == 0:
        warning = (
            "Affinity propagation did not converge and this model will not have any cluster centers. Raise damping or max_iter."
        )
    elif status is Status.MAX_ITER:
        warning = (
            "Affinity propagation did not converge, this model may return degenerate cluster centers and labels: "
            f"{n_unsettled} rows are not settled after max_iter={params.max_iter} rounds. Raise damping or max_iter."
        )
    return _Found(attributes(exemplars, labels, S), Outcome(certificate, history, warning))


def _checked_preference(owner: str, preference: Any, S: FloatArray) -> Any:
    if preference is None:
        return np.median(S)
    if np.ndim(preference) == 0:
        return float(preference)
    values = np.asarray(preference, dtype=np.float64)
    if values.shape not in ((len(S),), (1,)) or not np.isfinite(values).all():
        raise ValueError(f"{owner}: preference of shape {values.shape} is not valid; it must hold {len(S)} finite numbers.")
    return values


def _are_all_equal(S: FloatArray, preference: Any) -> bool:
    n = len(S)
    first = S[0, 1]
    diagonal = S.diagonal()
    n_equal = np.count_nonzero(first == S) - np.count_nonzero(diagonal == first)
    return bool(np.all(preference == np.ravel(preference)[0]) and n_equal == n * (n - 1))


def _arbitrary(S: FloatArray, preference: Any, attributes: Any) -> _Found:
    """Where no row stands out: each is a cluster if rows prefer themselves, else all are one."""
    n = len(S)
    is_each = bool(np.ravel(preference)[0] > S.flat[n - 1])
    exemplars = np.arange(n) if is_each else np.array([0])
    labels = np.arange(n) if is_each else np.zeros(n, dtype=np.int64)
    certificate = Certificate("an arbitrary choice among equals", Status.CONVERGED, None, _EXEMPLARS, 0.0, 0.0)
    warning = "All samples have mutually equal similarities. Returning arbitrary cluster center(s)."
    return _Found(attributes(exemplars, labels, S) | {"n_iter_": 0}, Outcome(certificate, [], warning))


class _Messages:
    """Rounds of messages, until the exemplars rest."""

    def __init__(self, S: FloatArray, damping: float, patience: int, n_threads: int) -> None:
        n = len(S)
        self._S, self._damping, self._n_threads = S, damping, n_threads
        self._availabilities, self._responsibilities = np.zeros((n, n)), np.zeros((n, n))
        self._support = np.zeros(n)
        self._is_exemplar = np.zeros(n, dtype=bool)
        self._patience = patience
        self._n_rounds = 0
        self._n_same = np.full(n, patience)  # rounds for which each row has been an exemplar, or has not

    def step(self) -> Record:
        kernels.exchange_messages(
            self._S, self._availabilities, self._responsibilities, self._support, self._damping, self._n_threads
        )
        own = self._responsibilities.diagonal()
        # The kernel writes availabilities a round late; those of rows to themselves are needed now.
        available = self._damping * self._availabilities.diagonal() + (1 - self._damping) * (self._support - own)
        before, self._is_exemplar = self._is_exemplar, available + own > 0
        has_changed = before != self._is_exemplar
        self._n_same = np.where(has_changed, 1, self._n_same + 1)
        self._n_rounds += 1
        return {"n_exemplars": int(self._is_exemplar.sum()), "n_changed": int(has_changed.sum())}

    @property
    def n_unsettled(self) -> int:
        """Rows that were exemplars in some of the last rounds and not in all."""
        return int(np.count_nonzero(self._n_same < self._patience))

    @property
    def is_done(self) -> bool:
        return self._n_rounds > self._patience and bool(self._is_exemplar.any()) and self.n_unsettled == 0

    def clusters(self) -> tuple[IntArray, IntArray]:
        """Exemplars and labels: each cluster's exemplar is the member that the others are most similar to."""
        S, exemplars = self._S, np.flatnonzero(self._is_exemplar)
        if len(exemplars) == 0:
            return exemplars, np.full(len(S), -1)
        cluster = _most_similar(S, exemplars)
        for k in range(len(exemplars)):
            members = np.flatnonzero(cluster == k)
            exemplars[k] = members[np.argmax(S[np.ix_(members, members)].sum(axis=0))]
        labels = exemplars[_most_similar(S, exemplars)]
        found = np.unique(labels)
        return found, np.searchsorted(found, labels)


def _most_similar(S: FloatArray, exemplars: IntArray) -> IntArray:
    cluster: IntArray = np.argmax(S[:, exemplars], axis=1)
    cluster[exemplars] = np.arange(len(exemplars))
    return cluster
