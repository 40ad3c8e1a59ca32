from __future__ import annotations

from pathlib import Path

import pytest

from indexes.readers.project.torchgen_lists import TorchgenLists, read_torchgen_lists

SOURCE = b"""
MANUAL = {"resize_", "copy_"}
BOTH = TRACER = MANUAL | {"data"}
KEYS = {DispatchKey.CPU, DispatchKey.CUDA}
LONG: list[str] = OTHERS + ["record_stream", *MANUAL]
VIEWS = {"alias": "self", **EXTRA_NOT_KNOWN}
MAP = {"alias": "self", "view": "self"}
for key in ["conj"]:
    MAP[key] = "self"
ALL = set(MAP.keys()).union({"detach"})
NUMBER = 3
CALLED = os.system("ls")
def gen_it(): pass
"""


def test_lists_are_evaluated_without_running_anything() -> None:
    known = TorchgenLists({"OTHERS": ("polygamma_",)})
    lists, problems = read_torchgen_lists(SOURCE, "gen.py", known)
    assert not problems
    names = lists.names
    assert set(names["TRACER"]) == {"resize_", "copy_", "data"}
    assert names["BOTH"] == names["TRACER"]
    assert names["KEYS"] == ("CPU", "CUDA")
    assert names["LONG"][:2] == ("polygamma_", "record_stream")
    assert set(names["ALL"]) == {"alias", "view", "conj", "detach"}
    assert names.keys().isdisjoint({"VIEWS", "NUMBER", "CALLED"})


def test_the_lists_of_the_wheel(packaged: Path) -> None:
    torchgen = packaged.parent
    lists = TorchgenLists()
    files = [torchgen / "model.py", packaged / "autograd/gen_trace_type.py"]
    for path in [*files, packaged / "autograd/gen_inplace_or_view_type.py"]:
        lists, problems = read_torchgen_lists(path.read_bytes(), path.name, lists)
        assert not problems
    assert {"CPU", "CUDA"} <= set(lists.names["STRUCTURED_DISPATCH_KEYS"])
    assert "copy_" in lists.names["MANUAL_AUTOGRAD"]
    assert {"view_as_real", "as_strided", "reshape"} <= set(lists.names["RETURNS_VIEWS_OF_INPUT"])


_MATCHING = """
def is_foreach_func(f):
    return f.base.startswith("_foreach_"){}
def gen_foreach_derivativeinfo(f): ...
def match_differentiability_info(functions): ...
"""


@pytest.mark.parametrize(
    ("source", "rule"),
    [
        ("def other(): ...", None),
        ("def match_differentiability_info(functions): ...", "none"),
        ("def match_differentiability_info(f):\n  return f.startswith('_foreach')", "unary"),
        (_MATCHING.format(" and not f.inplace"), "functional"),
        (_MATCHING.format(""), "all"),
    ],
)
def test_which_foreach_operators_have_formulas(source: str, rule: str | None) -> None:
    lists, _ = read_torchgen_lists(source.encode(), "autograd.py")
    assert lists.foreach == rule
    later, _ = read_torchgen_lists(b"A = {'b'}", "other.py", lists)
    assert later.foreach == rule


_REGISTERING = """
def gen_functionalization_registration(g):
    def emit(f):
        {}
        return f.name
    if str(g.view.name) == "lift_fresh":
        return []
    for f in g:
        if f.has_composite_implicit_autograd_kernel:
            continue
        if {}:
            assert f.name != "set_"
"""
_COMPOSITE = "f.has_composite_implicit_autograd_kernel"


@pytest.mark.parametrize(
    ("helper", "reason", "expected"),
    [
        (f"assert not {_COMPOSITE}", "writes(f)", "none"),
        (f"if {_COMPOSITE}: return 1", "writes(f)", "views"),
        (f"if {_COMPOSITE}: return 1", f"writes(f) or {_COMPOSITE}", "all"),
    ],
)
def test_which_composite_operators_are_functionalized(
    helper: str, reason: str, expected: str
) -> None:
    lists, _ = read_torchgen_lists(_REGISTERING.format(helper, reason).encode(), "gen.py")
    assert lists.functionalized == expected
    assert lists.functionalized_by_hand == ("lift_fresh",)


@pytest.mark.parametrize("data", [b"def f(:", b"\x00", b"(" * 5000, b"\xff\xfe"])
def test_what_is_not_python_is_a_problem(data: bytes) -> None:
    known = TorchgenLists({"A": ("b",)})
    lists, problems = read_torchgen_lists(data, "gen.py", known)
    assert lists == known
    assert problems[0].message.startswith("not Python")
