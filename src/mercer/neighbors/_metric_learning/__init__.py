"""Linear maps learnt from labels, in which rows of one class are near each other."""
