"""A stand-in for torch: it is read, never imported."""
