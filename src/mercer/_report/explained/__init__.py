"""Reports of single predictions, explained."""
