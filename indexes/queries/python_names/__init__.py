"""Dotted Python names, resolved as Python does."""

from indexes.queries.python_names.finding import find

__all__ = ["find"]
