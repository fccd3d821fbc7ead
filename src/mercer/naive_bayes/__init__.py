"""Naive Bayes classifiers: features that are independent within each class."""

from typing import TYPE_CHECKING

from mercer._exports import exports

if TYPE_CHECKING:
    from sklearn.naive_bayes import *  # noqa: F403

    from mercer.naive_bayes._categorical import CategoricalNB as CategoricalNB
    from mercer.naive_bayes._counts import (
        BernoulliNB as BernoulliNB,
        ComplementNB as ComplementNB,
        MultinomialNB as MultinomialNB,
    )
    from mercer.naive_bayes._gaussian import GaussianNB as GaussianNB
    from mercer.naive_bayes._mixed import NaiveBayes as NaiveBayes

__getattr__, __dir__ = exports(
    __name__,
    {
        "._categorical": ("CategoricalNB",),
        "._counts": ("BernoulliNB", "ComplementNB", "MultinomialNB"),
        "._gaussian": ("GaussianNB",),
        "._mixed": ("NaiveBayes",),
    },
)
