"""Chains: everything that an operator leads to, step by step."""
