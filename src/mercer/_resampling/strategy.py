"""Sampling strategies: how many rows of each class are to be made or kept. Knows no X."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from mercer._labels import Codes, Labels
from mercer._params import ArrayLike, Function, Mapped, OneOf, Real, Rule

Kind = Literal["over-sampling", "under-sampling", "clean-sampling"]
Counts = npt.NDArray[np.intp]

_SHARES = Real(above=0, most=1) | Mapped() | Function()
_MANY = OneOf("auto", "majority", "not minority", "not majority", "all")
RULES: Mapping[Kind, Rule] = {
    "over-sampling": OneOf("auto", "minority", "not minority", "not majority", "all") | _SHARES,
    "under-sampling": _MANY | _SHARES,
    "clean-sampling": _MANY | ArrayLike() | Function(),
}


def plan(owner: str, strategy: Any, classes: Labels, codes: Codes, kind: Kind) -> dict[Any, int]:
    """The number for each class that is resampled, in the order of the classes.

    It is the number of rows to make (over-sampling) or to keep (under-sampling); cleaning decides by itself how many rows it
    leaves, and its numbers are those of the rarest class.
    """
    counts = np.bincount(codes, minlength=len(classes))
    if len(classes) < 2:
        raise ValueError(
            f"{owner}: The target 'y' needs to have more than 1 class. Got {len(classes)} class instead: "
            "there is nothing to balance."
        )
    if callable(strategy):
        strategy = strategy(classes[codes])
    if isinstance(strategy, Mapping):
        numbers = _by_dict(owner, strategy, classes, counts, kind)
    elif isinstance(strategy, str):
        numbers = _by_name(strategy, counts, kind)
    elif np.ndim(strategy) == 0:
        numbers = _by_ratio(owner, float(strategy), counts, kind)
    else:
        numbers = dict.fromkeys(_places(owner, list(strategy), classes), int(counts.min()))
    labels = classes.tolist()
    return {labels[place]: numbers[place] for place in sorted(numbers)}


def targeted(strategy: str, counts: Counts, kind: Kind) -> list[int]:
    """The places of the classes that a name stands for."""
    rarest, commonest = int(counts.argmin()), int(counts.argmax())
    if strategy == "auto":
        strategy = "not majority" if kind == "over-sampling" else "not minority"
    everything = range(len(counts))
    return {
        "minority": [rarest],
        "majority": [commonest],
        "not minority": [place for place in everything if place != rarest],
        "not majority": [place for place in everything if place != commonest],
        "all": list(everything),
    }[strategy]


def _by_name(strategy: str, counts: Counts, kind: Kind) -> dict[int, int]:
    """As many rows as the commonest class has (over-sampling), or the rarest."""
    places = targeted(strategy, counts, kind)
    if kind == "over-sampling":
        return {place: int(counts.max() - counts[place]) for place in places}
    return {place: int(counts.min()) for place in places}


def _by_ratio(owner: str, ratio: float, counts: Counts, kind: Kind) -> dict[int, int]:
    """The share of the rarer class among the commoner one after resampling, for two classes."""
    if len(counts) != 2:
        raise ValueError(
            f'{owner}: sampling_strategy={ratio!r}: "sampling_strategy" can be a float only when the type of target is binary. '
            f"For multi-class, use a dict: y has {len(counts)} classes."
        )
    rarest, commonest = int(counts.argmin()), int(counts.argmax())
    other = 1 - commonest if kind == "over-sampling" else 1 - rarest
    if kind == "over-sampling":
        number = int(counts[commonest] * ratio - counts[other])
        if number <= 0:
            raise ValueError(
                f"{owner}: sampling_strategy={ratio!r}: The specified ratio required to remove samples from the minority class "
                f"while trying to generate new samples. Please increase the ratio: it is "
                f"{counts[other] / counts[commonest]:.3g} already."
            )
    else:
        number = int(counts[rarest] / ratio)
        if number > counts[other]:
            raise ValueError(
                f"{owner}: sampling_strategy={ratio!r}: The specified ratio required to generate new sample in the majority "
                f"class while trying to remove samples. Please increase the ratio: it is {counts[rarest] / counts[other]:.3g} "
                "already."
            )
    return {other: number}


def _by_dict(owner: str, strategy: Mapping[Any, Any], classes: Labels, counts: Counts, kind: Kind) -> dict[int, int]:
    """The number of rows of each class after resampling."""
    if kind == "clean-sampling":
        raise ValueError(
            f"{owner}: sampling_strategy={strategy!r}: 'sampling_strategy' as a dict for cleaning methods is not supported. "
            "Please give a list of the classes to be targeted by the sampling."
        )
    numbers = dict(zip(_places(owner, list(strategy), classes), strategy.values(), strict=True))
    labels = classes.tolist()
    for place, number in numbers.items():
        if number < 0:
            raise ValueError(
                f"{owner}: The number of samples in a class cannot be negative. "
                f"'sampling_strategy' contains some negative value: {dict(strategy)!r}"
            )
        has, is_over = int(counts[place]), kind == "over-sampling"
        if number < has if is_over else number > has:
            raise ValueError(
                f"{owner}: With {kind} methods, the number of samples in a class should be "
                f"{'greater' if is_over else 'less'} or equal to the original number of samples. "
                f"Originally, there is {has} samples and {number} samples are asked: class {labels[place]!r}."
            )
    return {place: int(number - counts[place] if kind == "over-sampling" else number) for place, number in numbers.items()}


def _places(owner: str, labels: list[Any], classes: Labels) -> list[int]:
    """Where labels stand among the classes; an error for those that y does not have."""
    known = {label: place for place, label in enumerate(classes.tolist())}
    if unknown := [label for label in labels if label not in known]:
        raise ValueError(
            f"{owner}: sampling_strategy names {unknown!r}: The {set(unknown)!r} target class is/are not present in the data; "
            f"the classes are {classes.tolist()!r}."
        )
    return [known[label] for label in labels]
