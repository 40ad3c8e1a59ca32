"""Lists of places beside their source; each pane fills itself."""
