"""Models that vote, stack, bag and boost, and a linear boundary beside a quadratic one."""

from sklearn.datasets import make_moons
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.ensemble import AdaBoostClassifier, BaggingClassifier, StackingClassifier, VotingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

X, y = make_moons(400, noise=0.3, random_state=9)
members = [("near", KNeighborsClassifier(7)), ("bayes", GaussianNB()), ("linear", LogisticRegression())]
models = {
    "lda": LinearDiscriminantAnalysis(),
    "qda": QuadraticDiscriminantAnalysis(),
    "vote": VotingClassifier(members, voting="soft"),
    "stack": StackingClassifier([*members, ("svc", SVC())], final_estimator=LogisticRegression(), cv=3),
    "bag": BaggingClassifier(KNeighborsClassifier(5), 10, random_state=0),
    "boost": AdaBoostClassifier(DecisionTreeClassifier(max_depth=1), n_estimators=40, random_state=0),
}
for name, model in models.items():
    print(name, cross_val_score(model, X, y, cv=3).mean().round(4))
