"""Real opportunities to contribute in one tree: what is missing, why that is a gap by PyTorch's own
rules, and the lines that show it.

A finder (``batching``, ``docs`` ...) searches one kind, ``kinds`` lists them, ``find`` runs them
all. Uncertain cases are left out: a list of true gaps is better than a long one.
"""
