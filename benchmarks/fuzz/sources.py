"""Readers of sources: pure functions of bytes, which never raise."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.fuzz.targets import TREE, Run, Target, files, pieces
from indexes.build.scan import read_rows
from indexes.build.torchgen_rules import KERNEL_RULES, TABLE_RULES
from indexes.codegen.registrations import Rules
from indexes.codegen.rows import kernel_rows
from indexes.codegen.variants import with_generated
from indexes.readers.cxx.declared_types import read_types
from indexes.readers.cxx.dispatch_keys import read_dispatch_keys, read_key_sets
from indexes.readers.cxx.engine import read_engine
from indexes.readers.cxx.facts import read_bodies, read_cpp, read_texts
from indexes.readers.cxx.lexer import read_includes
from indexes.readers.cxx.shaders import jiterator_names
from indexes.readers.cxx.tensor_impl import read_members, with_accessors
from indexes.readers.notes import read_notes
from indexes.readers.project import guide, prose, release_notes, review
from indexes.readers.project.allow_list import read_allow_list
from indexes.readers.project.codeowners_file import read_codeowners, read_label_lines
from indexes.readers.project.lintrunner_file import read_linters
from indexes.readers.project.torchgen_lists import read_torchgen_lists
from indexes.readers.project.workflows import read_workflow
from indexes.readers.python.generated import read_generator
from indexes.readers.python.messages import read_messages, read_variables
from indexes.readers.python.module import read_python
from indexes.readers.python.opinfo_tests import TESTING, read_suite
from indexes.readers.python.references import read_imports
from indexes.readers.python.remarks import read_remarks
from indexes.readers.yaml.accepted import read_tags
from indexes.readers.yaml.derivatives import read_deprecated, read_derivatives
from indexes.readers.yaml.extensions import read_extension
from indexes.readers.yaml.native_functions import read_native_functions
from indexes.source.walk import FileKind, SourceFile
from indexes.store.index_file import Store

_NATIVE = "aten/src/ATen/native/"
_CPP = _NATIVE + "cpu/Fuzzed.cpp"
_PYTHON_PATHS = (
    "torch/_refs/__init__.py",
    "torch/_decomp/decompositions.py",
    "torch/_meta_registrations.py",
    "torch/nn/functional.py",
    "torch/_torch_docs.py",
    "torch/overrides.py",
    "torch/_inductor/lowering.py",
    "torch/onnx/symbolic_opset9.py",
    "torch/_native/ops/relu/triton_impl.py",
    TESTING + "common_methods_invocations.py",
    "test/test_ops.py",
)


def _each(*readers: Callable[[bytes], object]) -> Callable[[Path], Run]:
    def run(data: bytes) -> object:
        return [reader(data) for reader in readers]

    return lambda _folder: run


def _with_path(*readers: Callable[[bytes, str], object], path: str) -> Callable[[Path], Run]:
    return _each(*(lambda data, one=one: one(data, path) for one in readers))


def _scanned(kind: FileKind, path: str) -> Callable[[Path], Run]:
    """A build's result for a file, including its rows."""

    def start(folder: Path) -> Run:
        file = folder / path
        file.parent.mkdir(parents=True)
        store = Store(":memory:", create=True)

        def run(data: bytes) -> object:
            file.write_bytes(data)
            facts = read_rows((str(folder), ()), (1, SourceFile(path, kind, len(data))))
            failed = [one for one in facts.problems if "reader failed" in one.message]
            assert not failed, failed[0].message
            store.drop_rows(1)
            store.add(facts.rows)
            return facts

        return run

    return start


def _python(data: bytes) -> object:
    path = _PYTHON_PATHS[len(data) % len(_PYTHON_PATHS)]
    found: list[Any] = [read_python(data, path), read_suite(data, path), read_remarks(data, path)]
    found.append(read_notes(data.decode("utf-8", "replace")))
    return [*found, read_messages(data), read_variables(data, path), read_imports(data, path)]


def _operators(data: bytes) -> object:
    """A build's result for native_functions.yaml."""
    functions, _ = read_native_functions(data, "native_functions.yaml")
    every = with_generated(functions, Rules().keys.generation)
    read_derivatives(b"", "derivatives.yaml", every)
    return [*kernel_rows(every)] if len(data) % 4 == 0 else None


def _members(data: bytes) -> object:
    members, _ = read_members(data, "c10/core/TensorImpl.h")
    return with_accessors(members, data, "c10/core/TensorImpl.cpp")


def _torchgen(data: bytes) -> object:
    paths = (*KERNEL_RULES, *TABLE_RULES)
    lists, _ = read_torchgen_lists(data, paths[len(data) % len(paths)])
    return Rules.of(lists)


def _guides(data: bytes) -> object:
    text = data.decode("utf-8", "replace")
    return [guide.read_commands(text), guide.read_comments(text), guide.read_paragraphs(text)]


