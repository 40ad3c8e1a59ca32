"""Writers of traces in the formats of others."""
