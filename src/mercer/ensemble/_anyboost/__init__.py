"""AnyBoost: steps in the space of functions, by any learner, on any loss."""
