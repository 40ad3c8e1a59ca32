"""Python names: their definitions, the operators that they lead to, and similar public names:
``torch.nn.Conv2d`` for ``nn.Conv2D``."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from difflib import SequenceMatcher

from indexes.linking.python.paths import Found
from indexes.model.answers import Hit, NameMatch
from indexes.model.files import module_name
from indexes.model.python import PythonAnswer, PythonPlace
from indexes.model.regex import regex
from indexes.model.vocabulary import Confidence
from indexes.queries import python_names
from indexes.queries.indexed_tree import IndexedTree
from indexes.queries.naming.near import near
from indexes.queries.naming.operators import bound_method, leads_to, named_operator, passing_on
from indexes.queries.naming.query import NameQuery, match_of
from indexes.queries.overloads import in_order
from indexes.queries.python_names import finding
from indexes.queries.python_names.members import find_in_classes, find_in_named
from indexes.queries.python_names.parameters import taking

_LIKE = 0.85
"""The similarity that a whole name must have."""
_MOST = 12
"""Most functions listed with a parameter."""


def near_python(path: str, index: IndexedTree) -> tuple[str, ...]:
    """The three most similar public names of a dotted one."""
    spelled: dict[str, list[str]] = defaultdict(list)
    finder = finding.finder_of(index)
    for name in finder.exported:
        spelled[name.casefold()].append(name)
    found = {
        public: SequenceMatcher(None, path, public).ratio()
        for folded in near(path.rpartition(".")[2], spelled, 5, 0.8)
        for last in spelled[folded]
        for public in finder.public_names(last)
    }
    like = [
        one for one, ratio in found.items() if ratio >= _LIKE and ("._" in path or "._" not in one)
    ]
    return tuple(sorted(like, key=lambda one: (-found[one], one))[:3])


def find(query: NameQuery, index: IndexedTree) -> NameMatch | None:
    """The definition of a name, with the operators that it passes its call on to."""
    if len(query.paths) > 1 and finding.is_of_python(query.paths[-1], index):
        return None
    for path in query.paths or (query.base,):
        answer = python_names.find(path, index)
        if (
            answer and answer.places and not _is_called(answer, query)
        ):  # a generated binding alone is its operator
            return _match(answer, replace(query, base=path.rpartition(".")[2]), index)
    return None


def find_member(query: NameQuery, index: IndexedTree) -> NameMatch | None:
    """Members of a tensor, ``x.clone`` and ``loss.backward()``, or of another object,
    ``scaler.update`` and ``state_dict``, when the object's name is unknown; ``_lazy_init`` of a
    module."""
    owner, name = _split(query)
    if owner and (name in _FILES or _is_namespace(owner, index)):
        return None
    found = python_names.find(owner, index) if owner else None
    is_module = found is not None and found.kind == "module"
    if owner and not is_module and (method := _of_tensor(owner, name, query, index)):
        return method
    member = find_in_classes(name, owner, index)
    if not owner or member is None or member.confidence == "ambiguous":
        member = _merged(member, _given_by_cxx(name, owner, index))
    answer = member if owner else _with_modules(member, name, index)
    if answer is None or (is_module and not _is_named_as(answer, owner)):
        return None
    if not owner and answer.kind == "attribute" and finding.is_private(answer.name):
        return find_parameter(query, index) or _match(answer, query, index)
    return _match(answer, query, index)


def _with_modules(
    member: PythonAnswer | None, name: str, index: IndexedTree
) -> PythonAnswer | None:
    """Definitions in modules before members of classes, assignments after them."""
    found = finding.find_in_modules(name, index)
    is_assigned = found is not None and found.kind == "attribute"
    return _merged(member, found) if is_assigned else _merged(found, member)


def _is_named_as(answer: PythonAnswer, owner: str) -> bool:
    """Whether a member's class is named after the object, which is also a module's name:
    ``optim.step`` of an ``Optimizer``."""
    named = answer.name.rpartition(".")[0].rpartition(".")[2].lower()
    word = owner.rpartition(".")[2].lower()
    return named.startswith(word) or named.endswith(word)


def _given_by_cxx(member: str, called_on: str, index: IndexedTree) -> PythonAnswer | None:
    """A member of a class made in C++: ``ctx.needs_input_grad``."""
    found = tuple(finding.finder_of(index).bound.members(member))
    if not found:
        return None
    first, *others = found
    owner = first.name.rpartition(".")[0]
    note = f"if {called_on} is a {owner}" if called_on and owner else ""
    sure: Confidence = "ambiguous" if others or called_on else "by rule"
    return PythonAnswer("bound", first.name, first.name, (first,), (), tuple(others), sure, note)


def _merged(python: PythonAnswer | None, other: PythonAnswer | None) -> PythonAnswer | None:
    """Python's definitions, preceded by C++'s if private, with further meanings."""
    if python is None or other is None:
        return python or other
    is_hidden = other.kind == "bound" and finding.is_private(python.name.rpartition(".")[0])
    return finding.with_another(other, python) if is_hidden else finding.with_another(python, other)


def find_parameter(query: NameQuery, index: IndexedTree) -> NameMatch | None:
    """The documented functions with a parameter: ``weights_only``."""
    hits = taking(query.base, index) if "_" in query.base and query.base.islower() else []
    note = f"a parameter of {hits[0].name}" if len(hits) == 1 else "a parameter of each of these"
    return match_of("symbol", query.base, hits[:_MOST], note)


def find_star_imported(query: NameQuery, index: IndexedTree) -> NameMatch | None:
    """``mp.Process``, which a module of the tree has from one of Python's by a star import."""
    for path in query.paths:
        owner, _, name = path.rpartition(".")
        found = finding.find_star_imported(owner, name, index) if owner else None
        if found:
            origin, place = found
            hit = Hit("attribute", f"{module_name(place.path)}.{name}", place, f"of {origin}")
            note = f"{origin}.{name}, which is Python's own"
            return NameMatch("python", hit.name, hits=(hit,), note=note, confidence="by rule")
    return None


