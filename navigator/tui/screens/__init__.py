"""One module a screen, its style sheet beside it."""
