"""What the names of operators, functions, classes and stubs tell of each other."""

from __future__ import annotations

from indexes.linking.facts import Known
from indexes.model.regex import regex

_HELPER = regex(
    r"_*(?:infer|check|get|is|has|should|can|set|validate|expand|resize|wrap|maybe|make|create"
    r"|allocate|init|assert|warn|to|convert|will|unpack)_"
)
_SHORTEST = 3
"""Letters of a name by which functions are known to be of an operator."""
_FORM = regex(r"(\w+?)_?([123])d")
_WORDS = regex(r"[a-z]{6,}")


def words_in(scope: str, name: str) -> int:
    """How many words of an operator's name the class has whose method is called."""
    owner = scope.rpartition("::")[2].lower()
    return sum(word in owner for word in _WORDS.findall(name))


def is_helper(name: str) -> bool:
    """Whether a function prepares, by its name: ``get_buffer``, ``set_result``."""
    return bool(_HELPER.match(name))


def form_of(name: str, asked: str) -> str:
    """For how many dimensions an operator is a form of the one that is asked for, as
    ``grid_sampler_2d`` is of ``grid_sampler``; empty for another."""
    found = _FORM.fullmatch(name.partition(".")[0])
    return found[2] if found and found[1].strip("_") == asked.strip("_") else ""


def are_kin(base: str, name: str) -> bool:
    """Whether an operator is named after another: ``addcdiv`` and ``_foreach_addcdiv``."""
    name = name.strip("_")
    return (len(base) >= _SHORTEST and base in name) or f"_{name}_" in f"_{base}_"


def is_stub_of(stub: str, name: str) -> bool:
    """Whether a stub is named after an operator: ``cholesky_stub`` and ``linalg_cholesky_ex``."""
    stem = stub.rpartition("::")[2].removesuffix("_stub")
    return len(stem) >= _SHORTEST and f"_{stem}_" in f"_{name.strip('_')}_"


def is_of_operator(known: Known, base: str) -> bool:
    """Whether a function is named after an operator."""
    found = known.definition
    named = len(base) >= _SHORTEST and base in found.name
    return named and not is_helper(found.name)
