"""Lines through data with outliers and counts: Huber, quantiles, Poisson and gamma regression."""

import numpy as np
from sklearn.linear_model import GammaRegressor, HuberRegressor, PoissonRegressor, QuantileRegressor, Ridge, TweedieRegressor
from sklearn.metrics import d2_tweedie_score, mean_absolute_error, mean_poisson_deviance, median_absolute_error

generator = np.random.RandomState(3)
X = generator.randn(200, 3)
y = X @ [2.0, -1.0, 0.5] + 0.1 * generator.randn(200)
y[::20] += 15
for model in (HuberRegressor(tol=1e-8, max_iter=1000), QuantileRegressor(quantile=0.5, alpha=0), Ridge(alpha=0.1)):
    predicted = model.fit(X, y).predict(X)
    print(type(model).__name__, round(mean_absolute_error(y, predicted), 3), round(median_absolute_error(y, predicted), 3))
counts = generator.poisson(np.exp(0.5 + X @ [0.3, 0.0, -0.4]))
poisson = PoissonRegressor(alpha=1e-3, tol=1e-8, max_iter=1000).fit(X, counts)
print("poisson", *poisson.coef_.round(4), round(mean_poisson_deviance(counts, poisson.predict(X)), 4))
sizes = generator.gamma(2.0, np.exp(X[:, 0] * 0.4) / 2.0)
for model in (GammaRegressor(alpha=0.01, tol=1e-8), TweedieRegressor(power=1.5, alpha=0.01, tol=1e-8)):
    print(type(model).__name__, round(d2_tweedie_score(sizes, model.fit(X, sizes).predict(X), power=2), 4))
