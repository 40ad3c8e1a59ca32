"""Figures of a trace: its steps, the work of its operators, where it waits, its critical path."""
