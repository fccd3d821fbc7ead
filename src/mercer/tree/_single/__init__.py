"""Single decision trees, with the best and with random splits."""
