"""Programs compiled by torch.compile: their graphs, and the rows that ran them."""
