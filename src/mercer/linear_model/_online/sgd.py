"""What classification and regression by stochastic gradient descent share: parameters and their meaning."""

from __future__ import annotations

from types import SimpleNamespace

from mercer._parallel import effective_threads
from mercer._params import Bool, Integer, Interval, Null, OneOf, Real, Rule
from mercer.linear_model._online.classifier import OnlineClassifier
from mercer.linear_model._online.fit import SHARED_RULES, OnlineLearner
from mercer.linear_model._online.stochastic import ALIASES, Settings

SGD_RULES: dict[str, Rule] = {
    **SHARED_RULES,
    "penalty": OneOf("l2", "l1", "elasticnet", "lp", "box") | Null(),
    "alpha": Real(least=0),
    "l1_ratio": Real(least=0, most=1) | Null(),
    "epsilon": Real(least=0),
    "learning_rate": OneOf("constant", "optimal", "invscaling", "adaptive", "pa1", "pa2"),
    "eta0": Real(above=0),
    "power_t": Real(),
    "average": Bool() | Integer(1),
    "quantile": Real(least=0, most=1),
    "bounds": Interval() | Null(),
    "p": Real(above=0, most=1),
}


def sgd_settings(model: OnlineLearner, params: SimpleNamespace, n_jobs: int | None) -> Settings:
    """The settings of either class, with the pairs of parameters that do not go together refused."""
    owner = type(model).__name__
    if params.learning_rate in ("pa1", "pa2"):
        wanted = "hinge" if isinstance(model, OnlineClassifier) else "epsilon_insensitive"
        if params.loss != wanted:
            raise ValueError(
                f"{owner}: loss={params.loss!r} is not valid with learning_rate={params.learning_rate!r}; it must be "
                f"{wanted!r}."
            )
    if params.penalty == "elasticnet" and params.l1_ratio is None:
        raise ValueError(f"{owner}: l1_ratio=None is not valid with penalty='elasticnet'; it must be a number from 0 to 1.")
    if params.penalty == "box" and params.bounds is None:
        raise ValueError(f"{owner}: bounds=None is not valid with penalty='box'; it must be a pair (low, high).")
    names = (
        "penalty", "alpha", "fit_intercept", "learning_rate", "eta0", "power_t", "shuffle", "max_iter", "tol", "verbose",
        "n_iter_no_change", "early_stopping", "validation_fraction", "random_state", "bounds", "p",
    )  # fmt: skip
    return Settings(
        loss=ALIASES.get(params.loss, params.loss),
        parameter=params.quantile if params.loss in ("pinball", "quantile") else params.epsilon,
        l1_ratio=params.l1_ratio or 0.0,
        average=int(params.average),
        n_threads=effective_threads(n_jobs),
        **{name: getattr(params, name) for name in names},
    )
