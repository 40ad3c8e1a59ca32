"""Joins facts into links, each with its rule and its evidence. No I/O here."""
