"""What labels are predicted by, where it is not the likeliest: costs of mistakes, and the cut-off that serves them best.

It is chosen on training rows, by what fits that have not seen them predict for them, and never on test rows.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin

from mercer._arrays import FloatArray
from mercer._labels import choose_codes
from mercer._runs.errors import RunError
from mercer._runs.folder import RunFolder, write_whole
from mercer._runs.settings import RunSettings, Settings

FORMAT = 1
_CELLS = {"TN": (0, 0), "FP": (0, 1), "FN": (1, 0), "TP": (1, 1)}  # true class down, predicted one across


# ---- costs as they are given


def read_costs(text: str) -> dict[str, Any]:
    """What `--costs` says: FN=5,FP=1, or a CSV or JSON file with the names of the classes."""
    if "=" in text:
        return dict(_cell(part, text) for part in text.split(","))
    path = Path(text)
    if not path.is_file():
        raise RunError(f"--costs {text}: it must be costs of two classes, such as FN=5,FP=1, or a CSV or JSON file.")
    try:
        given = json.loads(path.read_text()) if path.suffix == ".json" else _read_csv(path)
        return {str(true): {str(label): float(cost) for label, cost in row.items()} for true, row in given.items()}
    except (ValueError, AttributeError, TypeError, UnicodeDecodeError) as error:
        raise RunError(f"--costs {text}: no costs can be read from it ({error}). {_FORMS}") from error


_FORMS = (
    "A CSV file has the predicted classes in its header and a line for each true class, a JSON file the same as "
    "{true: {predicted: cost}}."
)


def _cell(part: str, text: str) -> tuple[str, float]:
    name, _, value = part.strip().partition("=")
    try:
        if name.strip().upper() not in _CELLS:
            raise ValueError
        return name.strip().upper(), float(value)
    except ValueError:
        raise RunError(f"--costs {text}: {part.strip()!r} must be a cost of FN, FP, TN or TP, such as FN=5.") from None


def _read_csv(path: Path) -> dict[str, dict[str, str]]:
    with path.open(newline="", encoding="utf-8-sig") as file:
        header, *lines = [line for line in csv.reader(file) if line]
    return {line[0].strip(): dict(zip([name.strip() for name in header[1:]], line[1:], strict=True)) for line in lines}


def cost_matrix(costs: Mapping[str, Any], classes: Sequence[Any] | None) -> FloatArray:
    """Costs of predicting a class (across) for a row of a class (down)."""
    if classes is None:
        raise RunError("--costs: the target holds numbers; costs are for classes.")
    names = [str(label) for label in classes]
    matrix = np.zeros((len(names), len(names)))
    if set(costs) <= set(_CELLS) and all(isinstance(cost, (int, float)) for cost in costs.values()):
        if len(names) != 2:
            raise RunError(f"--costs: FN and FP are for two classes, and there are {len(names)}. {_FORMS}")
        for name, cost in costs.items():
            matrix[_CELLS[name]] = cost
    else:
        for true, row in costs.items():
            for label, cost in row.items():
                if unknown := [name for name in (true, label) if name not in names]:
                    raise RunError(f"--costs: {unknown[0]!r} is no class; there are {', '.join(map(repr, names))}.")
                matrix[names.index(true), names.index(label)] = cost
        if missing := [name for name in names if set(costs.get(name, {})) | {name} != set(names)]:
            raise RunError(f"--costs: the costs of rows of {missing[0]!r} are not all given: one is needed for each class.")
    wrong = np.argwhere(~np.eye(len(names), dtype=bool) & ~(matrix > matrix.diagonal()[:, None]))
    if not np.isfinite(matrix).all() or len(wrong):
        i, j = wrong[0] if len(wrong) else np.argwhere(~np.isfinite(matrix))[0]
        raise RunError(
            f"--costs: to predict {names[j]!r} for {names[i]!r} costs {matrix[i, j]:g}; it must be finite and more than the "
            f"right label, which costs {matrix[i, i]:g}."
        )
    return matrix


# ---- the decision


@dataclass(frozen=True)
class Decision:
    """How probabilities become labels: of two classes a cut-off; of many the least expected cost, with an offset a class."""

    costs: list[list[float]]
    threshold: float | None
    offsets: list[float] | None

    @classmethod
    def of(cls, costs: FloatArray, codes: npt.NDArray[np.intp], probability: FloatArray, weights: Any = None) -> Decision:
        """The one that costs least on rows that the fits behind the probabilities had not seen."""
        tuned = _tuned("cost", codes, probability, weights, cost_matrix=costs)
        if len(costs) == 2:
            return cls(costs.tolist(), float(tuned.best_threshold_), None)
        return cls(costs.tolist(), None, tuned.class_offsets_.tolist())

    def codes(self, probability: FloatArray) -> npt.NDArray[np.intp]:
        """The place of the label of each row."""
        if self.threshold is not None:
            return (probability[:, 1] >= self.threshold).astype(np.intp)
        return choose_codes(np.asarray(self.offsets) - probability @ np.asarray(self.costs), len(self.costs))

    def mean_cost(self, true: npt.NDArray[np.intp], predicted: npt.NDArray[np.intp], weights: Any = None) -> float:
        return float(np.average(np.asarray(self.costs)[true, predicted], weights=weights))

    def write(self, path: Path) -> None:
        write_whole(path, json.dumps({"format": FORMAT, **asdict(self)}, indent=1, allow_nan=False) + "\n")

    @classmethod
    def of_run(cls, folder: RunFolder, settings: RunSettings) -> Decision | None:
        """That of a finished run; None where the likeliest label is predicted."""
        if not isinstance(settings, Settings) or settings.costs is None:
            return None
        path = folder.decision
        if not path.is_file():
            raise RunError(
                f"{folder.path}: the run has no decision yet. `mercer train --resume {folder.path}` goes on with it."
            )
        try:
            stored = json.loads(path.read_text())
            if stored["format"] != FORMAT:
                raise RunError(f"{path}: format {stored['format']!r} is not known; this version knows {FORMAT}.")
            return cls(stored["costs"], stored["threshold"], stored["offsets"])
        except (ValueError, KeyError, TypeError) as error:
            raise RunError(f"{path}: the file is damaged ({type(error).__name__}: {error}).") from error


def best_cutoff(codes: npt.NDArray[np.intp], probability: FloatArray, weights: Any = None) -> float:
    """Of two classes, the cut-off with the best balanced accuracy on rows that the fits had not seen."""
    return float(_tuned("balanced_accuracy", codes, probability, weights).best_threshold_)


def _tuned(scoring: str, codes: npt.NDArray[np.intp], probability: FloatArray, weights: Any, **options: Any) -> Any:
    from mercer.model_selection import TunedThresholdClassifier

    known = _Known(probability)
    tuned = TunedThresholdClassifier(known, scoring=scoring, cv="prefit", refit=False, **options)
    return tuned.fit(np.zeros((len(codes), 1)), codes, weights)


class _Known(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Probabilities that are known, as a fitted classifier."""

    def __init__(self, probability: FloatArray) -> None:
        self.probability = probability
        self.classes_ = np.arange(probability.shape[1])

    def fit(self, X: Any, y: Any) -> _Known:
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def predict_proba(self, X: Any) -> FloatArray:
        return self.probability
