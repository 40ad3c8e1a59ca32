"""The index file: one SQLite schema, and its queries."""
