"""Small widgets, one per file. They know no index and show what they are given."""
