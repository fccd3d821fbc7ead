"""Descent methods for your own functions: directions, step rules, stochastic optimisers and learning-rate schedules."""

from mercer.optim._directions import ConjugateGradient, GradientDescent, Method, Newton
from mercer.optim._functions import Quadratic
from mercer.optim._minimize import minimize
from mercer.optim._optimizers import SGD, AdaGrad, Adam, Momentum, Nesterov, Optimizer, RMSProp
from mercer.optim._quasi_newton import BFGS, LBFGS, Broyden
from mercer.optim._schedules import ConstantRate, CosineDecay, ExponentialDecay, InverseDecay, Schedule, StepDecay
from mercer.optim._steps import ArmijoStep, ConstantStep, DecreasingStep, OptimalStep, StepRule, WolfeStep
from mercer.optim._stochastic import sgd_minimize
from mercer.optim._trace import Iteration, Trace

__all__ = [  # noqa: RUF022  # in the order of sorted()
    "AdaGrad",
    "Adam",
    "ArmijoStep",
    "BFGS",
    "Broyden",
    "ConjugateGradient",
    "ConstantRate",
    "ConstantStep",
    "CosineDecay",
    "DecreasingStep",
    "ExponentialDecay",
    "GradientDescent",
    "InverseDecay",
    "Iteration",
    "LBFGS",
    "Method",
    "Momentum",
    "Nesterov",
    "Newton",
    "OptimalStep",
    "Optimizer",
    "Quadratic",
    "RMSProp",
    "SGD",
    "Schedule",
    "StepDecay",
    "StepRule",
    "Trace",
    "WolfeStep",
    "minimize",
    "sgd_minimize",
]
