"""The ways from operators to what computes them."""
