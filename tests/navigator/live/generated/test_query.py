"""A tree with small generators of its own, run as those of PyTorch are."""

from __future__ import annotations

from pathlib import Path

import pytest

from indexes.model.errors import NotFound, SourceError
from indexes.source.source import Source
from navigator.live.generated.query import Generated, generated
from navigator.text.generated import generated_lines

MODEL = """
from dataclasses import dataclass
@dataclass(frozen=True)
class Schema:
    name: str
@dataclass(frozen=True)
class NativeFunction:
    func: Schema
    method: bool
    @property
    def root_name(self):
        return self.func.name.rstrip("_")
"""
TEMPLATE = """
import re
class CodeTemplate:
    substitution = re.compile(r"(^[^\\n\\S]*)?\\$([^\\d\\W]\\w*|\\{,?[^\\d\\W]\\w*\\,?})", re.M)
    def __init__(self, pattern, filename=""):
        self.pattern, self.filename = pattern, filename
    @staticmethod
    def from_file(filename):
        return CodeTemplate(open(filename).read(), filename)
    def substitute(self, env=None, **named):
        def put(found):
            value = {**(env or {}), **named}[found.group(2).strip("{},")]
            return "\\n".join(value) if isinstance(value, list) else str(value)
        return self.substitution.sub(put, self.pattern)
"""
UTILS = """
from torchgen.code_template import CodeTemplate
class FileManager:
    def __init__(self, install_dir, template_dir):
        self.install_dir, self.template_dir = install_dir, template_dir
    def _write_if_changed(self, filename, contents):
        open(filename, "w").write(contents)
    def write(self, filename, env):
        template = CodeTemplate.from_file(f"{self.template_dir}/{filename}")
        self._write_if_changed(f"{self.install_dir}/{filename}", template.substitute(env()))
"""
GEN = """
import sys
from torchgen.model import NativeFunction, Schema
from torchgen.utils import FileManager
MANUAL = {"hand_made"}
OPS = [NativeFunction(Schema("add"), False), NativeFunction(Schema("add_"), True),
       NativeFunction(Schema("hand_made"), True)]
def method(f):
    # Only what is declared as one.
    if not f.method:
        return None
    return f"Tensor {f.func.name}() const {{\\n  return call();\\n}}"
def main():
    fm = FileManager("build", sys.argv[2] + "/templates")
    fm.write("Body.h", lambda: {"methods": [m for f in OPS if (m := method(f))]})
"""
DEF = GEN[: GEN.index("def method")].count("\n") + 1
AUTOGRAD = """
from torchgen.gen import MANUAL, OPS
from torchgen.utils import FileManager
from . import gen_type
def gen_autograd(native_functions_path, out, autograd_dir):
    fm = FileManager(out, autograd_dir + "/templates")
    gen_type.gen_type(fm, OPS)
def gen_autograd_python(out):
    pass
"""
TYPE = """
from torchgen.gen import MANUAL
def definition(f):
    return f"void wrap_{f.func.name}();"
def gen_type(fm, ops):
    made = []
    for f in ops:
        if f.func.name in MANUAL:
            continue
        made.append(definition(f))
        fm.seen = made
    fm.write("Type.cpp", lambda: {"definitions": made})
"""
FILES = {
    "aten/src/ATen/native/native_functions.yaml": "- func: add() -> ()\n",
    "aten/src/ATen/native/tags.yaml": "[]\n",
    "aten/src/ATen/templates/Body.h": "// head\nstruct Tensor {\n  ${methods}\n};\n",
    "tools/__init__.py": "",
    "tools/autograd/__init__.py": "",
    "tools/autograd/gen_autograd.py": AUTOGRAD,
    "tools/autograd/gen_type.py": TYPE,
    "tools/autograd/templates/Type.cpp": "// type\n${definitions}\n",
    "torchgen/__init__.py": "",
    "torchgen/model.py": MODEL,
    "torchgen/code_template.py": TEMPLATE,
    "torchgen/utils.py": UTILS,
    "torchgen/gen.py": GEN,
    "torchgen/selective_build/__init__.py": "",
    "torchgen/selective_build/selector.py": "class SelectiveBuilder:\n"
    "    get_nop_selector = staticmethod(lambda: None)\n",
}


