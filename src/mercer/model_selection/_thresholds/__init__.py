"""Decision thresholds: measures of confusion matrices, exact searches over cut-offs and class weights, the classifier."""