def find_inner(query: NameQuery, index: IndexedTree) -> NameMatch | None:
    """A function in another, of a module or of a method; a name further down in a package."""
    answer = finding.find_inner(query.paths[-1], index) if query.paths else None
    if answer is None:
        return None
    owner, name = _split(query)
    outer = python_names.find(owner, index) if owner else None
    is_module = outer is not None and outer.kind == "module"
    note = f"{owner} has no {name}: this is further down in it" if is_module else ""
    return _match(replace(answer, note=answer.note or note), query, index)


def find_of_alias(query: NameQuery, index: IndexedTree) -> NameMatch | None:
    """A class under an alias of its module: ``dt.Shard(dim=0)``."""
    owner, name = _split(query)
    is_class = owner.isidentifier() and name[:1].isupper() and not name.isupper()
    found = find(replace(query, paths=(name,)), index) if is_class else None
    if found is None or finding.is_private(found.text) or python_names.find(owner, index):
        return None
    sure: Confidence = "ambiguous" if found.confidence == "ambiguous" else "by rule"
    note = f"if {owner} is {found.text.rpartition('.')[0]}"
    return replace(found, note=note, confidence=sure)


def find_of_class(query: NameQuery, index: IndexedTree) -> NameMatch | None:
    """A method of a class named after the object, ``optimizer.zero_grad``, unless an operator is
    spelled so."""
    owner, name = _split(query)
    known = any(map(index.facts.native, query.operators))
    if not owner or known or name in _FILES or _is_namespace(owner, index):
        return None
    answer = find_in_named(name, owner, index)
    return _match(answer, query, index) if answer else None


def find_public(query: NameQuery, index: IndexedTree) -> NameMatch | None:
    """A bare name in ``torch`` itself, or in a documented module."""
    answer = python_names.find(query.base, index)
    if answer is None or not answer.places or _is_called(answer, query):
        return None
    return _match(answer, query, index) if _is_public(answer.name, index) else None


def _is_called(answer: PythonAnswer, query: NameQuery) -> bool:
    """Whether a text calls a module, which is impossible: ``out = func(*args)``."""
    return answer.kind == "module" and f"{query.base}(" in query.raw


def find_of_tensor(query: NameQuery, index: IndexedTree) -> NameMatch | None:
    """An attribute of tensors: ``grad_fn``."""
    return find(replace(query, paths=(f"torch.Tensor.{query.base}",)), index)


def find_documented(query: NameQuery, index: IndexedTree) -> NameMatch | None:
    """A member of a documented class: ``state_dict``."""
    if _HIDDEN.match(query.base):
        return None
    answer = find_in_classes(query.base, "", index)
    if answer is None or answer.kind not in _CALLED:
        return None
    names = (answer.name, answer.name.rpartition(".")[0])
    return _match(answer, query, index) if any(_is_public(n, index) for n in names) else None


_HIDDEN = regex(r"_(?!_)")
_CALLED = ("function", "method", "property")


