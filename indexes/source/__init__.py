"""Where source comes from: checkout, clone, commit, wheel; access to its files and git."""
