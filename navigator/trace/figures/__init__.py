"""Figures calculated from a trace: steps, work, waiting times, memory, the critical path."""
