"""Are probabilities what they say? Reliability and Brier scores before and after calibration."""

from sklearn.calibration import CalibratedClassifierCV, calibration_curve
from sklearn.datasets import make_classification
from sklearn.metrics import average_precision_score, brier_score_loss, precision_recall_curve, roc_auc_score, roc_curve
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB

X, y = make_classification(2000, n_features=12, n_informative=3, n_redundant=6, random_state=8)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=8)
models = {
    "plain": GaussianNB(),
    "isotonic": CalibratedClassifierCV(GaussianNB(), cv=3, method="isotonic"),
    "sigmoid": CalibratedClassifierCV(GaussianNB(), cv=3, method="sigmoid"),
}
for name, model in models.items():
    share = model.fit(X_train, y_train).predict_proba(X_test)[:, 1]
    print(name, round(brier_score_loss(y_test, share), 4), round(roc_auc_score(y_test, share), 4))
    print(name, round(average_precision_score(y_test, share), 4), *calibration_curve(y_test, share, n_bins=4)[0].round(3))
    print(name, roc_curve(y_test, share)[0].size > 10, precision_recall_curve(y_test, share)[0].min().round(3))
