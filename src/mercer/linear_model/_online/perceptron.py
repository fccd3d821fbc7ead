"""The perceptron and its learning rules."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from mercer._arrays import FloatArray
from mercer._parallel import effective_threads
from mercer._params import Mapped, Null, NumberOfJobs, OneOf, Real, Rule
from mercer._trace import Certificate, Outcome, Record, Status
from mercer._tuning import Choices, Reals, Space
from mercer.linear_model._online.bound import Reached
from mercer.linear_model._online.classifier import WeightedClassifier
from mercer.linear_model._online.fit import SHARED_RULES
from mercer.linear_model._online.stochastic import Descent, Iterate, Problem, Settings

# The loss whose derivative is the error h(raw) - y of the law of Widrow and Hoff, for each activation h.
ACTIVATIONS = {"sign": "sign_error", "tanh": "tanh_error", "sigmoid": "logistic"}


class Perceptron(WeightedClassifier):
    r"""The perceptron, by the rule of Rosenblatt, Hebb or Widrow and Hoff, with the bound on its mistakes.

    Takes the rows in turn and learns from the misclassified ones, :math:`y_i (x_i^\top w + b) \le 0` with labels -1 and 1,
    until none is left; with more than two classes, one for each class against the rest. With :math:`\eta` for `eta0`:

    - Rosenblatt: :math:`w \leftarrow w + \eta s_i y_i x_i` and :math:`b \leftarrow b + \eta s_i y_i` on a mistake: stochastic
      descent on the perceptron loss :math:`\max(0, -y_i (x_i^\top w + b))` plus a penalty, as in scikit-learn.
    - Hebb: the same step, with no penalty, and passes go on as long as a row is misclassified.
    - Widrow-Hoff: :math:`w \leftarrow w + \eta s_i (y_i - h(x_i^\top w + b)) x_i` and b alike on every row, for an
      activation h.

    Parameters
    ----------
    penalty : {"l2", "l1", "elasticnet"} or None, default=None
        As in `SGDClassifier`; Rosenblatt's rule only.
    alpha : float, default=0.0001
        The strength of the penalty.
    l1_ratio : float, default=0.15
        The share of l1 in "elasticnet".
    fit_intercept : bool, default=True
        Whether there is an intercept; without, :math:`b = 0`.
    max_iter : int, default=1000
        The most passes over the data (`partial_fit` makes one).
    tol : float or None, default=1e-3
        With Rosenblatt's rule, passes also end when the mean loss has not come `tol` below the best so far in
        `n_iter_no_change` passes, as data that are not separable never come without mistakes. None: they go on to `max_iter`,
        as they do with the other rules.
    shuffle : bool, default=True
        Whether each pass takes the rows in a new order.
    verbose : int, default=0
        Log each pass to the logger `mercer`.
    eta0 : float, default=1.0
        The learning rate. From a start at zero without a penalty, Rosenblatt's and Hebb's coefficients are proportional to it
        and their mistakes do not depend on it.
    n_jobs : int or None, default=None
        The number of threads; None uses all that Mercer may use. The result does not depend on it.
    random_state : int, RandomState or None, default=0
        Seed of the orders and of the rows set aside by `early_stopping`.
    early_stopping : bool, default=False
        Whether to set rows aside and to stop by the accuracy on them; Rosenblatt's rule only.
    validation_fraction : float, default=0.1
        The share of rows set aside.
    n_iter_no_change : int, default=5
        See `tol`.
    class_weight : dict, "balanced" or None, default=None
        Factors of the steps, by class; "balanced" makes the classes weigh the same.
    warm_start : bool, default=False
        Whether `fit` starts from the last fit.
    rule : {"rosenblatt", "hebb", "widrow-hoff"}, default="rosenblatt"
    activation : {"sign", "tanh", "sigmoid"}, default="sign"
        The h of Widrow and Hoff. With "sign", sign(0) = 0, only mistakes count, twice; "tanh" and "sigmoid" correct every row
        by how far off it is, the sigmoid with the labels 0 and 1.

    Attributes
    ----------
    coef_ : array of shape (1, n_features) or (n_classes, n_features)
    intercept_ : array of shape (1,) or (n_classes,)
    classes_ : array of shape (n_classes,)
    n_mistakes_ : int
        How many times a row was misclassified when its turn came, over all passes, added over classes.
    mistake_bound_ : float or None
        Where the perceptron separates the rows, the most mistakes that it could have made on the way (Novikoff):
        :math:`R^2/\gamma^2`, where R is the largest norm of a row (x, 1) and :math:`\gamma` the least distance of a row from
        the hyperplane found, both in the space of (x, 1); for sparse X, of (x, 0.1), as its intercept takes 0.01 of each
        step; without an intercept, of x. Added over classes. Weights widen it by
        the ratio of the largest to the smallest, "sign" of Widrow and Hoff by two; a start other than zero is accounted for.
        None where rows are misclassified, with a penalty, or with a smooth activation, which corrects more than mistakes.
    n_iter_ : int
        The number of passes; with several classes, the most of any.
    t_ : float
        One more than the number of rows seen for a class.
    history_ : list of dict
        For each pass: the mean objective and loss as added up during the pass, the steps that changed something, and the
        mistakes.
    certificate_ : Certificate
        The mean loss at the end and the number of misclassified rows, added over classes. It is converged when there is none,
        and says "ended short of its tolerance", with a warning, where `tol` ended a fit that still makes mistakes. With a
        penalty or early stopping as in `SGDClassifier`.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    A pass takes O(n d) for each class; classes run in parallel. After a pass without a mistake nothing would change any more,
    so the fit ends there; scikit-learn makes `n_iter_no_change` more passes to the same coefficients. Else the differences are
    those of `SGDClassifier`, to which ``Perceptron()`` corresponds with loss="perceptron", learning_rate="constant", eta0=1 and
    penalty=None.

    References
    ----------
    A. Novikoff, "On convergence proofs on perceptrons", Symposium on the Mathematical Theory of Automata, 1962.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.linear_model import Perceptron
    >>> X = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]])
    >>> model = Perceptron(rule="hebb", eta0=0.5).fit(X, [0, 0, 0, 1])  # logical and
    >>> model.predict(X)
    array([0, 0, 0, 1])
    >>> model.n_mistakes_ <= model.mistake_bound_
    True
    """

    _search_space: ClassVar[Mapping[str, Space]] = {
        "alpha": Reals(1e-7, 1e-2, log=True),
        "penalty": Choices(None, "l2", "l1", "elasticnet"),
    }
    _parameter_rules: ClassVar[dict[str, Rule]] = {
        **SHARED_RULES,
        "penalty": OneOf("l2", "l1", "elasticnet") | Null(),
        "alpha": Real(least=0),
        "l1_ratio": Real(least=0, most=1),
        "eta0": Real(above=0),
        "n_jobs": NumberOfJobs(),
        "class_weight": Mapped() | OneOf("balanced") | Null(),
        "rule": OneOf("rosenblatt", "hebb", "widrow-hoff"),
        "activation": OneOf(*ACTIVATIONS),
    }
    _of_whole_fits: ClassVar[tuple[str, ...]] = ("certificate_", "history_", "n_mistakes_", "mistake_bound_")

    def __init__(
        self,
        *,
        penalty: str | None = None,
        alpha: float = 0.0001,
        l1_ratio: float = 0.15,
        fit_intercept: bool = True,
        max_iter: int = 1000,
        tol: float | None = 1e-3,
        shuffle: bool = True,
        verbose: int = 0,
        eta0: float = 1.0,
        n_jobs: int | None = None,
        random_state: Any = 0,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        class_weight: Any = None,
        warm_start: bool = False,
        rule: str = "rosenblatt",
        activation: str = "sign",
    ) -> None:
        self.penalty = penalty
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.shuffle = shuffle
        self.verbose = verbose
        self.eta0 = eta0
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.rule = rule
        self.activation = activation

    def _settings(self, params: SimpleNamespace) -> Settings:
        is_rosenblatt = params.rule == "rosenblatt"
        for name, allowed in (("penalty", None), ("early_stopping", False)):
            if not is_rosenblatt and getattr(params, name) != allowed:
                raise ValueError(
                    f"{type(self).__name__}: {name}={getattr(params, name)!r} is not valid with rule={params.rule!r}; it must "
                    f"be {allowed}, or rule='rosenblatt'."
                )
        names = (
            "penalty", "alpha", "l1_ratio", "fit_intercept", "eta0", "shuffle", "max_iter", "verbose", "n_iter_no_change",
            "early_stopping", "validation_fraction", "random_state",
        )  # fmt: skip
        return Settings(
            loss=ACTIVATIONS[params.activation] if params.rule == "widrow-hoff" else "perceptron",
            parameter=0.0,
            learning_rate="constant",
            power_t=0.5,
            average=0,
            tol=params.tol if is_rosenblatt else None,
            n_threads=effective_threads(params.n_jobs),
            stops_without_mistakes=params.penalty is None and not params.early_stopping,
            **{name: getattr(params, name) for name in names},
        )

    def _extra_attributes(
        self, problem: Problem, settings: Settings, start: Iterate, descent: Descent, reached: Reached
    ) -> dict[str, Any]:
        return {
            "n_mistakes_": descent.n_mistakes,
            "mistake_bound_": _mistake_bound(problem, settings, start, descent.iterate, reached.least_margins),
        }

    def _outcome(
        self, status: Status, history: list[Record], settings: Settings, descent: Descent, reached: Reached
    ) -> Outcome:
        if not settings.stops_without_mistakes:
            return super()._outcome(status, history, settings, descent, reached)
        n_left = reached.n_misclassified
        status = status.given(is_reached=n_left == 0)
        certificate = Certificate(
            method=f"perceptron, rule of {self.rule}",
            status=status,
            primal=reached.primal,
            condition="misclassified rows",
            residual=float(n_left),
            tol=0.0,
        )
        return Outcome(certificate, history, _warning(status, n_left, len(history), settings))


def _warning(status: Status, n_left: int, n_passes: int, settings: Settings) -> str | None:
    if status not in (Status.MAX_ITER, Status.INEXACT):
        return None
    remedy, ended = "raise max_iter", f"max_iter={settings.max_iter}"
    if status is Status.INEXACT:
        remedy, ended = "set tol=None", f"tol={settings.tol:g} ended the fit"
    return (
        f"did not converge: {n_left} rows are misclassified after {n_passes} passes ({ended}). Where no hyperplane separates "
        f"the classes, as in XOR, no perceptron converges: add features, or fit an SGDClassifier. Else {remedy}."
    )


def _mistake_bound(
    problem: Problem, settings: Settings, start: Iterate, end: Iterate, least_margins: FloatArray
) -> float | None:
    """Novikoff's bound, added over outputs; None where it does not hold.

    After steps of weights s that add up to S, from w0, with u the unit normal of the separator found and margins of at least g:
    u'w0 + S g <= u'w <= |w| <= sqrt(|w0|^2 + max(s) R^2 S), in units of the learning rate. The largest such S is the bound.
    """
    if settings.penalty is not None or settings.loss not in ("perceptron", "sign_error") or not (least_margins > 0).all():
        return None
    weights = np.ones(len(problem.y)) if problem.weights is None else problem.weights.astype(np.float64)
    squared = (
        problem.X.multiply(problem.X).sum(axis=1) if sp.issparse(problem.X) else np.einsum("ij,ij->i", problem.X, problem.X)
    )
    # An intercept that takes a share of the steps is a coefficient of the constant column sqrt(share).
    share = problem.intercept_share
    radius = float(np.asarray(squared, dtype=np.float64).ravel()[weights > 0].max()) + share * settings.fit_intercept
    total = 0.0
    for output in range(problem.n_outputs):
        normal = np.append(end.coef[output], end.intercept[output] / share**0.5).astype(np.float64)
        origin = np.append(start.coef[output], start.intercept[output] / share**0.5).astype(np.float64) / settings.eta0
        size = float(np.linalg.norm(normal))
        is_own = problem.y == (0 if problem.positives is None else problem.positives[output])
        steps = weights * problem.class_weights[output][is_own.astype(np.intp)]
        least, largest = steps[steps > 0].min(), steps.max() * (2.0 if settings.loss == "sign_error" else 1.0)
        margin, ahead = least_margins[output] / size, normal @ origin / size
        b = largest * radius - 2 * margin * ahead
        furthest = (b + np.sqrt(b * b + 4 * margin**2 * (origin @ origin - ahead**2))) / (2 * margin**2)
        total += max(float(furthest / least), 0.0)  # rounding may leave less than none
    return total
