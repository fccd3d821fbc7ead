"""Logistic regression for two or more classes, along a path of penalties too."""
