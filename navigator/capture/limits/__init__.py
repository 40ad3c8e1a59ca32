"""Recording a part of a run: the options, and which events of a window to keep."""
