"""What the parameters of networks may be, and the settings of a fit that they stand for."""

from __future__ import annotations

import math
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np

from mercer._parallel import effective_threads
from mercer._params import (
    ArrayLike,
    Bool,
    Function,
    Having,
    Infinity,
    Instance,
    Integer,
    InvalidParameterError,
    Null,
    NumberOfJobs,
    OneOf,
    RandomState,
    Real,
    Rule,
    Verbosity,
    check_value,
    check_values,
)
from mercer.neural_network._network import ACTIVATIONS
from mercer.neural_network._training import NATIVE_NAMES, Settings
from mercer.optim import (
    SGD,
    AdaGrad,
    Adam,
    CosineDecay,
    ExponentialDecay,
    InverseDecay,
    Momentum,
    Nesterov,
    Optimizer,
    RMSProp,
    Schedule,
    StepDecay,
)

OPTIMIZERS: dict[str, type[Optimizer]] = {"momentum": Momentum, "nesterov": Nesterov, "adagrad": AdaGrad, "rmsprop": RMSProp}
# The cosine spans the whole run.
SCHEDULES: dict[str, Callable[[int], Schedule]] = {
    "inverse": lambda n_epochs: InverseDecay(),
    "step": lambda n_epochs: StepDecay(),
    "exponential": lambda n_epochs: ExponentialDecay(),
    "cosine": CosineDecay,
}

TRAINING_RULES: dict[str, Rule] = {
    "solver": OneOf("adam", "sgd", *OPTIMIZERS) | Instance(Optimizer),
    "alpha": Real(least=0),
    "batch_size": Integer(1) | OneOf("auto"),
    "learning_rate": OneOf("constant", "invscaling", "adaptive", *SCHEDULES) | Function(),
    "learning_rate_init": Real(above=0),
    "power_t": Real(least=0),
    "max_iter": Integer(1),
    "shuffle": Bool(),
    "random_state": RandomState(),
    "tol": Real(least=0),
    "verbose": Verbosity(),
    "momentum": Real(least=0, most=1),
    "nesterovs_momentum": Bool(),
    "beta_1": Real(least=0, below=1),
    "beta_2": Real(least=0, below=1),
    "epsilon": Real(above=0),
    "n_iter_no_change": Integer(1) | Infinity(),
    "clip_norm": Real(above=0) | Null(),
    "decoupled_decay": Bool(),
    "n_jobs": NumberOfJobs(),
}

MLP_RULES: dict[str, Rule] = {
    **TRAINING_RULES,
    "solver": OneOf("lbfgs") | TRAINING_RULES["solver"],
    "hidden_layer_sizes": Integer(1) | ArrayLike(),
    "activation": OneOf(*ACTIVATIONS) | ArrayLike(),
    "warm_start": Bool(),
    "early_stopping": Bool(),
    "validation_fraction": Real(least=0, below=1),
    "max_fun": Integer(1),
    "dropout": Real(least=0, below=1) | ArrayLike(),
    "init": OneOf("glorot", "he", "orthogonal") | ArrayLike(),
    "masks": ArrayLike() | Null(),
    "skip_connections": ArrayLike() | Null(),
    "pretrain": Having("transform") | Null(),
}


def optimizer_of(params: SimpleNamespace) -> Optimizer:
    """The optimiser that the parameters name; "sgd" is scikit-learn's, with momentum."""
    solver = params.solver
    if isinstance(solver, Optimizer):
        if type(solver) not in NATIVE_NAMES:
            raise InvalidParameterError(f"solver={solver!r} is not valid; it must be an optimiser of mercer.optim itself.")
        return solver
    if solver == "adam":
        return Adam(params.beta_1, params.beta_2, params.epsilon)
    if solver == "sgd":
        if params.momentum == 0:
            return SGD()
        if params.momentum == 1:
            raise InvalidParameterError(
                "momentum=1.0 is not valid with solver='sgd': steps would grow for ever; it must be < 1."
            )
        return (Nesterov if params.nesterovs_momentum else Momentum)(params.momentum)
    return OPTIMIZERS[solver]()


def settings_of(params: SimpleNamespace) -> Settings:
    """The settings of stochastic descent, from checked parameters."""
    schedule = params.learning_rate
    if schedule in SCHEDULES:
        schedule = SCHEDULES[schedule](params.max_iter)
    return Settings(
        optimizer=SGD() if params.solver == "lbfgs" else optimizer_of(params),
        rate=params.learning_rate_init,
        schedule=schedule,
        power_t=params.power_t,
        batch_size=params.batch_size,
        max_iter=params.max_iter,
        tol=params.tol,
        n_iter_no_change=params.n_iter_no_change,
        shuffle=params.shuffle,
        longest=math.inf if params.clip_norm is None else params.clip_norm,
        verbose=params.verbose,
        n_threads=effective_threads(params.n_jobs),
        has_adam_hat=params.solver == "adam",
    )


def checked_sizes(owner: str, sizes: Any) -> list[int]:
    """The units of the hidden layers; an integer is one layer, an empty list none."""
    if isinstance(sizes, (int, np.integer)):
        sizes = [sizes]
    return [check_value(owner, f"hidden_layer_sizes[{k}]", size, Integer(1)) for k, size in enumerate(sizes)]


def of_layers(owner: str, name: str, value: Any, rule: Rule, n_layers: int) -> list[Any]:
    """A value for each hidden layer, from one or from as many."""
    if isinstance(value, str) or np.ndim(value) == 0:
        return [value] * n_layers
    values = check_values(owner, name, value, rule) if len(value) else []
    if len(values) != n_layers:
        raise InvalidParameterError(
            f"{owner}: {name}={value!r} is not valid for {n_layers} hidden layers; it must be one value, or one a layer."
        )
    return values


def check_layers(owner: str, params: SimpleNamespace) -> None:
    """Make what is said of the hidden layers a list with a value for each of them."""
    params.hidden_layer_sizes = checked_sizes(owner, params.hidden_layer_sizes)
    n_hidden = len(params.hidden_layer_sizes)
    params.activation = of_layers(owner, "activation", params.activation, OneOf(*ACTIVATIONS), n_hidden)
    if "heaviside" in params.activation:
        raise InvalidParameterError(
            f"{owner}: activation='heaviside' is not valid for training: its slope is zero everywhere, so that no gradient "
            "passes. It must be another of "
            f"{', '.join(map(repr, ACTIVATIONS[:-1]))}; mercer.neural_network.network builds such networks by hand."
        )
    params.dropout = of_layers(owner, "dropout", params.dropout, Real(least=0, below=1), n_hidden)
