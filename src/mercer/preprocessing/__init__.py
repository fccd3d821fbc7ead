"""Scaling of columns, encoders and imputers (scikit-learn's), and the preparation of mixed tables."""

from sklearn.impute import KNNImputer, MissingIndicator, SimpleImputer
from sklearn.preprocessing import (
    Binarizer,
    FunctionTransformer,
    KBinsDiscretizer,
    KernelCenterer,
    LabelBinarizer,
    LabelEncoder,
    MultiLabelBinarizer,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    PowerTransformer,
    QuantileTransformer,
    SplineTransformer,
    TargetEncoder,
    add_dummy_feature,
    binarize,
    label_binarize,
    normalize,
    power_transform,
    quantile_transform,
)

from mercer.preprocessing._range import MaxAbsScaler, MinMaxScaler
from mercer.preprocessing._robust import RobustScaler
from mercer.preprocessing._standard import StandardScaler
from mercer.preprocessing._table.pipeline import prepare_pipeline
from mercer.preprocessing._table.preparer import TablePreparer
from mercer.preprocessing._table.report import ColumnReport

__all__ = [
    "Binarizer",
    "ColumnReport",
    "FunctionTransformer",
    "KBinsDiscretizer",
    "KNNImputer",
    "KernelCenterer",
    "LabelBinarizer",
    "LabelEncoder",
    "MaxAbsScaler",
    "MinMaxScaler",
    "MissingIndicator",
    "MultiLabelBinarizer",
    "Normalizer",
    "OneHotEncoder",
    "OrdinalEncoder",
    "PolynomialFeatures",
    "PowerTransformer",
    "QuantileTransformer",
    "RobustScaler",
    "SimpleImputer",
    "SplineTransformer",
    "StandardScaler",
    "TablePreparer",
    "TargetEncoder",
    "add_dummy_feature",
    "binarize",
    "label_binarize",
    "normalize",
    "power_transform",
    "prepare_pipeline",
    "quantile_transform",
]
