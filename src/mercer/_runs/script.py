"""`train.py`: the chosen model as plain code, which gives the same bits without the command."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mercer._runs.code import Code, read_call
from mercer._runs.intervals import Calibration
from mercer._runs.problem import Problem
from mercer._runs.settings import Settings

_TEMPLATE = '''"""Trains the model that `mercer train` chose, on the same rows, and tests it once. Needs mercer and polars."""

import numpy as np
import polars as pl

import mercer
{imports}

DATA = {data}

# The table: the rows whose target is known.
table = {read}
{filters}y = {target}
{lone}X = table.drop({target_name!r})

# The same division into training and test rows.
train, test = train_test_split(np.arange(len(y)), test_size={test_size!r}, random_state={seed!r}{stratify})
train, test = np.sort(train), np.sort(test)

model = {model}
{sample}model.fit(X[{fitted}], y[{fitted}])
{intervals}
if __name__ == "__main__":
    print({metric_name!r}, get_scorer({metric_name!r})(model, X[test], y[test]))
    mercer.save(model, "model.mercer")
'''


def write_script(
    problem: Problem,
    settings: Settings,
    source: Path,
    model: Any,
    embedded: str | None,
    calibration: Calibration | None = None,
    n_rows: int | None = None,
) -> str:
    """The text of the script. `embedded` is the name of a table that comes with Mercer, `n_rows` how many rows were fitted."""
    code = Code()
    body = code.of(model)
    code.add("mercer.metrics", "get_scorer")
    code.add("mercer.model_selection", "train_test_split")
    data = code.path(source, embedded)
    is_text = problem.classes is not None and isinstance(problem.classes[0], str)
    return _TEMPLATE.format(
        imports="\n".join(code.imports()),
        data=data,
        read=read_call(settings, source),
        filters=_filters(problem, settings),
        target=_target(problem, settings, is_text=is_text),
        lone=_lone(problem),
        target_name=settings.target,
        test_size=settings.test_size,
        seed=settings.seed,
        stratify="" if problem.classes is None else ", stratify=y",
        model=body,
        sample="" if n_rows is None else _sample(problem, settings, n_rows),
        fitted="train" if n_rows is None else "chosen",
        intervals="" if calibration is None else _intervals(calibration, settings),
        metric_name=problem.metric.name,
    )


def _sample(problem: Problem, settings: Settings, n_rows: int) -> str:
    """The rows that a model was fitted to which would have taken too long on all of them."""
    lines = [
        f"# It learns from {n_rows:,} of the training rows: all of them would have taken longer than there was time for.",
        f"drawn = np.random.default_rng({settings.seed!r}).permutation(len(train))[:{n_rows!r}]",
    ]
    if problem.classes is not None:
        lines.append("drawn = np.union1d(drawn, np.unique(y[train], return_index=True)[1])  # of every class at least one row")
    return "\n".join([*lines, "chosen = train[np.sort(drawn)]", ""])


def _intervals(calibration: Calibration, settings: Settings) -> str:
    """What `mercer predict` adds, and the nearest to it that needs no search: other fits, so other ends."""
    if calibration.kind == "interval":
        rule, maker, call = f"prediction ± {calibration.limit!r}", "regressor", "predict_interval"
    else:
        least = 1 - calibration.limit
        rule, maker, call = f"labels of probability {least!r} and more, the likeliest in any case", "classifier", "predict_set"
    return f"""
# The intervals of the run: {rule}.
# They come from what fits to the folds of the search predict for rows that these had not seen.
# Without a search, by fits to folds of their own:
#     from mercer.conformal import conformal_{maker}
#     options = dict(method="cross", cv={settings.folds}, random_state={settings.seed})
#     conformal = conformal_{maker}(model, X[train], y[train], **options)
#     conformal.{call}(X[test], alpha={round(1 - calibration.coverage, 12)!r})
"""


def _filters(problem: Problem, settings: Settings) -> str:
    column = f"pl.col({settings.target!r})"
    lines = [f"table = table.filter({column}.is_not_null())\n"]
    if problem.is_float_target:
        lines.append(f"table = table.filter({column}.is_finite())\n")
    if settings.drop:
        lines.append(f"table = table.drop({list(settings.drop)!r})\n")
    return "".join(lines)


def _target(problem: Problem, settings: Settings, *, is_text: bool) -> str:
    column = f"table[{settings.target!r}]"
    if problem.classes is None:
        return f"{column}.cast(pl.Float64).to_numpy()"
    if is_text:
        return f"np.asarray({column}.cast(pl.String).to_list())"
    return f"{column}.cast(pl.Int64).to_numpy()" if problem.is_float_target else f"{column}.to_numpy()"


def _lone(problem: Problem) -> str:
    """Classes of a single row are left out."""
    if not problem.lone:
        return ""
    return f"is_kept = ~np.isin(y, {problem.lone!r})\ntable, y = table.filter(is_kept), y[is_kept]\n"
