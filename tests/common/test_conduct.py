"""How every estimator behaves in company: documentation, certificates, pipelines, data frames, callbacks, logging."""

from __future__ import annotations

import doctest
import inspect
import logging
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone, is_regressor
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Binarizer, MinMaxScaler, StandardScaler
from sklearn.utils import get_tags
from threadpoolctl import threadpool_limits

from mercer._discovery import public_estimators
from mercer._trace import Certificate, Status
from tests.common.cases import (
    ESTIMATORS,
    case_of,
    fitted,
    fitted_fixed,
    fitted_serially,
    fixed,
    is_iterative,
    make,
    make_data,
    make_iterative,
    make_large,
    parameters_of,
)
from tests.common.discovery import public_modules, public_objects
from tests.common.state import assert_same_bits, bits, fitted_attributes, outputs, traces_of_a_fit

try:
    import sklearn.callback as sklearn_callback
except ImportError:
    sklearn_callback = None

every_estimator = pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda cls: cls.__name__)
iterative_estimators = pytest.mark.parametrize(
    "estimator", [cls for cls in ESTIMATORS if is_iterative(cls)], ids=lambda cls: cls.__name__
)
needs_callbacks = pytest.mark.skipif(sklearn_callback is None, reason="this scikit-learn has no sklearn.callback (1.9 has)")
transformers = pytest.mark.parametrize(
    "estimator", [cls for cls in ESTIMATORS if hasattr(cls, "transform")], ids=lambda cls: cls.__name__
)


# ---- documentation


@pytest.mark.parametrize("name", [module.__name__ for module in public_modules()] + list(public_objects()))
def test_the_examples_in_the_docstring_run(name):
    package, _, attribute = name.rpartition(".")
    target = public_objects().get(name) or getattr(__import__(package, fromlist=[attribute]), attribute)
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    report: list[str] = []
    is_module = inspect.ismodule(target)
    for test in doctest.DocTestFinder(recurse=not is_module).find(target, name):
        runner.run(test, out=report.append)
    assert runner.failures == 0, "".join(report)


@every_estimator
def test_the_docstring_has_an_example_and_names_every_parameter_and_attribute(estimator):
    text = inspect.getdoc(estimator)
    assert any(test.examples for test in doctest.DocTestFinder(recurse=False).find(estimator))
    model = fitted(estimator)
    missing = [name for name in [*model.get_params(deep=False), *fitted_attributes(model)] if name not in text]
    assert not missing
    for section in ("Parameters\n", "Attributes\n", "Notes\n", "Examples\n"):
        assert section in text, section


# ---- certificates and history


@every_estimator
def test_iterative_fits_and_regressors_have_a_certificate_that_can_be_read(estimator):
    model = fitted(estimator)
    if not hasattr(model, "certificate_"):
        assert not is_iterative(estimator)
        assert not is_regressor(model) or case_of(estimator).is_lazy
        return
    certificate = model.certificate_
    assert isinstance(certificate, Certificate)
    assert isinstance(certificate.status, Status)
    text = repr(certificate)
    assert text.startswith("Certificate: ")
    assert certificate.status.value in text
    assert certificate.method in text
    assert certificate.condition in text
    assert "0x" not in text
    assert np.isfinite([certificate.primal or 0.0, certificate.residual, certificate.tol]).all()
    if certificate.converged:
        assert certificate.residual <= certificate.tol


def _n_iter(model):
    """The iterations of the fit; where scikit-learn's `n_iter_` counts those of every fold, the history has the last fit's.

    Where it counts steps, of which an iteration takes many, the history has the iterations.
    """
    if case_of(type(model)).counts_steps:
        return len(model.history_)
    return int(np.ravel(model.n_iter_)[0]) if np.size(model.n_iter_) == 1 else len(model.history_)


def _untiring(estimator):
    """What keeps a fit from ending before `max_iter`."""
    return {"tol": 0.0} if "tol" in parameters_of(estimator) else {}


