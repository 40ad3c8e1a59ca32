"""One module per kind of source: bytes in, facts and problems out. No I/O here."""
