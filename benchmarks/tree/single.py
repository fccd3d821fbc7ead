"""One tree, grown to purity."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from benchmarks._case import SCIKIT_LEARN, Case, Quality, contenders
from benchmarks.tree._problems import classes, error_rate, fit, numbers, squared_error


def cases() -> Iterator[Case]:
    peers = (SCIKIT_LEARN,)
    of_classes, of_numbers = (contenders(f"tree.DecisionTree{kind}", peers) for kind in ("Classifier", "Regressor"))
    # A tree grown to purity is noisy: a tie that is broken the other way moves its error.
    errors = Quality("held-out error rate", error_rate, rtol=0.05)
    squares = Quality("held-out squared error", squared_error, rtol=0.05)
    table = "DecisionTree fit, to purity"
    for n_classes in (2, 6):
        data = partial(classes, 100_000, 30, n_classes)
        yield Case(table, f"100,000 x 30, {n_classes} classes", data, of_classes, fit, errors)
    yield Case(table, "100,000 x 30, regression", partial(numbers, 100_000, 30), of_numbers, fit, squares)
    yield Case(table, "5,000 x 10, regression", partial(numbers, 5_000, 10), of_numbers, fit, squares, is_quick=True)
