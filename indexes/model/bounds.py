"""How much of anything is taken: beyond these bounds there is one clear line with the place.

They are far above what people and PyTorch make; docs/security.md lists them for users.
"""

from __future__ import annotations

FILE_BYTES = 64 << 20
"""Of a file that is taken into memory: more than any file that a person wrote."""
EVENT_BYTES = 64 << 20
"""Of one event of a trace, and of what stands before the first one."""
EXPANSION, EXPANDED_BYTES = 200, 64 << 20
"""A packed file that expands to more bytes than the second, and as many times its size as the
first, is no trace: real ones expand ten to forty times."""
PACKINGS = 4
"""One in the other, that are opened."""
TOML_LINE = 100_000
"""Characters of a line of TOML: the parser takes the square of the parts of a key."""
CXX_NESTING = 64
"""``#if``, or namespaces and classes, one in the other; what stands in more of them is not read."""
CXX_BRACKETS = 256
"""Of a call, one in the other: compilers take no more by default."""
CXX_BODY_NESTING = 4096
"""Brackets of a body, one in the other: its readers take the square of them."""
CXX_EXPANSIONS = 4096
"""That one use of a macro makes of other macros, each of which may double them."""
YAML_NESTING = 99
"""Brackets or columns: no real file has more, and the C parser's stack may not bear them."""
YAML_PARTS = 200_000
"""Keys and values of a file, each of which takes a kilobyte: four times as many as PyTorch has."""
SHARED_INDEX_BYTES = 2_000_000_000
"""Of the database in a shared index: no index is larger."""
TABLE_BYTES = 128 << 20
"""Of a table of Nsight Compute."""
LOG_BYTES = 256 << 20
"""Of a log of ``TORCH_TRACE``."""
TRACE_ROWS = 5_000_000
"""Of a trace; those that follow are not read."""
TRACE_EVENTS = 20_000_000
"""Of a Chrome trace, most of which may be no rows; those that follow are not read."""
TRACE_NESTING = 1000
"""Rows, one in the other; those that stand deeper are left out."""
SNAPSHOT_BYTES = 1_200_000_000
"""Of memory that a memory snapshot may take while it is unpickled."""
NAME_CHARACTERS = 16_384
"""Of a name or a pasted text that is asked for: SQLite takes no longer ones."""
PATH_FOLDERS = 100
"""One in the other, down to a file that is read."""
MESSAGE_CHARACTERS = 1000
"""Of an error that is told; what it quotes may be as long as it likes."""
MANGLED_CHARACTERS = 4096
"""Of a mangled name that is given to a demangler: they recurse over it."""
