"""One module per kind of source: bytes in, facts and problems out. No I/O here."""

FACTS_VERSION = 9
"""Raise it whenever the same bytes give other facts: an older index is then built again, and
serves no other tree."""
