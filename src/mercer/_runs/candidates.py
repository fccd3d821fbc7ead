"""Which models to try: all of Mercer's that can learn the task, found by looking, so that new ones take part by themselves."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, is_classifier, is_regressor
from sklearn.utils import get_tags

from mercer._base import MercerEstimator
from mercer._discovery import public_estimators
from mercer._runs.errors import RunError
from mercer._runs.looks import rounds_parameter
from mercer._runs.portfolio import OUTLOOKS, Outlook, outlook_of
from mercer._runs.problem import Problem
from mercer._runs.settings import Settings
from mercer._tuning import Space
from mercer._weighted import takes_weights
from mercer.calibration import CalibratedClassifierCV

HELD = "estimator__"  # before the parameters of a model that another one holds


@dataclass(frozen=True)
class Candidate:
    """A model as it comes, its defaults wherever they do, and what to expect of it."""

    name: str
    estimator: Any
    outlook: Outlook = field(default_factory=Outlook)
    resampler: Any = None  # of the rows that it is fitted to, and of no others

    @property
    def space(self) -> Mapping[str, Space]:
        """What is worth searching."""
        return self.outlook.space or {}

    @property
    def rounds(self) -> str | None:
        """The parameter that its fits find out by themselves."""
        return None if self.resampler is not None else rounds_parameter(self.estimator)


@dataclass(frozen=True)
class Skipped:
    """A model that is not tried, and why."""

    name: str
    reason: str


def find_candidates(problem: Problem, settings: Settings) -> tuple[list[Candidate], list[Skipped]]:
    """The models that can learn this task, and those that are passed over."""
    chosen, skipped = [], []
    for name, cls in of_task(problem.task).items():
        reason = _refusal(name, cls, settings) or _misfit(cls, problem)
        if reason is None:
            estimator = cls(**cls._candidate_params)
            if "random_state" in estimator.get_params(deep=False):
                estimator.set_params(random_state=settings.seed)
            if problem.weights is not None and not takes_weights(estimator):
                skipped.append(Skipped(name, "it learns from no weights of rows, which --weights asks for"))
                continue
            outlook = outlook_of(name, cls, problem, settings.seconds / 60)
            if problem.classes is not None and not hasattr(estimator, "predict_proba"):
                estimator, outlook = _calibrated(estimator), _inside(outlook)
            chosen.append(Candidate(name, estimator, outlook))
        else:
            skipped.append(Skipped(name, reason))
    if not chosen:
        raise RunError(f"no model is left to try for {problem.task}. `mercer models` lists them.")
    return sorted(chosen, key=lambda one: (one.outlook.tier, _place(one.name))), skipped


def _place(name: str) -> int:
    """Where a model stands among those of its tier: in the order in which they are written down, and then by the alphabet."""
    return list(OUTLOOKS).index(name) if name in OUTLOOKS else len(OUTLOOKS)


def _calibrated(estimator: Any) -> Any:
    """A classifier without probabilities, with some that are fitted to its scores out of fold."""
    return CalibratedClassifierCV(estimator, method="sigmoid", cv=3, ensemble=False)


def _inside(outlook: Outlook) -> Outlook:
    """The same for a model that another one holds."""

    def named(params: Mapping[str, Any]) -> dict[str, Any]:
        return {f"{HELD}{name}": value for name, value in params.items()}

    settings = tuple(named(one) for one in outlook.settings)
    return replace(outlook, settings=settings, space=named(outlook.space or {}), fixed=named(outlook.fixed))


def of_task(task: str) -> dict[str, type[MercerEstimator]]:
    """Mercer's classes for classification or regression, by short name."""
    is_kind = is_classifier if task == "classification" else is_regressor
    found: dict[str, type[MercerEstimator]] = {}
    for full, cls in sorted(public_estimators().items()):
        if is_kind(_bare(cls)):
            found[full.rpartition(".")[2]] = cls
    return found


def _required(cls: type) -> list[str]:
    """The parameters without a default."""
    return [
        name
        for name, parameter in inspect.signature(cls).parameters.items()
        if parameter.default is inspect.Parameter.empty and parameter.kind is not inspect.Parameter.VAR_KEYWORD
    ]


def _bare(cls: type) -> Any:
    """An instance to ask for its tags; what its parameters are does not matter, but that a model is one, of no kind."""
    return cls(**{name: BaseEstimator() if name == "estimator" else [] for name in _required(cls)})


def _refusal(name: str, cls: type[MercerEstimator], settings: Settings) -> str | None:
    """Why a class is not a candidate in its own right, or not asked for."""
    is_wrapper = cls._search_space is None and "estimator" in inspect.signature(cls).parameters
    if is_wrapper or _required(cls):
        return "made of other models; the best ones are blended at the end"
    if cls._no_candidate is not None and not _is_named(name, settings.models):
        return cls._no_candidate
    if name.endswith("CV"):
        return "a search of its own; the model without CV is tuned here"
    if settings.models and not _is_named(name, settings.models):
        return "not named by --models"
    if _is_named(name, settings.exclude):
        return "named by --exclude"
    return None


def _is_named(name: str, names: Sequence[str]) -> bool:
    return any(given.lower() in (name.lower(), _short(name)) for given in names)


def _short(name: str) -> str:
    return name.lower().removesuffix("classifier").removesuffix("regressor").removesuffix("regression")


def check_names(settings: Settings, task: str) -> None:
    """Refuse a name in --models or --exclude that no model has."""
    known = of_task(task)
    for flag, names in (("--models", settings.models), ("--exclude", settings.exclude)):
        for given in names:
            if not any(_is_named(name, [given]) for name in known):
                raise RunError(f"{flag} {given}: there is no such model for {task}. `mercer models` lists them.")


def _misfit(cls: Any, problem: Problem) -> str | None:
    """Why a class cannot learn this task, as far as its tags tell."""
    tags = get_tags(cls())
    if not tags.target_tags.single_output:
        return "it is for several targets at once"
    if problem.kind == "multiclass" and not tags.classifier_tags.multi_class:
        return "it is for two classes"
    if tags.target_tags.positive_only and np.min(problem.y) <= 0:
        return "its target must be positive"
    return None
