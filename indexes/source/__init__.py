"""Where source comes from: checkout, clone, commit, wheel; its files and its git."""
