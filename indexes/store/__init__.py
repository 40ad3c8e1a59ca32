"""The index file: one SQLite schema, and what is read from it."""
