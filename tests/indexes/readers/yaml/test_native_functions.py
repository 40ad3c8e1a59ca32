from pathlib import Path

import pytest
import yaml

from indexes.model.vocabulary import NativeFunction, Problem
from indexes.readers.yaml.native_functions import read_native_functions

ENTRIES = """\
# A comment - with [ brackets
- func: add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor
  device_check: NoCheck   # TensorIterator
  structured_delegate: add.out
  variants: function, method
  dispatch:
     # 5-space indent, and a comment
     SparseCPU, SparseCUDA: add_sparse
     MkldnnCPU: mkldnn_add
  tags: [core, pointwise]

# trailing comment
- func: add.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)
  structured: True
  precomputed:
  - dim -> int dim, int valid
  - int extra
  ufunc_inner_loop:
    Generic: add (AllAndComplex, BFloat16)
    ScalarOnly: add (Bool)
- func: nothing(Tensor self) -> Tensor
  dispatch: {}
  autogen: nothing.out, nothing_
"""


def read(text: str) -> tuple[tuple[NativeFunction, ...], tuple[Problem, ...]]:
    return read_native_functions(text.encode(), "n.yaml")


def test_fields_and_lines() -> None:
    (add, out, nothing), problems = read(ENTRIES)
    assert not problems
    assert (add.full_name, add.location.line, add.location.end_line) == ("add.Tensor", 2, 10)
    assert add.field_lines["structured_delegate"] == 4
    assert add.dispatch is not None
    assert [(k.key, k.symbol, k.line) for k in add.dispatch] == [
        ("SparseCPU", "add_sparse", 8),
        ("SparseCUDA", "add_sparse", 8),
        ("MkldnnCPU", "mkldnn_add", 9),
    ]
    assert add.variants == ("function", "method")
    assert add.tags == ("core", "pointwise")
    assert add.flags == {"device_check": "NoCheck"}
    assert out.dispatch is None
    assert out.structured
    assert out.precomputed == ("dim -> int dim, int valid", "int extra")
    assert dict(out.ufunc_inner_loop)["ScalarOnly"] == "add (Bool)"
    assert nothing.dispatch == ()
    assert nothing.autogen == ("nothing.out", "nothing_")


def test_the_wheel_reads_as_yaml_loads_it(
    packaged: Path, wheel_functions: tuple[NativeFunction, ...]
) -> None:
    data = (packaged / "ATen/native/native_functions.yaml").read_bytes()
    lines = data.decode().split("\n")
    loaded = yaml.load(data, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    assert len(loaded) == len(wheel_functions)
    for entry, function in zip(loaded, wheel_functions, strict=True):
        assert entry["func"] == function.schema
        assert function.structured == entry.get("structured", False)
        assert lines[function.location.line - 1].startswith("- func:")
        assert lines[function.location.end_line - 1].strip()
        for field, line in function.field_lines.items():
            assert f"{field}:" in lines[line - 1]
        kernels = function.dispatch or ()
        expected = {
            k.strip(): v for ks, v in (entry.get("dispatch") or {}).items() for k in ks.split(",")
        }
        assert {k.key: k.symbol for k in kernels} == expected
        assert all(k.key in lines[k.line - 1] and k.symbol in lines[k.line - 1] for k in kernels)


def test_a_file_cut_anywhere_costs_the_last_entry_only(packaged: Path) -> None:
    data = (packaged / "ATen/native/native_functions.yaml").read_bytes()[:40_000]
    last = data.rindex(b"\n- func:")
    whole = data[:last].count(b"\n- func:")
    for cut in range(last + 10, len(data), 97):
        functions, problems = read_native_functions(data[:cut], "n.yaml")
        assert whole <= len(functions) <= whole + 1
        assert all(p.line > data[:last].count(b"\n") for p in problems)


def test_a_broken_entry_costs_itself() -> None:
    functions, problems = read(
        "- func: a(Tensor x) -> Tensor\n- func: b(Tensor x -> Tensor\n"
        "- func: c(Tensor x) -> Tensor\n  dispatch: CPU: x: y\n- func: d(Tensor x) -> Tensor\n"
    )
    assert [f.name for f in functions] == ["a", "d"]
    assert [p.line for p in problems] == [2, 4]


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("", 1, "not a list"),
        ("a: 1", 1, "not a list"),
        ("- 3\n- 4", 1, "not a mapping"),
        ("- func: [1, 2]", 1, "func is not text"),
        ("- fun: f(Tensor x) -> Tensor", 1, "without func"),
        ("- func: f", 1, "not a schema"),
        ("- func: f(Tensor x) -> Tensor\n  dispatch: 4", 2, "dispatch is not a mapping"),
        ("- func: f(Tensor x) -> Tensor\n  dispatch:\n    CPU: [a]", 3, "names no kernel"),
        ("- func: f(Tensor x) -> Tensor\n  structured: maybe", 2, "not True or False"),
        ("- func: f(Tensor x) -> Tensor\n  tags: {a: b}", 2, "tags is not"),
        ("- func: f(Tensor x) -> Tensor\n  device_check: {a: b}", 2, "device_check is not"),
        ("[" * 100_000, 1, "nested too deep"),
        ("- " * 100_000, 1, "nested too deep"),
        ("- func: [" + "a," * 200_001 + "]", 1, "more than 200,000 keys and values"),
        ("- func: f(Tensor x) -> Tensor\n" * 51_000, 1, "more than 200,000 keys and values"),
        ("backend: X\nsupported:\n" + "- a\n" * 101_000, 1, "more than 200,000 keys and values"),
        ("- &x [*x]", 1, "not a mapping"),
        ("\x00\x01", 1, "not YAML"),
    ],
)
def test_hostile_files_give_a_problem_with_a_line(text: str, line: int, message: str) -> None:
    _, problems = read(text)
    assert problems
    assert problems[0].line == line
    assert message in problems[0].message


def test_broken_dispatch_claims_no_composite_kernel() -> None:
    (f,), _ = read("- func: f(Tensor x) -> Tensor\n  dispatch: 4")
    assert f.dispatch == ()


def test_nothing_in_the_file_is_constructed() -> None:
    functions, _ = read('- func: !!python/object/apply:os.system ["ls"]\n')
    assert functions == ()
