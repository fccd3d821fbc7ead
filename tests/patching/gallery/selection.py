"""Fewer columns: univariate scores, recursive elimination, forward selection, and models that keep few."""

from sklearn.datasets import load_breast_cancer
from sklearn.feature_selection import (
    RFECV,
    SelectFromModel,
    SelectKBest,
    SequentialFeatureSelector,
    VarianceThreshold,
    f_classif,
    mutual_info_classif,
)
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X = X.iloc[:, :12]
scaled = StandardScaler().set_output(transform="pandas").fit_transform(X)
print("scores", *X.columns[SelectKBest(f_classif, k=4).fit(X, y).get_support()])
print("information", mutual_info_classif(X, y, random_state=0).argmax())
print("varying", *VarianceThreshold(1.0).fit(X).get_feature_names_out())
ranked = RFECV(LogisticRegression(), cv=StratifiedKFold(3), min_features_to_select=2).fit(scaled, y)
print("recursive", ranked.n_features_, ranked.cv_results_["mean_test_score"].max().round(4))
forward = SequentialFeatureSelector(Ridge(), n_features_to_select=3, cv=3).fit(scaled, y)
print("forward", *forward.get_feature_names_out())
print(
    "strong", *SelectFromModel(LogisticRegression(penalty="l2", C=0.1), threshold="mean").fit(scaled, y).get_feature_names_out()
)
print("linear", round(LinearRegression().fit(forward.transform(scaled), y).score(forward.transform(scaled), y), 4))
