"""Learners that take one row at a time: SGD, perceptron, passive-aggressive."""
