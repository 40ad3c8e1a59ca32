"""Builds an index and brings it up to date."""
