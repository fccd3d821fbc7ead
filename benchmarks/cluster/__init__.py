"""Cases of clustering."""