def find_initials(query: NameQuery, index: IndexedTree) -> NameMatch | None:
    """Documented names with these initials, ``FSDP`` and ``SDPA``, then names spelled so."""
    if not query.base.isupper():
        return None
    pages = {fact.target for _, fact in index.facts.python.of_kinds("page")}
    alike = sorted(one for one in pages if _initials(one.rpartition(".")[2]) == query.base)
    found = finding.together(python_names.find(one, index) for one in alike)
    if found is None:
        return None
    found = finding.together((found, python_names.find(query.base, index))) or found
    note = f"{query.base} are the initials of {found.name}"
    return _match(replace(found, note=note, confidence="ambiguous"), query, index)


_WORD = regex(r"[A-Z]+(?![a-z])|[A-Za-z][a-z0-9]*")
_FEW = 3
"""Initials this few are tried for classes only, since too many functions have them."""


def _initials(name: str) -> str:
    found = "".join(word[0] for word in _WORD.findall(name)).upper()
    least = _FEW if name[0].isupper() else _FEW + 1
    return found if len(found) >= least else ""


def is_documented(query: NameQuery, index: IndexedTree) -> bool:
    """Whether a page of the documentation has the name."""
    answer = python_names.find(query.base, index)
    return answer is not None and _has_page(answer.name, index)


def _is_public(name: str, index: IndexedTree) -> bool:
    return name.rpartition(".")[0] == "torch" or _has_page(name, index)


def _has_page(name: str, index: IndexedTree) -> bool:
    rows = index.facts.python.by_target(name)
    return any(fact.kind == "page" for _, fact in rows)


def _split(query: NameQuery) -> tuple[str, str]:
    owner, _, name = query.paths[-1].rpartition(".") if query.paths else ("", "", query.base)
    return owner, name


def _is_namespace(owner: str, index: IndexedTree) -> bool:
    """Whether the text before a name is a class, or in a package of the tree; an object may be
    named like a module or function."""
    found = python_names.find(owner, index)
    return owner.partition(".")[0] in finding.PACKAGES or (
        found is not None and found.kind == "class"
    )


_FILES = frozenset("c cc cpp cu cuh cxx h hip hpp m md metal mm py pyi rst yaml".split())
"""Extensions of files, which another tree may have."""


def _of_tensor(owner: str, name: str, query: NameQuery, index: IndexedTree) -> NameMatch | None:
    if found := bound_method(owner, name, index.facts):
        return found
    found = find(replace(query, paths=(f"torch.Tensor.{name}",)), index)
    return found and replace(found, note=f"if {owner} is a tensor", confidence="by rule")


def _match(answer: PythonAnswer, query: NameQuery, index: IndexedTree) -> NameMatch:
    places = (*answer.places, *answer.others)
    overloads = answer.operators or leads_to(answer.name, index.facts)
    if overloads and answer.kind == "bound":  # by hand, which may call any overload
        overloads = tuple(dict.fromkeys((*_all_overloads(overloads, index), *overloads)))
    note = answer.note or _note(answer.name, passing_on(answer.name, index.facts))
    if query.kind == "bare" and answer.kind == "function" and _is_of_few(answer, index):
        answer = replace(answer, confidence="ambiguous")
        note = f"unless {query.base} is a function of the program itself"
    by_hand = answer.kind == "method"  # ``__rdiv__`` of tensors: its body says what it calls
    if not overloads and not by_hand and (method := named_operator(query, index.facts)):
        overloads, note = method.overloads, method.note  # Python's data model: ``__add__``
    hits = tuple(_hit(place, answer) for place in places)
    return NameMatch("python", answer.name, overloads, hits, note, confidence=answer.confidence)


def _is_of_few(answer: PythonAnswer, index: IndexedTree) -> bool:
    """Whether only PyTorch's tests and examples, or the function around it, call a function."""
    is_inner = finding.finder_of(index).names.find(answer.name) is None
    is_hidden = finding.is_private(answer.name.rpartition(".")[2])
    return (is_inner and not is_hidden) or bool(_ASIDE.search(answer.defined))


_ASIDE = regex(r"\.(?:testing\._|(?:examples|benchmarks)\.)")


def _all_overloads(names: Iterable[str], index: IndexedTree) -> Iterator[str]:
    for name in dict.fromkeys(name.partition(".")[0] for name in names):
        yield from in_order(index.facts.overloads(name))


def _hit(place: PythonPlace, answer: PythonAnswer) -> Hit:
    """A place as a hit of Python's kinds; for a C++ binding only the name is known."""
    if place.kind == "assigned":
        return Hit("attribute", answer.name, place.location, f"{place.name} by another name")
    if place.kind == "bound":
        return Hit("attribute", place.name, place.location, "bound in C++")
    return Hit(place.kind, place.name, place.location)


def _note(path: str, rows: list[Found]) -> str:
    called = dict.fromkeys(fact.target for _, fact in rows if fact.target not in ("", path))
    return f"{path} calls {', '.join(called)}" if called else ""
