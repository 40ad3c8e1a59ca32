"""Functions that generated code calls: their names stand in the texts that torchgen and
tools/autograd write out, in strings of Python and in templates."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache

from indexes.linking.facts import Known
from indexes.linking.visible import is_header
from indexes.model.impact import Folded
from indexes.model.vocabulary import Location
from indexes.queries.corpus import Corpus
from indexes.queries.impact.graph import Edge, Node
from indexes.readers.cxx.scopes import decode
from indexes.readers.python.blocks import parse

GENERATORS = ("torchgen/", "tools/autograd/", "tools/codegen/", "tools/pyi/")
_TEMPLATES = "/templates/"
_SHOWN = 3
_Registered = Callable[[], Mapping[str, set[str]]]


class GeneratedCallers:
    """What generated code calls, in one tree."""

    def __init__(self, corpus: Corpus, registered: _Registered) -> None:
        """``registered`` gives the operators for which each generator registers kernels."""
        self._corpus = corpus
        self._registered = registered
        self._strings = lru_cache(64)(self._strings_of)

    def of(self, known: Known) -> Iterator[Edge]:
        """A step for each generator that writes a call of a function."""
        found = known.definition
        local = "(anonymous)" in found.scope and not is_header(found.location.path)
        if local or found.kind != "function" or not found.name.isidentifier():
            return
        for path in self._files(found.name):
            if line := self._line(path, found.name):
                at = Location(path, line)
                node = Node("generated", f"{path}:{found.name}", path, at)
                rule = "the code that it generates calls it"
                yield Edge(node, rule, at, "by rule")

    def _files(self, name: str) -> list[str]:
        yes = [*self._corpus.files_with(name, "python", lambda p: p.startswith(GENERATORS))]
        return [*yes, *self._corpus.files_with(name, "cpp", lambda p: _TEMPLATES in f"/{p}")]

    def _line(self, path: str, name: str) -> int:
        """The first line that writes a call; 0 where none does."""
        called = re.compile(rf"(?<![\w.]){re.escape(name)}\s*(?:<[^;(){{}}]*>)?\(")
        for text, line in self._strings(path):
            if match := called.search(text):
                return line + text.count("\n", 0, match.start())
        return 0

    def _strings_of(self, path: str) -> list[tuple[str, int]]:
        """The texts of a file that are written out, each with its line: strings of Python but for
        docstrings, or the whole template."""
        data = self._corpus.text(path)
        if not path.endswith(".py"):
            return [(decode(data), 1)]
        try:
            nodes = list(ast.walk(parse(data)))
        except (SyntaxError, ValueError, RecursionError):
            return []
        said = {id(n.value) for n in nodes if isinstance(n, ast.Expr)}
        texts = (n for n in nodes if isinstance(n, ast.Constant) and id(n) not in said)
        return [(n.value, n.lineno) for n in texts if isinstance(n.value, str)]

    def folded(self, path: str) -> Folded | None:
        """How many operators have kernels that a generator writes."""
        last = path.rpartition("/")[2]
        found = {k: ops for k, ops in self._registered().items() if last in k}
        if not found:
            return None
        files = [origin.partition(", by ")[0].rpartition(" ")[2] for origin in found]
        named = ", ".join(files[:_SHOWN]) + " ..." * (len(files) > _SHOWN)
        what = f"operators at most whose generated kernels call it ({named})"
        how = "torchnav table OPERATOR says which kernels are generated"
        return Folded(what, len(set().union(*found.values())), how)
