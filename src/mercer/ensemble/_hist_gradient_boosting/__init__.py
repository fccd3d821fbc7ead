"""Second-order gradient boosting on histograms."""
