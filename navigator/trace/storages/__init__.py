"""The storages of a recording: who used them, and the tensors that shared them."""
