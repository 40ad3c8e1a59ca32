"""How well names match what a user types, and the filter of the operator list."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cache

from indexes.model.regex import regex
from indexes.model.vocabulary import OperatorSummary

_TERM = regex(r"(no|has|key|file|tag|kind|module|name|ns|schema):(\S*)")

Rank = tuple[int, int, int]
"""How well a name matches, smaller is better: first one of ``ITSELF`` ... ``SCATTERED``."""
ITSELF, VARIANT, BEGINS, PART, INSIDE, INITIALS, SCATTERED = range(7)
_WORD_START = regex(r"(?<![a-z0-9])[a-z0-9]")


class Wanted:
    """A word by which names are ranked."""

    def __init__(self, word: str) -> None:
        self.text = word.lower()
        self._bare = self.text.strip("_")

    def rank(self, name: str) -> Rank | None:
        """How well a name matches; None if letters are missing. Variants match too: ``add`` for
        ``add_``."""
        lowered = name.lower()
        if not (self._bare and self.text in lowered) and bare(lowered) == self._bare:
            return self._rank_bare(lowered)
        return self.rank_holding(lowered)

    def rank_holding(self, name: str) -> Rank | None:
        """The same for a lower-case name that has all letters in order."""
        at = name.find(self.text)
        if at < 0:
            span = self._span(name)
            kind = INITIALS if span and self._are_initials(name) else SCATTERED
            return (kind, span, len(name)) if span else None
        base = name.partition(".")[0]
        if self.text in (name, base) or base.strip("_") == self._bare:
            return self._rank_bare(name)
        kind = BEGINS if not at else INSIDE if name[at - 1].isalnum() else PART
        return kind, len(name), at

    def _are_initials(self, name: str) -> bool:
        """Whether the words of a name begin with the letters: ``bn`` for ``batch_norm``."""
        return "".join(_WORD_START.findall(name)).startswith(self.text)

    def _span(self, name: str) -> int:
        """The length of name that the letters, in order, spread over; 0 if missing."""
        start = end = name.find(self.text[0])
        for letter in self.text[1:]:
            if end < 0:
                break
            end = name.find(letter, end + 1)
        return end + 1 - start if end >= 0 else 0

    def _rank_bare(self, name: str) -> Rank:
        base, _, overload = name.partition(".")
        kind = ITSELF if self.text in (name, base) else VARIANT
        return kind, _commonness(overload), len(name)


def bare(name: str) -> str:
    """A name without overload and surrounding underscores."""
    return name.partition(".")[0].strip("_")


def _commonness(overload: str) -> int:
    """Sort key: the overloads that users mean by a bare name first, out= last."""
    return {"": 0, "tensor": 1}.get(overload, 3 if "out" in overload else 2)


COMMON, DOCUMENTED, CORE, PUBLIC, PRIVATE, MADE = range(6)


def standing(op: OperatorSummary, documented: frozenset[str] = frozenset()) -> int:
    """How likely users mean an operator, from ``COMMON``, the likeliest, to ``MADE``.

    Parameters:
        op: A row of the operator list.
        documented: The Python names with a docstring or an entry on a page of the docs.

    Returns:
        ``MADE`` for generated operators, those with ``out=`` arguments and those without a kernel;
        ``PRIVATE`` for names with a leading underscore; otherwise ``DOCUMENTED`` for those with
        documentation, ``CORE`` for those of the core set, ``COMMON`` for both.
    """
    if op.kind in ("autogen", "no kernel") or _writes_out(op.schema):
        return MADE
    if op.full_name.rpartition("::")[2].startswith("_"):
        return PRIVATE
    is_core = "core" in op.tags
    if documented.isdisjoint(_python_names(op)):
        return CORE if is_core else PUBLIC
    return COMMON if is_core else DOCUMENTED


def _writes_out(schema: str) -> bool:
    return "!" in schema.partition(" -> ")[0].partition("*, ")[2]


def _python_names(op: OperatorSummary) -> Iterator[str]:
    """The Python names an operator of aten may have: ``linalg.det`` for ``linalg_det``."""
    name, module = op.full_name.partition(".")[0], op.python_module
    for place in ("torch", "torch.Tensor", "torch.nn.functional"):
        yield f"{place}.{name}"
    if module:
        yield f"torch.{module}.{name.removeprefix(f'{module}_')}"


class OperatorFilter:
    """Operators prepared for filtering at each key press."""

    def __init__(
        self, operators: Sequence[OperatorSummary], documented: Collection[str] = ()
    ) -> None:
        """``documented``: the Python names with documentation."""
        names = frozenset(documented)
        ranked = sorted((standing(op, names), at) for at, op in enumerate(operators))
        self._operators = [operators[at] for _, at in ranked]
        self._standings = [standing for standing, _ in ranked]
        self._names = [op.full_name.lower() for op in self._operators]
        self._texts = cache(lambda what: [_TEXTS[what](op) for op in self._operators])

    def __call__(self, text: str) -> tuple[OperatorSummary, ...]:
        """Operators that fit every term of ``text``, best first; all, by their standing, for none.

        A plain word matches the name, letters in order; ``key:CUDA``, ``file:SoftMax``,
        ``tag:core``, ``kind:structured``, ``module:nn``, ``ns:quantized``, ``schema:SymInt``,
        ``has:derivative`` and ``no:derivative`` (or ``no:CUDA``) narrow the list.
        """
        kept: list[int] = list(range(len(self._operators)))
        terms = [(word, _TERM.fullmatch(word)) for word in text.split()]
        for _, term in terms:
            if term and term[2]:
                kept = self._narrowed(kept, term[1], term[2].lower())
        for word, term in terms:
            if not term:
                kept = self._ranked(kept, Wanted(word))
        return tuple(self._operators[at] for at in kept)

    def _ranked(self, kept: Iterable[int], wanted: Wanted) -> list[int]:
        ranked = [(wanted.rank_holding(self._names[at]), at) for at in kept]
        fitting = [(self._weighed(rank, at), at) for rank, at in ranked if rank is not None]
        return [at for _, at in sorted(fitting, key=lambda one: one[0])]

    def _weighed(self, rank: Rank, at: int) -> tuple[int, ...]:
        """Ranks likelier operators first among equal matches. Overloads of the very name have their
        own order."""
        fit, *rest = rank
        return fit, self._standings[at] if fit >= BEGINS else 0, *rest

    def _narrowed(self, kept: Sequence[int], what: str, value: str) -> list[int]:
        if what == "no":
            without = set(self._narrowed(kept, "has", value))
            return [at for at in kept if at not in without]
        if what == "has":
            if "derivative".startswith(value):
                return [at for at in kept if self._operators[at].has_derivative]
            if "kernel".startswith(value):
                return [at for at in kept if self._operators[at].files]
            what, value = "key", f"\n{value}\n"
        texts = self._texts(what)
        return [at for at in kept if value in texts[at]]


_TEXTS: dict[str, Callable[[OperatorSummary], str]] = {
    "key": lambda op: "\n{}\n".format("\n".join(op.keys)).lower(),
    "file": lambda op: "\n".join(op.files).lower(),
    "tag": lambda op: "\n".join(op.tags).lower(),
    "kind": lambda op: op.kind,
    "module": lambda op: op.python_module or "",
    "ns": lambda op: f"{op.namespace.lower()}::",
    "name": lambda op: op.full_name.lower(),
    "schema": lambda op: op.schema.lower(),
}
