"""Bytes that nobody wrote, thrown at everything that reads: see ``__main__``."""