@iterative_estimators
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("max_iter", [1, 3, None])
def test_the_history_has_one_record_an_iteration(estimator, max_iter):
    data = make_data(estimator, 1000)
    params = {} if max_iter is None else {"max_iter": max_iter, **_untiring(estimator)}
    model = make_iterative(estimator, **params).fit(*data.args)
    if case_of(estimator).counts_steps:
        assert sum(record["n_steps"] for record in model.history_) == np.sum(model.n_iter_)
        assert max_iter is None or np.max(model.n_iter_) <= max_iter
        assert model.certificate_.status is not Status.MAX_ITER or np.max(model.n_iter_) == model.max_iter
    else:
        n_iter = _n_iter(model)
        assert len(model.history_) == n_iter
        assert max_iter is None or n_iter <= max_iter
        assert model.certificate_.status is not Status.MAX_ITER or n_iter == model.max_iter
    assert all(isinstance(record, dict) and record for record in model.history_)
    assert all(np.isfinite(list(record.values())).all() for record in model.history_)


@every_estimator
def test_a_good_fit_is_silent(estimator, capfd):
    data = make_data(estimator)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        outputs(make(estimator, **case_of(estimator).silent_params).fit(*data.args), data.X)
    assert capfd.readouterr() == ("", "")


@iterative_estimators
def test_a_warning_points_at_the_line_that_called_fit(estimator):
    data = make_data(estimator)
    duplicates = data.with_X(np.ones_like(data.X))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        make_iterative(estimator, max_iter=1, **_untiring(estimator)).fit(*data.args)
        make_iterative(estimator).fit(*duplicates.args)
    for warning in caught:
        assert warning.filename == __file__
        assert str(warning.message).startswith(estimator.__name__)


# ---- company


def _scaler(estimator):
    """One that leaves the estimator values that it takes."""
    if case_of(estimator).of_counts:
        return Binarizer(threshold=1.0)
    return MinMaxScaler(clip=True) if get_tags(make(estimator)).input_tags.positive_only else StandardScaler()


@every_estimator
def test_it_works_in_a_pipeline(estimator):
    data = make_data(estimator, always_y=True)
    if hasattr(estimator, "predict") or not hasattr(estimator, "transform"):
        pipeline = make_pipeline(_scaler(estimator), make(estimator)).fit(data.X, data.y)
        expected = make(estimator).fit(_scaler(estimator).fit_transform(data.X), data.y)
        assert_same_bits(pipeline[-1], expected)
        answer = next((name for name in ("predict", "score_samples") if hasattr(estimator, name)), None)
        if answer is not None:
            assert len(getattr(pipeline, answer)(data.X)) == len(data.X)
        elif hasattr(estimator, "fit_predict"):  # labels the rows of its fit alone
            labels = make_pipeline(_scaler(estimator), make(estimator)).fit_predict(data.X)
            np.testing.assert_array_equal(labels, expected.labels_)
    else:
        pipeline = make_pipeline(make(estimator), Ridge()).fit(data.X, data.y)
        assert_same_bits(pipeline[0], make(estimator).fit(data.X, data.y))
        assert np.isfinite(pipeline.predict(data.X)).all()


def _mean_score(model, X, y=None):
    """For what finds outliers or neighbours, or labels the rows of its fit alone, and has no score of its own."""
    if hasattr(model[-1], "score_samples"):
        return model.score_samples(X).mean()
    if hasattr(model[-1], "kneighbors"):
        return -model[-1].kneighbors(model[:-1].transform(X))[0].mean()
    return clone(model).fit_predict(X).mean()


@every_estimator
def test_it_works_in_a_grid_search_with_two_processes(estimator):
    data = make_data(estimator, always_y=True)
    is_last = not hasattr(estimator, "transform") or hasattr(estimator, "score")
    scoring = None if hasattr(estimator, "score") or not is_last else _mean_score
    pipeline = make_pipeline(_scaler(estimator), make(estimator)) if is_last else make_pipeline(make(estimator), Ridge())
    grid = {f"{estimator.__name__.lower()}__{name}": values for name, values in case_of(estimator).grid.items()}
    parallel = GridSearchCV(pipeline, grid, cv=2, n_jobs=2, scoring=scoring).fit(data.X, data.y)
    with threadpool_limits(1, user_api="blas"):  # as in each of two processes: the scorer and Ridge are scikit-learn's
        serial = GridSearchCV(clone(pipeline), grid, cv=2, n_jobs=1, scoring=scoring).fit(data.X, data.y)
    np.testing.assert_array_equal(parallel.cv_results_["mean_test_score"], serial.cv_results_["mean_test_score"])
    assert np.isfinite(parallel.cv_results_["mean_test_score"]).all()


