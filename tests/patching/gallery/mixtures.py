"""How many Gaussians: the information criterion of mixtures, and a Bayesian one that leaves components empty."""

import numpy as np
from sklearn import mixture
from sklearn.metrics import rand_score

generator = np.random.RandomState(0)
X = np.vstack([generator.randn(150, 2) @ [[0.0, -0.7], [3.5, 0.7]], generator.normal([-6, 3], 1, (150, 2))])
known = np.repeat([0, 1], 150)
criteria = {}
for kind in ("full", "diag", "tied"):
    for count in (1, 2, 3):
        model = mixture.GaussianMixture(count, covariance_type=kind, random_state=0, tol=1e-8, max_iter=200).fit(X)
        criteria[kind, count] = model.bic(X)
best = min(criteria, key=criteria.get)
print("best", *best, round(criteria[best], 1))
model = mixture.GaussianMixture(best[1], covariance_type=best[0], random_state=0).fit(X)
print("groups", round(rand_score(known, model.predict(X)), 4), *np.sort(model.weights_).round(3))
bayesian = mixture.BayesianGaussianMixture(n_components=5, weight_concentration_prior=1e-3, random_state=1, max_iter=500).fit(X)
print("used", (bayesian.weights_ > 0.05).sum())
