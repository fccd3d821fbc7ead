"""Models as they learn from a table: the preparation of its columns, then the estimator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sklearn.base import clone
from sklearn.pipeline import Pipeline

from mercer._runs.settings import RunSettings
from mercer.ensemble import VotingClassifier, VotingRegressor
from mercer.pipeline import Pipeline as ResamplingPipeline
from mercer.preprocessing import ColumnReport, TablePreparer, prepare_pipeline

PREPARER, RESAMPLER, ESTIMATOR = "preparer", "resampler", "estimator"


class Pipelines:
    """Makes pipelines for one table; how its columns are prepared is decided once for each estimator, on the training rows."""

    def __init__(self, X: Any, settings: RunSettings) -> None:
        self._X = X
        keys = [name for name, kind in settings.kinds.items() if kind == "identifier" and name in X.columns]
        self._columns: dict[str, Any] = {  # what the user says of them
            "kinds": {name: kind for name, kind in settings.kinds.items() if name not in keys} or None,
            "drop": keys or None,
        }
        self._made: dict[str, Pipeline] = {}

    def make(self, name: str, estimator: Any, params: Mapping[str, Any] | None = None, resampler: Any = None) -> Pipeline:
        """A new pipeline, not fitted. `params` are those of the estimator; `resampler` changes what it is fitted to."""
        if name not in self._made:
            made = prepare_pipeline(estimator, self._X, **self._columns)
            if resampler is not None:
                preparer, last = made.steps
                made = ResamplingPipeline([preparer, (RESAMPLER, resampler), last])
            self._made[name] = made
        pipeline = clone(self._made[name])
        pipeline.named_steps[ESTIMATOR].set_params(**(params or {}))
        return pipeline

    def report(self, estimator: Any) -> list[ColumnReport]:
        """What is made of each column for an estimator, and why."""
        report: list[ColumnReport] = TablePreparer(estimator, **self._columns).fit(self._X).report_
        return report


def make_blend(members: Sequence[tuple[str, Pipeline]], counts: Sequence[int], *, is_classifier: bool) -> Any:
    """A weighted average of pipelines."""
    weights = [count / sum(counts) for count in counts]
    if is_classifier:
        return VotingClassifier(list(members), voting="soft", weights=weights)
    return VotingRegressor(list(members), weights=weights)


def first_pipeline(model: Any) -> Pipeline:
    """The model itself, or the first member of a blend."""
    return model if isinstance(model, Pipeline) else model.estimators_[0]


def model_name(model: Any) -> str:
    """The name of the last step, or that it is a blend."""
    return type(model.steps[-1][1]).__name__ if isinstance(model, Pipeline) else "Blend"


def certificate_of(model: Any) -> str | None:
    """What the fit of the last step says that it reached."""
    last = model.steps[-1][1] if isinstance(model, Pipeline) else None
    found = getattr(last, "certificate_", None)
    return None if found is None else str(found)
