"""Reads the text in front of a ``{`` or ``;`` at namespace or class scope.

It may be a namespace, a class, a function, a macro use, an initialiser, or several of these in a
row, since a macro use needs no ``;``.
"""

from __future__ import annotations

from dataclasses import dataclass

from indexes.model.idioms import close
from indexes.model.regex import ASCII, regex

_ANGLES = regex(r"[<>();]")
_NAMESPACE = regex(r"\bnamespace\s*((?:[A-Za-z_][\w:\s]*)?)$", ASCII)
_CLASS = regex(
    r"\s*(?:(?:typedef|static|const|constexpr|inline|friend|final)\s+)*"
    r"(class|struct|union|enum)\b(?:\s+(?:class|struct)\b)?",
    ASCII,
)
_LEADING_CALL = regex(
    r"\s*(?:(?:static|inline|extern|template\s*<\s*>)\s+)*([A-Za-z_]\w*)\s*\(", ASCII
)
_PREFIX = regex(r"\s*(?:(?:public|private|protected|signals|slots)\s*:(?!:)|(template)\s*<)", ASCII)
_NAME_CHARACTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_:~"
_SPLIT = regex(r"(?<=[\w>])::\s+")
_OPERATOR = regex(
    r"(?<!\w)((?:[A-Za-z_]\w*(?:<[^()]*>)?\s*::\s*)*operator\b\s*(?:\(\s*\)|[^\s(][^(]*|\"\"[^(]*)?)\s*$"
)
_OF_SIGN = regex(r"(?<=operator) (?=[^\w\"])")
_TEMPLATE_ARGUMENTS = regex(r"<(?:[^<>]|<(?:[^<>]|<[^<>]*>)*>)*>")
_ATTRIBUTE_CALL = regex(
    r"\b(?:alignas|__attribute__|__declspec|[A-Z_][A-Z0-9_]*)\s*\((?:[^()]|\([^()]*\))*\)|\[\[[^\]]*\]\]"
)
_WORD = regex(r"[A-Za-z_]\w*", ASCII)
_LOOKED_AT = regex(r"\s*([\s\S]{0,200})")
"""Tokens that show whether a declarator continues."""
_BASES = regex(r"(?<!:):(?!:)")
_QUALIFIED = regex(r"[A-Za-z_][\w]*(?:\s*::\s*\w+)*")
_ASSIGNMENT = regex(r"(?<![=!<>+\-*/%&|^])=(?!=)")
_IN_MEMBERS = regex(r"\s*(?:noexcept\s*)?:(?!:)[\s\S]*[\w>]\s*$", ASCII)
"""A constructor's initializer list up to a member with a value in braces."""
_NO_ANGLES = regex(r"->|operator\s*[<>=]+|<<|>=|<=|\([^()]*\)")
NOT_NAMES = frozenset(
    "decltype alignas __attribute__ noexcept __declspec requires throw _Pragma __launch_bounds__ "
    "if for while switch return sizeof static_assert catch do else new delete defined typeid "
    "asm __asm__ alignof".split()
)
_STORAGE = frozenset(
    "static inline extern constexpr virtual explicit friend __host__ __device__ __global__ "
    "__forceinline__ __inline__ typename const".split()
)
_AFTER_PARAMETERS = frozenset(
    "const noexcept override final volatile try mutable requires throw".split()
)


@dataclass(slots=True)
class Use:
    """A macro use: ``NAME(args)``. ``end`` is the offset behind its last parenthesis."""

    name: str
    arguments: str
    start: int
    end: int


@dataclass(slots=True)
class Head:
    """What a head opens: namespace, class, enum, function, macro, opaque or block."""

    kind: str
    name: str = ""
    qualifier: str = ""
    name_at: int = 0
    parameters: str = ""
    arguments: str = ""
    is_global: int = 0
    base: str = ""


def close_angle(text: str, opened: int) -> int:
    """Offset of the ``>`` that closes the ``<`` at ``opened``; -1 if there is none."""
    depth = nested = 0
    for found in _ANGLES.finditer(text, opened):
        char, at = found.group(), found.start()
        if char == "(":
            nested += 1
        elif char == ")":
            nested -= 1
        elif char == ";":
            return -1
        elif char == "<" and not nested:
            depth += 1
        elif char == ">" and not nested and text[at - 1] != "-":
            depth -= 1
            if depth == 0:
                return at
    return -1


