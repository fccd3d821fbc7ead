"""Mixed tables made ready for an estimator: reading columns, telling their kinds, treating them, reporting."""
