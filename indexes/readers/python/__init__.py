"""PyTorch's Python sources, read without running them."""
