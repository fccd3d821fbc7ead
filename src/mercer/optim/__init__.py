"""Descent methods for your own functions, numerical derivatives and tests of convexity."""

from mercer.optim._calculus import Derivative, GradientCheck, check_gradient, gradient, hessian, jacobian
from mercer.optim._convexity import (
    ConvexityTest,
    Counterexample,
    CriticalPoint,
    StrongConvexity,
    classify_critical_point,
    is_convex,
    strong_convexity,
)
from mercer.optim._coordinate import CoordinateDescent
from mercer.optim._directions import ConjugateGradient, GradientDescent, Method, Newton
from mercer.optim._functions import Quadratic
from mercer.optim._minimize import minimize
from mercer.optim._norms import dual_norm, norm
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
    "ConvexityTest",
    "CoordinateDescent",
    "CosineDecay",
    "Counterexample",
    "CriticalPoint",
    "DecreasingStep",
    "Derivative",
    "ExponentialDecay",
    "GradientCheck",
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
    "StrongConvexity",
    "Trace",
    "WolfeStep",
    "check_gradient",
    "classify_critical_point",
    "dual_norm",
    "gradient",
    "hessian",
    "is_convex",
    "jacobian",
    "minimize",
    "norm",
    "sgd_minimize",
    "strong_convexity",
]
