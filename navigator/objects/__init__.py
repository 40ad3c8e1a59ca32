"""Live objects of the running program: tensors, backward graphs, errors."""