def _tree(root: Path, **changed: str) -> Source:
    for path, text in FILES.items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(changed.get(file.stem, text))
    return Source(str(root), "checkout")


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Source:
    return _tree(tmp_path_factory.mktemp("tree"))


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


def _asked(tree: Source, op: str, cache: Path) -> Generated:
    return generated(tree, op, cache)


def test_a_piece_has_its_lines_its_placeholder_and_its_maker(tree: Source, cache: Path) -> None:
    body = next(one for one in _asked(tree, "add_", cache).pieces if one.family == "Body.h")
    assert str(body.location) == "build/Body.h:3"
    assert body.location.end_line == 5
    assert body.text.split() == ["Tensor", "add_()", "const", "{", "return", "call();", "}"]
    assert str(body.template) == "aten/src/ATen/templates/Body.h:3"
    assert body.placeholder == "methods"
    assert str(body.generator) == f"torchgen/gen.py:{DEF}"
    assert body.function == "method"


def test_the_pieces_of_the_other_half_are_there_too(tree: Source, cache: Path) -> None:
    found = _asked(tree, "add", cache).pieces
    assert [one.text for one in found] == ["void wrap_add();"]
    assert found[0].location.path == "torch/csrc/autograd/generated/Type.cpp"


def test_a_refusal_is_quoted_with_its_comment(tree: Source, cache: Path) -> None:
    (absent,) = _asked(tree, "add", cache).absences
    assert absent.families == ("Body.h",)
    assert absent.reason == "if not f.method: return None"
    assert absent.comment == "Only what is declared as one."
    assert absent.location is not None
    assert GEN.split("\n")[absent.location.line - 1].strip() == "return None"


def test_what_is_not_asked_shows_the_line_that_writes(tree: Source, cache: Path) -> None:
    (absent,) = _asked(tree, "hand_made", cache).absences
    assert absent.families == ("Type.cpp",)
    assert absent.function == ""
    assert str(absent.location).startswith("tools/autograd/gen_type.py:")


def test_a_second_question_runs_nothing(tree: Source, cache: Path) -> None:
    told: list[str] = []
    generated(tree, "add_", cache, told.append)
    assert told == []
    with pytest.raises(NotFound, match="nothing for sub"):
        generated(tree, "sub", cache)


def test_an_edited_generator_is_run_again(tmp_path: Path) -> None:
    tree = _tree(tmp_path / "tree")
    assert "call();" in _asked(tree, "add_", tmp_path).pieces[0].text
    _tree(tmp_path / "tree", gen=GEN.replace("call()", "other()"))
    assert "other();" in _asked(tree, "add_", tmp_path).pieces[0].text


def test_a_generator_that_fails_is_one_line(tmp_path: Path) -> None:
    tree = _tree(tmp_path / "tree", gen_type="import no_such_module")
    with pytest.raises(SourceError, match=r"cannot run: ModuleNotFoundError: .*no_such"):
        _asked(tree, "add", tmp_path)


def test_a_generator_can_put_nothing_into_a_file(tmp_path: Path) -> None:
    written = tmp_path / "written"
    start = f"def main():\n    with open({str(written)!r}, 'w') as f:\n        f.write('x')\n"
    tree = _tree(tmp_path / "tree", gen=GEN.replace("def main():\n", start))
    with pytest.raises(SourceError, match=r"cannot run: OSError"):
        _asked(tree, "add", tmp_path / "cache")
    assert written.read_text() == ""


def test_a_module_in_the_current_folder_is_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("json", "ast", "yaml", "torchgen"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('run')")
    monkeypatch.delenv("PYTHONPATH", raising=False)
    monkeypatch.chdir(tmp_path)
    assert _asked(_tree(tmp_path / "tree"), "add", tmp_path / "cache").pieces


def test_the_overview_comes_first_then_the_code(tree: Source, cache: Path) -> None:
    lines = list(generated_lines(_asked(tree, "add_", cache), full=True, only=""))
    row = next(one for one in lines if one.split() == ["Body.h:3-5", "Body.h:3", f"gen.py:{DEF}"])
    assert lines.index(row) < lines.index(
        "    template   aten/src/ATen/templates/Body.h:3 ${methods}"
    )


def test_only_says_why_a_file_has_nothing(tree: Source, cache: Path) -> None:
    with pytest.raises(NotFound, match=r"Body.h has nothing for add: method returned nothing"):
        list(generated_lines(_asked(tree, "add", cache), full=False, only="body"))
