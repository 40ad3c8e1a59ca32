"""The chain pane."""
