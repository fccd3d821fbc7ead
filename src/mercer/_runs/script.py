"""`train.py`: the chosen model as plain code, which gives the same bits without the command."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mercer._runs.code import Code
from mercer._runs.decision import Decision
from mercer._runs.intervals import Calibration
from mercer._runs.problem import Problem, not_learnt
from mercer._runs.settings import Settings
from mercer._runs.splits import n_group_parts
from mercer._weighted import weight_name

_TEMPLATE = '''"""Trains the model that `mercer train` chose, on the same rows, and tests it once. Needs mercer and polars."""

import numpy as np
import polars as pl

import mercer
{imports}

DATA = {data}
{test_data}
# The table: the rows whose target is known{in_order}.
table = {read}
{filters}{testing}y = {target}
{lone}X = table.drop({not_learnt!r})
{weights}
# {how}
{division}

model = {model}
{sample}model.fit(X[{fitted}], y[{fitted}]{fit_weights})
{decision}{intervals}
if __name__ == "__main__":
    print({metric_name!r}, get_scorer({metric_name!r})(model, X[test], y[test]{test_weights}))
{refit}    mercer.save(model, "model.mercer")
'''


def write_script(
    problem: Problem,
    settings: Settings,
    source: Path,
    model: Any,
    embedded: str | None,
    calibration: Calibration | None = None,
    decision: Decision | None = None,
    n_rows: int | None = None,
    *,
    test_source: Path | None = None,
    is_plain: bool = True,
) -> str:
    """The text of the script. `embedded` is the name of a table that comes with Mercer, `n_rows` how many rows were fitted,
    `test_source` the file of test rows; `is_plain`: polars reads the files."""
    code = Code()
    body = code.of(model)
    code.add("mercer.metrics", "get_scorer")
    data, read = code.path(source, embedded), code.read(settings, source, is_plain=is_plain)
    testing = "" if test_source is None else _testing(problem, settings, code, test_source, is_plain=is_plain)
    is_text = problem.classes is not None and isinstance(problem.classes[0], str)
    how, division = _division(problem, settings, code)
    weighted = f", {weight_name(model)}=weights" if settings.weights else ""
    fitted = "train" if n_rows is None else "chosen"
    return _TEMPLATE.format(
        imports="\n".join(code.imports()),
        data=data,
        test_data="" if test_source is None else f"TEST_DATA = {str(test_source.resolve())!r}\n",
        in_order=", in the order of time" if problem.division.times is not None else "",
        read=read,
        filters=_filters(problem, settings, "table"),
        testing=testing,
        target=_target(problem, settings, is_text=is_text),
        lone=_lone(problem),
        not_learnt=not_learnt(settings),
        weights=f"weights = table[{settings.weights!r}].cast(pl.Float64).to_numpy()\n" if settings.weights else "",
        how=how,
        division=division,
        model=body,
        sample="" if n_rows is None else _sample(problem, settings, n_rows),
        fitted=fitted,
        fit_weights=f"{weighted}[{fitted}]" if weighted else "",
        test_weights=", sample_weight=weights[test]" if weighted else "",
        refit=f"    model.fit(X, y{weighted})  # once tested, it learns from all rows\n" if settings.is_refitted else "",
        decision="" if decision is None else _decision(decision),
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


def _division(problem: Problem, settings: Settings, code: Code) -> tuple[str, str]:
    """A sentence and the lines that divide the rows."""
    division = problem.division
    if division.is_by_file or division.kind == "time":
        where = "The test rows are those of their own file." if division.is_by_file else "The test rows are the last ones."
        cut = "n_learning" if division.is_by_file else len(division.train)
        return where, f"train, test = np.arange({cut}), np.arange({cut}, len(y))"
    if division.kind == "random":
        code.add("mercer.model_selection", "train_test_split")
        stratify = "" if problem.classes is None else ", stratify=y"
        options = f"test_size={settings.test_size!r}, random_state={settings.seed!r}{stratify}"
        lines = f"train, test = train_test_split(np.arange(len(y)), {options})\ntrain, test = np.sort(train), np.sort(test)"
        return "The same division into training and test rows.", lines
    code.add("mercer.model_selection", "StratifiedGroupKFold")
    n_parts, is_swapped = n_group_parts(settings.test_size)
    strata = "np.zeros(len(y), dtype=int)" if problem.classes is None else "np.unique(y, return_inverse=True)[1]"
    lines = (
        f'groups = table[{settings.group!r}].rank("dense").to_numpy() - 1\n'
        f"parts = StratifiedGroupKFold({n_parts}, shuffle=True, random_state={settings.seed!r})\n"
        f"{'test, train' if is_swapped else 'train, test'} = next(parts.split(np.zeros(len(y)), {strata}, groups))"
    )
    return "The same groups for the test.", lines


def _testing(problem: Problem, settings: Settings, code: Code, source: Path, *, is_plain: bool) -> str:
    """The rows of the test file, below the others."""
    read = code.read(settings, source, "schema_overrides=words", is_plain=is_plain, data="TEST_DATA")
    words = "words = {name: kind for name, kind in table.schema.items() if kind == pl.String}\n"
    return (
        f"{words if 'overrides=words' in read else ''}testing = {read}\n{_filters(problem, settings, 'testing')}"
        "n_learning = table.height\n"
        'table = pl.concat([table, testing.select(table.columns)], how="vertical_relaxed")\n'
    )


def _decision(decision: Decision) -> str:
    """What `mercer predict` goes by."""
    if decision.threshold is not None:
        rule = f"(probability[:, 1] >= {decision.threshold!r}).astype(int)"
    else:
        rule = f"np.argmax(np.array({decision.offsets!r}) - probability @ np.array({decision.costs!r}), axis=1)"
    return f'''

def decide(probability):
    """The labels by the costs of the run, which chose this on training rows, by fits that had not seen them."""
    return model.classes_[{rule}]

'''


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


def _filters(problem: Problem, settings: Settings, table: str) -> str:
    column = f"pl.col({settings.target!r})"
    lines = [f"{table} = {table}.filter({column}.is_not_null())\n"]
    if problem.is_float_target:
        lines.append(f"{table} = {table}.filter({column}.is_finite())\n")
    order = problem.division.order
    if order is not None and order.code is not None:
        lines.append(f"{table} = {table}.sort({order.code}, maintain_order=True)\n")
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
    lines = f"is_kept = ~np.isin(y, {problem.lone!r})\ntable, y = table.filter(is_kept), y[is_kept]\n"
    return lines + (f"n_learning -= {len(problem.lone)}\n" if problem.division.is_by_file else "")
