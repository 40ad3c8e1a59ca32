"""Resolves dotted Python names in a tree as Python does: module, then attribute by attribute,
through re-exports, assignments and inheritance. Files are read, never run."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from dataclasses import replace

from indexes.linking.python.functions import (
    STANDING_IN,
    closure,
    inside,
    is_property,
    metaclass,
    returned,
    taken,
)
from indexes.linking.python.modules import Found, Kind, Module, merged, module_of
from indexes.model.regex import regex
from indexes.model.vocabulary import Location
from indexes.readers.python.scope import NEVER, Binding, Scope, class_scope, dotted, texts

Read = Callable[[str], bytes | None]
"""Gives a file of the tree; None if there is none."""
Placed = Callable[[str], str]
"""Gives the place of a module's file in the tree, from its path in its package."""
Lists = Callable[[str], bool]
"""Whether the tree has Python files under a folder."""
IsBound = Callable[[str], bool]
"""Whether a name is bound in C++: ``torch._C._nn.gelu``."""

_BUILT = "torch._C"
"""The package without Python files."""
_SET = (
    rb"\bself\.%s\s*(?::[^=\n]+)?=(?!=)",
    rb"\bself\.register_\w+\(\s*[\"']%s[\"']",
    rb"\b\w+\s*==\s*[\"']%s[\"']",
)
"""Attributes set in methods or compared in ``__getattr__``."""
_DERIVED = regex(r"\bclass \w+\(([\w.]+)\):")
_PASSED_ON = regex(r"return getattr\(self\.(\w+), \w+\)")
"""``__getattr__`` that delegates to another object."""


