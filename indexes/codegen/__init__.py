"""What torchgen does with the YAML files, as rules: rows, C++ types, Node names, tables."""
