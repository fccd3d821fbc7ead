"""Which measurements matter for diabetes: lasso, elastic net and ridge with chosen penalties."""

from sklearn.datasets import load_diabetes
from sklearn.linear_model import ElasticNetCV, LassoCV, LinearRegression, RidgeCV
from sklearn.metrics import mean_squared_error, r2_score
from sklearn.model_selection import KFold, train_test_split

X, y = load_diabetes(return_X_y=True, as_frame=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=1)
folds = KFold(5, shuffle=True, random_state=0)
models = {
    "least squares": LinearRegression(),
    "ridge": RidgeCV(alphas=[0.01, 0.1, 1.0, 10.0]),
    "lasso": LassoCV(cv=folds, tol=1e-8, max_iter=10_000),
    "elastic net": ElasticNetCV(cv=folds, l1_ratio=[0.5, 0.9], tol=1e-8, max_iter=10_000),
}
for name, model in models.items():
    predicted = model.fit(X_train, y_train).predict(X_test)
    print(name, round(r2_score(y_test, predicted), 4), round(mean_squared_error(y_test, predicted), 0))
    print(name, "kept", *model.feature_names_in_[abs(model.coef_) > 1e-6])
