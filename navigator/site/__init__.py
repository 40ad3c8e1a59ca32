"""``torchnav export site``: a static site with a page for each operator and lists of them."""
