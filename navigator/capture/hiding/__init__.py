"""Hides the recorder from the program."""
