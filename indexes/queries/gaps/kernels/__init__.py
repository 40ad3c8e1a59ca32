"""Operators that lack a kernel for a dispatch key, by their siblings' kernels and by expected
failures of tests."""
