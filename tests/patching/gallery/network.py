"""Perceptrons with a hidden layer: digits and a smooth function; features of a Boltzmann machine."""

import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import classification_report
from sklearn.neural_network import BernoulliRBM, MLPClassifier, MLPRegressor
from sklearn.pipeline import Pipeline

X, y = load_digits(return_X_y=True)
X, y = X[:700] / 16, y[:700]
model = MLPClassifier((32,), max_iter=15, random_state=1, learning_rate_init=0.01, n_iter_no_change=30).fit(X[:500], y[:500])
print("digits", round(model.score(X[500:], y[500:]), 4), round(model.loss_, 4))
report = classification_report(y[500:], model.predict(X[500:]), output_dict=True)
print("report", round(report["macro avg"]["f1-score"], 4))
machine = BernoulliRBM(n_components=30, n_iter=8, learning_rate=0.06, random_state=0)
features = Pipeline([("machine", machine), ("classes", LogisticRegression(C=10, tol=1e-8, max_iter=2000))]).fit(
    X[:300], y[:300]
)
print("features", round(features.score(X[500:], y[500:]), 4))
x = np.linspace(-3, 3, 200)[:, None]
curve = MLPRegressor(hidden_layer_sizes=(20,), activation="tanh", solver="lbfgs", random_state=0, max_iter=100).fit(
    x, np.sin(x).ravel()
)
print("curve", round(curve.score(x, np.sin(x).ravel()), 3))
