"""Writers of traces in other formats."""
