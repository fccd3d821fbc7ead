"""Cluster and regress the wine data that come with scikit-learn; print the result and write a picture.

Needs mercer[plots]. Takes a few seconds.
"""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline

from mercer.cluster import KMeans, elbow
from mercer.linear_model import LinearRegression
from mercer.plots import plot_elbow
from mercer.preprocessing import StandardScaler

PICTURE = Path("wine.png")


def cluster(X: np.ndarray, cultivar: np.ndarray) -> tuple[KMeans, object]:
    """Find the cultivars without being told them."""
    scaled = StandardScaler().fit_transform(X)
    curve = elbow(scaled, range(1, 11))
    model = KMeans(n_clusters=curve.suggested, n_init=10, random_state=0).fit(scaled)
    print(f"Clusters of {len(X)} wines by {X.shape[1]} measurements\n{curve}")
    print(model.certificate_)
    print(f"agreement with the true cultivars (adjusted Rand index): {adjusted_rand_score(cultivar, model.labels_):.3f}\n")
    return model, curve


def regress(X: np.ndarray, names: list[str]) -> tuple[np.ndarray, np.ndarray]:
    """Explain the alcohol content by the other measurements."""
    alcohol, others = X[:, 0], X[:, 1:]
    model = make_pipeline(StandardScaler(), LinearRegression()).fit(others, alcohol)
    print("Alcohol content explained by the other measurements (standardised)")
    print(model[-1].summary(feature_names=names[1:]))
    print(model[-1].certificate_)
    return alcohol, model.predict(others)


def draw(X: np.ndarray, names: list[str], model: KMeans, curve: object, truth: np.ndarray, predicted: np.ndarray) -> None:
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(15, 4.6), layout="constrained")
    plot_elbow(curve, ax=left)
    flavanoids, colour = names.index("flavanoids"), names.index("color_intensity")
    middle.scatter(X[:, flavanoids], X[:, colour], c=model.labels_, cmap="viridis", s=28, edgecolor="white", linewidth=0.5)
    middle.set(xlabel="flavanoids", ylabel="colour intensity", title=f"{model.n_clusters} clusters found")
    right.scatter(truth, predicted, s=28, color="tab:blue", edgecolor="white", linewidth=0.5)
    right.axline((truth.mean(), truth.mean()), slope=1, color="tab:red", linewidth=1)
    right.set(xlabel="alcohol measured", ylabel="alcohol predicted", title="Least squares")
    figure.savefig(PICTURE, dpi=120)


def main() -> None:
    plt.switch_backend("Agg")  # a file, not a window
    wine = load_wine()
    names = [str(name) for name in wine.feature_names]
    model, curve = cluster(wine.data, wine.target)
    truth, predicted = regress(wine.data, names)
    draw(wine.data, names, model, curve, truth, predicted)
    print(f"\npicture written to {PICTURE}")


if __name__ == "__main__":
    main()
