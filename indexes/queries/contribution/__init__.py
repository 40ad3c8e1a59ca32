"""Prepares a first contribution."""
