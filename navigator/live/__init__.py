"""Questions to the installed torch, answered in a separate process."""
