"""The ledger in a file: an Optuna study in SQLite, written trial by trial, so that a killed search goes on where it was."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from mercer._params import InvalidParameterError
from mercer._tuning import Reals
from mercer.model_selection._tune.candidates import Candidate, Combination
from mercer.model_selection._tune.ledger import Ledger
from mercer.model_selection._tune.optuna_module import import_optuna
from mercer.model_selection._tune.space import Interval, SearchSpace, Token, Values
from mercer.model_selection._tune.trial import Trial, mean_and_spread

_ATTRIBUTE = "mercer"  # of the study: what search it is; of a trial: all about it
_VERSION = 1


class StoredLedger(Ledger):
    """Finished trials in a study of Optuna's, each written in one transaction when it is finished.

    Parameters
    ----------
    storage : str or path
        A file, or a URL that begins with `sqlite://`.
    name : str
        The study in it, which is made where it does not exist.
    space : SearchSpace
        What parameters range over, for Optuna's own tools.
    parts : mapping
        Fingerprints of what makes the search what it is; a study of another search is refused.
    seed : int or None
        The seed to use; None takes that of the study, or a new one.
    """

    def __init__(self, storage: str | Path, name: str, space: SearchSpace, parts: Mapping[str, str], seed: int | None) -> None:
        self._optuna = import_optuna("storage")
        self._where = f"storage={str(storage)!r}"
        self._name = name
        self._study = self._open(url_of(storage), name)
        super().__init__(self._agree(dict(parts), seed))
        self._distributions = {
            parameter: found
            for parameter, dimension in space.dimensions.items()
            if (found := _distribution(self._optuna.distributions, dimension)) is not None
        }
        self._read()

    def _open(self, url: str, name: str) -> Any:
        try:
            return self._optuna.create_study(storage=url, study_name=name, load_if_exists=True, direction="maximize")
        except Exception as error:  # of SQLAlchemy, Alembic or SQLite, which are Optuna's own affair
            raise ValueError(
                f"tune: {self._where} cannot be used ({type(error).__name__}: {str(error).splitlines()[0]}); it must be a file "
                "made by Optuna, or a new file in a folder that exists."
            ) from error

    def _agree(self, parts: dict[str, str], seed: int | None) -> int:
        """The seed, after the study was found to be of this search or was made so."""
        found = self._study.user_attrs.get(_ATTRIBUTE)
        if found is None:
            if self._study.get_trials(deepcopy=False):
                raise ValueError(f"tune: {self._where} holds a study name={self._name!r} that tune has not made; {_REMEDY}")
            seed = int(np.random.SeedSequence().generate_state(1)[0]) if seed is None else seed
            self._study.set_user_attr(_ATTRIBUTE, {"version": _VERSION, "seed": seed, "parts": parts})
            return seed
        differing = [part for part in parts if found["parts"].get(part) != parts[part]]
        if seed is not None and seed != found["seed"]:
            differing.append("random_state")
        if found["version"] != _VERSION:
            differing = ["version of the format"]
        if differing:
            raise ValueError(
                f"tune: {self._where} holds a study name={self._name!r} of another search (another {', '.join(differing)}); "
                f"{_REMEDY}"
            )
        return int(found["seed"])

    def _read(self) -> None:
        recorded = {}
        for stored in self._study.get_trials(deepcopy=False):
            entry = stored.user_attrs.get(_ATTRIBUTE)
            if entry is not None and stored.state.is_finished():
                self._trials[json.dumps(entry["point"], sort_keys=True)] = _trial_of(entry)
                recorded[entry["combination"]] = entry["point"]
        self.recorded = recorded

    def add(self, combination: Combination, candidate: Candidate, trial: Trial) -> None:
        states = self._optuna.trial.TrialState
        state = {"complete": states.COMPLETE, "stopped": states.PRUNED, "failed": states.FAIL}[trial.status]
        self._study.add_trial(
            self._optuna.create_trial(
                state=state,
                value=trial.score if trial.status == "complete" else None,
                params={name: candidate.params[name] for name in self._distributions},
                distributions=self._distributions,
                intermediate_values=dict(trial.stages),
                user_attrs={_ATTRIBUTE: _entry_of(combination, candidate, trial)},
            )
        )
        super().add(combination, candidate, trial)


_REMEDY = "give another name to begin a new study, or another file."


def url_of(storage: str | Path) -> str:
    """The address of a file in SQLAlchemy's words."""
    if isinstance(storage, str) and "://" in storage:
        if not storage.startswith("sqlite://"):
            raise InvalidParameterError(
                f"tune: storage={storage!r} is not valid; it must be None, the path of a file or a URL that begins with sqlite://."
            )
        return storage
    return f"sqlite:///{Path(storage).absolute()}"


def _distribution(kinds: Any, dimension: Any) -> Any:
    """What Optuna calls it; None for what its files cannot hold, which our own entry does."""
    if isinstance(dimension, Interval):
        kind = kinds.FloatDistribution if isinstance(dimension.ends, Reals) else kinds.IntDistribution
        return kind(dimension.ends.low, dimension.ends.high, log=dimension.ends.log)
    if isinstance(dimension, Values):
        is_plain = all(value is None or isinstance(value, (bool, int, float, str)) for value in dimension.values)
        has_twins = not is_plain or len(set(dimension.values)) < len(dimension.values) or any(v != v for v in dimension.values)
        return None if has_twins else kinds.CategoricalDistribution(dimension.values)
    return None


def _entry_of(combination: Combination, candidate: Candidate, trial: Trial) -> dict[str, Any]:
    point: dict[str, Token] = dict(candidate.point)
    return {
        "number": candidate.number,
        "combination": combination.number,
        "point": point,
        "params": {name: repr(value) for name, value in candidate.params.items()},
        "fold_scores": list(trial.fold_scores),
        "others": {name: list(scores) for name, scores in trial.others.items()},
        "fit_seconds": trial.fit_seconds,
        "score_seconds": trial.score_seconds,
        "status": trial.status,
        "error": trial.error,
        "stages": list(trial.stages.items()),
    }


def _trial_of(entry: Mapping[str, Any]) -> Trial:
    score, spread = mean_and_spread(entry["fold_scores"])
    return Trial(
        number=entry["number"],
        params={},
        fold_scores=tuple(entry["fold_scores"]),
        score=score,
        spread=spread,
        fit_seconds=entry["fit_seconds"],
        score_seconds=entry["score_seconds"],
        status=entry["status"],
        error=entry["error"],
        others={name: tuple(scores) for name, scores in entry["others"].items()},
        stages=dict(entry.get("stages", ())),
    )
