"""Answers as plain text and Markdown, for every face."""
