"""What tree models share: the store of fitted trees, growth, categories, pruning, training data. Knows no estimator."""
