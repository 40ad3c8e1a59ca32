"""What the generators of Python bindings and stub files generate, read from their source."""

from __future__ import annotations

import re
from collections.abc import Iterator

from indexes.model.files import SKIPPED, PythonFact, pack
from indexes.model.regex import regex

_STUBS = regex(
    rb"write(?:_with_template)?\(\s*(?:out,\s*)?[\"']([\w/.]+\.pyi)[\"'],\s*"
    rb"(?:[\"']([\w/.]+)[\"'])?"
)
_BINDINGS = regex(
    rb"create_python_bindings(?:_sharded)?\(\s*\w+,\s*\w+,\s*(\w+),\s*"
    rb"(?:None|[\"']([\w.]+)[\"']),\s*[\"'](\w+\.cpp)[\"']"
)
_SKIP_LIST = regex(rb"\n_?SKIP_PYTHON_BINDINGS(?:_SIGNATURES)?\s*=\s*\[(.*?)\n\]", re.DOTALL)
_PATTERN = regex(rb"[\"']([^\"'\n]+)[\"']")


def is_generator(path: str) -> bool:
    """Whether a file generates bindings or stubs (none of them is in the wheel)."""
    return path.endswith(("tools/pyi/gen_pyi.py", "autograd/gen_python_functions.py"))


def read_generator(data: bytes) -> list[PythonFact]:
    """Stub files with their templates; binding files with their operators."""
    return [*_stubs(data), *_binding_files(data), *_skipped(data)]


def _stubs(data: bytes) -> Iterator[PythonFact]:
    for match in _STUBS.finditer(data):
        made = match[1].decode()
        template = match[2].decode() if match[2] else f"{made}.in"
        line = _line(data, match.start())
        yield PythonFact("generated_file", made, template, line, line)


def _binding_files(data: bytes) -> Iterator[PythonFact]:
    for match in _BINDINGS.finditer(data):
        predicate, module, file = (part.decode() if part else "" for part in match.groups())
        line = _line(data, match.start())
        chosen = _chosen_by(data, predicate)
        if chosen:
            yield PythonFact("binding", chosen, file, line, line, pack(module=module))


def _chosen_by(data: bytes, predicate: str) -> str:
    """What a predicate selects: ``python_module:nn``, ``variant:method``, ``variant:function``."""
    found = re.search(rb"\ndef %s\(.*\n((?:[ \t]+.*\n)+)" % predicate.encode(), data)
    body = found[1] if found else b""
    module = re.search(rb"python_module == [\"'](\w+)[\"']", body)
    variant = re.search(rb"Variant\.(\w+)", body)
    if module:
        return f"python_module:{module[1].decode()}"
    return f"variant:{variant[1].decode()}" if variant else ""


def _skipped(data: bytes) -> Iterator[PythonFact]:
    """Operators without a binding: regexes over names, and whole signatures."""
    for found in _SKIP_LIST.finditer(data):
        for line_match in re.finditer(rb"\n[ \t]*([\"'].*)", found[1]):
            entry = _PATTERN.match(line_match[1])
            if entry:
                line = _line(data, found.start(1) + line_match.start(1))
                yield PythonFact("binding_skip", SKIPPED, entry[1].decode(), line, line)


def _line(data: bytes, at: int) -> int:
    return data.count(b"\n", 0, at) + 1
