"""A change of the tree as the draft of a pull request, with the steps around it."""
