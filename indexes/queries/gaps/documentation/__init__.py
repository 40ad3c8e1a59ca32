"""Docs that are excused from being there, that say what the code does not, or lead nowhere."""
