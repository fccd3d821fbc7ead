"""Decision trees."""

from __future__ import annotations

from mercer.tree._decision_tree import DecisionTreeClassifier, DecisionTreeRegressor

__all__ = ["DecisionTreeClassifier", "DecisionTreeRegressor"]
