"""A first contribution, prepared."""
