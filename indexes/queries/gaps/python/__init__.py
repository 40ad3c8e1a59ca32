"""What the tree's Python lacks: types, names in use that it calls deprecated."""
