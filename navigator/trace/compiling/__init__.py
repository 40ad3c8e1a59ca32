"""Programs that torch.compile has compiled: their graphs, and which of their rows ran them."""
