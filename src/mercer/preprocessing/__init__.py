"""Scaling of columns, encoders and imputers (scikit-learn's), and the preparation of mixed tables."""

from typing import TYPE_CHECKING

from mercer._exports import exports

if TYPE_CHECKING:
    from sklearn.impute import *  # noqa: F403
    from sklearn.preprocessing import *  # noqa: F403

    from mercer.preprocessing._range import MaxAbsScaler as MaxAbsScaler, MinMaxScaler as MinMaxScaler
    from mercer.preprocessing._robust import RobustScaler as RobustScaler
    from mercer.preprocessing._standard import StandardScaler as StandardScaler
    from mercer.preprocessing._table.pipeline import prepare_pipeline as prepare_pipeline
    from mercer.preprocessing._table.preparer import TablePreparer as TablePreparer
    from mercer.preprocessing._table.report import ColumnReport as ColumnReport

__getattr__, __dir__ = exports(
    __name__,
    {
        "._range": ("MaxAbsScaler", "MinMaxScaler"),
        "._robust": ("RobustScaler",),
        "._standard": ("StandardScaler",),
        "._table.pipeline": ("prepare_pipeline",),
        "._table.preparer": ("TablePreparer",),
        "._table.report": ("ColumnReport",),
    },
    peers=("sklearn.preprocessing", "sklearn.impute"),
)
