"""Where the members of a class stand in memory, by the C++ ABI of 64-bit Linux, computed from the
tree's declarations.

The rules are those of the Itanium C++ ABI, sections 2.2 and 2.4: members in order, each at a
multiple of its alignment, a pointer to the virtual functions first, bit-fields packed into units of
their type, members of a derived class in the padding behind its base. Types of the standard library
have libstdc++'s sizes. The layout of a class ends at a member of unknown size.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from indexes.model.answers import Member
from indexes.model.regex import regex
from indexes.readers.cxx.declared_types import DeclaredClass, DeclaredTypes

_WORD = 8
_SCALARS = {
    "bool": 1,
    "char": 1,
    "int8_t": 1,
    "uint8_t": 1,
    "int16_t": 2,
    "uint16_t": 2,
    "int": 4,
    "unsigned": 4,
    "int32_t": 4,
    "uint32_t": 4,
    "float": 4,
    "int64_t": 8,
    "uint64_t": 8,
    "size_t": 8,
    "long": 8,
    "double": 8,
    "ptrdiff_t": 8,
    "intptr_t": 8,
    "uintptr_t": 8,
}
_STANDARD = {
    "std::shared_ptr": 16,
    "std::weak_ptr": 16,
    "std::string": 32,
    "std::vector": 24,
    "std::mutex": 40,
    "std::function": 32,
}
"""Sizes in libstdc++, in bytes, each aligned to a word."""
_QUALIFIER = regex(r"\b(?:const|mutable|volatile|constexpr|inline|class|struct|typename)\b\s*")
_TEMPLATE = regex(r"([\w:]+)\s*<(.*)>")
_ARRAY = regex(r"(.*?)\s*\[\s*([^\]]*)\]")
_POINTER = regex(r".*(?:\*|&)\s*(?:const)?|.*\(\s*\*\s*\w*\s*\).*")
"""A pointer, a reference, or the pointer to a function."""


@dataclass(frozen=True, slots=True)
class Shape:
    """The size and alignment of a type."""

    size: int
    """Bytes, a multiple of ``align``."""
    align: int
    used: int
    """Bytes without the padding at the end, which a derived class may use."""


@dataclass(frozen=True, slots=True)
class Slot:
    """The place of one member."""

    member: Member
    owner: str
    """The class that declares it."""
    offset: int
    """Bytes from the start of the object."""
    size: int
    bit: int | None = None
    """The lowest bit of a bit-field."""


@dataclass(frozen=True, slots=True)
class ClassLayout:
    """The members of a class, those of its bases first."""

    slots: tuple[Slot, ...]
    shape: Shape | None
    """None if the size of a member is unknown: members behind it have no slot."""
    reason: str = ""
    """Why it ends early."""


class Layouts:
    """The layouts of the classes of one tree.

    Parameters:
        types_with: The types of the header that declares a name; None where none does.
    """

    def __init__(self, types_with: Callable[[str], DeclaredTypes | None]) -> None:
        self._types_with = types_with
        self._known: dict[str, ClassLayout] = {}

    def of(self, name: str) -> ClassLayout:
        """The layout of a class; empty with a reason if the tree does not declare it."""
        if name not in self._known:
            declared = self.declared(name)
            self._known[name] = ClassLayout((), None, f"no class {name} in the headers")
            if declared is not None:
                self._known[name] = _Builder(self, declared).build()
        return self._known[name]

    def declared(self, name: str) -> DeclaredClass | None:
        """The declaration of a class, by its name with or without a scope."""
        plain = _last(name)
        types = self._types_with(plain)
        return types.classes.get(plain) if types else None

    def plain_type(self, type_: str) -> str:
        """A type with aliases and enumerations resolved, unqualified; ``*`` for a pointer."""
        text = _QUALIFIER.sub("", type_).strip()
        if _POINTER.fullmatch(text) or text.startswith("std::unique_ptr<"):
            return "*"
        types = self._types_with(_last(text)) if "<" not in text else None
        target = types and (types.enums.get(_last(text)) or types.aliases.get(_last(text)))
        return self.plain_type(target) if target and target != text else text

    def shape(self, type_: str) -> Shape | None:
        """The size and alignment of a type; None if unknown."""
        array = _ARRAY.fullmatch(type_.strip())
        if array is not None:
            return self._array(array[1], array[2])
        text = self.plain_type(type_)
        if _last(text) in _SCALARS and "<" not in text:
            return _scalar(_SCALARS[_last(text)])
        if text == "*":
            return _scalar(_WORD * (1 + self._has_deleter(type_)))
        template = _TEMPLATE.fullmatch(text)
        name, arguments = (template[1], template[2]) if template else (text, "")
        if name in _STANDARD:
            return Shape(_STANDARD[name], _WORD, _STANDARD[name])
        if name == "std::atomic":
            return self.shape(arguments)
        if name == "std::optional":
            return self._optional(arguments)
        return self.of(_last(name)).shape

    def _has_deleter(self, type_: str) -> bool:
        """Whether a unique_ptr stores a function as its deleter."""
        template = _TEMPLATE.fullmatch(_QUALIFIER.sub("", type_).strip())
        deleter = template[2].partition(",")[2].strip() if template else ""
        return bool(deleter) and self.plain_type(deleter) == "*"

    def _optional(self, of: str) -> Shape | None:
        held = self.shape(of)
        if held is None:
            return None
        size = _up(held.size + 1, held.align)
        return Shape(size, held.align, held.size + 1)

    def _array(self, of: str, extent: str) -> Shape | None:
        one, count = self.shape(of), self._number(extent)
        if one is None or count is None:
            return None
        return Shape(one.size * count, one.align, one.size * count)

    def _number(self, text: str) -> int | None:
        """The product of numbers and macros that expand to one: ``MAX_INLINE_SIZE * 2``."""
        product = 1
        for word in map(str.strip, text.split("*")):
            number = int(word) if word.isdecimal() else self._macro(word)
            if number is None:
                return None
            product *= number
        return product

    def _macro(self, name: str) -> int | None:
        types = self._types_with(name)
        return types.numbers.get(name) if types else None


@dataclass
class _Builder:
    """Places the members of one class in order."""

    layouts: Layouts
    declared: DeclaredClass
    slots: list[Slot] = field(default_factory=list)
    at: int = 0
    """Bits used so far."""
    align: int = 1

    def build(self) -> ClassLayout:
        reason = self._bases() or self._members()
        if reason:
            return ClassLayout(tuple(self.slots), None, reason)
        used = _up(self.at, 8) // 8
        shape = Shape(max(_up(used, self.align), 1), self.align, used)
        return ClassLayout(tuple(self.slots), shape)

    def _bases(self) -> str:
        """Places the bases and the pointer to virtual functions. Returns why it cannot."""
        has_table = False
        for base in self.declared.bases:
            found = self.layouts.of(_last(_TEMPLATE.sub(r"\1", base)))
            if found.shape is None:
                return f"base {base}: {found.reason}"
            has_table = has_table or self._is_virtual(base)
            begin = _up(_up(self.at, 8) // 8, found.shape.align)
            self.slots += [
                Slot(s.member, s.owner, begin + s.offset, s.size, s.bit) for s in found.slots
            ]
            empty = not found.slots and not self._is_virtual(base)
            self.at = 8 * (begin + (0 if empty else found.shape.used))
            self.align = max(self.align, found.shape.align)
        if self.declared.is_virtual and not has_table:
            self.at, self.align = self.at + 8 * _WORD, _WORD
        return ""

    def _is_virtual(self, name: str) -> bool:
        one = self.layouts.declared(_TEMPLATE.sub(r"\1", name))
        return one is not None and (one.is_virtual or any(map(self._is_virtual, one.bases)))

    def _members(self) -> str:
        for group in self.declared.members:
            shapes = [self.layouts.shape(member.type) for member in group]
            for member, shape in zip(group, shapes, strict=True):
                if shape is None:
                    return f"the size of {member.type} ({member.name}) is not known"
            self._place(group, [shape for shape in shapes if shape])
        return ""

    def _place(self, group: tuple[Member, ...], shapes: list[Shape]) -> None:
        size, align = max(s.size for s in shapes), max(s.align for s in shapes)
        self.align = max(self.align, align)
        width = group[0].bits
        if width is not None:
            if self.at // (8 * size) != (self.at + width - 1) // (8 * size):
                self.at = _up(self.at, 8 * size)
            unit = self.at // (8 * size) * size
            slot = Slot(group[0], self.declared.name, unit, size, self.at - 8 * unit)
            self.slots.append(slot)
            self.at += width
            return
        begin = _up(_up(self.at, 8) // 8, align)
        for member, shape in zip(group, shapes, strict=True):
            self.slots.append(Slot(member, self.declared.name, begin, shape.size))
        self.at = 8 * (begin + size)


def _scalar(size: int) -> Shape:
    return Shape(size, min(size, _WORD), size)


def _up(value: int, unit: int) -> int:
    return -(-value // unit) * unit


def _last(name: str) -> str:
    return name.strip().rpartition("::")[2]
