"""`mercer serve`: a local prediction service for a run (extra `serve`). Nothing else of Mercer imports FastAPI or uvicorn."""
