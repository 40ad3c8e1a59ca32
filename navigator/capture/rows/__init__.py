"""Operators and calls of a window as columns of numbers, each thing that repeats told once."""
