"""Drafts of Python functions for an operator, in a file's style.

The style is that of most registered functions in the file: ``Tensor`` or ``TensorLikeType``,
``Optional[int]`` or ``int None``, ``self`` or ``a``.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from indexes.model.lines import length_in_common
from indexes.model.regex import MULTILINE, regex
from indexes.model.schema import Argument, Schema
from indexes.readers.python.blocks import parse

_Function = (ast.FunctionDef, ast.AsyncFunctionDef)
_WIDTH = 88
_OPERATOR = regex(r"((?:\w+\.)*aten\.)(\w+)((?:\.\w+)?)")
_REDUCTIONS = {"Mean": ("Reduction.MEAN.value", "1"), "Sum": ("Reduction.SUM.value", "2")}
"""Members of the enumeration in torch._decomp, and their values for files without it."""
_LITERALS = {
    "None": "None",
    "[]": "()",
    "long": "torch.long",
    "contiguous_format": "torch.contiguous_format",
    "strided": "torch.strided",
}
_PLAIN = {
    "Tensor": "Tensor",
    "int": "int",
    "SymInt": "int",
    "float": "float",
    "bool": "bool",
    "str": "str",
    "Scalar": "NumberType",
    "ScalarType": "torch.dtype",
    "Layout": "torch.layout",
    "Device": "torch.device",
    "MemoryFormat": "torch.memory_format",
    "Generator": "torch.Generator",
}


@dataclass
class Style:
    """How a file's functions write schemas."""

    types: dict[str, Counter[str]] = field(default_factory=dict)
    names: dict[str, Counter[str]] = field(default_factory=dict)
    returns: dict[str, Counter[str]] = field(default_factory=dict)
    has_reduction: bool = False
    """Whether the file knows the class of that name."""

    def type(self, written: str) -> str:
        """The annotation for a schema's type; empty if the file mostly has none."""
        return _most(self.types, written, _annotation(written))

    def returned(self, schema: Schema) -> str:
        """The annotation for a schema's results; empty if the file mostly has none."""
        types = tuple(one.type for one in schema.returns)
        plain = [self.type(one) or "Tensor" for one in types]
        usual = plain[0] if len(plain) == 1 else f"tuple[{', '.join(plain)}]"
        return _most(self.returns, str(types), usual if plain else "None")

    def name(self, argument: str) -> str:
        """The file's name for an argument: ``self`` may be ``a``."""
        return _most(self.names, argument, argument) if argument == "self" else argument


def _most(counts: Mapping[str, Counter[str]], key: str, otherwise: str) -> str:
    found = counts.get(key) or sum(counts.values(), Counter())
    if 2 * found[""] > found.total():
        return ""
    values = Counter(one for one in counts.get(key, Counter[str]()).elements() if one)
    return values.most_common(1)[0][0] if values else otherwise


def _annotation(written: str) -> str:
    base = re.split(r"[\[?]", written)[0]
    plain = _PLAIN.get(base, "")
    if plain and "[" in written:
        plain = f"list[{plain}]"
    return f"Optional[{plain}]" if plain and written.endswith("?") else plain


def style_of(module: ast.Module, registered: Iterable[tuple[str, Schema]]) -> Style:
    """The style of a file, from its functions with their schemas."""
    functions = {node.name: node for node in ast.walk(module) if isinstance(node, _Function)}
    named = (node for node in ast.walk(module) if isinstance(node, ast.ClassDef | ast.alias))
    style = Style(has_reduction=any(node.name == "Reduction" for node in named))
    for name, schema in registered:
        if function := functions.get(name):
            _count(style, function, schema)
    return style


def _count(style: Style, function: ast.FunctionDef | ast.AsyncFunctionDef, schema: Schema) -> None:
    given = [*function.args.posonlyargs, *function.args.args]
    for one, argument in zip(given, schema.arguments, strict=False):
        text = ast.unparse(one.annotation) if one.annotation else ""
        style.types.setdefault(argument.type, Counter())[text] += 1
        style.names.setdefault(argument.name, Counter())[one.arg] += 1
    types = str(tuple(one.type for one in schema.returns))
    text = ast.unparse(function.returns) if function.returns else ""
    style.returns.setdefault(types, Counter())[text] += 1


# --------------------------------------------------------------------------- functions


def function_lines(name: str, schema: Schema, style: Style) -> tuple[str, ...]:
    """``def name(...) -> ...:`` for a schema, with at most 88 characters a line."""
    parameters = list(_parameters(schema, style))
    returned = style.returned(schema)
    end = f") -> {returned}:" if returned else "):"
    line = f"def {name}({', '.join(parameters)}{end}"
    if len(line) <= _WIDTH:
        return (line,)
    return (f"def {name}(", *(f"    {one}," for one in parameters), end)


def _parameters(schema: Schema, style: Style) -> Iterator[str]:
    starred = False
    for argument in schema.arguments:
        if argument.is_out:
            continue
        if argument.kwarg_only and not starred:
            starred = True
            yield "*"
        yield _parameter(argument, style)


def _parameter(argument: Argument, style: Style) -> str:
    annotation, default = style.type(argument.type), argument.default
    text = style.name(argument.name) + (f": {annotation}" if annotation else "")
    if default is None:
        return text
    value = _default(default, argument.type, style)
    return f"{text} = {value}" if annotation else f"{text}={value}"


def _default(written: str, kind: str, style: Style) -> str:
    if written in _REDUCTIONS:
        return _REDUCTIONS[written][0 if style.has_reduction else 1]
    if written.startswith("["):
        return (
            f"({written[1:-1]},)" if written[1:-1] and "," not in written else f"({written[1:-1]})"
        )
    plain = kind.partition("[")[0].rstrip("?")
    if plain in ("int", "SymInt", "ScalarType", "Layout", "MemoryFormat"):
        return _LITERALS.get(written, written)
    return written


