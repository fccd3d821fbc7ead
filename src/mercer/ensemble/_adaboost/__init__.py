"""AdaBoost for classes and for numbers: members on rows that are weighed anew each round."""
