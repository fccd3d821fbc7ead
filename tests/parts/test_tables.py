"""Where parts lie (files, Dask's collections), answers for them, and what is wrong with them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import polars as pl
import pytest

import mercer
from mercer.cluster import KMeans
from mercer.decomposition import PCA
from mercer.ensemble import RandomForestClassifier
from mercer.linear_model import LinearRegression, LogisticRegression, Ridge
from mercer.naive_bayes import GaussianNB
from mercer.pipeline import make_pipeline
from mercer.preprocessing import StandardScaler
from tests.parts.families import in_parts, table

X, NUMBERS, LABELS, WEIGHTS = table()
NAMES = list("abcd")
FRAME = pd.DataFrame(X, columns=NAMES).assign(y=NUMBERS, label=LABELS, weight=WEIGHTS)


@pytest.fixture(scope="module", params=["parquet", "csv", "arrow"])
def path(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    where = tmp_path_factory.mktemp("parts") / f"table.{request.param}"
    write = {"parquet": "write_parquet", "csv": "write_csv", "arrow": "write_ipc"}[request.param]
    getattr(pl.DataFrame(FRAME.to_dict("list")), write)(where)
    return where


def test_a_file_gives_the_model_of_the_table(path: Path) -> None:
    whole = mercer.read_parts(path, rows=70)
    assert whole.shape == FRAME.shape
    assert whole.head(2)["label"].to_list() == LABELS[:2].tolist()
    model = make_pipeline(StandardScaler(), PCA(3), LogisticRegression(tol=1e-9)).fit(whole[NAMES], whole["label"])
    same = make_pipeline(StandardScaler(), PCA(3), LogisticRegression(tol=1e-9)).fit(FRAME[NAMES], LABELS)
    np.testing.assert_allclose(model[-1].coef_, same[-1].coef_, rtol=1e-6)
    assert (model.predict(whole[NAMES]) == same.predict(FRAME[NAMES])).all()
    assert model.score(whole[NAMES], whole["label"]) == same.score(FRAME[NAMES], LABELS)
    assert model[0].feature_names_in_.tolist() == NAMES


def test_weights_are_a_column(path: Path) -> None:
    whole = mercer.read_parts(path, rows=100)
    model = Ridge().fit(whole[NAMES], whole["y"], sample_weight=whole["weight"])
    np.testing.assert_allclose(model.coef_, Ridge().fit(X, NUMBERS, sample_weight=WEIGHTS).coef_)


def test_several_files_are_one_table(tmp_path: Path) -> None:
    for number, rows in enumerate(np.array_split(np.arange(len(FRAME)), 3)):
        pl.DataFrame(FRAME.iloc[rows].to_dict("list")).write_parquet(tmp_path / f"{number}.parquet")
    whole = mercer.read_parts(tmp_path / "*.parquet", rows=50)  # parts reach from one file into the next
    np.testing.assert_allclose(LinearRegression().fit(whole[NAMES], whole["y"]).coef_, LinearRegression().fit(X, NUMBERS).coef_)
    assert (np.asarray(whole["y"]) == NUMBERS).all()
    assert len(whole["y"]) == len(whole.drop("y")) == len(FRAME)


def test_what_is_wrong_with_a_file_is_said(tmp_path: Path, path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"nothing\.parquet"):
        mercer.read_parts(tmp_path / "nothing.parquet")
    with pytest.raises(FileNotFoundError, match="names no file"):
        mercer.read_parts(str(tmp_path / "*.parquet"))
    (tmp_path / "a.xlsx").write_text("")
    with pytest.raises(ValueError, match="must be Parquet, Arrow or CSV"):
        mercer.read_parts(tmp_path / "a.xlsx")
    with pytest.raises(ValueError, match="rows=0"):
        mercer.read_parts(path, rows=0)
    whole = mercer.read_parts(path)
    with pytest.raises(KeyError, match="no column 'z'"):
        whole["z"]
    with pytest.raises(ValueError, match="one `read_parts`"):
        Ridge().fit(whole[NAMES], mercer.read_parts(path)["y"])


def test_a_dask_frame_gives_the_model_of_the_table_and_lazy_answers() -> None:
    lazy = dd.from_pandas(FRAME, npartitions=5)
    model = make_pipeline(StandardScaler(), Ridge()).fit(lazy[NAMES], lazy["y"])
    same = make_pipeline(StandardScaler(), Ridge()).fit(FRAME[NAMES], NUMBERS)
    np.testing.assert_allclose(model[-1].coef_, same[-1].coef_)
    answer = model.predict(lazy[NAMES])
    assert isinstance(answer, da.Array)
    np.testing.assert_allclose(answer.compute(), same.predict(FRAME[NAMES]))
    assert model.score(lazy[NAMES], lazy["y"]) == pytest.approx(same.score(FRAME[NAMES], NUMBERS))


def test_dask_arrays_may_be_cut_in_any_way() -> None:
    rows, target = da.from_array(X, chunks=(70, 3)), da.from_array(NUMBERS, chunks=50)
    np.testing.assert_allclose(Ridge().fit(rows, target).coef_, Ridge().fit(X, NUMBERS).coef_)
    unknown = dd.from_pandas(FRAME, npartitions=4)
    rows, target = unknown[NAMES].to_dask_array(), unknown["label"].to_dask_array()
    model = LogisticRegression().fit(rows, target)
    np.testing.assert_allclose(model.coef_, LogisticRegression().fit(X, LABELS).coef_)
    answers = model.predict_proba(da.from_array(X, chunks=(100, 4)))
    assert answers.chunks == ((100, 100, 40), (3,))


def test_any_fitted_estimator_answers_for_parts() -> None:
    forest = RandomForestClassifier(5, random_state=0).fit(X, LABELS)
    assert (forest.predict(da.from_array(X, chunks=(99, 4))).compute() == forest.predict(X)).all()
    assert forest.score(in_parts(X, [50]), in_parts(LABELS, [50])) == forest.score(X, LABELS)


def test_parts_may_be_empty_or_lack_classes() -> None:
    order = np.argsort(LABELS)
    cuts = [0, 60, 60, 200]
    model = LogisticRegression().fit(in_parts(X[order], cuts), in_parts(LABELS[order], cuts))
    np.testing.assert_allclose(model.coef_, LogisticRegression().fit(X, LABELS).coef_, atol=1e-6)
    assert len(model.predict(da.from_array(X, chunks=((0, 200, 40), (4,))))) == len(X)
    with pytest.raises(ValueError, match="0 sample"):
        StandardScaler().fit(in_parts(X[:0], []))


def test_an_estimator_without_such_a_form_names_those_that_have_one() -> None:
    with pytest.raises(TypeError, match=r"RandomForestClassifier.*KMeans.*Ridge.*sample of the rows"):
        RandomForestClassifier().fit(in_parts(X, [9]), in_parts(LABELS, [9]))


@pytest.mark.parametrize("model", [StandardScaler(), GaussianNB()], ids=["scaler", "classifier"])
def test_learning_more_rows_is_not_done_in_parts(model: Any) -> None:
    with pytest.raises(TypeError, match="partial_fit takes no rows in parts"):
        model.partial_fit(in_parts(X, [9]), in_parts(LABELS, [9]))


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (LogisticRegression(l1_ratio=0.5), "l1"),
        (LogisticRegression(solver="gd"), "solver='gd'"),
        (Ridge(positive=True), "positive=True"),
        (Ridge(solver="lsqr"), "solver='lsqr'"),
        (LinearRegression(positive=True), "positive=True"),
        (PCA(svd_solver="full"), "svd_solver='full'"),
        (KMeans(init="random"), "init='random'"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_what_a_fit_in_parts_cannot_do_is_refused(model: Any, words: str) -> None:
    with pytest.raises(TypeError, match=words):
        model.fit(in_parts(X, [9]), in_parts(LABELS if isinstance(model, LogisticRegression) else NUMBERS, [9]))


def test_what_is_wrong_with_a_part_names_it() -> None:
    bad = X.copy()
    bad[130, 2] = np.nan
    for model in (Ridge(), KMeans(2), LogisticRegression()):
        with pytest.raises(ValueError, match=r"(?s)NaN.*column 2, row 30.*in part 1"):
            model.fit(
                in_parts(bad, [100]),
                in_parts(np.median(NUMBERS) < NUMBERS if isinstance(model, LogisticRegression) else NUMBERS, [100]),
            )
    with pytest.raises(ValueError, match=r"3 features.*in part 1|in part 1"):
        Ridge().fit(parted_blocks([X[:9], X[9:, :3]]), in_parts(NUMBERS, [9]))
    with pytest.raises(ValueError, match="equally long"):
        Ridge().fit(in_parts(X, [9]), in_parts(NUMBERS, [10]))
    with pytest.raises(ValueError, match="equally many parts"):
        Ridge().fit(in_parts(X, [9]), in_parts(NUMBERS, [10, 12]))
    with pytest.raises(ValueError, match="Negative values"):
        Ridge().fit(in_parts(X, [9]), in_parts(NUMBERS, [9]), sample_weight=in_parts(WEIGHTS - 1, [9]))
    with pytest.raises(ValueError, match="zero for every row"):
        Ridge().fit(in_parts(X, [9]), in_parts(NUMBERS, [9]), sample_weight=in_parts(WEIGHTS * 0, [9]))
    with pytest.raises(TypeError, match="y does not"):
        Ridge().fit(in_parts(X, [9]), NUMBERS)
    with pytest.raises(ValueError, match="1 class only"):
        LogisticRegression().fit(in_parts(X, [9]), in_parts(NUMBERS > 1e9, [9]))


def parted_blocks(blocks: list[Any]) -> Any:
    from mercer._parts.memory import MemorySource
    from mercer._parts.passes import Parted

    return Parted(MemorySource(blocks), n_columns=blocks[0].shape[1])


def test_a_failed_fit_leaves_the_estimator_as_it_was() -> None:
    model = Ridge().fit(X, NUMBERS)
    before = model.coef_
    with pytest.raises(ValueError, match="NaN"):
        model.fit(in_parts(np.full_like(X, np.nan), [9]), in_parts(NUMBERS, [9]))
    assert model.coef_ is before


def test_only_statistics_come_back_from_the_parts() -> None:
    sizes: list[int] = []

    class Watch(dask.callbacks.Callback):  # type: ignore[name-defined, misc]
        def _posttask(self, key: Any, result: Any, *others: Any) -> None:
            if "merge_present" in str(key):
                sizes.append(sum(np.asarray(value).nbytes for value in result))

    with Watch(), dask.config.set(scheduler="synchronous"):
        LinearRegression().fit(da.from_array(X, chunks=(30, 4)), da.from_array(NUMBERS, chunks=30))
    assert sizes
    assert max(sizes) <= 8 * (25 + 5 + 5 + 1)  # the products of five columns, their means, their noise, the weight
