"""Dotted Python names, as Python itself resolves them."""

from indexes.queries.python_names.finding import find

__all__ = ["find"]
