"""Which players of a game a lasso keeps: what shap calls `l1_reg`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from mercer._arrays import FloatArray
from mercer.inspection._coalition_rows import MaskArray


def chosen_players(
    masks: MaskArray, weights: FloatArray, worth: FloatArray, total: FloatArray, rule: Any
) -> Iterator[npt.NDArray[np.intp]]:
    """The players of each game (column of `worth`), ascending.

    Each coalition counts twice, once as what it adds to none and once as what it lacks of all, by the sizes of the other part.
    """
    from sklearn.linear_model import Lasso, LassoLarsIC, lars_path
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    m = masks.shape[1]
    sizes = masks.sum(axis=1)
    scale = np.sqrt(np.concatenate([weights * (m - sizes), weights * sizes]))
    signed = masks.astype(np.float64)
    design = np.concatenate([signed, signed - 1]) * scale[:, None]
    for game in range(worth.shape[1]):
        target = np.concatenate([worth[:, game], worth[:, game] - total[game]]) * scale
        if isinstance(rule, str) and rule.startswith("num_features"):
            chosen = lars_path(design, target, max_iter=int(rule[len("num_features(") : -1]))[1]
        elif isinstance(rule, str):
            path = make_pipeline(StandardScaler(with_mean=False), LassoLarsIC(criterion=rule))
            chosen = np.flatnonzero(path.fit(design, target)[-1].coef_)
        else:
            chosen = np.flatnonzero(Lasso(alpha=rule).fit(design, target).coef_)
        yield np.sort(np.asarray(chosen, dtype=np.intp))
