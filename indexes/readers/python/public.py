"""The public names of a Python module, by their last part: for people who write ``DataLoader``."""

from __future__ import annotations

from collections.abc import Iterator

from indexes.model.files import MARK, PythonFact, module_name
from indexes.model.regex import regex

_ALL = regex(rb"(?m)^__all__\s*(?::[^=\n]+)?\+?=\s*[\[(]([^\])]*)[\])]")
_LISTED = regex(rb"[\"'](\w+)[\"']")
_DEFINED = regex(rb"(?m)^(?:async def|def|class)[ \t]+([A-Za-z]\w*)")
_IMPORTED = regex(rb"(?m)^ {0,4}from[ \t]+\.?[\w.]*[ \t]+import[ \t]+(\([^)]*\)|[^\n#]+)")
_NAMED = regex(rb"(?:\w+[ \t]+as[ \t]+)?([A-Za-z]\w*)[ \t]*(?:#[^\n]*)?(?:[,)\n]|$)")
_FUNCTION = regex(rb"(?m)^class[ \t]+([A-Za-z]\w*)\([^)]*\bFunction[ \t]*[,)]")
"""A subclass of ``torch.autograd.Function``: its ``grad_fn`` is called after it."""
_ROOTS = ("torch/", "functorch/", MARK)


def read_public(data: bytes, path: str) -> Iterator[PythonFact]:
    """The names in ``__all__``; without it, what a module defines, and what a package imports.

    By text, since this is done to every file: who follows such a name finds out if it is none."""
    if not path.startswith(_ROOTS) or "/testing/" in path:
        return
    module = module_name(path)
    listed = [one for found in _ALL.finditer(data) for one in _LISTED.findall(found[1])]
    names = listed if b"__all__" in data else _DEFINED.findall(data)
    if path.endswith("/__init__.py") and b"__all__" not in data:
        names += [one for found in _IMPORTED.finditer(data) for one in _NAMED.findall(found[1])]
    for name in dict.fromkeys(names):
        text = name.decode()
        yield PythonFact("public", f"name:{text}", f"{module}.{text}", 1, 1)
    for found in _FUNCTION.finditer(data) if b"Function" in data else ():
        text = found[1].decode()
        yield PythonFact("public", f"name:{text}Backward", f"{module}.{text}", 1, 1)
