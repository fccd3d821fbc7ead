"""Neighbourhoods."""
