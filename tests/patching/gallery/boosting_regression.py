"""Friedman's function by boosting: gradient boosting, histograms, quantiles, AdaBoost."""

from sklearn.datasets import make_friedman1
from sklearn.ensemble import AdaBoostRegressor, GradientBoostingRegressor, HistGradientBoostingRegressor
from sklearn.metrics import mean_pinball_loss
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeRegressor

X, y = make_friedman1(n_samples=500, noise=0.5, random_state=2)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
models = {
    "gradient": GradientBoostingRegressor(n_estimators=80, max_depth=3, random_state=0),
    "histograms": HistGradientBoostingRegressor(max_iter=50, random_state=0),
    "adaboost": AdaBoostRegressor(DecisionTreeRegressor(max_depth=5), n_estimators=20, random_state=0),
}
for name, model in models.items():
    print(name, round(model.fit(X_train, y_train).score(X_test, y_test), 3))
for quantile in (0.1, 0.9):
    model = HistGradientBoostingRegressor(loss="quantile", quantile=quantile, max_iter=30, random_state=0).fit(X_train, y_train)
    loss = mean_pinball_loss(y_test, model.predict(X_test), alpha=quantile)
    print("quantile", quantile, round(loss, 2))
