"""Tests that are expected to fail, are skipped, or have no owner."""
