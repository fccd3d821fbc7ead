"""Predictions for rows of a table, explained in the columns of that table: what the command and the report share."""
