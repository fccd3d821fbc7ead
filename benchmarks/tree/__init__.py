"""Trees and ensembles."""