@every_estimator
@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_data_frame_is_as_good_as_an_array(estimator, library, dtype):
    frames = pytest.importorskip(library)
    data = make_data(estimator, dtype=dtype)
    names = [f"column {j}" for j in range(data.X.shape[1])]
    frame = frames.DataFrame({name: data.X[:, j] for j, name in enumerate(names)})
    y = data.y if data.y is None or library == "polars" else (frames.Series if data.y.ndim == 1 else frames.DataFrame)(data.y)
    model = fixed(estimator, data.X).fit(*data.with_X(frame).args[:1], *(() if y is None else (y,)))
    expected = fitted_fixed(estimator, dtype)
    assert list(model.feature_names_in_) == names
    for name, value in outputs(expected, data.X).items():
        other = np.asarray(outputs(model, frame)[name])
        if value.dtype.kind == "f":
            np.testing.assert_allclose(value, other, rtol=1e-4 if dtype == np.float32 else 1e-9, atol=1e-4)
        else:
            np.testing.assert_array_equal(value, other)
        with pytest.raises(ValueError, match="feature names"):
            getattr(model, name)(
                frame.rename(columns={names[0]: "other"}) if library == "pandas" else frame.rename({names[0]: "o"})
            )


@transformers
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_set_output_gives_frames_with_names(estimator, library):
    frames = pytest.importorskip(library)
    data = make_data(estimator)
    plain = fitted(estimator)
    if sp.issparse(plain.transform(data.X)):
        pytest.skip("gives sparse matrices, which no frame holds")
    model = make(estimator).set_output(transform=library).fit(*data.args)
    frame = model.transform(data.X)
    assert isinstance(frame, frames.DataFrame)
    assert list(frame.columns) == list(model.get_feature_names_out())
    np.testing.assert_array_equal(frame.to_numpy(), plain.transform(data.X))


@transformers
def test_fit_transform_is_fit_and_transform(estimator):
    data = make_data(estimator)
    one, other = make(estimator), make(estimator)
    assert bits(one.fit_transform(*data.args)) == bits(other.fit(*data.args).transform(data.X))
    assert_same_bits(one, other)


@every_estimator
@pytest.mark.parametrize("n_jobs", [2, *(pytest.param(n_jobs, marks=pytest.mark.slow) for n_jobs in (1, -1, 64))])
def test_n_jobs_changes_no_bit(estimator, n_jobs):
    if "n_jobs" not in parameters_of(estimator):
        pytest.skip("has no n_jobs")
    model = make(estimator, n_jobs=n_jobs).fit(*make_large(estimator).args)
    assert_same_bits(model, fitted_serially(estimator))


# ---- callbacks


class Recorder:
    """Writes down what a fit tells its callbacks; `stop_at` names the task whose end asks to stop."""

    def __init__(self, stop_at=None, fail_at=None, wants_estimator=False):
        self.stop_at, self.fail_at = stop_at, fail_at
        self.events = []
        self.fitted = []
        if wants_estimator:
            self.on_fit_task_end = self._end_with_estimator

    def setup(self, estimator, context):
        self.events.append(("setup", context.task_name, id(context)))

    def teardown(self, estimator, context):
        self.events.append(("teardown", context.task_name, id(context)))

    def on_fit_task_begin(self, estimator, context, *, X=None):
        assert X is not None
        self.contexts = [*getattr(self, "contexts", []), context]  # keeps each alive, so that no id comes twice
        self.events.append(("begin", context.task_name, id(context)))

    def on_fit_task_end(self, estimator, context):
        self.events.append(("end", context.task_name, id(context)))
        if context.task_name == self.fail_at:
            raise ZeroDivisionError("from the callback")
        return context.task_name == self.stop_at

    def _end_with_estimator(self, estimator, context, *, fitted_estimator=None):
        self.fitted.append((context.task_name, fitted_estimator))
        return False

    def of(self, kind):
        return [event[1:] for event in self.events if event[0] == kind]


def _leaf_task(estimator, data):
    """The name of the task that is one iteration."""
    recorder = Recorder()
    make_iterative(estimator).set_callbacks(recorder).fit(*data.args)
    parents = {id(context.parent) for context in recorder.contexts}
    leaves = [context.task_name for context in recorder.contexts if id(context) not in parents]
    return "iteration" if "iteration" in leaves else leaves[0]  # an ensemble has tasks for its members too


