"""Real openings for a contribution in one tree: what is missing, why that is a gap by
PyTorch's own rules, and on which lines that shows.

A finder (``batching``, ``docs`` ...) looks for one kind, ``kinds`` lists them, ``find`` asks
them all. Whatever a rule cannot tell for sure is left out: a list of true gaps is worth more
than a long one."""
