"""Answers as plain text, Markdown and HTML."""
