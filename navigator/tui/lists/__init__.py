"""Lists of places beside their source: each is a pane that fills itself."""
