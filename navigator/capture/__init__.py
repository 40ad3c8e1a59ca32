"""Runs a user's program unchanged and records every operator it executes.

This package imports torch and the standard library only and never the rest of
torchnav, so that ``python navigator/capture -o FILE script.py`` records a trace on a
machine that has nothing but torch. What it writes is described in
``docs/trace-format.md``: a Chrome trace whose operators come from ``torch.profiler``
and whose user lines and module paths come from a ``TorchFunctionMode``.
"""
