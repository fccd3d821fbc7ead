"""Irises by support vector machines: a grid over C and gamma, kernels, margins."""

from sklearn import svm
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV, StratifiedShuffleSplit
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

X, y = load_iris(return_X_y=True)
pipe = Pipeline([("scale", StandardScaler()), ("svc", svm.SVC())])
grid = {"svc__C": [0.1, 1, 10], "svc__gamma": [0.01, 0.1, 1]}
search = GridSearchCV(pipe, grid, cv=StratifiedShuffleSplit(4, test_size=0.3, random_state=7)).fit(X, y)
print("best", *search.best_params_.values(), round(search.best_score_, 4))
for kernel in ("linear", "poly", "rbf"):
    model = svm.SVC(kernel=kernel, C=1).fit(X[:, :2], y)
    print(kernel, round(model.score(X[:, :2], y), 4))
line = svm.SVR(C=10, epsilon=0.1).fit(X[:, :3], X[:, 3])
print("regression", round(line.score(X[:, :3], X[:, 3]), 3))
print("novelties", svm.OneClassSVM(nu=0.1, gamma=0.5, tol=1e-6).fit(X).score_samples(X).mean().round(3))
print("linear", round(svm.LinearSVC(C=0.5, random_state=0).fit(X, y).score(X, y), 4))
