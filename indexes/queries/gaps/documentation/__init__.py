"""Docs that are exempted, contradict the code, or have broken links."""
