"""Self-organising maps."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_array

from mercer._arrays import FloatArray, check_weights, check_X
from mercer._base import FitTask, MercerEstimator, fit_method
from mercer._native import kernels
from mercer._parallel import effective_threads
from mercer._params import (
    ArrayLike,
    Integer,
    InvalidParameterError,
    Null,
    NumberOfJobs,
    OneOf,
    RandomState,
    Real,
    Rule,
    Verbosity,
    check_params,
)
from mercer._random import as_random_state
from mercer._statistics import GroupSums
from mercer._trace import Certificate, Outcome, Record, Status
from mercer.cluster._centres import CentresMethods
from mercer.cluster._lloyd import Labels, Problem
from mercer.cluster._map_grid import MapGrid

_BLOCK = 1 << 20  # distances to units that are held at a time


class SelfOrganizingMap(CentresMethods, MercerEstimator):
    r"""Kohonen's self-organising map: vectors on a grid, near ones of which are alike.

    Unit j has the vector :math:`m_j`, and the winner c(x) of a row x is the unit whose vector is nearest. At the end of batch
    training

    .. math:: m_j = \frac{\sum_i w_i h_{j, c(x_i)} x_i}{\sum_i w_i h_{j, c(x_i)}},
        \qquad h_{jc} = \exp\left(-\frac{\|r_j - r_c\|^2}{2 \sigma^2}\right),

    where :math:`r_j` is the unit's place on the grid.

    Parameters
    ----------
    grid_shape : (int, int), default=(10, 10)
        Rows and columns of the grid.
    topology : {"rectangular", "hexagonal"}, default="rectangular"
        Whether an inner unit has four neighbours or six.
    training : {"batch", "online"}, default="batch"
        "batch" puts every vector to the weighted mean above in each epoch; "online" moves the vectors towards one row after
        another, :math:`m_j \leftarrow m_j + \alpha h_{j, c(x)} (x - m_j)`, in an order drawn for each epoch.
    neighborhood : {"gaussian", "bubble"}, default="gaussian"
        h as above, or 1 within the radius and 0 beyond.
    radius, final_radius : float, default=None and 0.5
        The radius :math:`\sigma` of the first epoch and of the last, in units of the grid; None is half of the grid's longer
        side.
    learning_rate, final_learning_rate : float, default=0.5 and 0.01
        :math:`\alpha` of the first and the last row of online training.
    decay : {"exponential", "linear"}, default="exponential"
        How radius and rate go from the first to the last value.
    n_epochs : int, default=20
        The epochs in which the radius falls.
    init : {"plane", "random"} or array of shape (n_units, n_features), default="plane"
        Vectors on the plane of the two largest principal components (the longer side of the grid along the first), rows drawn
        at random, or the given ones.
    max_iter : int, default=300
        Batch training goes on with the last radius until the vectors rest, for so many epochs in all at most.
    tol : float, default=1e-4
        They rest when their squared shift in an epoch falls to `tol` times the mean variance of the columns.
    random_state : int, RandomState or None, default=None
        Draws the rows of init="random" and the orders of online training.
    verbose : int, default=0
        Log each epoch to the logger `mercer`.
    n_jobs : int or None, default=None
        The number of threads; None uses all that Mercer may use. The result does not depend on it.

    Attributes
    ----------
    cluster_centers_ : array of shape (n_units, n_features)
        The vectors, line by line of the grid.
    grid_positions_ : array of shape (n_units, 2)
        Where the units are in the plane: x and y.
    labels_ : int32 array of shape (n_samples,)
        The winner of each row.
    umatrix_ : array of shape `grid_shape`
        For each unit the mean distance of its vector to those of its neighbours: ridges part clusters.
    hits_ : array of shape `grid_shape`
        The weight of the rows that each unit wins.
    quantization_error_ : float
        The mean distance of the rows to the vector of their winner.
    topographic_error_ : float
        The share of the rows whose two nearest vectors are not of adjacent units (across a corner is adjacent too).
    n_iter_ : int
        Epochs.
    history_ : list of dict
        For each epoch: `inertia` (squared distances of the rows to the vectors of their winners before it), `radius`, `shift`.
    certificate_ : Certificate
        The inertia, and how far a batch epoch with the last radius would move the vectors, squared, against the tolerance.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    An epoch costs O(n units d), a batch epoch also O(units^2 d). Batch training with a radius that stays cannot be said to
    lower an objective, since the winner is the nearest unit rather than that of the least weighted distance; in practice it
    comes to rest.

    References
    ----------
    T. Kohonen, "Essentials of the self-organizing map", Neural Networks 37, 2013.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.cluster import SelfOrganizingMap
    >>> X = np.random.RandomState(0).uniform(size=(400, 2))
    >>> model = SelfOrganizingMap((6, 6), random_state=0).fit(X)
    >>> model.umatrix_.shape, model.topographic_error_ < 0.1
    ((6, 6), True)
    """

    _input_tags: ClassVar[tuple[str, ...]] = ("sparse",)
    _parameter_rules: ClassVar[dict[str, Rule]] = {
        "grid_shape": ArrayLike(),
        "topology": OneOf("rectangular", "hexagonal"),
        "training": OneOf("batch", "online"),
        "neighborhood": OneOf("gaussian", "bubble"),
        "radius": Real(above=0) | Null(),
        "final_radius": Real(least=0),
        "learning_rate": Real(above=0, most=1),
        "final_learning_rate": Real(above=0, most=1),
        "decay": OneOf("exponential", "linear"),
        "n_epochs": Integer(1),
        "init": OneOf("plane", "random") | ArrayLike(),
        "max_iter": Integer(1),
        "tol": Real(least=0),
        "random_state": RandomState(),
        "verbose": Verbosity(),
        "n_jobs": NumberOfJobs(),
    }

    def __init__(
        self,
        grid_shape: tuple[int, int] = (10, 10),
        *,
        topology: str = "rectangular",
        training: str = "batch",
        neighborhood: str = "gaussian",
        radius: float | None = None,
        final_radius: float = 0.5,
        learning_rate: float = 0.5,
        final_learning_rate: float = 0.01,
        decay: str = "exponential",
        n_epochs: int = 20,
        init: str | npt.ArrayLike = "plane",
        max_iter: int = 300,
        tol: float = 1e-4,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.grid_shape = grid_shape
        self.topology = topology
        self.training = training
        self.neighborhood = neighborhood
        self.radius = radius
        self.final_radius = final_radius
        self.learning_rate = learning_rate
        self.final_learning_rate = final_learning_rate
        self.decay = decay
        self.n_epochs = n_epochs
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.verbose = verbose
        self.n_jobs = n_jobs

    @fit_method
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> SelfOrganizingMap:
        """Train the map.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : ignored
        sample_weight : array-like of shape (n_samples,), default=None
            A row of weight two counts as two equal rows.

        Returns
        -------
        self
        """
        params = check_params(self)
        grid = MapGrid(_checked_shape(params.grid_shape), params.topology)
        X = check_X(self, X, sparse="csr", finite="deferred")
        weights = check_weights(sample_weight, X.shape[0], X.dtype)
        n_threads = effective_threads(params.n_jobs)
        problem = Problem.of(self, X, weights, n_threads)
        random = as_random_state(params.random_state)
        _set_radii(params, grid)
        task = FitTask.start(self, X, n_subtasks=params.max_iter)
        kind = _BatchTraining if params.training == "batch" else _OnlineTraining
        solver = kind(problem, grid, _start(params, problem, grid, random), params, random, n_threads)

        def fitted() -> dict[str, Any]:
            return {"cluster_centers_": problem.from_shifted(solver.vectors), "grid_positions_": grid.positions}

        def outcome(status: Status, history: list[Record]) -> Outcome:
            return solver.outcome(status, history)

        most = params.max_iter if params.training == "batch" else params.n_epochs
        self._fit_by(solver, task, max_iter=most, verbose=params.verbose, fitted=fitted, outcome=outcome)
        self._store(_described(problem, grid, solver.vectors, n_threads))
        return self


def _checked_shape(shape: Any) -> tuple[int, int]:
    values = [int(each) if isinstance(each, (int, np.integer)) and not isinstance(each, bool) else 0 for each in shape]
    if len(values) != 2 or min(values) < 1 or values[0] * values[1] > 20_000:
        raise InvalidParameterError(
            f"SelfOrganizingMap: grid_shape={shape!r} is not valid; it must be two integers >= 1, the rows and columns of a "
            "grid of 20,000 units at most."
        )
    return values[0], values[1]


def _set_radii(params: SimpleNamespace, grid: MapGrid) -> None:
    if params.radius is None:
        params.radius = max(max(grid.shape) / 2, params.final_radius, 0.5)
    if params.final_radius > params.radius:
        raise InvalidParameterError(
            f"SelfOrganizingMap: final_radius={params.final_radius!r} is not valid; it must be at most "
            f"radius={params.radius!r}."
        )
    if params.decay == "exponential" and params.final_radius == 0:
        raise InvalidParameterError(
            "SelfOrganizingMap: final_radius=0.0 is not valid with decay='exponential', which never comes to 0; it must be "
            "> 0, or decay='linear'."
        )


def _decayed(first: float, last: float, share: Any, decay: str) -> Any:
    """The value when `share` of the way is done."""
    if decay == "linear":
        return first + (last - first) * share
    return first * (last / first) ** share


def _start(params: SimpleNamespace, problem: Problem, grid: MapGrid, random: np.random.RandomState) -> FloatArray:
    """The vectors to begin with, shifted as the problem is."""
    X, n_units = problem.X, grid.n_units
    if not isinstance(params.init, str):
        given = check_array(params.init, dtype=X.dtype, order="C", input_name="init")
        wanted = (n_units, problem.n_features)
        if given.shape != wanted:
            raise ValueError(
                f"SelfOrganizingMap: init holds vectors of shape {given.shape}; for this grid and X it must be {wanted}."
            )
        return problem.to_shifted(given)
    if params.init == "random":
        present = np.arange(X.shape[0]) if problem.weights is None else np.flatnonzero(problem.weights > 0)
        return problem.to_shifted(problem.pick(random.choice(present, n_units, replace=len(present) < n_units)))
    return _plane(problem, grid)


def _plane(problem: Problem, grid: MapGrid) -> FloatArray:
    """Two standard deviations to both sides along the two largest principal components, the longer side along the first."""
    mean, directions = _principal_plane(problem)
    places = grid.positions - grid.positions.min(axis=0)
    extent = places.max(axis=0)
    scaled = 2 * places / np.where(extent > 0, extent, 1) - (extent > 0)
    if grid.shape[0] > grid.shape[1]:
        scaled = scaled[:, ::-1]
    return np.ascontiguousarray(mean + 2 * scaled @ directions, dtype=problem.X.dtype)


def _principal_plane(problem: Problem) -> tuple[FloatArray, FloatArray]:
    """The mean of the shifted rows, and two components times their standard deviations, zero where there are no more."""
    X, d = problem.X, problem.n_features
    weights = np.ones(X.shape[0]) if problem.weights is None else problem.weights.astype(np.float64)
    share = weights / weights.sum()

    def times(block: FloatArray) -> FloatArray:
        return np.asarray(X @ block - problem.shift.astype(np.float64) @ block)

    mean = np.asarray(X.T @ share).ravel() - problem.shift
    # Subspace iteration on the covariance: the start of a map asks for few digits.
    basis = np.linalg.qr(np.random.RandomState(0).normal(size=(d, min(d, 4))))[0]
    values: FloatArray = np.zeros(basis.shape[1])
    for _ in range(12):
        scores = times(basis) - mean @ basis
        weighted = share[:, None] * scores
        image = (
            np.asarray(X.T @ weighted) - np.outer(problem.shift, weighted.sum(axis=0)) - np.outer(mean, weighted.sum(axis=0))
        )
        values, rotation = np.linalg.eigh(basis.T @ image)
        basis = np.linalg.qr(image @ rotation[:, ::-1])[0] if np.any(image) else basis
    found = (basis * np.sqrt(np.maximum(values[::-1], 0))).T[:2]
    signs = np.where(np.take_along_axis(found, np.abs(found).argmax(axis=1)[:, None], axis=1) < 0, -1.0, 1.0)
    directions = np.zeros((2, d))
    directions[: len(found)] = found * signs
    return mean, directions


class _Training:
    """What both kinds of training share: vectors (shifted), and the batch epoch that one does and both are judged by."""

    def __init__(
        self,
        problem: Problem,
        grid: MapGrid,
        vectors: FloatArray,
        params: SimpleNamespace,
        random: np.random.RandomState,
        n_threads: int,
    ) -> None:
        self._problem, self._grid, self._params, self._n_threads = problem, grid, params, n_threads
        self._random, self.vectors = random, vectors
        self._tol = params.tol * problem.mean_variance
        self._n_done, self._shift = 0, np.inf

    def _radius(self, share: Any) -> Any:
        return _decayed(self._params.radius, self._params.final_radius, share, self._params.decay)

    def _share(self) -> float:
        """How much of the way from the first to the last radius is done."""
        return min(self._n_done / max(1, int(self._params.n_epochs) - 1), 1.0)

    def _batch_epoch(self, radius: float) -> tuple[FloatArray, float]:
        """The vectors after a batch epoch, and the inertia before."""
        problem = self._problem
        labels: Labels = np.full(problem.X.shape[0], -1, dtype=np.int32)
        sums = GroupSums.zeros(*self.vectors.shape)
        arguments = (problem.rows, problem.weights, self.vectors)
        kernels.lloyd_step(*arguments, problem.total, None, None, None, labels, *sums, self._n_threads)
        inertia = kernels.inertia(*arguments, labels, self._n_threads)
        strength = self._grid.neighborhood(self._params.neighborhood, radius)
        totals = strength @ sums.weights
        means = (strength @ sums.sums) / np.where(totals > 0, totals, 1)[:, None]
        # A unit that no winner reaches stays where it is.
        after = np.where((totals > 0)[:, None], means, self.vectors).astype(self.vectors.dtype)
        return after, float(inertia)

    def outcome(self, status: Status, history: list[Record]) -> Outcome:
        after, inertia = self._batch_epoch(float(self._radius(1.0)))
        shift = float(np.sum(np.square(after.astype(np.float64) - self.vectors)))
        status = status.given(is_reached=shift <= self._tol)
        condition = "squared shift of the vectors in a batch epoch"
        certificate = Certificate(f"{self._params.training} training", status, inertia, condition, shift, self._tol)
        return Outcome(certificate, history, self._warning(status, shift))

    def _warning(self, status: Status, shift: float) -> str | None:
        return None


class _BatchTraining(_Training):
    def step(self) -> Record:
        radius = float(self._radius(self._share()))
        after, inertia = self._batch_epoch(radius)
        self._shift = float(np.sum(np.square(after.astype(np.float64) - self.vectors)))
        self.vectors = after
        self._n_done += 1
        return {"inertia": inertia, "radius": radius, "shift": self._shift}

    @property
    def is_done(self) -> bool:
        return bool(self._n_done >= self._params.n_epochs and self._shift <= self._tol)

    def _warning(self, status: Status, shift: float) -> str | None:
        if status is not Status.MAX_ITER:
            return None
        return (
            f"after max_iter={self._params.max_iter} epochs the squared shift of the vectors is {shift:.3g} > {self._tol:.3g}. "
            "Raise max_iter or tol."
        )


class _OnlineTraining(_Training):
    def step(self) -> Record:
        """An epoch: each row once, in an order that is drawn; rate and radius fall with every row."""
        params, n = self._params, self._problem.X.shape[0]
        order = self._random.permutation(n)
        share = (self._n_done + np.arange(n) / n) / params.n_epochs
        radii = np.asarray(self._radius(share), dtype=np.float64)
        rates = np.asarray(_decayed(params.learning_rate, params.final_learning_rate, share, params.decay), dtype=np.float64)
        vectors = self.vectors.astype(np.float64)
        kernels.train_map(
            self._problem.rows,
            self._problem.weights,
            order,
            rates,
            radii,
            self._grid.squared_distances,
            params.neighborhood == "gaussian",
            vectors,
        )
        before, self.vectors = self.vectors, vectors.astype(self.vectors.dtype)
        self._n_done += 1
        labels = np.empty(n, dtype=np.int32)
        kernels.nearest_centres(self._problem.rows, before, labels, self._n_threads)
        inertia = kernels.inertia(self._problem.rows, self._problem.weights, before, labels, self._n_threads)
        return {"inertia": float(inertia), "radius": float(radii[-1]), "shift": float(np.sum(np.square(vectors - before)))}

    @property
    def is_done(self) -> bool:
        """The schedule ends it, which is no tolerance reached."""
        return False


def _described(problem: Problem, grid: MapGrid, vectors: FloatArray, n_threads: int) -> dict[str, Any]:
    """What is said of a trained map."""
    n = problem.X.shape[0]
    weights = np.ones(n) if problem.weights is None else problem.weights.astype(np.float64)
    labels: Labels = np.empty(n, dtype=np.int32)
    kernels.nearest_centres(problem.rows, vectors, labels, n_threads)
    nearest, is_torn = np.empty(n), np.zeros(n, dtype=bool)
    adjacent, step = grid.are_adjacent, max(1, _BLOCK // grid.n_units)
    for begin in range(0, n, step):
        block = slice(begin, begin + step)
        part = problem.part(np.arange(begin, min(begin + step, n)))
        distances = np.empty((part.X.shape[0], grid.n_units), dtype=problem.X.dtype)
        kernels.centre_distances(part.rows, vectors, distances, n_threads)
        winners = labels[block]
        places = np.arange(len(winners))
        nearest[block] = distances[places, winners]
        if grid.n_units > 1:
            distances[places, winners] = np.inf
            is_torn[block] = ~adjacent[winners, distances.argmin(axis=1)]
    return {
        "labels_": labels,
        "umatrix_": grid.distance_matrix(vectors.astype(np.float64)),
        "hits_": np.bincount(labels, weights=weights, minlength=grid.n_units).reshape(grid.shape),
        "quantization_error_": float(nearest @ weights / weights.sum()),
        "topographic_error_": float(is_torn @ weights / weights.sum()),
    }
