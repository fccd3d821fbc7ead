"""Shapes that no centre describes: density clustering of two moons and of blobs with noise."""

import numpy as np
from sklearn.cluster import DBSCAN, HDBSCAN, OPTICS, MeanShift, estimate_bandwidth
from sklearn.datasets import make_blobs, make_moons
from sklearn.metrics import adjusted_mutual_info_score, homogeneity_completeness_v_measure

X, y = make_moons(300, noise=0.06, random_state=4)
labels = DBSCAN(eps=0.2, min_samples=5).fit_predict(X)
print("moons", round(adjusted_mutual_info_score(y, labels), 4), len(set(labels)))
blobs, known = make_blobs(300, centers=4, cluster_std=0.5, random_state=5)
for model in (HDBSCAN(min_cluster_size=15, copy=True), OPTICS(min_samples=10, xi=0.1), DBSCAN(eps=0.5)):
    labels = model.fit_predict(blobs)
    measured = homogeneity_completeness_v_measure(known, labels)
    print(type(model).__name__, np.unique(labels[labels >= 0]).size, *np.round(measured, 3))
width = estimate_bandwidth(blobs, quantile=0.2)
print("mean shift", round(width, 4), MeanShift(bandwidth=width).fit(blobs).cluster_centers_.shape[0])
