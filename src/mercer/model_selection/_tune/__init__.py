"""Tuning: proposals, a ledger of trials, fits that exploit the model, and the search over them."""
