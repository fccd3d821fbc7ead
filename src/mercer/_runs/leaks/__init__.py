"""What a model may have learnt that it will not know of new rows."""
