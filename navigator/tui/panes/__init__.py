"""The panes of a screen; each owns its keys and workers."""
