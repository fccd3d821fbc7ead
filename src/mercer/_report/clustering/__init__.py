"""What a report says of clusters."""
