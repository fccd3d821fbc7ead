"""`cluster.py`: the chosen clustering as plain code, which gives every row the same label without the command."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mercer._runs.clustering.methods import Method
from mercer._runs.clustering.model import FinalClusters
from mercer._runs.clustering.table import MOST_COMPARED, ClusterTable
from mercer._runs.code import Code
from mercer._runs.settings import ClusterSettings

_TEMPLATE = '''"""Clusters a table as `mercer cluster` did, to the last label. Needs mercer and polars."""

import numpy as np
import polars as pl

{imports}

DATA = {data}

# The table, and its columns as numbers.
table = {read}
X = np.ascontiguousarray({preparer}.fit_transform(table{drop}))
{body}

def by_size(found):
    """Clusters numbered from 0, the largest first; noise stays -1."""
    names, first, counts = np.unique(found[found >= 0], return_index=True, return_counts=True)
    number = {{int(names[place]): rank for rank, place in enumerate(np.lexsort((first, -counts)))}}
    return np.array([number.get(int(name), -1) for name in found])


{labels}
if __name__ == "__main__":
    for number, count in zip(*np.unique(labels, return_counts=True)):
        print(f"cluster {{number}}: {{count}} rows" if number >= 0 else f"in no cluster: {{count}} rows")
    table.with_columns(pl.Series({column!r}, labels)).write_{format}({file!r})
'''
_SAMPLE = """
# The method compares all pairs of rows, so it sees a sample of them.
rows = np.sort(np.random.default_rng({seed}).choice(len(X), {n}, replace=False))
"""


def write_cluster_script(
    table: ClusterTable,
    settings: ClusterSettings,
    source: Path,
    final: FinalClusters,
    method: Method | None,
    *,
    embedded: str | None,
    column: str,
    file: str,
    is_plain: bool = True,
) -> str:
    """The text of the script. `column` and `file` are those that the run wrote; `embedded` is a table of Mercer's; `is_plain`:
    polars reads the file by itself."""
    code = Code()
    preparer, estimator, data = code.of(_bare(table.preparer)), code.of(final.estimator), code.path(source, embedded)
    read = code.read(settings, source, is_plain=is_plain)
    is_sampled = method is not None and not method.takes_all and table.is_sampled
    body, labels = "", f"labels = by_size({estimator}.fit_predict(X))\n"
    if is_sampled:
        body = _SAMPLE.format(seed=settings.seed, n=MOST_COMPARED)
        rule = code.of(_bare(final.rule))
        labels = (
            f"found = by_size({estimator}.fit_predict(X[rows]))\n\n"
            "# The other rows are labelled as new ones are.\n"
            f"labels = {rule}.fit(X[rows], found).predict(X)\nlabels[rows] = found\n"
        )
    left_out = list(table.left_out)
    return _TEMPLATE.format(
        imports="\n".join(code.imports()),
        data=data,
        read=read,
        preparer=preparer,
        drop=f".drop({left_out!r})" if left_out else "",
        body=body,
        labels=labels,
        column=column,
        format="parquet" if file.endswith(".parquet") else "csv",
        file=file,
    )


def _bare(estimator: Any) -> Any:
    from sklearn.base import clone

    return clone(estimator)
