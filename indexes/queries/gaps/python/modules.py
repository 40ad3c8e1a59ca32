"""Dotted names, and words of texts."""

from __future__ import annotations

from collections.abc import Mapping


def split(name: str, known: Mapping[str, str]) -> tuple[str, str]:
    """A dotted name as the longest module that begins it and the rest: ``("torch.nn",
    "Linear.forward")``; the module is empty where there is none."""
    module = name
    while module and module not in known:
        module = module.rpartition(".")[0]
    return module, name[len(module) :].lstrip(".")


def holds(text: str, word: str) -> bool:
    """Whether a text has a name as a whole word. There are thousands of names: to compile a
    pattern for each would cost more than the search."""
    at = text.find(word)
    while at >= 0:
        around = text[at - 1 : at] + text[at + len(word) : at + len(word) + 1]
        if not any(one.isalnum() or one == "_" for one in around):
            return True
        at = text.find(word, at + 1)
    return False
