"""Cases of agents, one module a subject."""
