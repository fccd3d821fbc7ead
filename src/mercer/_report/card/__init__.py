"""What those who use a model must know of it, and how it is asked."""
