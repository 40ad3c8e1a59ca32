"""Gaps in Python: types, references, deprecated names in use."""
