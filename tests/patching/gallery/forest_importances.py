"""What a forest goes by: impurity, permutations, rows out of the bag, and a single tree beside it."""

from sklearn.datasets import load_wine
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.inspection import permutation_importance
from sklearn.model_selection import cross_val_score, train_test_split
from sklearn.tree import DecisionTreeClassifier, export_text

X, y = load_wine(return_X_y=True, as_frame=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=3, stratify=y)
forest = RandomForestClassifier(150, oob_score=True, random_state=0).fit(X_train, y_train)
print("forest", round(forest.score(X_test, y_test), 4), round(forest.oob_score_, 4))
leading = X.columns[forest.feature_importances_.argsort()[-5:]]
print("leading", *(name in leading for name in ("proline", "flavanoids", "ash")))
extra = ExtraTreesClassifier(150, random_state=0)
print("extra", cross_val_score(extra, X, y, cv=3).mean().round(4))
shuffled = permutation_importance(forest, X_test, y_test, n_repeats=5, random_state=0)
print("matters", shuffled.importances_mean[X.columns.get_loc("proline")] > 0)
tree = DecisionTreeClassifier(max_leaf_nodes=4, random_state=0).fit(X_train, y_train)
print("tree", round(tree.score(X_test, y_test), 4), tree.get_n_leaves())
print("first split", export_text(tree, feature_names=list(X.columns)).split()[1])
