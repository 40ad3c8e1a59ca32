"""The questions of resolving calls: namespaces, classes and names for them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache

from indexes.linking.facts import Known
from indexes.linking.scopes import nearest
from indexes.linking.visible import is_header, plain_scope
from indexes.model.files import Include
from indexes.model.lines import grouped
from indexes.model.regex import regex
from indexes.model.vocabulary import TEMPLATE, Definition
from indexes.readers.cxx.marks import UNKNOWN
from indexes.readers.cxx.shaders import SHADER
from indexes.store.index_file import Store
from indexes.store.lookup import Lookup
from indexes.store.tables import FILE_BITS

_WORD = regex(r"(?:[A-Za-z_]\w*::)*[A-Za-z_]\w*")
_ARGUMENTS = regex(r"<.*")
_BUNDLED = regex(r"/(\w+)_metallib\.h\b")
"""The header that the build makes of a ``.metal`` file (cmake/Metal.cmake)."""


class ScopeFacts(Lookup):
    """``indexes.linking.scopes.ResolverFacts`` over a Store."""

    def __init__(self, store: Store) -> None:
        super().__init__(store)
        self.bases_of = lru_cache(8192)(self._bases_of)
        self.all_bases = lru_cache(8192)(self._all_bases)

    @cached_property
    def _functors(self) -> dict[tuple[str, str], list[Known]]:
        return grouped(
            ((known.definition.scope, known.definition.location.path), known)
            for known in self.named("operator()")
        )

    def members(self, owner: Definition, name: str) -> Sequence[Known]:
        if name == "operator()":
            return self._functors.get((owner.qualified, owner.location.path), ())
        return super().members(owner, name)

    @cached_property
    def _templates(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        sql = "SELECT scope,id FROM definitions WHERE kind='function' AND scope!='' AND base=?"
        for scope, number in self.store.query(f"{sql} ORDER BY id", (TEMPLATE,)):
            found.setdefault(scope, []).append(number)
        return found

    def template_methods(self, owner: Definition) -> list[Known]:
        numbers = self._templates.get(owner.qualified, ())
        return [one for number in numbers if (one := self.by_id(number))]

    def methods_in(self, owner: Definition) -> list[Known]:
        over = "d.kind='function' AND d.scope=? AND f.path=?"
        return self.definitions(over, owner.qualified, owner.location.path)

    @cached_property
    def _paths(self) -> dict[int, str]:
        return dict(self.store.query("SELECT id,path FROM files"))

    def path_of(self, number: int) -> str:
        return self._paths[number >> FILE_BITS]

    @cached_property
    def _macros(self) -> dict[str, dict[str, list[Known]]]:
        found: dict[str, dict[str, list[Known]]] = {}
        for known in self.definitions("d.kind='macro'"):
            here = found.setdefault(known.definition.location.path, {})
            here.setdefault(known.definition.name, []).append(known)
        return found

    def macros_in(self, path: str) -> Mapping[str, Sequence[Known]]:
        return self._macros.get(path, {})

    @cached_property
    def _shaders(self) -> dict[str, list[Known]]:
        """Names of kernels, and kernels without template parameters, by file."""
        found: dict[str, list[Known]] = {}
        over = "d.kind='shader' OR (d.kind='function' AND d.parameters LIKE '%[[buffer(%')"
        for known in self.definitions(over):
            if not known.definition.template:
                found.setdefault(known.definition.location.path, []).append(known)
        return found

    def shaders_of(self, path: str) -> Sequence[Known]:
        """The kernels in a file's shader library: of ``.metal`` files whose bundled form it
        includes, and in its own strings; all kernels if it has no library."""
        files = self._libraries(path) or self._shaders
        return [known for file in files for known in self._shaders[file]]

    def _libraries(self, path: str) -> list[str]:
        """The files of a file's shader library: ``.metal`` files and their includes."""
        bundled = {f"{name}.metal" for name in _BUNDLED.findall("\n".join(self._included(path)))}
        library = [one for one in self._paths.values() if one.rpartition("/")[2] in bundled]
        for file in library:  # grows
            for name in self._included(file):
                found = [one for one in self._shaders if f"/{one}".endswith(f"/{name}")]
                library += [one for one in found if one not in library]
        return [file for file in dict.fromkeys((path, *library)) if file in self._shaders]

    def _included(self, path: str) -> list[str]:
        return [one.name for one in self._all_includes.get(path, ())]

    @cached_property
    def _all_includes(self) -> dict[str, list[Include]]:
        return self.includes()

    def includes_header(self, path: str, header: str) -> bool:
        return any(f"/{header}".endswith(f"/{name}") for name in self._included(path))

    def folders_included(self, path: str) -> frozenset[str]:
        """The first folders of ``<...>`` includes, or the names of headers."""
        found = self._all_includes.get(path, ())
        first = (one.name.partition("/")[0] for one in found if not one.quoted)
        return frozenset(one.partition(".")[0] for one in first)

    def headers_missing(self, path: str) -> Sequence[str]:
        names = (one.name for one in self._all_includes.get(path, ()) if not one.quoted)
        alone = [one for one in names if "/" not in one and one.endswith((".h", ".hpp"))]
        return [one for one in alone if one not in self._file_names]

    @cached_property
    def _file_names(self) -> frozenset[str]:
        return frozenset(path.rpartition("/")[2] for path in self._paths.values())

    def shaders_asked(self, path: str) -> Sequence[tuple[str, str]]:
        return self._shader_strings.get(path, ())

    def shaders_shared(self) -> Sequence[str]:
        sharing = (path for path in self._shader_strings if not self._libraries(path))
        return [text for path in sharing for _, text in self._shader_strings[path]]

    @cached_property
    def _shader_strings(self) -> dict[str, list[tuple[str, str]]]:
        found: dict[str, list[tuple[str, str]]] = {}
        sql = (
            f"SELECT DISTINCT d.id>>{FILE_BITS},d.name,c.name FROM calls c"
            " JOIN definitions d ON d.id=c.definition WHERE c.kind=? AND c.receiver=''"
        )
        for file, function, text in self.store.query(sql, (SHADER,)):
            found.setdefault(self._paths[file], []).append((function, text))
        return found

    def is_stub(self, name: str) -> bool:
        return name in self._stubs

    @cached_property
    def _scopes(self) -> frozenset[str]:
        rows = self.store.column("SELECT DISTINCT scope FROM definitions")
        found: set[str] = {""}
        for scope in map(plain_scope, rows):
            while scope and scope not in found:
                found.add(scope)
                scope = scope.rpartition("::")[0]
        return frozenset(found)

    def is_scope(self, scope: str) -> bool:
        return scope in self._scopes

    @cached_property
    def _directives(self) -> dict[tuple[str, str], list[str]]:
        """The targets of ``using namespace``, by file and scope; a header's also by folder."""
        found: dict[tuple[str, str], list[str]] = {}
        sql = (
            "SELECT f.path,a.scope,a.target FROM aliases a JOIN files f ON f.id=a.file"
            " WHERE a.name='' ORDER BY f.path,a.line"
        )
        for path, scope, target in self.store.query(sql):
            plain = plain_scope(scope)
            found.setdefault((path, plain), []).append(target)
            if is_header(path) and not plain:
                found.setdefault((_folder(path), ""), []).append(target)
        return found

    def directives(self, path: str, scope: str) -> Sequence[str]:
        found = list(self._directives.get((path, scope), ()))
        while not scope and (path := _folder(path)):
            found += self._directives.get((path, ""), ())
        return tuple(dict.fromkeys(found))

    @cached_property
    def _aliases(self) -> dict[tuple[str, str], str]:
        sql = (
            "SELECT f.path,a.name,a.target FROM aliases a JOIN files f ON f.id=a.file"
            " WHERE a.name!='' ORDER BY f.path,a.line"
        )
        return {
            (path, name): plain_scope(_ARGUMENTS.sub("", target).strip().lstrip(":"))
            for path, name, target in self.store.query(sql)
        }

    @cached_property
    def _using(self) -> dict[str, list[tuple[str, str, str]]]:
        found: dict[str, list[tuple[str, str, str]]] = {}
        sql = (
            "SELECT a.name,f.path,a.scope,a.target FROM aliases a JOIN files f ON f.id=a.file"
            " WHERE a.name!='' AND a.target LIKE '%::'||a.name ORDER BY f.path,a.line"
        )
        for name, path, scope, target in self.store.query(sql):
            found.setdefault(name, []).append((path, plain_scope(scope), target))
        return found

    def using_declarations(self, name: str) -> Sequence[tuple[str, str, str]]:
        return self._using.get(name, ())

    def alias_of(self, name: str, path: str) -> str:
        first, parted, rest = name.partition("::")
        meant = self._aliases.get((path, first), "")
        if " " in meant or meant == first:
            return ""
        return f"{meant}{parted}{rest}" if meant else ""

    def scopes_of_alias(self, name: str) -> Collection[str]:
        rows = self.store.column("SELECT DISTINCT scope FROM aliases WHERE name=?", (name,))
        return set(map(plain_scope, rows))

    # ------------------------------------------------------------------------- classes

    @cached_property
    def _classes(self) -> dict[str, list[tuple[str, str]]]:
        """The classes of each simple name, with their bases."""
        found: dict[str, list[tuple[str, str]]] = {}
        sql = "SELECT name,scope,base FROM definitions WHERE kind='class' ORDER BY id"
        for name, scope, base in self.store.query(sql):
            outer = plain_scope(scope)
            found.setdefault(name, []).append((f"{outer}::{name}" if outer else name, base))
        return found

    @cached_property
    def _on_unknown(self) -> dict[str, set[str]]:
        found: dict[str, set[str]] = {}
        sql = "SELECT DISTINCT definition>>?,name,receiver FROM calls WHERE kind='member'"
        for file, name, receiver in self.store.query(sql, (FILE_BITS,)):
            is_type = len(receiver) > 1 and receiver[0] != "." and receiver != "this"
            if receiver == UNKNOWN or (is_type and receiver not in self._classes):
                found.setdefault(self._paths[file].rpartition("/")[0], set()).add(name)
        return found

    def called_on_unknown(self, folder: str) -> Collection[str]:
        return self._on_unknown.get(folder, ())

    def unknown(self) -> Iterator[tuple[str, str]]:
        """The folders of kernels, with each method that is called there on an unknown object."""
        for folder, names in self._on_unknown.items():
            if "/native" in folder:
                yield from ((folder, name) for name in sorted(names))

    def classes_named(self, name: str) -> tuple[str, ...]:
        return self._qualified_classes.get(name, ())

    @cached_property
    def _qualified_classes(self) -> dict[str, tuple[str, ...]]:
        every = self._classes.items()
        return {name: tuple(dict.fromkeys(one for one, _ in found)) for name, found in every}

    @cached_property
    def _standard(self) -> frozenset[str]:
        sql = "SELECT DISTINCT name FROM aliases WHERE target LIKE 'std::vector<%'"
        return frozenset(self.store.column(sql))

    def is_standard(self, name: str) -> bool:
        return name in self._standard

    def _bases_of(self, scope: str) -> tuple[str, ...]:
        simple = scope.rpartition("::")[2]
        bases = [base for one, base in self._classes.get(simple, ()) if one == scope and base]
        words = (word.rpartition("::") for base in bases for word in _WORD.findall(base))
        named = ((outer, self.classes_named(word)) for outer, _, word in words if word != simple)
        found = (one for outer, same in named for one in (same if outer else nearest(same, scope)))
        return tuple(dict.fromkeys(found))[:8]

    def _all_bases(self, scope: str) -> tuple[str, ...]:
        found: dict[str, None] = {}
        pending = [scope]
        while pending:
            for base in self.bases_of(pending.pop()):
                if base not in found:
                    found[base] = None
                    pending.append(base)
        return tuple(found)

    @cached_property
    def _methods(self) -> frozenset[str]:
        classes = {one for listed in self._classes.values() for one, _ in listed}
        sql = "SELECT name,scope FROM definitions WHERE kind='function' AND scope!=''"
        rows = self.store.query(sql)
        return frozenset(name for name, scope in rows if plain_scope(scope) in classes)

    def is_method_name(self, name: str) -> bool:
        return name in self._methods

    @cached_property
    def key_namespaces(self) -> frozenset[str]:
        return frozenset(
            key.lower() for key in self.store.column("SELECT DISTINCT key FROM kernels")
        )


def _folder(path: str) -> str:
    return path.rpartition("/")[0]
