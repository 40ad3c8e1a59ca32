"""Readers, one module for each kind of source: bytes in, facts and problems out. No I/O here."""
