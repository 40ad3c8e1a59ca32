"""Traces of many ranks: each is reduced to a few numbers per name, by local processes or a cluster,
and the ranks are compared by these numbers."""
