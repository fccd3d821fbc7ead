"""Solvers over (rows, loss, penalty) that several families use. They know no estimator, and nothing warns here."""