class Names:
    """Resolves names in the files of one tree, each read once."""

    def __init__(self, read: Read, lists: Lists, is_bound: IsBound, placed: Placed = str) -> None:
        self._read = read
        self._placed = placed
        self._lists = lists
        self._is_bound = is_bound
        self._modules: dict[str, Module | None] = {}
        self._bodies: dict[tuple[str, int], Scope] = {}
        self._asked: set[tuple[str, str]] = set()
        """The names that are being looked for: modules may import one another in circles."""

    # ----------------------------------------------------------------------- modules

    def module(self, name: str) -> Module | None:
        """The file of a module, ``__init__.py`` for a package."""
        if name not in self._modules:
            stem = name.replace(".", "/")
            paths = (f"{stem}/__init__.py", f"{stem}.py")
            self._modules[name] = next(filter(None, map(self._open, paths)), None)
        return self._modules[name]

    def _open(self, path: str) -> Module | None:
        place = self._placed(path)
        data = self._read(place)
        return None if data is None else Module(place, data)

    def _module(self, name: str) -> Found | None:
        if name == _BUILT or name.startswith(f"{_BUILT}."):
            return self._follow(Found("bound", _BUILT), name.split(".")[2:])
        if module := self.module(name):
            return Found("module", name, module.path, 1, len(module.lines))
        folder = self._placed(name.replace(".", "/"))
        return Found("module", name, folder) if self._lists(folder) else None

    def home(self, found: Found) -> Module | None:
        """The file with a definition; None for a C++ binding."""
        return self.module(module_of(found)) if found.path.endswith(".py") else None

    # ------------------------------------------------------------------------- names

    def find(self, name: str) -> Found | None:
        """The definition of a dotted name; None if Python would find nothing."""
        first, *rest = name.split(".")
        return self._follow(self._module(first), rest) or self._imported(name)

    def _follow(self, found: Found | None, rest: Iterable[str]) -> Found | None:
        for part in rest:
            found = found and self.attribute(found, part)
        return found

    def _imported(self, name: str) -> Found | None:
        """A submodule that is hidden by an attribute of its package, but can be imported from."""
        parts = name.split(".")
        for end in range(len(parts) - 1, 0, -1):
            if module := self._module(".".join(parts[:end])):
                return self._follow(module, parts[end:])
        return None

    def attribute(self, owner: Found, name: str) -> Found | None:
        """The result of ``getattr``."""
        return self._once((owner.name, name), lambda: self._attribute(owner, name))

    def _once(self, name: tuple[str, str], look: Callable[[], Found | None]) -> Found | None:
        """The result of a lookup; None if the same name is being looked up already."""
        if name in self._asked:
            return None
        self._asked.add(name)
        try:
            return look()
        finally:
            self._asked.discard(name)

    def _attribute(self, owner: Found, name: str) -> Found | None:
        if owner.kind == "module":
            return self._of_module(owner, name)
        if owner.kind == "class":
            return self._of_class(owner, name)
        if owner.kind == "bound":
            inner = f"{owner.name}.{name}"
            # Modules of bindings are declared nowhere.
            is_module = owner.name == _BUILT and name.startswith("_")
            return Found("bound", inner) if is_module or self._is_bound(inner) else None
        if owner.instance_of:
            return self._of_instance(owner.instance_of, name)
        return None

    def _of_instance(self, owner: Found, name: str) -> Found | None:
        """An attribute of a class's instances: a member, or one that ``__getattr__`` delegates."""
        if found := self.attribute(owner, name):
            return found
        module = self.module(module_of(owner))
        delegating = self._member(owner, "__getattr__") if module else None
        if module is None or delegating is None or name.startswith("__"):
            return None
        body = module.source(delegating.line, delegating.end_line)
        other = _PASSED_ON.search(body)
        assigned = self._set_on_self(owner, other[1]) if other else None
        if assigned is None:
            return None
        value = module.lines[assigned.line - 1].decode("utf-8", "replace").partition("=")[2]
        start = self.resolve(module, value.partition("#")[0].strip())
        return self.attribute(start, name) if start else None

    def _of_module(self, owner: Found, name: str) -> Found | None:
        module = self.module(owner.name)
        if module is None:
            return self._module(f"{owner.name}.{name}")
        if found := self.in_scope(module, name):
            return found
        if found := self._module(f"{owner.name}.{name}"):
            return found
        if replaced := module.scope.replaced:
            made = self.resolve(module, replaced)
            made = self._class_in(made) if made and made.kind == "function" else made
            return self._of_instance(made, name) if made else None
        return self._lazily(module, name)

    def _class_in(self, function: Found) -> Found | None:
        """The base of the class that a function defines."""
        home = self.module(module_of(function))
        body = home.source(function.line, function.end_line) if home else ""
        derived = _DERIVED.search(body)
        return self.resolve(home, derived[1]) if home and derived else None

    def in_scope(self, module: Module, name: str) -> Found | None:
        """A name that a module binds, or takes over from another."""
        return self._once((module.path, name), lambda: self._in_scope(module, name))

    def _in_scope(self, module: Module, name: str) -> Found | None:
        scope = module.scope
        bound = scope.names.get(name)
        taken = None if bound and bound.sure != NEVER else self._from_stars(module, name)
        if taken or bound is None:
            return taken
        return self._bound(module, bound, f"{scope.module}.{name}")

    def _from_stars(self, module: Module, name: str) -> Found | None:
        for star in reversed(module.scope.stars):
            origin = self._module(star) or self.find(star) or self.resolve(module, star)
            if origin is None or origin.name == module.scope.module:
                continue
            taken = self.module(origin.name)
            public = taken.scope.public() if taken else None
            if public is not None and name not in public:
                continue
            is_hidden = name.startswith("_") and (origin.kind == "module" or origin.name == _BUILT)
            if public is None and is_hidden:
                continue
            if found := self.attribute(origin, name):
                return found
        return None

    def _bound(self, module: Module, bound: Binding, name: str) -> Found | None:
        if bound.origin:
            origin = self._module(bound.origin) or self.find(bound.origin)
            if bound.part and origin is None:  # of another package: ``from math import pi``
                return Found("attribute", name, module.path, bound.line, bound.end_line)
            if not bound.part or origin is None:
                return origin
            return self.attribute(origin, bound.part) or self._module(f"{origin.name}.{bound.part}")
        node = bound.node
        if isinstance(node, ast.ClassDef):
            return Found("class", name, module.path, bound.line, bound.end_line, node)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return Found("function", name, module.path, bound.line, bound.end_line, node)
        return self._value(module, bound, name)

    def resolve(self, module: Module, name: str) -> Found | None:
        """A dotted name as read in a module's code."""
        first, *rest = name.split(".")
        if not first:
            return None
        start = self.in_scope(module, first)
        return self._follow(start, rest)

    # ------------------------------------------------------------------------ values

    def _value(self, module: Module, bound: Binding, name: str) -> Found | None:
        """The value of an assigned name; the assignment itself if unknown."""
        own = Found("attribute", name, module.path, bound.line, bound.end_line, bound.node)
        found = self._of_value(module, bound.node)
        if found is None or found.name == name:
            return own
        if found.kind == "class" and isinstance(bound.node, ast.Call):
            return replace(own, instance_of=found)
        return replace(found, assigned=found.assigned or own.location)

    def _of_value(self, module: Module, node: ast.AST | None) -> Found | None:
        if node is None:
            return None
        if name := dotted(node):
            return self.resolve(module, name)
        if isinstance(node, ast.Call):
            return self._called(module, node)
        return None

    def _called(self, module: Module, call: ast.Call) -> Found | None:
        name = dotted(call.func)
        if call.args and (name in STANDING_IN or name.rpartition(".")[2] == "_add_docstr"):
            return self._of_value(module, call.args[0])
        if isinstance(call.func, ast.Call):  # a decorator, or what wraps() gives
            wraps = dotted(call.func.func).rpartition(".")[2] == "wraps"
            given = call.func.args if wraps else call.args
            return self._of_value(module, given[0]) if len(given) == 1 else None
        callee = self.resolve(module, name) if name else None
        if callee is None or callee.kind == "class":
            return callee
        return self._made(module, call, callee) if callee.kind == "function" else None

    def _made(self, module: Module, call: ast.Call, maker: Found) -> Found | None:
        """The function that a call of another returns."""
        home = self.module(module_of(maker))
        head = home.function(maker.line) if home else None
        if home is None or head is None:
            return None
        values = ((one, self._of_value(module, given)) for one, given in taken(head, call).items())
        given = {name: found for name, found in values if found}
        inner = {one.name: one for one in head.body if isinstance(one, ast.FunctionDef)}
        for name in returned(head):
            if name in given:
                return given[name]
            if made := inner.get(name):
                return closure(home, made, f"{maker.name}.{name}", given)
        return None

    # ----------------------------------------------------------------------- classes

    def members(self, owner: Found) -> Scope:
        """The bindings of a class body."""
        key = owner.path, owner.line
        if key not in self._bodies:
            module = self.module(module_of(owner))
            assert module
            assert isinstance(owner.node, ast.ClassDef)
            self._bodies[key] = class_scope(owner.node, module.scope, module.ends)
        return self._bodies[key]

    def _of_class(self, owner: Found, name: str) -> Found | None:
        """As Python: the class and its bases, then attributes of instances."""
        bases = self.order(owner)
        for look in (self._member, self._declared, self._set_on_self):
            for base in bases:
                if found := look(base, name):
                    return found
        made_by = filter(None, map(self._metaclass, bases))
        return next(filter(None, (self.attribute(one, name) for one in made_by)), None)

    def _metaclass(self, owner: Found) -> Found | None:
        """The metaclass, if it has the member: ``group.WORLD``."""
        module, named = self.home(owner), metaclass(owner.node)
        found = self._of_value(module, named) if module else None
        return found if found and found.kind == "class" else None

    def _member(self, owner: Found, name: str) -> Found | None:
        if owner.kind == "bound":
            return self.attribute(owner, name)
        module = self.module(module_of(owner))
        if module is None:
            return None
        short = f"{owner.name.rpartition('.')[2]}.{name}"
        bound = module.scope.attributes.get(short) or self.members(owner).names.get(name)
        if bound is None or (bound.node is None and not bound.origin):
            return None
        if isinstance(bound.node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            kind: Kind = "property" if is_property(bound.node) else "method"
            full = f"{owner.name}.{name}"
            return Found(kind, full, module.path, bound.line, bound.end_line, bound.node)
        return self._sibling(owner, bound) or self._bound(module, bound, f"{owner.name}.{name}")

    def _sibling(self, owner: Found, bound: Binding) -> Found | None:
        """The member under a second name: ``__radd__ = __add__``."""
        other = dotted(inside(bound.node))
        if not other or other == bound.name or other not in self.members(owner).names:
            return None
        found = self._member(owner, other)
        return found and replace(found, assigned=Location(owner.path, bound.line, bound.end_line))

    def _declared(self, owner: Found, name: str) -> Found | None:
        """A member that is only annotated."""
        bound = self.members(owner).names.get(name) if owner.kind == "class" else None
        if bound is None:
            return None
        full = f"{owner.name}.{name}"
        return Found("attribute", full, owner.path, bound.line, bound.end_line)

    def _set_on_self(self, owner: Found, name: str) -> Found | None:
        """An attribute that a method sets, or that ``__getattr__`` returns."""
        module = self.module(module_of(owner)) if owner.kind == "class" else None
        if module is None:
            return None
        for pattern in _SET:
            search = regex(pattern % name.encode()).search
            for line in range(owner.line, owner.end_line + 1):
                if search(module.lines[line - 1]):
                    return Found("attribute", f"{owner.name}.{name}", module.path, line, line)
        return None

    def order(self, owner: Found) -> list[Found]:
        """A class and its bases in Python's order (C3), without those outside the tree."""
        return self._order(owner, frozenset())

    def _order(self, owner: Found, below: frozenset[str]) -> list[Found]:
        module = self.module(module_of(owner)) if owner.kind == "class" else None
        if module is None or not isinstance(owner.node, ast.ClassDef) or owner.name in below:
            return [owner]
        bases = []
        for base in owner.node.bases:
            value = base.value if isinstance(base, ast.Subscript) else base
            found = self._of_value(module, value)
            if found and found.kind in ("class", "bound"):
                bases.append(found)
        orders = [self._order(base, below | {owner.name}) for base in bases]
        return [owner, *merged([*orders, bases])]

    # ---------------------------------------------------------------------- lazily set

    def _lazily(self, module: Module, name: str) -> Found | None:
        """What a module's ``__getattr__`` returns: by ``if name == "x"``, or by a table."""
        bound = module.scope.names.get("__getattr__")
        head = module.function(bound.line) if bound else None
        if head is None:
            return None
        for node in ast.walk(head):
            if isinstance(node, ast.If) and name in texts(node.test):
                return self._answered(module, node, name)
        for table in {one.id for one in ast.walk(head) if isinstance(one, ast.Name)}:
            known = module.scope.names.get(table)
            if known and isinstance(known.node, ast.Dict):
                for key, value in zip(known.node.keys, known.node.values, strict=True):
                    if isinstance(key, ast.Constant) and key.value == name:
                        return self._entry(module, value, name)
        return None

    def _answered(self, module: Module, node: ast.If, name: str) -> Found:
        """The branch of ``__getattr__`` for a name."""
        line, end = node.lineno, node.body[-1].end_lineno or node.lineno
        own = Found("attribute", f"{module.scope.module}.{name}", module.path, line, end)
        for one in node.body:
            if isinstance(one, ast.ImportFrom) and name in [n.asname or n.name for n in one.names]:
                found = self.find(f"{module.scope.origin(one)}.{name}")
                return replace(found, assigned=own.location) if found else own
            if isinstance(one, ast.Return) and (found := self._of_value(module, one.value)):
                return replace(found, assigned=own.location)
        return own

    def _entry(self, module: Module, value: ast.expr, name: str) -> Found | None:
        own = Location(module.path, value.lineno, value.end_lineno or value.lineno)
        found = self._of_value(module, value)
        for text in texts(value):
            origin = f"{module.scope.module}{text}" if text.startswith(".") else text
            found = found or self.find(f"{origin}.{name}") or self.find(origin)
        if found:
            return replace(found, assigned=own)
        full = f"{module.scope.module}.{name}"
        return Found("attribute", full, own.path, own.line, own.end_line, value)
