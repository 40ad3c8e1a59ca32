"""How much of a tree is linked, and how well."""
