"""The name of a content: git's, so that contents of a commit are known without being read."""

from __future__ import annotations

import hashlib


def content_hash(data: bytes) -> bytes:
    """git's name for a blob, the same wherever the file stands."""
    blob = hashlib.sha1(b"blob %d\0" % len(data), usedforsecurity=False)
    blob.update(data)
    return blob.digest()