def leading_uses(text: str, start: int, stop: int) -> tuple[list[Use], int]:
    """Macro uses at the front of ``text[start:stop]``, and the offset behind them."""
    uses: list[Use] = []
    at = start
    while found := _LEADING_CALL.match(text, at, stop):
        ended = close(text, found.end() - 1)
        if ended < 0 or ended >= stop:
            break
        ahead = _LOOKED_AT.match(text, ended + 1, stop)
        rest = ahead[1] if ahead else ""
        if not rest or _continues(rest):
            break
        if found.group(1) not in NOT_NAMES:
            uses.append(Use(found.group(1), text[found.end() : ended], found.start(1), ended + 1))
        at = ended + 1
    return uses, at


def _continues(rest: str) -> bool:
    """Whether ``rest`` continues the same declarator."""
    if rest[0] in "({=,.-:" or (rest[0] == "[" and not rest.startswith("[[")):
        return not rest.startswith("::")
    word = _WORD.match(rest)
    if not word or word.group() not in _AFTER_PARAMETERS:
        return False
    if word.group() != "const":
        return True
    # `f(x) const {` goes on; `MACRO(x) const Tensor& f(` starts another declaration.
    following = _WORD.match(rest[word.end() :].lstrip())
    return not following or following.group() in _AFTER_PARAMETERS


def whole_use(text: str, start: int, stop: int) -> Use | None:
    """``NAME(args)`` if there is nothing else between ``start`` and ``stop``."""
    found = _LEADING_CALL.match(text, start, stop)
    if not found or found.group(1) in NOT_NAMES:
        return None
    ended = close(text, found.end() - 1)
    if ended < 0 or ended >= stop or text[ended + 1 : stop].strip():
        return None
    return Use(found.group(1), text[found.end() : ended], found.start(1), ended + 1)


def skip_prefixes(text: str, start: int, stop: int) -> int:
    """Offset behind labels and ``template <...>`` clauses."""
    at = start
    while True:
        prefix = _PREFIX.match(text, at, stop)
        if prefix and not prefix[1]:
            at = prefix.end()
        elif prefix:
            ended = close_angle(text, prefix.end() - 1)
            if ended < 0 or ended >= stop:
                return at
            at = ended + 1
        else:
            return at


def any_head(text: str, start: int, stop: int, class_name: str) -> Head:
    """The head in ``text[start:stop]``, which ends in front of a ``{``."""
    head = text[start:stop]
    stripped = head.rstrip()
    if not stripped.strip():
        return Head("block")
    if "(" in stripped and stripped.count("(") != stripped.count(")"):
        return Head("opaque")
    if "namespace" in stripped and (found := _NAMESPACE.search(stripped)):
        name = "".join(found.group(1).split()).replace("::inline", "::")
        return Head("namespace", name=name or "(anonymous)", name_at=start + found.start())
    at = skip_prefixes(text, start, stop)
    rest = text[at:stop].strip()
    if rest.startswith("extern") and rest.endswith('"'):
        return Head("namespace")
    if head_class := _read_class(text, at, stop):
        return head_class
    return _read_function(text, at, stop, class_name)


def _read_class(text: str, start: int, stop: int) -> Head | None:
    found = _CLASS.match(text, start, stop)
    if not found:
        return None
    rest = text[found.end() : stop]
    rest = _ATTRIBUTE_CALL.sub(lambda m: " " * len(m.group()), rest)
    name_part = _BASES.split(rest, maxsplit=1)[0]
    if "(" in name_part or "=" in name_part:
        return None
    name_part = _TEMPLATE_ARGUMENTS.sub(lambda m: " " * len(m.group()), name_part)
    names = [m for m in _QUALIFIED.finditer(name_part) if m.group() != "final"]
    kind = "enum" if found.group(1) == "enum" else "class"
    if not names:
        return Head(kind, name="(anonymous)", name_at=found.start(1))
    qualifier, _, name = "".join(names[-1].group().split()).rpartition("::")
    base = rest[len(name_part) :].strip(" :\n")
    return Head(kind, name, qualifier, found.end() + names[-1].start(), base=" ".join(base.split()))


def _read_function(text: str, start: int, stop: int, class_name: str) -> Head:
    fallback: Head | None = None
    at = start
    while (opened := text.find("(", at, stop)) >= 0:
        prefix = text[start:opened]
        ended = close(text, opened)
        if ended < 0 or ended >= stop:
            break
        if prefix.rfind("[[") > prefix.rfind("]]"):  # of an attribute
            at = ended + 1
            continue
        if "=" in prefix and "operator" not in prefix and _assigns(prefix):
            return Head("opaque")
        head = _declarator(text, start, opened, ended, stop)
        if head and _is_declarator(head, prefix, text[ended + 1 : stop], class_name):
            return Head("opaque") if _IN_MEMBERS.match(text, ended + 1, stop) else head
        fallback = fallback or head
        at = ended + 1
    if fallback and fallback.name not in NOT_NAMES:
        return _macro_head(fallback, text, stop) or Head("opaque")
    return Head("opaque")