# -------------------------------------------------------------------------- decorators


@dataclass(frozen=True, slots=True)
class Renaming:
    """Renames code of one operator for another."""

    old: str
    new: str
    overloads: frozenset[str]
    """The new one's, by full name."""
    schema: Schema
    """That of the new one."""
    outs: tuple[str, ...]
    """The names of its out arguments; empty without an out overload."""

    def words(self, text: str) -> str:
        """A text with the name replaced as a word, also in dotted form."""
        for old, new in ((self.old, self.new), (_dotted(self.old), _dotted(self.new))):
            made = re.sub(rf"(?<![A-Za-z0-9_]){re.escape(old)}(?![A-Za-z0-9_])", new, text)
            if made != text:
                return made
        return text

    def given(self, text: str) -> str:
        """The same, where a call also gives what the name is made of: ``sign`` with
        ``_foreach_sign``."""
        common = length_in_common(self.old.split("_"), self.new.split("_"))
        old, new = ("_".join(one.split("_")[common:]) for one in (self.old, self.new))
        made = self.words(text)
        return re.sub(rf"(?<=[(, ]){old}(?=[,)])", new, made) if common and old and new else made

    def function(self, name: str) -> str:
        """A function's new name: ``meta_gcd`` for ``meta_lcm``; ``svdvals`` for ``linalg_svdvals``
        in the module of that name."""
        module, _, plain = self.old.partition("_")
        if name == plain and self.new.startswith(f"{module}_"):
            return self.new.partition("_")[2]
        return name.replace(self.old, self.new) if self.old in name else self.new


def _dotted(name: str) -> str:
    return name.replace("_", ".", 1)


def decorators(lines: Iterable[str], to: Renaming) -> tuple[str, ...]:
    """A function's decorators, for another operator."""
    text = "\n".join(lines)
    try:
        function = parse(f"{text}\ndef f(): pass").body[0]
    except SyntaxError:
        return tuple(text.splitlines())
    assert isinstance(function, _Function)
    made = (_decorator(node, text, to) for node in function.decorator_list)
    return tuple(line for own in made for line in own.splitlines())


def unknown_to(text: str, code: Iterable[str]) -> str:
    """What is to be said of a name that a call in added lines gives and that the file lacks."""
    added = "\n".join(line for line in code if line.startswith("+") and "def " not in line)
    names = (name for name in _GIVEN.findall(added) if not re.search(rf"(?<![\w.]){name}\b", text))
    return "".join(f" The file has no {name} yet: make it first." for name in list(names)[:1])


_GIVEN = regex(r", (\w+)\)$", MULTILINE)
_ENOUGH = 5
"""Fewest functions under a decorator that show what it is for."""


def for_others(module: ast.Module | None, name: str, schema: Schema) -> str:
    """What is to be said of a function's decorator under which no function of the module takes as
    many arguments as ours, as one that makes functions of one tensor; empty without one."""
    ours = sum(not one.is_out for one in schema.arguments)
    body = module.body if module else ()
    counts: dict[str, list[int]] = {}
    theirs: set[str] = set()
    for node in (one for one in body if isinstance(one, ast.FunctionDef)):
        given, named = node.args, {*map(_called, node.decorator_list)}
        theirs |= named if node.name == name else set()
        for one in named:
            count = len([*given.posonlyargs, *given.args, *given.kwonlyargs])
            counts.setdefault(one, []).append(count)
    for one, known in counts.items():
        if one in theirs and ours not in known and len(known) >= _ENOUGH:
            return f" @{one} is for functions of other arguments: ours needs another."
    return ""


def _called(node: ast.expr) -> str:
    return ast.unparse(node.func if isinstance(node, ast.Call) else node)


def _decorator(node: ast.expr, text: str, to: Renaming) -> str:
    own = f"@{ast.get_source_segment(text, node)}"
    if not isinstance(node, ast.Call):
        return own
    if node.args and _OPERATOR.search(ast.unparse(node.args[0])):
        written = ast.get_source_segment(text, node.args[0]) or ""
        return own.replace(written, _operators(node.args[0], to), 1)
    called = ast.unparse(node.func)
    if called.endswith("out_wrapper"):
        names = ", ".join(f'"{one}"' for one in to.outs if to.outs != ("out",))
        return f"@{called}({names})" if to.outs else ""
    for given in node.keywords:
        if given.arg == "type_promoting_args":
            written = ast.get_source_segment(text, given.value) or ""
            own = own.replace(written, _tensors(to.schema), 1)
    return own


def _tensors(schema: Schema) -> str:
    names = [one.name for one in schema.arguments if one.base_type == "Tensor" and not one.is_out]
    return f"({', '.join(repr(one).replace(chr(39), chr(34)) for one in names)},)"


def _operators(node: ast.expr, to: Renaming) -> str:
    """The operator in a registration, with the same overloads."""
    named = list(_OPERATOR.finditer(ast.unparse(node)))
    found = [m[3] for m in named if m[2] == to.old]
    kept = [end for end in found if f"{to.new}{end}".removesuffix(".default") in to.overloads]
    written = [f"{to.new}{end}" for end in dict.fromkeys(kept)]
    if not written and any(found):  # it has other overloads
        full = to.schema.full_name
        written = [full if "." in full else f"{full}.default"]
    written = [f"{named[0][1]}{one}" for one in written or [to.new]]
    is_list = isinstance(node, (ast.List, ast.Tuple, ast.Set)) and len(written) > 1
    return f"[{', '.join(written)}]" if is_list else written[0]
