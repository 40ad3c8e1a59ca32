"""Limits on inputs; beyond them there is one clear message with the place.

They are far above what users and PyTorch produce; docs/security.md lists them.
"""

from __future__ import annotations

FILE_BYTES = 64 << 20
"""Of a file that is read into memory."""
EVENT_BYTES = 64 << 20
"""Of one event of a trace, and of what precedes the first one."""
EXPANSION, EXPANDED_BYTES = 200, 64 << 20
"""A packed file that expands to more bytes than the second, and as many times its size as the
first, is no trace: real ones expand ten to forty times."""
PACKINGS = 4
"""Nested archives."""
TOML_LINE = 100_000
"""Characters of a line of TOML: parsing is quadratic in the parts of a key."""
CXX_NESTING = 64
"""Nested ``#if``, or namespaces and classes; deeper ones are not read."""
CXX_BRACKETS = 256
"""Nested brackets of a call, as compilers limit them by default."""
CXX_BODY_NESTING = 4096
"""Nested brackets of a body; its readers are quadratic in them."""
CXX_EXPANSIONS = 4096
"""Expansions by one use of a macro, each of which may double the text."""
YAML_NESTING = 99
"""Brackets or columns; the C parser's stack may not bear more."""
YAML_PARTS = 200_000
"""Keys and values of a file, of a kilobyte each: four times as many as PyTorch has."""
SHARED_INDEX_BYTES = 2_000_000_000
"""Of the database in a shared index."""
TABLE_BYTES = 128 << 20
"""Of a table of Nsight Compute."""
LOG_BYTES = 256 << 20
"""Of a log of ``TORCH_TRACE``."""
TRACE_ROWS = 5_000_000
"""Of a trace; further ones are not read."""
TRACE_EVENTS = 20_000_000
"""Of a Chrome trace, most of which may be no rows; further ones are not read."""
TRACE_NESTING = 1000
"""Nested rows; deeper ones are left out."""
SNAPSHOT_BYTES = 1_200_000_000
"""Of memory for unpickling a memory snapshot."""
NAME_CHARACTERS = 16_384
"""Of a name or pasted text in a query, by SQLite's limit."""
PATH_FOLDERS = 100
"""Nested folders down to a file."""
MESSAGE_CHARACTERS = 1000
"""Of an error that is shown, which may quote long texts."""
MANGLED_CHARACTERS = 4096
"""Of a mangled name, since demanglers recurse over it."""
