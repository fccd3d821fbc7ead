"""Scaling of columns."""

from mercer.preprocessing._range import MaxAbsScaler, MinMaxScaler
from mercer.preprocessing._robust import RobustScaler
from mercer.preprocessing._standard import StandardScaler

__all__ = ["MaxAbsScaler", "MinMaxScaler", "RobustScaler", "StandardScaler"]
