"""PyTorch's YAML files and operator schemas."""
