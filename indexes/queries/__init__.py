"""Queries: every question asked of an index, answered in plain data."""
