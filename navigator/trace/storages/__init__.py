"""The storages of a recording: their uses and tensors."""
