"""Mutated inputs for everything that reads: see ``__main__``."""
