"""Members of different kinds combined: voting, stacking, the super learner."""
