"""`Pipeline`: scikit-learn's, whose steps may resample. Rows are resampled while it is fitted, and never when it predicts."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Self

from sklearn import get_config
from sklearn.base import MetaEstimatorMixin, clone
from sklearn.pipeline import Pipeline as PlainPipeline, make_pipeline as make_plain_pipeline
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_memory

from mercer._base import FitTask, fit_method

_FITS = ("fit", "fit_transform", "fit_predict", "fit_resample")
_WIDTH = 70  # of a line that says how long a step took, as scikit-learn's are


def is_resampler(step: Any) -> bool:
    return hasattr(step, "fit_resample")


def resamples(step: Any) -> bool:
    """Whether a step resamples, or is a pipeline one of whose steps does."""
    return is_resampler(step) or (isinstance(step, PlainPipeline) and any(resamples(part) for _, part in step.steps))


def is_idle(step: Any) -> bool:
    """Whether a step passes rows on as they are."""
    return step is None or (isinstance(step, str) and step == "passthrough")


def _last_has(*methods: str) -> Any:
    """Whether the last step of a pipeline has one of some methods, for `available_if`; an idle one transforms and resamples."""

    def check(self: Any) -> bool:
        step = self.steps[-1][1]
        if not any(hasattr(step, method) for method in methods) and not (is_idle(step) and methods != ("fit_predict",)):
            getattr(step, methods[-1])  # the step's own error
        return True

    return check


class Pipeline(MetaEstimatorMixin, PlainPipeline):  # type: ignore[misc]  # scikit-learn has no types
    """A sequence of steps: transformers, resamplers, and a last one that learns.

    A resampler is a step with `fit_resample`. When the pipeline is fitted, the steps after it see the rows and the classes that
    it gives; when it predicts, transforms or scores, resamplers are passed over. In a cross-validation or a search, rows of a
    test fold are therefore never resampled. A pipeline without resamplers is scikit-learn's in every respect.

    Parameters
    ----------
    steps : list of (str, estimator) pairs
        In the order in which they are fitted. All but the last are transformers (`fit` and `transform`), resamplers
        (`fit_resample`), None or "passthrough".
    transform_input : list of str, default=None
        The names of metadata that are transformed by the steps before the one that takes them; needs metadata routing.
    memory : str or object with `cache`, default=None
        Where fitted transformers and resamplers are cached. With a cache, steps are cloned before they are fitted.
    verbose : bool, default=False
        Whether the time of each step is printed.

    Attributes
    ----------
    named_steps : Bunch
        The steps by name.
    classes_ : ndarray of shape (n_classes,)
        Those of the last step.
    n_features_in_ : int
        That of the first step.
    feature_names_in_ : ndarray of shape (n_features_in_,)

    Notes
    -----
    Metadata of a resampler go to its `fit_resample`: by name (`smote__parameter`), or, with metadata routing, what it asks for
    its `fit` (its `fit_resample`, once imbalanced-learn is imported). A weight for each row given to `fit` cannot follow
    the rows through a resampler.

    References
    ----------
    L. Buitinck et al.: API design for machine learning software: experiences from the scikit-learn project. ECML PKDD workshop
    on languages for data mining and machine learning (2013).

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.linear_model import LogisticRegression
    >>> from mercer.over_sampling import SMOTE
    >>> from mercer.pipeline import Pipeline
    >>> from mercer.preprocessing import StandardScaler
    >>> random = np.random.RandomState(0)
    >>> X = np.concatenate([random.randn(190, 2), random.randn(10, 2) + 1.5])
    >>> y = np.repeat([0, 1], [190, 10])
    >>> model = Pipeline([("scale", StandardScaler()), ("smote", SMOTE(random_state=0)), ("learn", LogisticRegression())])
    >>> int(model.fit(X, y).predict(X).sum())  # without SMOTE: 2
    46
    """

    steps: list[tuple[str, Any]]

    # ---- fits

    def fit(self, X: Any, y: Any = None, **params: Any) -> Self:
        """Fit all steps one after the other.

        Parameters
        ----------
        X : iterable
            As the first step takes it.
        y : iterable, default=None
        **params
            Metadata of the steps: `step__parameter`, or what steps ask for where metadata routing is enabled.

        Returns
        -------
        self : Pipeline
        """
        if not self._has_resamplers():
            return super().fit(X, y, **params)  # type: ignore[no-any-return]
        self._fit_by("fit", X, y, params)
        return self

    @available_if(_last_has("transform", "fit_transform"))  # type: ignore[untyped-decorator]
    def fit_transform(self, X: Any, y: Any = None, **params: Any) -> Any:
        """Fit all steps; the rows that they were fitted to, resampled, as the last step transforms them.

        Parameters
        ----------
        X, y, **params
            As in `fit`.

        Returns
        -------
        X_transformed : array of shape (n_resampled, n_transformed_features)
        """
        if not self._has_resamplers():
            return super().fit_transform(X, y, **params)
        return self._fit_by("fit_transform", X, y, params)

    @available_if(_last_has("fit_predict"))  # type: ignore[untyped-decorator]
    def fit_predict(self, X: Any, y: Any = None, **params: Any) -> Any:
        """Fit all steps; what the last one predicts for the rows that it was fitted to, resampled.

        Parameters
        ----------
        X, y, **params
            As in `fit`.

        Returns
        -------
        y_pred : array of shape (n_resampled,)
        """
        if not self._has_resamplers():
            return super().fit_predict(X, y, **params)
        return self._fit_by("fit_predict", X, y, params)

    @available_if(_last_has("fit_resample"))  # type: ignore[untyped-decorator]
    def fit_resample(self, X: Any, y: Any = None, **params: Any) -> tuple[Any, Any]:
        """Fit all steps, the last of which is a resampler: the rows and the classes that it gives.

        Parameters
        ----------
        X, y, **params
            As in `fit`.

        Returns
        -------
        X_resampled : array of shape (n_resampled, n_transformed_features)
        y_resampled : array of shape (n_resampled,)
        """
        resampled: tuple[Any, Any] = self._fit_by("fit_resample", X, y, params)
        return resampled

    @fit_method
    def _fit_by(self, method: str, X: Any, y: Any, params: Mapping[str, Any]) -> Any:
        """Fit all steps, rows resampled on the way; what the method of the last step returns."""
        self._validate_params()
        self.steps = list(self.steps)
        self._check_steps()
        if self.transform_input is not None and not get_config()["enable_metadata_routing"]:
            raise ValueError(
                "The `transform_input` parameter can only be set if metadata routing is enabled. You can enable metadata "
                "routing using `sklearn.set_config(enable_metadata_routing=True)`."
            )
        routed = self._route(method, params)
        memory, task = check_memory(self.memory), FitTask.start(self, X, y, n_subtasks=len(self.steps))
        is_cached = getattr(memory, "location", "somewhere") is not None
        fit_step = memory.cache(_fit_step, ignore=["task"]) if task.is_watched else memory.cache(_fit_step)
        for place, (name, step) in enumerate(self.steps[:-1]):
            subtask = task.subtask(f"fit-{'resample' if is_resampler(step) else 'transform'}-{name}")
            if not is_idle(step):
                metadata = self._metadata(place, routed[name], params)
                given = clone(step) if is_cached else step
                X, y, fitted = fit_step(given, X, y, metadata, self._line(place), subtask if task.is_watched else None)
                self.steps[place] = (name, fitted)
            subtask.end()
        subtask = task.subtask("fit-final-estimator")
        result = self._fit_last(method, X, y, routed, params, subtask)
        subtask.end()
        task.end()
        return result

    def _fit_last(self, method: str, X: Any, y: Any, routed: Any, params: Mapping[str, Any], task: FitTask) -> Any:
        place, (name, step) = len(self.steps) - 1, self.steps[-1]
        with _announced(self._line(place)), task.handed_to(step):
            if is_idle(step):
                return (X, y) if method == "fit_resample" else X
            metadata = self._metadata(place, routed[name], params)
            if method == "fit_transform":
                return _fit_transform(step, X, y, metadata)
            return getattr(step, method)(X, y, **metadata.get(method, {}))

    # ---- steps

    def _has_resamplers(self) -> bool:
        try:
            return any(resamples(step) for _, step in self.steps[:-1]) or is_resampler(self.steps[-1][1])
        except (IndexError, TypeError, ValueError):  # empty or not pairs, of which scikit-learn's pipeline tells
            return False

    def _iter(self, with_final: bool = True, filter_passthrough: bool = True) -> Iterator[tuple[int, str, Any]]:
        """The steps that rows to predict go through: resamplers are not among them."""
        for place, name, step in super()._iter(with_final, filter_passthrough):
            if not is_resampler(step):
                yield place, name, step

    def _check_steps(self) -> None:
        names, steps = zip(*self.steps, strict=True)
        self._validate_names(names)
        for name, step in self.steps[:-1]:
            is_transformer = (hasattr(step, "fit") or hasattr(step, "fit_transform")) and hasattr(step, "transform")
            if isinstance(step, PlainPipeline) and resamples(step):
                raise TypeError(
                    f"Pipeline: step {name!r} is a pipeline that resamples; all intermediate steps should not be Pipelines of "
                    "that kind, as its transformers would be passed over with it. Give its steps in its place."
                )
            if is_resampler(step) and is_transformer:
                raise TypeError(
                    f"Pipeline: All intermediate steps of the chain should be estimators that implement fit and transform or "
                    f"fit_resample. {name!r}: '{step}' implements both)"
                )
            if not (is_resampler(step) or is_transformer or is_idle(step)):
                raise TypeError(
                    f"Pipeline: All intermediate steps of the chain should be estimators that implement fit and transform or "
                    f"fit_resample (but not both) or be a string 'passthrough'. {name!r}: '{step}' (type {type(step)}) doesn't)"
                )
        if not is_idle(steps[-1]) and not hasattr(steps[-1], "fit"):
            raise TypeError(
                f"Pipeline: Last step of Pipeline should implement fit or be the string 'passthrough'. '{steps[-1]}' "
                f"(type {type(steps[-1])}) doesn't"
            )

    def _line(self, place: int) -> str | None:
        """What is printed of a step, if anything is."""
        name, _ = self.steps[place]
        return f"(step {place + 1} of {len(self.steps)}) Processing {name}" if self.verbose else None

    # ---- metadata

    def _route(self, method: str, params: Mapping[str, Any]) -> Any:
        """The metadata of each step by the method that takes them."""
        if get_config()["enable_metadata_routing"]:
            return process_routing(self, method if method != "fit_resample" else "fit", **params)
        routed: dict[str, dict[str, dict[str, Any]]] = {name: {fit: {} for fit in _FITS} for name, _ in self.steps}
        for full, value in params.items():
            name, _, parameter = full.partition("__")
            if not parameter or name not in routed:
                raise ValueError(
                    f"Pipeline.fit does not accept the {full} parameter. You can pass parameters to specific steps of your "
                    "pipeline using the stepname__parameter format, e.g. "
                    "`Pipeline.fit(X, y, logisticregression__sample_weight=sample_weight)`."
                )
            for fit in _FITS:
                routed[name][fit][parameter] = value
        return routed

    def _metadata(self, place: int, routed: Any, params: Mapping[str, Any]) -> Any:
        """Those of one step; what `transform_input` names is transformed as rows to predict are."""
        if self.transform_input is None:
            return routed
        before = [(name, step) for name, step in self.steps[:place] if not is_resampler(step)]
        plain = PlainPipeline([*before, self.steps[place]], transform_input=self.transform_input)
        return plain._get_metadata_for_step(step_idx=len(before), step_params=routed, all_params=params)

    def get_metadata_routing(self) -> MetadataRouter:
        """Which metadata go to which step (scikit-learn's metadata routing)."""
        router = super().get_metadata_routing()
        for name, step in self.steps[:-1]:
            if is_resampler(step):
                mapping = MethodMapping()
                for caller in ("fit", "fit_transform", "fit_predict"):
                    _add_resampling(mapping, caller)
                router.add(method_mapping=mapping, **{name: step})
        return router


def _add_resampling(mapping: MethodMapping, caller: str) -> None:
    """What a resampler asks for `fit_resample`, a method that imbalanced-learn adds to scikit-learn's; else for `fit`."""
    try:
        mapping.add(caller=caller, callee="fit_resample")
    except ValueError:
        mapping.add(caller=caller, callee="fit")


def _fit_step(step: Any, X: Any, y: Any, metadata: Any, line: str | None, task: FitTask | None = None) -> tuple[Any, Any, Any]:
    """The rows and the target as the next step sees them, and the step, fitted."""
    with _announced(line), (task or FitTask(None, None, {})).handed_to(step):
        if is_resampler(step):
            X, y = step.fit_resample(X, y, **(metadata.get("fit_resample") or metadata.get("fit") or {}))
        else:
            X = _fit_transform(step, X, y, metadata)
    return X, y, step


def _fit_transform(step: Any, X: Any, y: Any, metadata: Any) -> Any:
    if hasattr(step, "fit_transform"):
        return step.fit_transform(X, y, **metadata.get("fit_transform", {}))
    return step.fit(X, y, **metadata.get("fit", {})).transform(X, **metadata.get("transform", {}))


@contextmanager
def _announced(line: str | None) -> Iterator[None]:
    """Print how long a step took, in the form of scikit-learn's pipelines; nothing for None."""
    started = time.perf_counter()
    yield
    if line is not None:
        seconds = time.perf_counter() - started
        took = f"{seconds / 60:4.1f}min" if seconds > 60 else f" {seconds:5.1f}s"
        head, tail = "[Pipeline] ", f" {line}, total={took}"
        sys.stdout.write(f"{head}{'.' * (_WIDTH - len(head) - len(tail))}{tail}\n")


def make_pipeline(*steps: Any, memory: Any = None, transform_input: list[str] | None = None, verbose: bool = False) -> Pipeline:
    """A `Pipeline` whose steps are named after their classes.

    Parameters
    ----------
    *steps : estimators
    memory, transform_input, verbose
        As in `Pipeline`.

    Returns
    -------
    Pipeline

    Examples
    --------
    >>> from mercer.linear_model import LogisticRegression
    >>> from mercer.over_sampling import SMOTE
    >>> from mercer.pipeline import make_pipeline
    >>> [name for name, _ in make_pipeline(SMOTE(), LogisticRegression()).steps]
    ['smote', 'logisticregression']
    """
    named = make_plain_pipeline(*steps).steps
    return Pipeline(named, transform_input=transform_input, memory=memory, verbose=verbose)
