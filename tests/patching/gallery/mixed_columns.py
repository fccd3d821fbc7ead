"""A table of numbers and words with gaps: a transformer for each kind of column, and a search over the whole."""

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.impute import KNNImputer, SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, RobustScaler

generator = np.random.default_rng(6)
table = pd.DataFrame({"age": generator.integers(18, 80, 400).astype(float), "income": generator.gamma(2, 20, 400)})
table["city"] = generator.choice(["rome", "oslo", "lima"], 400)
bought = (table["age"] + 20 * (table["city"] == "lima") + generator.normal(0, 8, 400) > 52).astype(int)
table.loc[generator.choice(400, 60, replace=False), "age"] = np.nan
table.loc[generator.choice(400, 30, replace=False), "city"] = None
numbers = make_pipeline(KNNImputer(n_neighbors=5), RobustScaler())
words = make_pipeline(SimpleImputer(strategy="constant", fill_value="?"), OneHotEncoder(handle_unknown="ignore"))
prepare = ColumnTransformer([("numbers", numbers, ["age", "income"]), ("words", words, make_column_selector("city"))])
model = make_pipeline(prepare, LogisticRegression())
train, test, y_train, y_test = train_test_split(table, bought, random_state=0)
search = GridSearchCV(model, {"logisticregression__C": [0.1, 1.0, 10.0]}, cv=4, scoring="roc_auc").fit(train, y_train)
print("search", *search.best_params_.values(), round(search.best_score_, 4))
print("test", round(search.score(test, y_test), 4), *search.best_estimator_[:-1].get_feature_names_out())
