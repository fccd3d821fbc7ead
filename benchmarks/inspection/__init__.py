"""Cases of inspection, one module a subject."""
