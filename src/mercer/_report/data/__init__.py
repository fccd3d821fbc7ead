"""What a report says of the table: distributions, missing values, outliers, associations, and drift from training to test."""
