"""The name of a content: git's, so that contents of a commit are known without being read."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_SMALL = 700_000
"""Bytes that Python's own SHA-1 hashes while hashlib would still be loading OpenSSL's."""


def content_hash(data: bytes) -> bytes:
    """git's name for a blob, the same wherever the file stands. Whoever hashes much loads
    hashlib first."""
    blob = _sha1(len(data))(b"blob %d\0" % len(data), usedforsecurity=False)
    blob.update(data)
    digest: bytes = blob.digest()
    return digest


def _sha1(size: int) -> Any:
    if size < _SMALL and "hashlib" not in sys.modules:
        try:
            from _sha1 import sha1  # type: ignore[import-not-found]  # as the standard random does

            return sha1
        except ImportError:
            pass
    import hashlib

    return hashlib.sha1
