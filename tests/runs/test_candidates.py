"""Which models take part, and with what parameters at first."""

from __future__ import annotations

import numpy as np
import polars as pl

from mercer._runs.candidates import find_candidates
from mercer._runs.pipelines import Pipelines
from mercer._runs.problem import make_problem
from mercer._runs.settings import Settings


def test_quadratic_discriminants_take_part_where_columns_are_words():
    random = np.random.default_rng(0)
    y = np.repeat(["a", "b"], 60)
    colours = np.where(y == "a", "red", random.choice(["red", "green", "blue"], size=120))  # in one class always the same
    table = pl.DataFrame({"size": random.normal(size=120) + (y == "b"), "colour": colours, "y": y})
    settings = Settings("table.csv", "y", models=("QuadraticDiscriminantAnalysis",))
    problem = make_problem(table, settings)
    (candidate,), _ = find_candidates(problem, settings)
    model = Pipelines(problem.X, settings).make(candidate.name, candidate.estimator).fit(problem.X, problem.y)
    assert model.score(problem.X, problem.y) > 0.8
    assert set(candidate.space) == {"reg_param"}
