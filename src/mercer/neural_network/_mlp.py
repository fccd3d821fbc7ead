"""What multi-layer perceptrons share: from checked parameters to a network, its training, and its outputs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from types import SimpleNamespace
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from mercer._arrays import FloatArray, check_X
from mercer._base import FitTask, MercerEstimator, has_callbacks
from mercer._parallel import effective_threads, serial_blas
from mercer._params import InvalidParameterError, OneOf, Rule, check_params
from mercer._random import as_random_state
from mercer._trace import Outcome, warn
from mercer._tuning import Choices, Reals, Space
from mercer.neural_network._diagnosis import Diagnosis, diagnose
from mercer.neural_network._network import ACTIVATIONS, Network, starting_parameters
from mercer.neural_network._settings import MLP_RULES, check_layers, of_layers, settings_of
from mercer.neural_network._training import (
    Epochs,
    Objective,
    Progress,
    Sample,
    Settings,
    Trainer,
    require_weight,
    run_epochs,
    run_lbfgs,
)

SPARSE = ("csr", "csc")
UNSET = ("loss_curve_", "validation_scores_", "_memory")  # that only fits by epochs leave

SEARCH_SPACE: Mapping[str, Space] = {
    "hidden_layer_sizes": Choices((32,), (100,), (256,), (64, 64), (128, 64)),
    "alpha": Reals(1e-6, 1e-1, log=True),
    "learning_rate_init": Reals(1e-4, 1e-2, log=True),
    "activation": Choices("relu", "tanh", "gelu"),
}


class MultilayerPerceptron(MercerEstimator):
    """A feed-forward network fitted by gradients; subclasses say what its output is compared with."""

    _parameter_rules: ClassVar[dict[str, Rule]] = MLP_RULES
    _search_space: ClassVar[Mapping[str, Space] | None] = SEARCH_SPACE
    _input_tags: ClassVar[tuple[str, ...]] = ("sparse",)

    # ---- what subclasses say

    def _check_target(
        self, X: Any, y: Any, sample_weight: Any, *, is_first: bool, is_partial: bool, params: SimpleNamespace
    ) -> tuple[Sample, dict[str, Any]]:
        """The checked sample, and fitted attributes that say what the target is."""
        raise NotImplementedError

    def _objective(self, params: SimpleNamespace, sample: Sample, fixed: dict[str, Any]) -> tuple[Objective, str]:
        """The objective and the activation of the output."""
        raise NotImplementedError

    def _score_on(self, raw: FloatArray, sample: Sample) -> float:
        """The score of raw outputs for held-out rows."""
        raise NotImplementedError

    # ---- fits

    def _checked(self) -> tuple[SimpleNamespace, Settings]:
        params = check_params(self)
        check_layers(type(self).__name__, params)
        return params, settings_of(params)

    def _fit_network(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        *,
        validation: tuple[Any, Any, Any] = (None, None, None),
        is_partial: bool = False,
    ) -> Self:
        fit = self._begin(X, y, sample_weight, validation=validation, is_partial=is_partial)
        outcome = fit.run()
        return self._finish(fit.task, fit.attributes(), outcome, unset=UNSET)

    def halving_parameter(self) -> str | None:
        """The parameter that says how long a fit may go on, whose looks on the way `fit_in_stages` gives.

        None where there are none: L-BFGS is one run, and callbacks see one fit.
        """
        return None if self.solver == "lbfgs" or has_callbacks(self) else "max_iter"

    def fit_in_stages(self, X: Any, y: Any, stages: Sequence[int], *, sample_weight: Any = None) -> Iterator[tuple[Self, bool]]:
        """One fit with looks on its way: a fitted clone after each of some numbers of epochs, the rest yet to come.

        Parameters
        ----------
        X, y, sample_weight
            As for `fit`.
        stages : sequence of int
            Numbers of epochs, ascending and up to `max_iter`. No epoch begins before the look after it is asked for.

        Yields
        ------
        model : estimator
            As it would be if the fit ended there; the last is what `fit` gives.
        is_over : bool
            Whether it is the last, as the fit has ended by itself or at `max_iter`.
        """
        model = clone(self)
        with serial_blas():
            fit = model._begin(X, y, sample_weight)
        for until in stages:
            with serial_blas():
                outcome = fit.run(until)
                if until < fit.settings.max_iter:
                    outcome.warning = None
            yield copy(model)._finish(fit.task, fit.attributes(is_copied=True), outcome), fit.is_over
            if fit.is_over:
                return

    def _begin(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        *,
        validation: tuple[Any, Any, Any] = (None, None, None),
        is_partial: bool = False,
    ) -> Training:
        """Everything checked and drawn, before the first step."""
        params, settings = self._checked()
        self._refuse(params, validation, is_partial=is_partial)
        is_first = not hasattr(self, "coefs_") or not (is_partial or params.warm_start)
        sample, fixed = self._check_target(X, y, sample_weight, is_first=is_first, is_partial=is_partial, params=params)
        random_state = as_random_state(params.random_state)
        objective, out_activation = self._objective(params, sample, fixed)
        network = self._network(params, sample.X.shape[1], fixed["n_outputs_"])
        if hasattr(sample.X, "tocsr") and any(layer.sources != (0,) and 0 in layer.sources for layer in network.layers):
            raise InvalidParameterError(
                f"{type(self).__name__}: skip_connections={params.skip_connections!r} is not valid with sparse X, which the "
                "first layer alone reads; pairs must begin at 1 or above, or X be dense (X.toarray())."
            )
        progress = self._start(network, params, random_state, sample, is_first=is_first)
        if is_partial:
            settings = replace(settings, max_iter=1)
            progress.memory = None if is_first or not hasattr(self, "_memory") else self._memory.copy()
        elif is_first and params.pretrain is not None:
            progress.flat = self._pretrained(network, params, progress.flat, sample)
        mask = self._mask(network, params, progress.flat.dtype)
        if mask is not None:
            progress.flat *= mask
        fixed |= {
            "n_layers_": len(network.layers) + 1,
            "out_activation_": out_activation,
            "n_parameters_": int(network.native.n_parameters if mask is None else mask.sum(dtype=np.float64)),
        }
        task = FitTask.start(self, X, y, n_subtasks=settings.max_iter)
        held_out = None
        if params.solver != "lbfgs" and (params.early_stopping or validation[0] is not None):
            sample, held_out = self._hold_out(sample, params, random_state, fixed, validation)
        has_dropout = any(layer.dropout > 0 for layer in network.layers)
        seed = int(random_state.randint(2**31 - 1)) if has_dropout else 0
        trainer = Trainer(network, sample, objective, mask=mask, seed=seed, n_threads=settings.n_threads)
        epochs = None
        if params.solver != "lbfgs":
            self._warn_of_batch(params, sample)
            score = None
            if held_out is not None:
                score = partial(self._held_out_score, network, held_out, settings.n_threads)
            epochs = Epochs(self, trainer, settings, progress, random_state, score)
        return Training(trainer, epochs, settings, params.max_fun, progress, fixed, task, is_partial)

    def _refuse(self, params: SimpleNamespace, validation: tuple[Any, Any, Any], *, is_partial: bool) -> None:
        """Refuse what does not go together, whatever the data are."""
        if is_partial and params.solver == "lbfgs":
            raise AttributeError("partial_fit is only available for stochastic optimizers. lbfgs is not stochastic.")
        if params.solver == "lbfgs" and validation[0] is not None:
            raise ValueError(
                f"{type(self).__name__}: X_val is not valid with solver='lbfgs', which has no epochs to score; it must be "
                "None, or the solver another."
            )
        for name, given in zip(("y_val", "sample_weight_val"), validation[1:], strict=True):
            if given is not None and validation[0] is None:
                raise ValueError(f"{type(self).__name__}: {name} is given without X_val; X_val and y_val belong together.")
        if is_partial and params.early_stopping:
            raise ValueError(f"{type(self).__name__}: partial_fit does not support early_stopping=True; it must be False.")
        if params.solver == "lbfgs" and any(params.dropout):
            raise InvalidParameterError(
                f"{type(self).__name__}: dropout is not valid with solver='lbfgs', whose objective must stay the same; "
                "choose a stochastic solver."
            )

    def _network(self, params: SimpleNamespace, n_features: int, n_outputs: int) -> Network:
        sizes = [n_features, *params.hidden_layer_sizes, n_outputs]
        return Network.of_sizes(
            sizes,
            [*params.activation, "identity"],
            dropout=[*params.dropout, 0.0],
            skips=self._checked_skips(params.skip_connections, len(sizes) - 1),
        )

    def _checked_skips(self, skips: Any, n_layers: int) -> list[tuple[int, int]]:
        pairs = []
        for k, pair in enumerate(() if skips is None else skips):
            pair = pair.tolist() if isinstance(pair, np.ndarray) else pair
            is_pair = isinstance(pair, Sequence) and len(pair) == 2 and all(isinstance(end, (int, np.integer)) for end in pair)
            if not is_pair or not 0 <= pair[0] < pair[1] - 1 <= n_layers - 1:
                raise InvalidParameterError(
                    f"{type(self).__name__}: skip_connections[{k}]={pair!r} is not valid; it must be a pair (from, to) of "
                    f"places with 0 <= from, from + 1 < to <= {n_layers}: 0 is the input and {n_layers} the output."
                )
            pairs.append((int(pair[0]), int(pair[1])))
        return pairs

    def _start(
        self, network: Network, params: SimpleNamespace, random_state: np.random.RandomState, sample: Sample, *, is_first: bool
    ) -> Progress:
        dtype = sample.X.dtype
        if not is_first:
            flat = network.flat(self._checked_arrays(network, "coefs_", self.coefs_, 0), self.intercepts_, dtype)
            return Progress(
                flat,
                losses=list(getattr(self, "loss_curve_", [])),
                scores=list(getattr(self, "validation_scores_", None) or []),
                history=list(getattr(self, "history_", [])),
                n_seen=getattr(self, "t_", 0),
            )
        scheme = params.init
        if not isinstance(scheme, str):
            if len(scheme) != 2:
                raise InvalidParameterError(
                    f"{type(self).__name__}: init of length {len(scheme)} is not valid; it must be a name or a pair (coefs, "
                    "intercepts)."
                )
            scheme = tuple(self._checked_arrays(network, "init", arrays, axis) for axis, arrays in enumerate(scheme))
        return Progress(starting_parameters(network, scheme, random_state, dtype))

    def _checked_arrays(self, network: Network, name: str, arrays: Any, axis: int) -> list[FloatArray]:
        """Coefficients (axis 0) or intercepts (axis 1) of all layers, finite and of the right shapes."""
        shapes = [(network.n_read(layer), layer.units)[axis:] for layer in network.layers]
        given = [np.asarray(array, dtype=np.float64) for array in arrays]
        if [array.shape for array in given] != shapes:
            raise ValueError(
                f"{type(self).__name__}: {name} holds arrays of shapes {[array.shape for array in given]}; for this network "
                f"and data they must be {shapes}."
            )
        if not all(np.isfinite(array).all() for array in given):
            raise ValueError(f"{type(self).__name__}: {name} contains NaN or infinity; every value must be a finite number.")
        return given

    def _mask(self, network: Network, params: SimpleNamespace, dtype: npt.DTypeLike) -> FloatArray | None:
        """One where a connection is open, over the flat vector; None where no mask was given."""
        if params.masks is None:
            return None
        flat = np.ones(network.native.n_parameters, dtype=dtype)
        coefs, _ = network.views(flat)
        if len(params.masks) != len(coefs):
            raise InvalidParameterError(
                f"{type(self).__name__}: masks of length {len(params.masks)} is not valid; it must hold an array or None for "
                f"each of {len(coefs)} layers."
            )
        for k, (coef, mask) in enumerate(zip(coefs, params.masks, strict=True)):
            if mask is None:
                continue
            values = np.asarray(mask)
            if values.shape != coef.shape or not np.isin(values, (0, 1)).all():
                raise InvalidParameterError(
                    f"{type(self).__name__}: masks[{k}] of shape {values.shape} is not valid; it must hold 0 (cut) and 1 "
                    f"(open) in the shape {coef.shape} of the coefficients."
                )
            coef[...] = values
        return flat

    def _pretrained(self, network: Network, params: SimpleNamespace, flat: FloatArray, sample: Sample) -> FloatArray:
        from mercer.neural_network._autoencoder import pretrain_layers

        return pretrain_layers(self, network, params, flat, sample)

    def _hold_out(
        self,
        sample: Sample,
        params: SimpleNamespace,
        random_state: Any,
        fixed: dict[str, Any],
        validation: tuple[Any, Any, Any],
    ) -> tuple[Sample, Sample]:
        """The rows to learn from and those to score by."""
        if validation[0] is not None:
            return sample, self._check_validation(*validation, fixed=fixed, dtype=sample.X.dtype)
        from sklearn.model_selection import train_test_split

        owner, fraction, n = type(self).__name__, params.validation_fraction, sample.n_rows
        n_held = math.ceil(fraction * n)
        if n_held < 2:
            raise ValueError(
                f"{owner}: The validation set is too small ({n_held} rows). Increase 'validation_fraction' or the size of your "
                "dataset."
            )
        if n_held >= n:
            raise ValueError(
                f"{owner}: validation_fraction={fraction!r} of {n} rows leaves none to learn from; it must be smaller, or "
                "early_stopping=False."
            )
        strata = self._strata(sample, fixed)
        counts = [] if strata is None else np.bincount(strata, minlength=2).tolist()
        if counts and (min(counts) < 2 or n - n_held < 2):
            raise ValueError(
                f"{owner}: y has {counts[0]} rows of class {fixed['classes_'].tolist()[0]!r} and {counts[1]} of class "
                f"{fixed['classes_'].tolist()[1]!r}; with early_stopping=True some of each are held out, so that it needs 2 or "
                "more. Give rows to score by (X_val, y_val), or set early_stopping=False."
            )
        learnt, held = train_test_split(np.arange(n), random_state=random_state, test_size=n_held, stratify=strata)
        parts = sample.take(learnt), sample.take(held)
        require_weight(owner, *parts)
        return parts

    def _strata(self, sample: Sample, fixed: dict[str, Any]) -> Any:
        return None

    def _check_validation(self, X: Any, y: Any, sample_weight: Any, *, fixed: dict[str, Any], dtype: npt.DTypeLike) -> Sample:
        raise NotImplementedError

    def _held_out_score(self, network: Network, held_out: Sample, n_threads: int, flat: FloatArray) -> float:
        raw = network.outputs(held_out.X, *network.views(flat), "identity", n_threads)
        return self._score_on(raw, held_out) if np.isfinite(raw).all() else math.nan

    def _warn_of_batch(self, params: SimpleNamespace, sample: Sample) -> None:
        if params.batch_size != "auto" and params.batch_size > sample.n_rows:
            warn(
                f"{type(self).__name__}: Got `batch_size` less than 1 or larger than sample size: "
                f"batch_size={params.batch_size} for "
                f"{sample.n_rows} rows. It is going to be clipped."
            )

    # ---- what a fit is good for

    def _raw(self, X: Any, activation: str, *, check_input: bool = True) -> FloatArray:
        """The outputs for rows X after an activation, of shape (n_samples, n_outputs)."""
        check_is_fitted(self)
        if check_input:
            X = check_X(self, X, sparse=SPARSE, reset=False)
        return self._through(X, self.coefs_, self.intercepts_, activation)

    def _through(self, X: Any, coefs: Sequence[Any], intercepts: Sequence[Any], activation: str) -> FloatArray:
        dtype = np.asarray(coefs[0]).dtype
        X = (X.tocsr() if hasattr(X, "tocsr") else X).astype(dtype, copy=False)
        network = self._fitted_network(X.shape[1], coefs)
        return network.outputs(X, coefs, intercepts, activation, effective_threads(self.n_jobs))

    def _fitted_network(self, n_features: int, coefs: Sequence[Any]) -> Network:
        hidden = of_layers(type(self).__name__, "activation", self.activation, OneOf(*ACTIVATIONS), len(coefs) - 1)
        sizes = (n_features, *(np.shape(coef)[1] for coef in coefs))
        return _network_of(sizes, tuple(hidden), tuple(self._checked_skips(self.skip_connections, len(coefs))))

    def diagnose(self, X: Any = None) -> Diagnosis:
        """What the history of the fit says: vanishing or exploding gradients, dead units, over- and under-fitting.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), default=None
            Rows on which units are looked at; without them none can be called dead.

        Returns
        -------
        diagnosis : Diagnosis
            Findings with their figures and what to do; it prints itself.
        """
        check_is_fitted(self)
        hidden = None if X is None else self._hidden_values(check_X(self, X, sparse=SPARSE, reset=False))
        return diagnose(self, hidden)

    def _hidden_values(self, X: Any) -> list[FloatArray]:
        """The values of every hidden layer for rows X."""
        full = self._fitted_network(X.shape[1], self.coefs_)
        dtype = self.coefs_[0].dtype
        X = (X.tocsr() if hasattr(X, "tocsr") else X).astype(dtype, copy=False)
        threads = effective_threads(self.n_jobs)
        return [
            Network(full.n_inputs, full.layers[:k]).outputs(X, self.coefs_[:k], self.intercepts_[:k], "identity", threads)
            for k in range(1, len(full.layers))
        ]


@lru_cache(maxsize=64)
def _network_of(sizes: tuple[int, ...], hidden: tuple[str, ...], skips: tuple[tuple[int, int], ...]) -> Network:
    """The network of a fitted model: to predict one row takes less time than to make it."""
    return Network.of_sizes(sizes, [*hidden, "identity"], skips=skips)


@dataclass
class Training:
    """A fit that has begun: by epochs, which can be looked at on the way, or by L-BFGS, which has none."""

    trainer: Trainer
    epochs: Epochs | None
    settings: Settings
    max_fun: int
    progress: Progress
    fixed: dict[str, Any]
    task: FitTask
    is_partial: bool
    n_iter: int = 0

    def run(self, until: int | None = None) -> Outcome:
        """To the end, or `until` so many epochs; what was reached by then."""
        if self.epochs is None:
            outcome = run_lbfgs(self.trainer, self.settings, self.progress, self.max_fun, self.task, self._predicting)
            self.n_iter = len(outcome.history)
            return outcome
        outcome = run_epochs(self.epochs, self.settings, self.task, self._predicting, until=until)
        self.n_iter = self.epochs.n_epochs
        if self.is_partial:
            outcome.warning = None
        return outcome

    @property
    def is_over(self) -> bool:
        """Whether the fit has ended, by itself or at `max_iter`."""
        return self.epochs is None or self.epochs.is_done or self.epochs.n_epochs >= self.settings.max_iter

    def attributes(self, *, is_copied: bool = False) -> dict[str, Any]:
        """All that the fit leaves if it ends here; copied where it may go on."""
        if self.epochs is None:
            return {**self._predicting(), "history_": self.progress.history, "n_iter_": self.n_iter}
        progress = replace(self.progress, flat=self.epochs.kept, memory=self.epochs.memory)
        if is_copied:
            progress = progress.copy()
        return {
            **self._predicting(progress),
            "history_": progress.history,
            "n_iter_": self.n_iter,
            "t_": progress.n_seen,
            "_memory": progress.memory,
            **_curves(progress),
        }

    def _predicting(self, progress: Progress | None = None) -> dict[str, Any]:
        """What the model predicts by."""
        progress = self.progress if progress is None else progress
        coefs, intercepts = self.trainer.network.views(progress.flat)
        losses = {"loss_": progress.losses[-1]} if progress.losses else {}
        return {**self.fixed, "coefs_": coefs, "intercepts_": intercepts, **losses}


def _curves(progress: Progress) -> dict[str, Any]:
    """scikit-learn's attributes of an iterative fit."""
    has_scores = bool(progress.scores)
    return {
        "loss_curve_": progress.losses,
        "best_loss_": None if has_scores else min(progress.losses),
        "validation_scores_": progress.scores if has_scores else None,
        "best_validation_score_": max(progress.scores) if has_scores else None,
    }
