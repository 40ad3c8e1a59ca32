"""The cross-reference of a PyTorch source tree: source in, answers out."""
