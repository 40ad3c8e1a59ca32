"""Routes: the paths from operators to what computes them."""
