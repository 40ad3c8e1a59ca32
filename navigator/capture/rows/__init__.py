"""Operators and calls of a window as columns of numbers; repeated values are written once."""
