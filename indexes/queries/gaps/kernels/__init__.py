"""Operators that lack a kernel for a dispatch key, by what the tree has for their siblings and by
what its own tests expect to fail."""
