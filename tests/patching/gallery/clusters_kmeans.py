"""Digits without their labels: k-means on principal components, and how well it finds the labels."""

from sklearn import metrics
from sklearn.cluster import AgglomerativeClustering, KMeans, MiniBatchKMeans
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

X, y = load_digits(n_class=6, return_X_y=True)
X, y = X[:500], y[:500]
reduced = PCA(n_components=12, random_state=0)
points = make_pipeline(StandardScaler(), reduced).fit_transform(X)
print("kept", reduced.explained_variance_ratio_.sum().round(4))
models = {
    "k-means": KMeans(6, n_init=4, random_state=0),
    "batches": MiniBatchKMeans(6, n_init=3, batch_size=200, random_state=0),
    "ward": AgglomerativeClustering(6),
}
for name, model in models.items():
    labels = model.fit_predict(points)
    figures = [metrics.adjusted_rand_score(y, labels), metrics.v_measure_score(y, labels)]
    print(name, *(round(figure, 4) for figure in [*figures, metrics.silhouette_score(points, labels)]))
