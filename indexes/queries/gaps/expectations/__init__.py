"""Tests that are expected to fail, are passed over, or have nobody to look after them."""
