"""Handwritten digits by logistic regression: folds, a held-out test, the confusion of classes."""

from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, confusion_matrix, f1_score, log_loss
from sklearn.model_selection import cross_val_score, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X[:600], y[:600], random_state=0, stratify=y[:600])
model = make_pipeline(MinMaxScaler(), LogisticRegression(C=0.5, tol=1e-6, max_iter=1000))
print("folds", *cross_val_score(model, X_train, y_train, cv=3).round(4))
predicted = model.fit(X_train, y_train).predict(X_test)
print("accuracy", round(accuracy_score(y_test, predicted), 4))
print("f1", round(f1_score(y_test, predicted, average="macro"), 4))
print("log loss", round(log_loss(y_test, model.predict_proba(X_test)), 3))
print("right", confusion_matrix(y_test, predicted).trace())
