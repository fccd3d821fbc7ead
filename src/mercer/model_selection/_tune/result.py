"""What a search found."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer._arrays import FloatArray
from mercer.model_selection._tune.trial import Trial

_N_SHOWN = 5


@dataclass(frozen=True)
class ParameterCurve:
    """The best score for each value of one parameter, whatever the other parameters were, with its spread over folds."""

    parameter: str
    values: tuple[Any, ...]
    scores: FloatArray
    spreads: FloatArray


@dataclass(frozen=True, repr=False)
class TuneResult:
    """What `tune` found.

    Attributes
    ----------
    best_estimator : estimator or None
        Fitted on all rows with the best parameters; None with `refit=False`.
    best_params : dict
    best_score, best_spread : float
        Mean and standard deviation over folds of the best trial.
    best_trial : Trial
    trials : list of Trial
        All finished trials, by number.
    how : str
        What was searched and what of the model was exploited, in one sentence.
    status : {"finished", "time limit", "stopped", "interrupted"}
        How the search ended; "stopped" is by `on_trial`.
    scoring : str
        The measure that decided; higher is better.
    seconds : float
        Time the call took, without the last fit on all rows.
    """

    best_estimator: Any
    best_params: Mapping[str, Any]
    best_score: float
    best_spread: float
    best_trial: Trial
    trials: list[Trial]
    how: str
    status: str
    scoring: str
    seconds: float

    def __repr__(self) -> str:
        counts = {status: sum(trial.status == status for trial in self.trials) for status in ("stopped", "failed")}
        others = "".join(f", {n} {status}" for status, n in counts.items() if n)
        lines = [
            f"TuneResult: {self.status} after {len(self.trials)} trial{'s' * (len(self.trials) != 1)}{others} in "
            f"{self.seconds:.2f} s",
            f"  {self.how}",
            f"  best: {self.scoring} {_with_spread(self.best_score, self.best_spread)}, {_listed(self.best_params)}",
        ]
        ranked = sorted((t for t in self.trials if t.is_ranked), key=lambda trial: (-trial.score, trial.number))
        if len(ranked) > 1:
            rows: list[tuple[str, ...]] = [("trial", "score", "spread", "fit s", "parameters")]
            rows += [_row(trial) for trial in ranked[:_N_SHOWN]]
            lines += ["  " + "  ".join([*(f"{cell:>9}" for cell in row[:-1]), row[-1]]) for row in rows]
        if len(ranked) > _N_SHOWN:
            lines.append(f"  {'…':>9}  {len(ranked) - _N_SHOWN} more")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Everything but the fitted estimator, as dicts, lists and numbers."""
        kept = ("params", "others", "stages")
        trials = [vars(trial) | {name: dict(getattr(trial, name)) for name in kept} for trial in self.trials]
        return {
            "best_params": dict(self.best_params),
            "best_score": self.best_score,
            "best_spread": self.best_spread,
            "best_trial": self.best_trial.number,
            "how": self.how,
            "status": self.status,
            "scoring": self.scoring,
            "seconds": self.seconds,
            "trials": trials,
        }

    def to_frame(self) -> Any:
        """One row a trial and a column a parameter, as a frame of pandas, or of polars where pandas is not installed."""
        columns: dict[str, list[Any]] = {"number": [trial.number for trial in self.trials]}
        for name in self.best_params:
            columns[f"param_{name}"] = [trial.params[name] for trial in self.trials]
        has_stages = any(trial.stages for trial in self.trials)
        names = ("score", "spread", "fit_seconds", "score_seconds", "status", *["n_spent"] * has_stages, "error")
        for name in names:
            columns[name] = [getattr(trial, name) for trial in self.trials]
        for fold in range(len(self.best_trial.fold_scores)):
            columns[f"fold_{fold}_score"] = [trial.fold_scores[fold] for trial in self.trials]
        for name in self.best_trial.others:
            columns[name] = [float(np.mean(trial.others[name])) for trial in self.trials]
        for package in ("pandas", "polars"):
            try:
                return importlib.import_module(package).DataFrame(columns)
            except ImportError:
                continue
        raise ImportError("TuneResult.to_frame needs pandas or polars: pip install pandas")

    def validation_curve(self, parameter: str) -> ParameterCurve:
        """The best score for each value of a parameter, in the order of the values where they have one."""
        if parameter not in self.best_params:
            raise ValueError(
                f"validation_curve: parameter={parameter!r} was not searched; it must be one of: {', '.join(self.best_params)}."
            )
        best: dict[Any, Trial] = {}
        for trial in self.trials:
            value = trial.params[parameter]
            key = value if isinstance(value, (int, float, str, bool, type(None))) else repr(value)
            if trial.is_ranked and (key not in best or trial.score > best[key].score):
                best[key] = trial
        trials = list(best.values())
        values = [trial.params[parameter] for trial in trials]
        if all(isinstance(value, (int, float)) for value in values):
            trials.sort(key=lambda trial: float(trial.params[parameter]))
        return ParameterCurve(
            parameter,
            tuple(trial.params[parameter] for trial in trials),
            np.array([trial.score for trial in trials]),
            np.array([trial.spread for trial in trials]),
        )


def _row(trial: Trial) -> tuple[str, ...]:
    spread = "-" if np.isnan(trial.spread) else f"{trial.spread:.2g}"
    return str(trial.number), f"{trial.score:.5g}", spread, f"{trial.fit_seconds:.3g}", _listed(trial.params)


def _with_spread(score: float, spread: float) -> str:
    return f"{score:.5g}" if np.isnan(spread) else f"{score:.5g} ± {spread:.2g}"


def _listed(params: Mapping[str, Any]) -> str:
    texts = [f"{name}={value:.5g}" if isinstance(value, float) else f"{name}={value!r}" for name, value in params.items()]
    return ", ".join(texts) or "parameters as they are"
