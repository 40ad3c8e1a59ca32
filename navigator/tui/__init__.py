"""The terminal screens of torchnav.

Screens hold no logic of the cross-reference: they show answers of ``indexes.queries.index``.
Threads read, the event loop draws; torch is never imported.
"""
