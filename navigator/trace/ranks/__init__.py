"""Traces of many ranks: each is read and reduced to a few numbers a name, by processes here or by
the workers of a cluster, and the ranks are compared by those numbers alone."""