@every_estimator
@needs_callbacks
def test_callbacks_see_the_begin_and_the_end_of_every_task(estimator):
    data = make_data(estimator)
    recorder = Recorder()
    watched = make(estimator).set_callbacks(recorder).fit(*data.args)
    assert recorder.events[0][0] == "setup"
    assert recorder.events[-1][0] == "teardown"
    assert recorder.of("begin")[0][0] == "fit"
    open_tasks = []
    for kind, *task in recorder.events[1:-1]:
        if kind == "begin":
            open_tasks.append(task)
        else:
            assert open_tasks.pop() == task  # tasks nest
    assert not open_tasks
    if hasattr(watched, "history_"):
        leaf = _leaf_task(estimator, data)
        assert sum(name == leaf for name, _ in recorder.of("end")) >= _n_iter(watched)


@every_estimator
@needs_callbacks
def test_a_watched_fit_gives_the_same_bits(estimator):
    data, expected = make_data(estimator), fitted(estimator)
    for recorder in (Recorder(), Recorder(wants_estimator=True)):
        assert_same_bits(make(estimator).set_callbacks(recorder).fit(*data.args), expected)


@every_estimator
@needs_callbacks
def test_callbacks_are_given_an_estimator_that_works(estimator):
    data = make_data(estimator)
    recorder = Recorder(wants_estimator=True)
    model = make(estimator).set_callbacks(recorder).fit(*data.args)
    given = [copy for _, copy in recorder.fitted if copy is not None]
    assert given
    for copy in given:
        assert outputs(copy, data.X).keys() == outputs(model, data.X).keys()
    assert bits(outputs(given[-1], data.X)) == bits(outputs(model, data.X))


@every_estimator
@needs_callbacks
def test_callbacks_are_torn_down_after_an_error(estimator):
    data = make_data(estimator)
    recorder = Recorder(fail_at="fit")
    model = make(estimator).set_callbacks(recorder)
    with pytest.raises(ZeroDivisionError, match="from the callback"):
        model.fit(*data.args)
    assert recorder.events[-1][0] == "teardown"
    assert not traces_of_a_fit(model)
    recorder.fail_at = None
    model.fit(*data.args)


@iterative_estimators
@needs_callbacks
def test_a_callback_can_stop_a_fit_early(estimator):
    data = make_data(estimator, 500)
    params = _untiring(estimator)
    full = make_iterative(estimator, **params).fit(*data.args)
    assert _n_iter(full) > 1, "the data make this test too easy"
    model = make_iterative(estimator, **params).set_callbacks(Recorder(stop_at=_leaf_task(estimator, data))).fit(*data.args)
    assert case_of(estimator).counts_steps or np.max(model.n_iter_) == 1
    assert len(model.history_) == 1
    assert model.certificate_.status is Status.STOPPED
    assert outputs(model, data.X).keys() == outputs(full, data.X).keys()


@every_estimator
@needs_callbacks
def test_the_progress_bar_works(estimator, capfd):
    pytest.importorskip("rich", reason="ProgressBar needs rich")
    data = make_data(estimator)
    make(estimator).set_callbacks(sklearn_callback.ProgressBar()).fit(*data.args)
    assert "fit" in capfd.readouterr().out


# ---- logging


@pytest.mark.parametrize(
    "estimator", [cls for cls in ESTIMATORS if "verbose" in parameters_of(cls)], ids=lambda cls: cls.__name__
)
def test_verbose_goes_to_the_logger_and_nowhere_else(estimator, caplog, capfd):
    data = make_data(estimator)
    with caplog.at_level(logging.INFO, logger="mercer"):
        make(estimator, verbose=0).fit(*data.args)
        assert not caplog.records
        model = make(estimator, verbose=1).fit(*data.args)
    assert caplog.records
    assert {record.name.split(".")[0] for record in caplog.records} == {"mercer"}
    assert {record.levelname for record in caplog.records} == {"INFO"}
    assert len(caplog.records) >= len(getattr(model, "history_", []))
    assert capfd.readouterr().out == ""


@every_estimator
def test_the_peers_tags_are_kept(estimator):
    tags = get_tags(make(estimator))
    assert tags.estimator_type in {"classifier", "regressor", "clusterer", "outlier_detector", "density_estimator", None}
    assert not tags.non_deterministic
    assert not tags.no_validation


@pytest.mark.parametrize("name", sorted(public_estimators()))
def test_estimators_are_no_masked_arrays(name):
    """NumPy takes anything with `_data` for a masked array: results of a search over such estimators came out as methods."""
    assert not hasattr(public_estimators()[name], "_data")