def _assigns(prefix: str) -> bool:
    plain = _TEMPLATE_ARGUMENTS.sub("", prefix)
    return bool(_ASSIGNMENT.search(plain))


def _declarator(text: str, start: int, opened: int, ended: int, stop: int) -> Head | None:
    prefix = text[start:opened]
    if "operator" in prefix and (found := _OPERATOR.search(prefix)):
        spelled = " ".join(found.group(1).split())
        if spelled.endswith("operator"):
            second = text.find("(", ended + 1, stop)
            if second < 0 or close(text, second) < 0:
                return None
            parameters = text[second + 1 : close(text, second)]
            name = "operator()"
            qualifier = spelled[: -len("operator")].replace(" ", "").rstrip(":")
        else:
            qualifier, _, name = _OF_SIGN.sub("", spelled).rpartition("::")
            parameters = text[opened + 1 : ended]
        name_at = start + found.start(1) + found.group(1).rfind(name.split("(")[0])
    elif spelled := trailing_name(prefix):
        qualifier, _, name = _TEMPLATE_ARGUMENTS.sub("", spelled).rpartition("::")
        parameters = text[opened + 1 : ended]
        name_at = start + prefix.rfind(name)
    else:
        return None
    is_global = int("__global__" in prefix)
    return Head("function", name, qualifier, max(name_at, start), parameters, is_global=is_global)


def trailing_name(prefix: str) -> str:
    """The possibly qualified name at the end of ``prefix``: ``Foo<T>::bar``; "" if none."""
    prefix = _SPLIT.sub("::", prefix)
    end = len(prefix.rstrip())
    if prefix[end - 1 : end] == ">":
        end = len(prefix[: _open_angle(prefix, end - 1)].rstrip())
    start = len(prefix[:end].rstrip(_NAME_CHARACTERS))
    name = prefix[start:end]
    while name.startswith("::") and prefix[:start].rstrip().endswith(">"):
        opened = _open_angle(prefix, len(prefix[:start].rstrip()) - 1)
        before = len(prefix[:opened].rstrip(_NAME_CHARACTERS))
        name = prefix[before:opened] + name
        start = before
    last = name.rpartition("::")[2].lstrip("~")
    return name if last and not last[0].isdecimal() and ":" not in last else ""


def _open_angle(prefix: str, closed: int) -> int:
    """Offset of the ``<`` that the ``>`` at ``closed`` closes; 0 if there is none."""
    depth = 0
    for at in range(closed, -1, -1):
        if prefix[at] == ">" and prefix[at - 1] != "-":
            depth += 1
        elif prefix[at] == "<":
            depth -= 1
            if depth == 0:
                return at
    return 0


def _is_declarator(head: Head, prefix: str, rest: str, class_name: str) -> bool:
    """Whether ``name(...)`` declares a function and is not an attribute macro."""
    if head.name in NOT_NAMES or _angle_depth(prefix):
        return False
    words = [w for w in _WORD.findall(prefix) if w not in _STORAGE]
    following = rest.lstrip()
    word = _WORD.match(following)
    goes_on = word is not None and word.group() not in _AFTER_PARAMETERS
    has_return = len(words) > 1 or bool(head.qualifier) or head.name.startswith(("~", "operator"))
    if has_return:
        return not (goes_on and "(" in following and head.name.isupper())
    return head.name == class_name or following[:1] in (":", "-")


def _angle_depth(prefix: str) -> int:
    if "<" not in prefix:
        return 0
    plain = _NO_ANGLES.sub("", prefix)
    return plain.count("<") - plain.count(">")


def _macro_head(head: Head, text: str, stop: int) -> Head | None:
    """A definition that begins with a macro: ``MACRO(args)(params) {`` or ``MACRO(args) {``."""
    opened = text.find("(", head.name_at)
    ended = close(text, opened) if opened >= 0 else -1
    if ended < 0:
        return None
    rest = text[ended + 1 : stop].lstrip()
    parameters = ""
    if rest.startswith("("):
        second = text.index("(", ended + 1)
        parameters = text[second + 1 : close(text, second)]
    elif rest and not _continues(rest) and not _WORD.match(rest):
        return None
    return Head("macro", head.name, "", head.name_at, parameters, text[opened + 1 : ended])
