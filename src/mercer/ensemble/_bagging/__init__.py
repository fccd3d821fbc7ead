"""Bagging: members of any kind on random draws of rows and features."""
