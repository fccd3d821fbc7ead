"""A run of the learning procedure: from a table in a file to a folder with a tested model and its report."""
