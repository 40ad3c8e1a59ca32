"""The terminal screens: what a person sees of an index and of a trace.

Screens hold no logic of the cross-reference: they show answers of ``indexes.queries.index``.
Threads read, the event loop draws; torch is never imported here.
"""
