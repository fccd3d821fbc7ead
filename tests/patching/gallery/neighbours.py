"""Near rows: classes, numbers, densities and outliers by neighbours."""

import numpy as np
from sklearn.datasets import load_breast_cancer, make_s_curve
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import (
    KernelDensity,
    KNeighborsClassifier,
    KNeighborsRegressor,
    LocalOutlierFactor,
    NearestCentroid,
    NearestNeighbors,
    RadiusNeighborsRegressor,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

X, y = load_breast_cancer(return_X_y=True)
for count in (3, 9):
    model = make_pipeline(StandardScaler(), KNeighborsClassifier(count, weights="distance"))
    print("classes", count, cross_val_score(model, X, y, cv=3).mean().round(4))
print("centroids", cross_val_score(make_pipeline(StandardScaler(), NearestCentroid()), X, y, cv=3).mean().round(4))
points, along = make_s_curve(300, noise=0.05, random_state=0)
for model in (KNeighborsRegressor(8), RadiusNeighborsRegressor(0.6)):
    print(type(model).__name__, round(model.fit(points[:200], along[:200]).score(points[200:], along[200:]), 4))
print("density", KernelDensity(bandwidth=0.3).fit(points).score(points[:50]).round(3))
far = np.vstack([points, [[5.0, 5.0, 5.0], [-5.0, 0.0, 4.0]]])
print("outliers", *np.flatnonzero(LocalOutlierFactor(20, contamination=0.007).fit_predict(far) == -1))
print("distances", NearestNeighbors(n_neighbors=4).fit(points).kneighbors(points[:5])[0].sum().round(6))
