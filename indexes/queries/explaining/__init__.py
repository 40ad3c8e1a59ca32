"""What words of the tree mean, by what the tree itself says: fields of its YAML, its macros."""
