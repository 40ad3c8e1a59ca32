"""Explanations of the tree's own terms: fields of its YAML, its macros."""
