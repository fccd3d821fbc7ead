"""Short messages by subject: counts of words, naive Bayes, online learning, and the words that tell most."""

from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.feature_selection import SelectKBest, chi2
from sklearn.linear_model import LogisticRegression, Perceptron, RidgeClassifier, SGDClassifier
from sklearn.naive_bayes import BernoulliNB, ComplementNB, MultinomialNB
from sklearn.pipeline import Pipeline

SEA = ["the boat left the harbour at dawn", "waves broke over the bow of the boat", "sailors mend a net in the harbour"]
HILL = ["the path climbs to a snowy ridge", "goats graze below the ridge", "a hut stands where the path ends"]
KITCHEN = ["stir the soup with a wooden spoon", "bread and soup on the table", "salt the bread before it bakes"]
texts = [text for text in SEA + HILL + KITCHEN for _ in range(2)]
subjects = [subject for subject in ("sea", "hill", "kitchen") for _ in range(6)]
new = ["a boat with a torn net", "snow on the path", "soup again", "goats near the harbour"]
for model in (MultinomialNB(), ComplementNB(alpha=0.5), BernoulliNB(), RidgeClassifier(), SGDClassifier(random_state=0)):
    pipe = Pipeline([("words", TfidfVectorizer(stop_words="english")), ("model", model)]).fit(texts, subjects)
    print(type(model).__name__, *pipe.predict(new))
words = CountVectorizer(stop_words="english")
X = words.fit_transform(texts)
kept = SelectKBest(chi2, k=5).fit(X, subjects)
print("words", *words.get_feature_names_out()[kept.get_support()])
for model in (Perceptron(random_state=1), LogisticRegression()):
    print(type(model).__name__, model.fit(X, subjects).score(X, subjects))
