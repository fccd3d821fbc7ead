"""Cases of linear models."""
