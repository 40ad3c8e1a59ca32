"""A kernel to write, and its model."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from indexes.linking.graph import DEVICES, device_of_key
from indexes.model.regex import regex
from indexes.model.schema import Schema
from indexes.model.vocabulary import Definition, NativeFunction
from indexes.queries.changes import entries
from indexes.queries.changes.batching import cxx_type
from indexes.queries.changes.entries import NewRow
from indexes.queries.changes.kernel_files import Home, KernelFiles, base_name
from indexes.queries.changes.model import Neighbour
from indexes.queries.changes.nearest import FileVote, Near, Nearest, stem
from indexes.queries.changes.related import neighbour
from indexes.queries.gaps.tree import Tree

_PARAMETER = regex(r"(?<=[\s&*])\w+(?=\s*[,)])")
CODE = 40
"""Most lines of a model's kernel shown."""
_META = "Meta"
_NEIGHBOURS = 3
_LITTLE = 4.5
"""Similarity below which a model says little."""
_ALTERNATIVES = 2
_CLOSE = 0.8
"""Share of the best similarity that makes another file an alternative."""


@dataclass
class NewKernel:
    """The kernel to write for an overload and key, with cached facts."""

    homes: KernelFiles
    op: str
    key: str

    @property
    def tree(self) -> Tree:
        return self.homes.tree

    @cached_property
    def base(self) -> str:
        return base_name(self.tree.natives[self.op].name)

    # ---------------------------------------------------------------------- the model

    @property
    def votes(self) -> list[FileVote]:
        """The candidate files, likeliest first."""
        return self._modelled[1]

    @property
    def model_key(self) -> str:
        """The key, or one of its layout if no similar operator has a kernel for it."""
        return self._modelled[0]

    @cached_property
    def _modelled(self) -> tuple[str, list[FileVote]]:
        layout = self.key.removesuffix(device_of_key(self.key) or _META)
        keys = (self.key, *(f"{layout}{device}" for device in DEVICES))
        found = ((key, self._votes(key)) for key in keys if self.homes.of_key(key))
        return next((one for one in found if one[1]), (self.key, []))

    def _votes(self, key: str) -> list[FileVote]:
        """Votes of similar operators with kernels for a key; for another key the operator itself
        comes first."""
        why = f"it is the kernel of {self.base} for {key}"
        own = self.homes.of_key(key).get(self.base, []) if key != self.key else []
        mine = [FileVote(h.path, Near(self.base, 1.0, why, own)) for h in own[:1]]
        return mine or Nearest(self.homes).of(self.base, key)

    @property
    def near(self) -> Near:
        return self.votes[0].near

    @cached_property
    def model(self) -> Home:
        return home_in(self.votes[0])

    @property
    def is_guess(self) -> bool:
        """Whether the most similar operator with a kernel is hardly similar."""
        return self.model_key == self.key and self.near.likeness < _LITTLE

    @property
    def alternatives(self) -> list[FileVote]:
        """Other files with about as many votes, and beside one of plain tensors' kernels the
        likeliest of the key alone; if the model is on a stub, those with kernels named in the YAML
        first."""
        enough, shared = _CLOSE * self.near.likeness, self.homes.shared_files(self.model_key)
        apart = next((v.path for v in self.votes if v.path not in shared), "")
        own = apart if self.model.path in shared else ""
        others = [v for v in self.votes[1:] if v.near.likeness >= enough or v.path == own]
        if self.model.entry:
            others.sort(key=lambda vote: home_in(vote).entry is not None)
        return others[:_ALTERNATIVES]

    def neighbours(self) -> Iterator[Neighbour]:
        """The model and the next ones in other files that are like it for some reason."""
        others = [vote for vote in self.votes[1:_NEIGHBOURS] if vote.near.why]
        whys = {home_in(vote): vote.near.why for vote in (*reversed(others), self.votes[0])}
        for home in reversed(whys):
            yield self._neighbour(home, whys[home])

    def _neighbour(self, home: Home, why: str) -> Neighbour:
        """A model: a shared kernel came with its registration, another with its row."""
        where, native = home.kernel.location, self.tree.natives[home.op]
        row = entries.row_of(native, home.key)
        place = entries.place_of_row(native, row) if row and not home.entry else where
        name = f"{home.op} ({home.kernel.name})"
        return neighbour(self.tree, name, why, where, place, home.kernel.name, CODE)

    @property
    def own(self) -> list[Definition]:
        return self.homes.kernels(self.base, ("CPU", "CompositeImplicitAutograd"))

    # ----------------------------------------------------------------------- its rows

    @cached_property
    def mine(self) -> list[NativeFunction]:
        """The entries that may get a row: those that compute for themselves."""
        natives = [n for n in self.homes.groups.get(self.base, []) if self._may_get_row(n)]
        keys = {"CPU", self.model_key}
        computing = [n for n in natives if keys & {*self.tree.keys(n.full_name)}]
        return computing or natives

    def _may_get_row(self, native: NativeFunction) -> bool:
        named = native.dispatch is not None or native.structured_delegate is not None
        able = named or self.tree.is_composite(native.full_name)
        return able and not self._is_delegated(native) and not entries.row_of(native, self.key)

    def _is_delegated(self, native: NativeFunction) -> bool:
        """Whether its structured out overload's kernel serves it under this key."""
        is_device = device_of_key(self.key) == self.key
        return is_device and native.structured_delegate is not None

    @cached_property
    def rows(self) -> list[NewRow]:
        """The rows of native_functions.yaml, as for the model; for a device-independent kernel
        those that name it."""
        if self.is_for_any_device:
            return entries.shared_rows(self.tree, self.op, self.mine, self.key)
        homes = [h for h in self.near.homes if entries.row_of(self.tree.natives[h.op], h.key)]
        models = [home for home in homes if home.path == self.model.path]
        found = entries.new_rows(self.tree, self.op, self.mine, models or homes, self.key)
        return found or self._single_row()

    @cached_property
    def is_for_any_device(self) -> bool:
        """Whether one function serves CPU and CUDA without a stub, by calling operators."""
        shared = entries.shared_rows(self.tree, self.op, self.mine, self.key)
        is_device = device_of_key(self.key) == self.key
        return is_device and bool(shared) and not any(map(self.homes.stubs, self.own))

    def _single_row(self) -> list[NewRow]:
        native = next((n for n in self.mine if n.full_name == self.op), None)
        native = native or next(iter(self.mine), None)
        like = self.tree.natives[self.model.op]
        row = entries.row_of(like, self.model.key)
        if native is None or row is None:
            return []
        symbol = entries.renamed(row.symbol, like, native)
        own = entries.row_of(native, "CPU")
        if own and self._is_structured(native):
            symbol = f"{own.symbol}_{self.key.lower()}"
        return [NewRow(native, (self.key,), symbol, entries.place_of_row(like, row), None)]

    @cached_property
    def stub(self) -> str:
        """The stub of its own kernel, if the model is on one and the row can be shared; else
        empty."""
        if not (self.model.entry and any(row.shared for row in self.rows)):
            return ""
        own = self.homes.kernels(self.base, ("CPU",))
        return next((s for one in own for s in self.homes.stubs(one)), "")

    # ----------------------------------------------------------------------- its code

    @property
    def shared_kernel(self) -> Definition:
        """The function of shared rows; the model's if unknown."""
        row = self.rows[0]
        linked = self.tree.kernels.get(row.native.full_name, {})
        known = linked.get(row.own.key) if row.own else None
        return next(iter(known.definitions if known else ()), self.model.kernel)

    @property
    def symbol(self) -> str:
        if self.stub or not self.rows:
            theirs, mine = self.tree.natives[self.model.op], self.tree.natives[self.op]
            return entries.renamed(self.model.kernel.name, theirs, mine)
        return self.rows[0].symbol

    def heads(self) -> list[tuple[str, ...]]:
        """The first lines of each function to write, or the macro use for one made by a macro. None
        if the existing kernel serves the key too."""
        if not self.rows and not self.stub:  # a TORCH_LIBRARY block registers it
            return [tuple(self._library_head())]
        if all(row.shared for row in self.rows) and not self.stub:
            return []
        rows = self.rows[:1] if self.stub else [row for row in self.rows if not row.shared]
        found = (self._head(row, self.symbol if self.stub else row.symbol) for row in rows)
        return list(dict.fromkeys(tuple(head) for head in found))

    def _library_head(self) -> list[str]:
        """The head of the model's function, renamed; by its own schema if that takes others."""
        head, schemas = _head_lines(self.tree, self.model.kernel), self.tree.schemas
        if _is_opened(head) and not _takes_as(schemas[self.op], schemas[self.model.op]):
            return [plain_head(schemas[self.op], self.symbol)]
        return _with_name(head, self.near.base, self.base)

    def _head(self, row: NewRow, symbol: str) -> list[str]:
        """The CPU kernel's head if written out, else the model's, renamed."""
        cpu = self.tree.kernels.get(row.native.full_name, {}).get("CPU")
        is_scalar = cpu is not None and cpu.kind == "ufunc"  # the loop around it is generated
        passed = not (self.stub or is_scalar)
        own = next(iter(cpu.definitions if cpu and passed else ()), None)
        like = self._model_of(row)
        model = like.kernel
        if own and (own.kind in (model.kind, "function") or self._is_structured(row.native)):
            head = _head_lines(self.tree, own)
            if _is_opened(head):
                return _with_name(head, own.name, symbol)
        head, schema = _head_lines(self.tree, model), self.tree.schemas[row.native.full_name]
        if _is_opened(head):
            is_other = not (self.stub or _takes_as(schema, self.tree.schemas[like.op]))
            is_structured = model.kind == "impl_func" and self._is_structured(row.native)
            if not self.stub and not is_structured and (is_other or model.kind == "impl_func"):
                return [plain_head(schema, symbol)]
            return with_parameters(_with_name(head, model.name, symbol), schema)
        used = _with_name(head[:1], self.near.base, self.base)  # of a macro
        return used if used != head[:1] else [plain_head(schema, symbol)]

    def _is_structured(self, native: NativeFunction) -> bool:
        return native.structured and device_of_key(self.key) == self.key

    def _model_of(self, row: NewRow) -> Home:
        kind = self.tree.schemas[row.native.full_name].kind
        same = (h for h in self.near.homes if self.tree.schemas[h.op].kind is kind)
        return next((home for home in same if home.path == self.model.path), self.model)

    @cached_property
    def new_path(self) -> str:
        """A new file, if the model's is only for the model and named after it; else empty. Without
        a similar operator it is named after the CPU kernel's file."""
        path, theirs = self.model.path, self.near.base
        if self.is_guess and self.rows and device_of_key(self.key) == self.key:
            return self._named_as_cpu(path)
        users = {b for b, h in self.homes.own_homes(self.model_key).items() if _is_in(h, path)}
        if path != self.votes[0].path or users != {theirs}:
            return ""
        folder, _, name = path.rpartition("/")
        if stem(path).strip("q") == theirs.replace("_", "") and theirs in name:
            return f"{folder}/{name.replace(theirs, self.base)}"
        return self._named_as_own(path)

    def _named_as_cpu(self, path: str) -> str:
        folder, _, name = path.rpartition("/")
        own = [d.location.path.rpartition("/")[2].partition(".")[0] for d in self.own[:1]]
        made = f"{folder}/{own[0]}.{name.partition('.')[2]}" if own else ""
        apart = made and path not in self.homes.shared_files(self.key)
        return made if apart and not self.tree.text(made) else ""

    def _named_as_own(self, path: str) -> str:
        nearest = Nearest(self.homes)
        folder, _, name = path.rpartition("/")
        if name not in {one.rpartition("/")[2] for one in nearest.files(self.near.base)}:
            return ""
        own = {one.rpartition("/")[2] for one in nearest.files(self.base)} - {name}
        return f"{folder}/{min(own)}" if own else ""


