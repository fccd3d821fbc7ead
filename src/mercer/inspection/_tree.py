"""`TreeExplainer`: Shapley values of models that are sums of trees."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.special import expit

from mercer._arrays import FloatArray
from mercer._parallel import effective_threads
from mercer._params import InvalidParameterError, NumberOfJobs, OneOf, check_value
from mercer.inspection._explanation import Explanation
from mercer.inspection._tree_sum import LOG_ODDS, SHARES, TreeSum, Unsuited

_SCALES_AT_ONCE = 4_000_000  # rows times background rows whose scales are held at a time


class TreeExplainer:
    r"""Shapley values of tree models, exact, from the trees themselves.

    A model that is a sum of trees is a game among the features: a coalition S of them is worth

    .. math:: v(S) = \mathbb{E}[f(x) \mid x_S],

    and the value of feature j is its mean gain over all orders in which features may join,

    .. math:: \phi_j = \sum_{S \not\ni j} \frac{|S|!\,(d - |S| - 1)!}{d!} \big(v(S \cup j) - v(S)\big).

    Path-dependent, the expectation follows the trees: a split on a feature outside S sends the row both ways, by the shares of
    the training rows that went there. Interventional, features outside S are those of the rows of a background, averaged.

    Parameters
    ----------
    model : estimator
        A fitted tree, forest, bagging of trees, boosting of trees or isolation forest.
    data : array-like or data frame of shape (n_background, n_features), default=None
        The background, which interventional values need.
    model_output : {"raw", "probability", "log_loss"}, default="raw"
        What is explained: "raw" is the sum that the trees make (numbers, class shares, log-odds, the mean length of paths of an
        isolation forest); "probability" of the second class where the sum is in log-odds; "log_loss" the loss of each row, for
        which its `y` is given: the squared error of numbers, the logistic loss of log-odds. The latter two need a background.
    feature_perturbation : {"auto", "interventional", "tree_path_dependent"}, default="auto"
        "auto" is interventional where there is a background and path-dependent otherwise.
    feature_names : sequence of str, default=None
        The names of the features; None: those that the model or X has.
    n_jobs : int or None, default=None
        The number of threads; None uses all that Mercer may use. The values do not depend on it.

    Attributes
    ----------
    expected_value : float or ndarray of shape (n_outputs,)
        The output where nothing is known of a row: `base_values` of every explanation. Of the loss, it depends on y, and is a
        function of it.

    Notes
    -----
    Path-dependent values integrate the products over a path by Gauss-Legendre nodes, as many as make that exact: they add up to
    the prediction to rounding at any depth, in O(rows x splits x distinct features of a path). Where shares of the
    training rows are unknown below a split that none of them reached, each way counts one half.

    Differences from shap: `data` and "tree_path_dependent" exclude one another, since nothing would be made of the data;
    interactions of interventional values are there, and not zero; splits on categories of Mercer's models are followed.
    For "probability" and "log_loss" the values for a row and a background row are those of the raw sums times the ratio of the
    two differences, as there.

    References
    ----------
    S. Lundberg et al., "From local explanations to global understanding with explainable AI for trees", 2020.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.inspection import TreeExplainer
    >>> from mercer.tree import DecisionTreeRegressor
    >>> X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    >>> tree = DecisionTreeRegressor().fit(X, [0.0, 1.0, 2.0, 5.0])
    >>> explanation = TreeExplainer(tree)(X)
    >>> explanation.values[3].round(12).tolist(), float(explanation.base_values[3])
    ([1.75, 1.25], 2.0)
    """

    def __init__(
        self,
        model: Any,
        data: Any = None,
        model_output: str = "raw",
        feature_perturbation: str = "auto",
        feature_names: Any = None,
        *,
        n_jobs: int | None = None,
    ) -> None:
        owner = type(self).__name__
        self.model, self.feature_names = model, feature_names
        self.model_output: str = check_value(owner, "model_output", model_output, OneOf("raw", "probability", "log_loss"))
        ways = OneOf("auto", "interventional", "tree_path_dependent")
        way = check_value(owner, "feature_perturbation", feature_perturbation, ways)
        self.n_jobs = check_value(owner, "n_jobs", n_jobs, NumberOfJobs())
        if way == "auto":
            way = "tree_path_dependent" if data is None else "interventional"
        self.feature_perturbation: str = way
        self._sum = _sum_or_error(model)
        self._require_output()
        self._background = self._checked_background(data)
        self._background_raw = None if self._background is None else self._raw(self._background)
        self.expected_value = self._expected()

    @classmethod
    def unsuited(cls, model: Any, background: Any = None) -> str | None:
        """None where this explainer can explain a fitted model, otherwise the reason in words."""
        try:
            _sum_of(model)
        except Unsuited as reason:
            return str(reason)
        return None

    def __call__(self, X: Any, y: Any = None, interactions: bool = False) -> Explanation:
        """Explain rows.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_rows, n_features)
        y : array-like of shape (n_rows,), default=None
            The targets, for `model_output="log_loss"` alone.
        interactions : bool, default=False
            Whether what pairs of features gave together is found as well.

        Returns
        -------
        Explanation
        """
        rows = self._sum.read(X)
        targets = self._targets(y, len(rows))
        values = self._values(rows, targets, has_pairs=False)
        pairs = _with_diagonal(self._values(rows, targets, has_pairs=True), values) if interactions else None
        base, predictions = self._base_values(len(rows), targets), self._predictions(X, rows, targets)
        names = None if values.shape[-1] == 1 else self._sum.names
        if values.shape[-1] == 1:
            values, base, predictions = values[..., 0], base[:, 0], predictions[:, 0]
            pairs = None if pairs is None else pairs[..., 0]
        return Explanation(
            values, base, _table(X), feature_names=self._names(X, values.shape[1]), output_names=names,
            method=self._words(), predictions=predictions, interactions=pairs,
        )  # fmt: skip

    def shap_values(self, X: Any, y: Any = None) -> FloatArray:
        """The values alone, of shape (n_rows, n_features), or (n_rows, n_features, n_outputs) for several outputs."""
        return self(X, y).values

    def shap_interaction_values(self, X: Any, y: Any = None) -> FloatArray:
        """What pairs gave together, half at each of their places: of shape (n_rows, n_features, n_features[, n_outputs])."""
        pairs = self(X, y, interactions=True).interactions
        assert pairs is not None
        return pairs

    # ---- what is explained

    def _require_output(self) -> None:
        """Refuse outputs that are not there."""
        owner, output, way = type(self).__name__, self.model_output, self.feature_perturbation
        if output == "raw" or (output == "probability" and self._sum.units == SHARES):
            return
        if way == "tree_path_dependent":
            raise InvalidParameterError(
                f"{owner}: model_output={output!r} is not valid with path-dependent values; give a background as data, or "
                "explain model_output='raw'."
            )
        if output == "probability" and self._sum.units != LOG_ODDS:
            raise InvalidParameterError(
                f"{owner}: model_output='probability' is not valid for this model, whose trees add up to {self._sum.units}; it "
                "must be 'raw', or the model one whose sum is the log-odds of two classes."
            )
        if output == "log_loss" and self._sum.loss is None:
            raise InvalidParameterError(
                f"{owner}: model_output='log_loss' is not valid for this model; it must be one of squared error, or one of "
                "log-odds of two classes."
            )

    def _checked_background(self, data: Any) -> FloatArray | None:
        owner = type(self).__name__
        if self.feature_perturbation == "tree_path_dependent":
            if data is not None:
                raise InvalidParameterError(
                    f"{owner}: data is given with feature_perturbation='tree_path_dependent', which makes nothing of it; leave "
                    "it out, or ask for 'interventional'."
                )
            return None
        if data is None:
            raise InvalidParameterError(
                f"{owner}: feature_perturbation='interventional' needs a background: data=None is not valid."
            )
        background: FloatArray = self._sum.read(data)
        return background

    def _targets(self, y: Any, n_rows: int) -> FloatArray | None:
        """y as the loss takes it: numbers, or 0 and 1."""
        if self.model_output != "log_loss":
            if y is not None:
                raise ValueError(f"y is given, but model_output={self.model_output!r} makes nothing of it; leave it out.")
            return None
        if y is None:
            raise ValueError("model_output='log_loss' explains the loss of each row, which needs its y.")
        labels = np.ravel(np.asarray(y))
        if len(labels) != n_rows:
            raise ValueError(f"y has {len(labels)} values; X has {n_rows} rows.")
        classes = self._sum.classes
        if classes is None:
            return labels.astype(np.float64)
        known = np.isin(labels, classes)
        if not known.all():
            raise ValueError(f"y holds the label {labels[~known].tolist()[0]!r}, which the model does not know.")
        return np.asarray(labels == classes[-1], dtype=np.float64)

    def _raw(self, rows: FloatArray) -> FloatArray:
        return self._sum.raw(rows, effective_threads(self.n_jobs))

    def _expected(self) -> Any:
        if self.model_output == "log_loss":
            return self._expected_loss
        expected = (
            self._sum.expected() if self._background_raw is None else self._output(self._background_raw, None).mean(axis=0)
        )
        if self._sum.is_mirrored:
            expected = np.concatenate([1 - expected, expected])
        return float(expected[0]) if len(expected) == 1 else expected

    def _expected_loss(self, y: Any) -> FloatArray:
        """The mean loss over the background, were the target y: of shape (n_rows,)."""
        targets = self._targets(y, len(np.ravel(np.asarray(y))))
        assert targets is not None
        assert self._background_raw is not None
        losses: FloatArray = self._output(self._background_raw.T, targets[:, None]).mean(axis=1)
        return losses

    def _base_values(self, n_rows: int, targets: FloatArray | None) -> FloatArray:
        if targets is None:
            return np.tile(np.atleast_1d(self.expected_value), (n_rows, 1))
        assert self._background_raw is not None
        out: FloatArray = np.empty((n_rows, 1))
        for part in _parts(n_rows, self._background_raw.size):
            out[part, 0] = self._output(self._background_raw.T, targets[part, None]).mean(axis=1)
        return out

    def _predictions(self, X: Any, rows: FloatArray, targets: FloatArray | None) -> FloatArray:
        raw = np.asarray(self._sum.predict(X), dtype=np.float64).reshape(len(rows), -1)
        return self._output(raw, None if targets is None else targets[:, None])

    def _output(self, raw: FloatArray, targets: FloatArray | None) -> FloatArray:
        """What is explained, as a function of the raw sums."""
        if self.model_output == "raw" or (self.model_output == "probability" and self._sum.units == SHARES):
            return raw
        if self.model_output == "probability":
            return np.asarray(expit(raw))
        assert targets is not None
        return (targets - raw) ** 2 if self._sum.loss == "squared" else np.logaddexp(0, raw) - targets * raw

    def _slope(self, raw: FloatArray, targets: FloatArray | None) -> FloatArray:
        if self.model_output == "probability":
            return np.asarray(expit(raw) * expit(-raw))
        assert targets is not None
        return 2 * (raw - targets) if self._sum.loss == "squared" else np.asarray(expit(raw) - targets)

    # ---- values

    def _values(self, rows: FloatArray, targets: FloatArray | None, *, has_pairs: bool) -> FloatArray:
        n_threads = effective_threads(self.n_jobs)
        if self._background is None:
            values = self._sum.path_dependent(rows, n_threads, has_pairs=has_pairs)
        elif self.model_output == "raw" or self._sum.units == SHARES:
            values = self._sum.interventional(rows, self._background.astype(rows.dtype), n_threads, has_pairs=has_pairs)
        else:
            values = self._rescaled(rows, targets, n_threads, has_pairs=has_pairs)
        return np.concatenate([-values, values], axis=-1) if self._sum.is_mirrored else values

    def _rescaled(self, rows: FloatArray, targets: FloatArray | None, n_threads: int, *, has_pairs: bool) -> FloatArray:
        """Values of the raw sums for pairs of rows, each times the ratio of the outputs' difference to that of the sums."""
        assert self._background is not None
        assert self._background_raw is not None
        background, parts = self._background.astype(rows.dtype), []
        for part in _parts(len(rows), len(background)):
            y = None if targets is None else targets[part, None]
            mine, theirs = self._raw(rows[part]), self._background_raw.T
            gap = mine - theirs
            is_close = np.abs(gap) <= 1e-6 * np.maximum(1.0, np.abs(mine))
            ratio = (self._output(mine, y) - self._output(theirs, y)) / np.where(is_close, 1.0, gap)
            scales = np.where(is_close, self._slope((mine + theirs) / 2, y), ratio)
            options: dict[str, Any] = {"scales": np.ascontiguousarray(scales), "has_pairs": has_pairs}
            parts.append(self._sum.interventional(rows[part], background, n_threads, **options))
        return np.concatenate(parts)

    # ---- words

    def _words(self) -> str:
        if self._background is None:
            return "exact, from the trees, path-dependent"
        return f"exact, from the trees, over {len(self._background)} background rows"

    def _names(self, X: Any, n_features: int) -> Any:
        if self.feature_names is not None:
            return list(self.feature_names)
        if hasattr(X, "columns"):
            return [str(name) for name in X.columns]
        return getattr(self.model, "feature_names_in_", None)


def _sum_of(model: Any) -> TreeSum:
    from mercer.inspection._tree_models import sum_of  # here: it loads every tree model

    return sum_of(model)


def _sum_or_error(model: Any) -> TreeSum:
    try:
        return _sum_of(model)
    except Unsuited as reason:
        raise InvalidParameterError(f"TreeExplainer: the model cannot be explained by its trees: {reason}") from None


def _with_diagonal(pairs: FloatArray, values: FloatArray) -> FloatArray:
    """Pairs, with what each feature gave alone on the diagonal: they then add up to the values."""
    diagonal = np.arange(pairs.shape[1])
    pairs[:, diagonal, diagonal] = values - pairs.sum(axis=2)
    return pairs


def _parts(n_rows: int, n_background: int) -> list[slice]:
    step = max(1, _SCALES_AT_ONCE // max(n_background, 1))
    return [slice(begin, min(begin + step, n_rows)) for begin in range(0, n_rows, step)]


def _table(X: Any) -> npt.NDArray[Any]:
    return np.asarray(X.toarray() if sp.issparse(X) else X)
