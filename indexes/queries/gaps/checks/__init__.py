"""Errors that C++ raises in another way than the tree's own."""
