"""``torchnav export site``: a page for each operator, and lists that lead there, as plain files."""
