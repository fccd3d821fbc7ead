"""`explain`: the front door, which chooses how a model is explained and says what it chose."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from mercer._params import Integer, OneOf, check_value
from mercer.inspection._background import Background, sample
from mercer.inspection._explanation import Explanation
from mercer.inspection._groups import grouped

# By method; "auto" asks them in this order.
_EXPLAINERS: Mapping[str, tuple[str, str]] = {
    "tree": ("mercer.inspection._tree", "TreeExplainer"),
    "linear": ("mercer.inspection._linear", "LinearExplainer"),
    "deep": ("mercer.inspection._deep", "DeepExplainer"),
    "exact": ("mercer.inspection._exact", "ExactExplainer"),
    "permutation": ("mercer.inspection._permutation", "PermutationExplainer"),
    "kernel": ("mercer.inspection._kernel", "KernelExplainer"),
    "retrain": ("mercer.inspection._retrain", "RetrainExplainer"),
}
_AUTOMATIC = ("tree", "linear", "deep", "exact", "permutation")
_MOST_EXACT = 8  # features whose coalitions are no more than the permutation explainer asks for
_BY_STRUCTURE = ("tree", "linear", "deep")


def explain(model: Any, X: Any, background: Any = None, method: str = "auto", **options: Any) -> Explanation:
    """What each feature gave to each prediction, by the explainer that suits the model.

    Parameters
    ----------
    model : estimator or callable
        A fitted estimator of any library, one of its methods, or a function of rows.
    X : {array-like, sparse matrix, data frame} of shape (n_rows, n_features)
        The rows to be explained, in the columns that the model takes.
    background : {array-like, sparse matrix, data frame, Background} or int, default=None
        Rows that stand for features that are not known, such as a sample of the training data; a number means so many rows of
        X. Where nothing is said, trees go by the rows that they were fitted on, and other models by up to 100 rows of X.
    method : {"auto", "tree", "linear", "deep", "exact", "permutation", "kernel", "retrain"}, default="auto"
        The explainer. "auto" takes the first that suits: of trees, linear models and networks their own, which read the
        structure of the model; for up to 8 features all coalitions, and permutations for more.
    **options
        What the explainer takes besides the model and the background. `groups`, a dict of columns or a `Grouped`, works with
        all of them: columns of a group are one player of the game, or have their values added up where these are read from the
        structure of the model.

    Returns
    -------
    explanation : Explanation
        Its `method` says what was chosen, and its fields how exact the values are.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.inspection import explain
    >>> X = np.array([[1.0, 2.0], [3.0, 5.0]])
    >>> explanation = explain(lambda X: X[:, 0] * X[:, 1], X, background=np.zeros((1, 2)))
    >>> explanation.method
    'exact, all 4 coalitions'
    >>> print(explanation[1])
    x0          3  +7.5
    x1          5  +7.5
    base value        0
    sum               15

    References
    ----------
    Lundberg and Lee, "A unified approach to interpreting model predictions", 2017.
    """
    chosen = check_value("explain", "method", method, OneOf("auto", *_EXPLAINERS))
    if isinstance(model, type) or not (hasattr(model, "predict") or isinstance(model, tuple) or callable(model)):
        raise TypeError(f"explain: model is {model!r}; it must be a fitted estimator or a function of rows.")
    if hasattr(model, "fit") and chosen != "retrain":
        check_is_fitted(model)
    if isinstance(background, int | np.integer) and not isinstance(background, bool):
        background = sample(X, check_value("explain", "background", background, Integer(1)))
    if chosen == "auto":
        chosen = _suitable(model, X, background, options)
    if background is None and chosen not in ("tree", "retrain"):
        background = sample(X)
    groups = options.pop("groups", None) if chosen == "tree" else None  # whose values add up
    explanation: Explanation = _explainer(chosen)(model, background, **options)(X)
    return explanation if groups is None else grouped("explain", groups).sums(explanation)


def _suitable(model: Any, X: Any, background: Any, options: Mapping[str, Any]) -> str:
    """The first method that suits, or the error that says why none does."""
    reasons = []
    rows = Background.of(sample(X) if background is None else background)
    asks_method = options.get("response_method", "auto") != "auto"
    for method in _AUTOMATIC:
        if asks_method and method in _BY_STRUCTURE:
            continue
        if method == "exact" and rows.rows.shape[-1] > _MOST_EXACT:
            continue
        explainer = _explainer(method)
        reason = explainer.unsuited(model, background if method == "tree" else rows)
        if reason is None:
            return method
        reasons.append(f"{explainer.__name__}: {reason}")
    raise ValueError(f"explain: no explainer takes the model. {' '.join(dict.fromkeys(reasons))}")


def _explainer(method: str) -> Any:
    module, name = _EXPLAINERS[method]
    return getattr(importlib.import_module(module), name)
