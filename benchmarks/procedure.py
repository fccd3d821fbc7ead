"""`mercer train` against scikit-learn's histogram boosting with a random search, in equal time, on real tables.

    python -m benchmarks.procedure [--seeds 0 1] [--tables fair wine] [--markdown FILE]

Both learn from the same training rows and are scored once on the same test rows. The peer draws 20 settings and scores each by
five folds; Mercer is then given the seconds that the peer took.
"""

from __future__ import annotations

import argparse
import tempfile
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from scipy.stats import loguniform, randint
from sklearn import datasets
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.metrics import get_scorer
from sklearn.model_selection import RandomizedSearchCV, train_test_split

TARGET = "target"
SPACE = {
    "learning_rate": loguniform(0.01, 0.3),
    "max_leaf_nodes": randint(8, 64),
    "min_samples_leaf": randint(5, 50),
    "l2_regularization": loguniform(1e-3, 10),
    "max_iter": randint(50, 300),
}


@dataclass(frozen=True)
class RealTable:
    """A table that scikit-learn or statsmodels ships, and by what it is judged."""

    name: str
    read: Callable[[], Any]  # gives a pandas frame with a column "target"
    metric: str


def _of_sklearn(load: Callable[..., Any]) -> Callable[[], Any]:
    def read() -> Any:
        bunch = load(as_frame=True)
        return bunch.data.assign(**{TARGET: bunch.target})

    return read


def _of_statsmodels(name: str, target: str, *, is_any: bool = False) -> Callable[[], Any]:
    def read() -> Any:
        import statsmodels.api as sm

        frame = getattr(sm.datasets, name).load_pandas().data
        values = (frame[target] > 0).astype(int) if is_any else frame[target]
        return frame.drop(columns=[target]).assign(**{TARGET: values})

    return read


TABLES = (
    RealTable("breast cancer", _of_sklearn(datasets.load_breast_cancer), "roc_auc"),
    RealTable("wine", _of_sklearn(datasets.load_wine), "neg_log_loss"),
    RealTable("digits", _of_sklearn(datasets.load_digits), "accuracy"),
    RealTable("diabetes", _of_sklearn(datasets.load_diabetes), "r2"),
    RealTable("fair", _of_statsmodels("fair", "affairs", is_any=True), "roc_auc"),
    RealTable("randhie", _of_statsmodels("randhie", "mdvis"), "r2"),
)


def run_peer(frame: Any, metric: str, train: Any, test: Any, seed: int) -> tuple[float, float]:
    """The score on the test rows, and the seconds."""
    X, y = frame.drop(columns=[TARGET]).to_numpy(dtype=float), frame[TARGET].to_numpy()
    model = (HistGradientBoostingRegressor if metric == "r2" else HistGradientBoostingClassifier)(random_state=seed)
    search = RandomizedSearchCV(model, SPACE, n_iter=20, scoring=metric, cv=5, random_state=seed)
    started = time.perf_counter()
    search.fit(X[train], y[train])
    seconds = time.perf_counter() - started
    return float(get_scorer(metric)(search, X[test], y[test])), seconds


def run_mercer(frame: Any, metric: str, test: Any, seed: int, seconds: float) -> tuple[float, float, str]:
    """The same, and the chosen model."""
    import mercer
    from mercer._runs.settings import Settings
    from mercer._runs.training import train

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        frame.to_csv(path, index=False)
        task = "regression" if metric == "r2" else "classification"
        started = time.perf_counter()
        settings = Settings(str(path), TARGET, task=task, metric=metric, seconds=seconds, seed=seed)
        outcome = train(settings, Path(folder) / "run", command="benchmark")
        spent = time.perf_counter() - started
        model = mercer.load(outcome.folder.model)
        table = pl.read_csv(path, infer_schema_length=None)
        score = get_scorer(metric)(model, table.drop(TARGET)[test], table[TARGET].to_numpy()[test])
        return float(score), spent, outcome.content["best"]["model"]


def compare(table: RealTable, seed: int) -> dict[str, Any]:
    frame = table.read()
    stratify = None if table.metric == "r2" else frame[TARGET].to_numpy()
    train, test = train_test_split(np.arange(len(frame)), test_size=0.2, random_state=seed, stratify=stratify)
    peer, seconds = run_peer(frame, table.metric, np.sort(train), np.sort(test), seed)
    mine, spent, model = run_mercer(frame, table.metric, np.sort(test), seed, seconds)
    return {
        "table": table.name,
        "rows": len(frame),
        "columns": frame.shape[1] - 1,
        "measure": table.metric,
        "seed": seed,
        "scikit-learn": peer,
        "Mercer": mine,
        "chosen": model,
        "seconds (scikit-learn)": seconds,
        "seconds (Mercer)": spent,
    }


def to_markdown(rows: list[dict[str, Any]]) -> str:
    heads = list(rows[0])
    lines = [[f"{value:.4f}" if isinstance(value, float) else str(value) for value in row.values()] for row in rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in [heads, ["---"] * len(heads), *lines])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--tables", nargs="+", default=[table.name for table in TABLES])
    parser.add_argument("--markdown", type=Path)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = []
    for seed in options.seeds:
        for table in TABLES:
            if table.name in options.tables:
                rows.append(compare(table, seed))
                print(rows[-1], flush=True)
    text = to_markdown(rows)
    print(text)
    if options.markdown:
        options.markdown.write_text(text + "\n")


if __name__ == "__main__":
    main()
