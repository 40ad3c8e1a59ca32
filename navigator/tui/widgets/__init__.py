"""Small widgets, one a file. None of them knows an index: they show what they are given."""
