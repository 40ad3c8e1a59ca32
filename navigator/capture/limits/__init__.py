"""Recording a part of a run: what is asked for, and what of a window that is."""
