"""Drafts a pull request for a change of the tree, with the steps around it."""
