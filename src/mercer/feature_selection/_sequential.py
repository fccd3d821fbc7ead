"""Sequential selection: columns one after another, by the cross-validated score of the sets that they make."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.metrics import check_scoring
from sklearn.model_selection import check_cv
from sklearn.utils import assert_all_finite
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping

from mercer._arrays import validate
from mercer._base import FitTask, fit_method
from mercer._parallel import serial_blas
from mercer._params import (
    Bool,
    Fittable,
    Function,
    Integer,
    InvalidParameterError,
    Null,
    NumberOfJobs,
    OneOf,
    Real,
    Rule,
    ScorerName,
    Splitter,
    check_params,
)
from mercer.feature_selection._by_fits import ByFits
from mercer.feature_selection._by_newton import ByNewton
from mercer.feature_selection._by_products import ByProducts
from mercer.feature_selection._by_scatter import ByScatter
from mercer.feature_selection._routing import is_routing, refuse_metadata, route
from mercer.feature_selection._selector import Mask, ModelSelector
from mercer.feature_selection._walks import Change, Evaluator, Walk, records_of

FAST = (ByProducts, ByNewton, ByScatter)


class SequentialFeatureSelector(ModelSelector):
    """Columns that are put in, or left out, one at a time: the one whose set scores best by cross-validation.

    Parameters
    ----------
    estimator : estimator
        The model whose scores count.
    n_features_to_select : "auto", int or float, default="auto"
        How many columns stay, or which share of them. "auto" is half of them; or, with `tol`, as many as gain enough.
    tol : float, default=None
        With "auto": the walk ends where a step gains less. May be negative where columns are left out. None: no such rule.
    direction : {"forward", "backward", "bidirectional"}, default="forward"
        From no columns on, from all columns down, or both at once: a walk forward that takes nothing that the walk backward has
        dropped, and one backward that drops nothing that the other has taken, in turns, until they meet. With `tol`, a column
        that gains less is not taken, and one that costs less is dropped.
    scoring : str or callable, default=None
        A scorer; None for the estimator's own score.
    cv : int, splitter or iterable, default=5
        Folds as in scikit-learn. They are the same for all sets, whatever draws them.
    n_jobs : int or None, default=None
        How many sets (or folds, where sets are not fitted one by one) to work on at a time; None means one, unless a
        `joblib.parallel_config` says otherwise. The result does not depend on it.
    floating : bool, default=False
        Whether each step may be followed by steps back, as long as these reach a better set than any of that size before (SFFS
        and SBFS), and the walk goes one column past the wanted number: forward selection then can drop what the others have
        made superfluous. The best set of the wanted size is the result, with `tol` the best of any size. Not with
        "bidirectional".

    Attributes
    ----------
    support_ : array of shape (n_features,)
        Which columns stay.
    n_features_to_select_ : int
        How many.
    history_ : list of dict
        One record a step: `feature`, `is_addition`, `n_features`, the mean `score` of the set that the step leads to, its
        spread over the folds `score_std`, `fold_scores`, and the set itself, `support`. `mercer.plots.plot_selection` draws it.
    n_iter_ : int
        How many steps.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    A step compares up to d sets. They are not fitted one by one where this gives the same scores:

    - least squares and `Ridge`, scored by R squared or (root) mean squared error: each fold's products of columns are summed
      once, O(n d^2), and a step sweeps them, O(d^2), whatever n;
    - `LogisticRegression` of two classes with an l2 penalty: Newton's steps from the fit of the set before, to a tolerance of
      1e-8 whatever the estimator's own;
    - `LinearDiscriminantAnalysis` (solver "svd"): from the classes' means and one scatter matrix a fold.

    This holds for Mercer's own classes, dense X and no metadata. Sets with columns that are as good as linearly dependent are
    fitted plainly, and so are all other estimators. Of equal scores the first column wins.

    References
    ----------
    P. Pudil, J. Novovičová, J. Kittler, "Floating search methods in feature selection", Pattern Recognition Letters 15 (1994).

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from mercer.feature_selection import SequentialFeatureSelector
    >>> from mercer.linear_model import LinearRegression
    >>> X, y = load_diabetes(return_X_y=True)
    >>> selector = SequentialFeatureSelector(LinearRegression(), n_features_to_select=3).fit(X, y)
    >>> selector.get_support(indices=True)
    array([2, 3, 8])
    >>> [round(step["score"], 3) for step in selector.history_]
    [0.324, 0.443, 0.463]
    """

    _parameter_rules: ClassVar[Mapping[str, Rule]] = {
        "estimator": Fittable(),
        "n_features_to_select": OneOf("auto") | Integer(1) | Real(above=0, most=1),
        "tol": Null() | Real(),
        "direction": OneOf("forward", "backward", "bidirectional"),
        "scoring": Null() | ScorerName() | Function(),
        "cv": Splitter(),
        "n_jobs": NumberOfJobs(),
        "floating": Bool(),
    }

    support_: Mask
    n_features_to_select_: int
    history_: list[dict[str, Any]]

    def __init__(
        self,
        estimator: Any,
        *,
        n_features_to_select: float | str = "auto",
        tol: float | None = None,
        direction: str = "forward",
        scoring: Any = None,
        cv: Any = 5,
        n_jobs: int | None = None,
        floating: bool = False,
    ) -> None:
        self.estimator = estimator
        self.n_features_to_select = n_features_to_select
        self.tol = tol
        self.direction = direction
        self.scoring = scoring
        self.cv = cv
        self.n_jobs = n_jobs
        self.floating = floating

    @fit_method
    def fit(self, X: Any, y: Any = None, **params: Any) -> SequentialFeatureSelector:
        """Find the columns.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or (n_samples, n_outputs), default=None
        **params
            Metadata for estimator, splitter and scorer, where scikit-learn's metadata routing is enabled.

        Returns
        -------
        self
        """
        checked = check_params(self)
        refuse_metadata(self, "fit", params)
        self._check_together(checked)
        finite: Any = "deferred" if self.__sklearn_tags__().input_tags.allow_nan else "check"
        X = validate(self, X, sparse="csc", finite=finite, ensure_min_features=2)
        if y is not None:
            assert_all_finite(np.asarray(y), input_name="y")
        n_wanted = self._n_wanted(checked, X.shape[1])
        task = FitTask.start(self, X, y, n_subtasks=None)
        evaluator = self._evaluator(checked, X, y, params)
        walk = Walk(evaluator, told=lambda change: self._tell(task, change))
        with nullcontext() if isinstance(evaluator, ByFits) else serial_blas():
            support = self._walked(walk, checked, X.shape[1], n_wanted)
        attributes = {
            "support_": support,
            "n_features_to_select_": int(support.sum()),
            "history_": records_of(walk.steps),
            "n_iter_": len(walk.steps),
        }
        return self._finish(task, attributes)

    def _check_together(self, params: SimpleNamespace) -> None:
        if params.floating and params.direction == "bidirectional":
            raise InvalidParameterError(
                "SequentialFeatureSelector: floating=True is not valid with direction='bidirectional'; it must be False, or "
                "the direction 'forward' or 'backward'."
            )
        if params.tol is not None and params.tol < 0 and params.direction != "backward":
            raise InvalidParameterError(
                f"SequentialFeatureSelector: tol={params.tol!r} is not valid with direction={params.direction!r}: tol must be "
                f"strictly positive when doing {params.direction} selection."
            )

    def _n_wanted(self, params: SimpleNamespace, n_features: int) -> int:
        wanted = params.n_features_to_select
        if wanted == "auto":
            return n_features // 2
        if isinstance(wanted, int) and wanted >= n_features:
            raise InvalidParameterError(
                f"SequentialFeatureSelector: n_features_to_select={wanted} is not valid: n_features_to_select must be < "
                f"n_features, here {n_features}."
            )
        return wanted if isinstance(wanted, int) else max(1, int(n_features * wanted))

    def _evaluator(self, params: SimpleNamespace, X: Any, y: Any, metadata: Mapping[str, Any]) -> Evaluator:
        """The way to scores that suits the estimator."""
        cv = check_cv(params.cv, y, classifier=is_classifier(params.estimator))
        if is_routing():
            route(self, "fit", metadata)  # which refuses what nobody asks for
        # Metadata reach a splitter only through scikit-learn's own function, which is then given the splitter itself.
        splits = cv if metadata else list(cv.split(X, y))
        options = {"scoring": params.scoring, "metadata": metadata, "n_jobs": params.n_jobs}
        plain = ByFits(clone(params.estimator), X, y, splits, **options)
        if metadata or y is None:
            return plain
        return next((made for way in FAST if (made := way.of(plain, params.scoring)) is not None), plain)

    @staticmethod
    def _walked(walk: Walk, params: SimpleNamespace, n_features: int, n_wanted: int) -> Mask:
        is_open = params.n_features_to_select == "auto" and params.tol is not None
        gain = params.tol if is_open else None
        if params.direction == "bidirectional":
            return walk.from_both_ends(n_features, n_wanted=n_wanted, least_gain=gain)
        is_forward = params.direction == "forward"
        start = np.full(n_features, not is_forward)
        last = (n_features - 1 if is_forward else 1) if is_open else n_wanted
        if params.floating:
            return walk.floating(start, n_wanted=last, least_gain=gain)
        return walk.straight(start, n_steps=last if is_forward else n_features - last, least_gain=gain)

    @staticmethod
    def _tell(task: FitTask, change: Change) -> None:
        task.subtask("step").end()

    def get_metadata_routing(self) -> MetadataRouter:
        """Which metadata goes on to estimator, splitter and scorer (scikit-learn's metadata routing)."""
        router = MetadataRouter(owner=self)
        router.add(estimator=self.estimator, method_mapping=MethodMapping().add(caller="fit", callee="fit"))
        splitter = check_cv(self.cv, classifier=is_classifier(self.estimator))
        router.add(splitter=splitter, method_mapping=MethodMapping().add(caller="fit", callee="split"))
        scorer = check_scoring(self.estimator, scoring=self.scoring)
        return router.add(scorer=scorer, method_mapping=MethodMapping().add(caller="fit", callee="score"))