def home_in(vote: FileVote) -> Home:
    """The voting operator's kernel in the file; its first one if only the file's name voted."""
    homes = vote.near.homes
    return next((home for home in homes if home.path == vote.path), homes[0])


def _is_in(homes: Sequence[Home], path: str) -> bool:
    return any(home.path == path for home in homes)


def _is_opened(head: Sequence[str]) -> bool:
    """Whether it is a written function, not a macro use."""
    return bool(head) and head[-1].endswith("{")


def has_word(text: str, word: str) -> bool:
    """Whether a line has a word, which an underscore may end."""
    return bool(re.search(rf"(?<![A-Za-z0-9]){re.escape(word)}(?![A-Za-z0-9])", text))


def _with_name(lines: Sequence[str], old: str, new: str) -> list[str]:
    name = re.compile(rf"(?<![A-Za-z0-9]){re.escape(old)}(?![A-Za-z0-9])")
    return [name.sub(new, line) for line in lines]


def with_parameters(head: Sequence[str], schema: Schema) -> list[str]:
    """A function's head with the parameter names of a schema, if as many."""
    text = "\n".join(head)
    start, names = text.rfind("(") + 1, [one.name for one in schema.arguments]
    if len(_PARAMETER.findall(text, start)) != len(names):
        return list(head)
    given = iter(names)
    return (text[:start] + _PARAMETER.sub(lambda _: next(given), text[start:])).split("\n")


