"""The protocol of learning: hold out, tune, refit, test once."""
