"""Answers as JSON, by the contract in docs/json.md."""