def _takes_as(schema: Schema, other: Schema) -> bool:
    """Whether the parameters of two kernels have the same types in the same order."""
    mine, theirs = ([one.type for one in each.arguments] for each in (schema, other))
    return mine == theirs


def _plain_integers(kind: str) -> str:
    return kind.replace("SymIntArrayRef", "IntArrayRef").replace("c10::SymInt", "int64_t")


def plain_head(schema: Schema, symbol: str) -> str:
    """The head of a kernel by its schema."""
    out = {one.name for one in schema.arguments if one.annotation and "!" in one.annotation}
    typed = [("Tensor&" if one.name in out else cxx_type(one), one) for one in schema.arguments]
    if "symint" not in symbol:  # torchgen passes integers then
        typed = [(_plain_integers(kind), one) for kind, one in typed]
    parameters = ", ".join(f"{kind} {one.name}" for kind, one in typed)
    returned = ", ".join(["Tensor&" if out else "Tensor"] * max(1, len(schema.returns)))
    returned = f"std::tuple<{returned}>" if len(schema.returns) > 1 else returned
    return f"{returned} {symbol}({parameters}) {{"


def _head_lines(tree: Tree, definition: Definition) -> list[str]:
    where, lines = definition.location, tree.lines_of(definition.location)
    found: list[str] = []
    if lines and lines[0].startswith(f"{definition.name}("):  # what it returns is above
        found = tree.lines(where.path, where.line - 1, where.line - 1)
    for text in lines:
        head, brace, _ = text.rstrip().partition("{")
        found.append(head + brace)
        if brace:
            break
    return found
