"""The user's table with a column of clusters, in the kind of file that it came in."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from mercer._runs.clustering.methods import Labels
from mercer._runs.prediction import CLUSTER
from mercer._runs.reading import RowFile, is_parquet, read_texts
from mercer._runs.settings import ClusterSettings

if TYPE_CHECKING:
    from collections.abc import Sequence


def label_column(columns: Sequence[str]) -> str:
    """`cluster`, or the first of cluster_2, cluster_3 … that the table does not have."""
    names = (CLUSTER if number == 1 else f"{CLUSTER}_{number}" for number in range(1, len(columns) + 2))
    return next(name for name in names if name not in columns)


def labels_file(source: Path) -> str:
    """The name of the file that is written."""
    return "labels.parquet" if is_parquet(source) else "labels.csv"


def write_labels(
    path: Path, source: Path, settings: ClusterSettings, numbers: npt.NDArray[np.intp], labels: Labels, column: str
) -> None:
    """Every cell of the table as it stands in its file, and the cluster of its row. The file is whole or not there."""
    import polars as pl

    file = RowFile(source, settings.file)
    table = read_texts(source, settings.file)[numbers - 1] if file.is_text else file.whole[numbers - 1]
    labelled = table.with_columns(pl.Series(column, labels))
    partial = path.with_name(f".{path.name}.partial")
    if is_parquet(source):
        labelled.write_parquet(partial)
    else:
        labelled.write_csv(partial, separator=file.separator if file.is_text else ",")
    partial.replace(path)