_PROJECT_READERS: tuple[Callable[[bytes], object], ...] = (
    lambda data: prose.read_structure(data, "CONTRIBUTING.md"),
    lambda data: prose.first_sentence(data, "README.md"),
    lambda data: prose.package_sentence(data, "torch/__init__.py"),
    release_notes.read_category_rules,
    release_notes.read_title_rules,
    lambda data: release_notes.read_words(data, "categories"),
    lambda data: review.read_merge_rules(data, ".github/merge_rules.yaml"),
    lambda data: review.read_labeler(data, ".github/labeler.yml"),
    review.read_persons,
    lambda data: read_allow_list(data, "test/allow_list.py"),
    lambda data: read_codeowners(data, "CODEOWNERS"),
    read_label_lines,
    read_linters,
    lambda data: read_workflow(data, ".github/workflows/pull.yml"),
)


def _projects(data: bytes) -> object:
    """One of them for each input, since most reject the others' inputs at once."""
    return _PROJECT_READERS[len(data) % len(_PROJECT_READERS)](data)


_LISTS = (
    b"* @a @b\n/aten/src/ @c\ntorch/**/x[ab]?.py @d # why\n[^] @e\n",
    b"- name: OSS CI\n  patterns:\n  - .ci/**\n  approved_by:\n  - alband\n",
    b'"module: cpu inductor":\n- torch/_inductor/**\n- aten/*\n',
    b"name: pull\non:\n  pull_request:\njobs:\n  a:\n    runs-on: x\n    steps:\n    - run: x\n",
    b"[[linter]]\ncode = 'FLAKE8'\ninclude_patterns = ['**/*.py']\ncommand = ['python3', 'x']\n",
    b"# Title\n\n## Building\n\n```bash\npip install x\n```\n\n* [a](b) - words\n  * [c](d)\n",
    b"ALLOW_LIST = [\n    ('aten::a', date(2022, 1, 1)),\n    ('x.*', None, True),\n]\n",
    b"def categorize(x):\n    if any_of(x, ['a/']):\n        return 'b'\n",
)
_KEYS = b"""enum class DispatchKey : uint16_t { Undefined = 0, Dense, FPGA, CPU, EndOf = CPU };
constexpr DispatchKeySet set = DispatchKeySet({DispatchKey::CPU, DispatchKey::Dense}) | other;
#define C10_FORALL_BACKEND_COMPONENTS(_, extra) _(CPU, extra) _(CUDA, extra)
"""


def _cxx_seeds() -> list[bytes]:
    endings = (".cpp", ".cu", ".cuh", ".h", ".mm")
    return files(*endings)() + files(*endings, top=TREE.parent / "extension")()


def _yaml_seeds(*names: str) -> Callable[[], list[bytes]]:
    return lambda: pieces((path for name in names for path in sorted(TREE.rglob(name))), 700)


def _extensions() -> list[bytes]:
    return files(".yaml", top=TREE.parent / "extension")() + _yaml_seeds("*.yaml")()[:40]


def _project_seeds() -> list[bytes]:
    return [*_LISTS, *files("CODEOWNERS", ".py")()[:20]]


TARGETS = (
    Target("cxx", _cxx_seeds, _with_path(read_cpp, read_bodies, jiterator_names, path=_CPP)),
    Target("cxx into tables", _cxx_seeds, _scanned("cpp", _CPP)),
    Target("python into tables", files(".py"), _scanned("python", "torch/_refs/__init__.py")),
    Target("tests into tables", files(".py"), _scanned("test", "test/test_ops.py")),
    Target("cxx texts", _cxx_seeds, _each(read_texts, read_includes)),
    Target("cxx types", _cxx_seeds, _with_path(read_types, path="c10/core/TensorImpl.h")),
    Target(
        "dispatch keys",
        lambda: [_KEYS, *files("DispatchKey.h", "DispatchKeySet.h")()],
        _with_path(read_dispatch_keys, read_key_sets, path="c10/core/DispatchKey.h"),
    ),
    Target("tensorimpl", files("TensorImpl.h", "TensorImpl.cpp"), _each(_members)),
    Target(
        "engine",
        files("engine.cpp", "engine.h"),
        _with_path(read_engine, path="torch/csrc/autograd/engine.cpp"),
    ),
    Target("python", files(".py"), _each(_python)),
    Target("generators", files(".py"), _each(read_generator)),
    Target("torchgen lists", files("test_torchgen_lists.py", top=TREE.parent), _each(_torchgen)),
    Target("native_functions", _yaml_seeds("native_functions.yaml"), _each(_operators)),
    Target(
        "derivatives",
        _yaml_seeds("derivatives.yaml"),
        _with_path(read_derivatives, path="tools/autograd/derivatives.yaml"),
    ),
    Target(
        "other yaml",
        _extensions,
        _with_path(read_extension, read_deprecated, read_tags, path="x.yaml"),
    ),
    Target("guides", files(".md", ".rst", top=TREE.parents[1]), _each(_guides)),
    Target("project files", _project_seeds, _each(_projects)),
)
