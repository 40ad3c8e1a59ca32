"""What a file registers for operators, followed through the helpers it defines."""

from __future__ import annotations

import pytest

from indexes.model.files import unpack
from indexes.readers.python.module import read_python
from tests.indexes.readers.python.registrations_sample import DECOMP, HEAD, REFS, read, registered


def test_packet_overload_and_lists() -> None:
    source = (
        HEAD
        + """\
@register_decomposition(aten.tanh_backward)
@out_wrapper("grad_input")
def tanh_backward(out_grad, y):
    return out_grad

@register_decomposition([aten.fill.Scalar, aten.fill.default])
def fill(self, value): ...

@register_decomposition(
    (torch._ops.ops.aten.complex, [aten.polar.out]),
)
def both(a): ...
"""
    )
    assert registered(source) == [
        ("decomposition", "aten::tanh_backward", "tanh_backward", 6),
        ("decomposition", "aten::fill.Scalar", "fill", 10),
        ("decomposition", "aten::fill.default", "fill", 10),
        ("decomposition", "aten::complex", "both", 15),
        ("decomposition", "aten::polar.out", "both", 15),
    ]


def test_the_decorators_line_and_the_functions_extent_are_kept() -> None:
    source = (
        HEAD
        + "@register_decomposition(aten.a)\n@other\ndef f(x):\n    y = x\n    return y\n\nz = 1\n"
    )
    (fact,) = [fact for fact in read(source) if fact.kind == "decomposition"]
    assert (fact.line, fact.end_line, unpack(fact.detail)["at"]) == (6, 8, "4")


def test_text_and_comments_register_nothing() -> None:
    source = (
        HEAD
        + '''
"""
@register_decomposition(aten.in_text)
def f(): ...
"""
# @register_decomposition(aten.in_comment)
def g():
    """register_decomposition(aten.in_docstring)(g)"""
text = "register_decomposition(aten.in_string)"
'''
    )
    assert registered(source) == []


def test_a_namesake_method_of_something_else_is_no_registration() -> None:
    source = (
        HEAD
        + """
registry = Registry()
registry.impl("add", f, "Meta")
conv.py_impl(DispatchKey.Meta)(f)
def f(x): ...
"""
    )
    assert registered(source) == []


def test_table_and_type_of_a_decomposition() -> None:
    source = (
        HEAD
        + """
table = {}
def for_jvp(fn):
    return register_decomposition(fn, registry=table)

@for_jvp(aten.trace.default)
def trace(self): ...

@register_decomposition(aten.a, type="pre_autograd")
def a(x): ...
"""
    )
    details = [unpack(fact.detail) for fact in read(source) if fact.kind == "decomposition"]
    assert details[0]["registry"] == "torch._decomp.decompositions.table"
    assert details[0]["by"] == "for_jvp"
    assert details[1]["type"] == "pre_autograd"


def test_a_decomposition_declines_with_what_a_helper_returns() -> None:
    source = (
        HEAD
        + """
def _pool(x, dim):
    if dim > 3:
        return NotImplemented
    return x

@register_decomposition(aten.pool2d)
def pool2d(x):
    return _pool(x, 2)

@register_decomposition(aten.pool)
def pool(x):
    y = _pool(x, 1)
    return y + 1
"""
    )
    found = {f.target: unpack(f.detail) for f in read(source) if f.kind == "decomposition"}
    assert "declines" in found["aten::pool2d"]
    assert "declines" not in found["aten::pool"]


def test_a_wrapper_with_the_apis_name_is_followed() -> None:
    """Inductor's own register_decomposition enters another table."""
    source = """
import torch._decomp as decomp
aten = torch.ops.aten
decompositions = {**core_aten_decompositions()}
def register_decomposition(ops):
    for op in [ops] if callable(ops) else ops:
        if op in decompositions:
            warn(op)
    return decomp.register_decomposition(ops, decompositions)

@register_decomposition([aten.mm])
def mm(a, b): ...
"""
    (fact,) = [
        fact
        for fact in read("import torch\n" + source, "torch/_inductor/decomposition.py")
        if fact.kind == "decomposition"
    ]
    assert fact.target == "aten::mm"
    assert unpack(fact.detail)["registry"] == "decompositions"


INPLACE = (
    HEAD
    + """\
from functools import wraps

def _make_inplace(fn):
    @wraps(fn)
    def _fn(a, *args, **kwargs):
        return fn(a, *args, out=a, **kwargs)

    inplace_name = f"{fn.__name__}_"
    _fn.__name__ = inplace_name
    _fn = register_decomposition(getattr(aten, inplace_name))(_fn)
    return _fn

@register_decomposition(aten.abs)
def abs(a): ...

abs_ = _make_inplace(abs)
"""
)


def test_a_helper_that_derives_the_operators_name() -> None:
    assert registered(INPLACE, REFS) == [
        ("decomposition", "aten::abs", "abs", 17),
        ("decomposition", "aten::abs_", "abs_", 19),
    ]
    detail = unpack(next(f for f in read(INPLACE, REFS) if f.target == "aten::abs_").detail)
    assert detail["by"] == "_make_inplace"
    assert detail["of"] == "torch._refs.abs@17"


REFERENCE = (
    HEAD
    + """\
infer_aten_op = object()

def _make_reference(kind, *, aten_op=infer_aten_op):
    def inner(prim):
        nonlocal aten_op

        @wraps(prim)
        @out_wrapper()
        def _ref(a):
            return prim(a)

        if aten_op is infer_aten_op:
            aten_op = utils.get_aten_op(prim, prim.__name__)
        if aten_op is not None:
            register_decomposition(aten_op)(_ref)
        return _ref
    return inner

@_make_reference(KIND)
def acos(a): ...

@_make_reference(KIND, aten_op=None)
def isfinite(a): ...

@_make_reference(KIND, aten_op=aten.special_i0e)
def i0e(a): ...
"""
)


def test_a_decorator_with_a_default_that_infers_the_operator() -> None:
    found = registered(
        "from functools import wraps\nimport torch._prims_common as utils\n" + REFERENCE, REFS
    )
    assert found == [
        ("decomposition", "aten::acos", "acos", 25),
        ("decomposition", "aten::special_i0e", "i0e", 31),
    ]


@pytest.mark.parametrize(
    ("path", "target"),
    [
        ("torch/_refs/special/__init__.py", "aten::special_acos"),
        ("torch/_refs/linalg/__init__.py", "aten::linalg_acos"),
    ],
)
def test_the_inferred_operator_has_the_modules_prefix(path: str, target: str) -> None:
    source = "from functools import wraps\nimport torch._prims_common as utils\n" + REFERENCE
    assert (registered(source, path)[0][1]) == target


def test_loops_and_conditions() -> None:
    source = (
        HEAD
        + """\
names = ["sin", "cos"]
for name in names:
    register_decomposition(getattr(aten, name))(shared)

if torch._C._has_mkldnn:
    @register_decomposition(aten.only_with_mkldnn)
    def f(x): ...

def shared(x): ...
"""
    )
    facts = [fact for fact in read(source) if fact.kind == "decomposition"]
    assert [fact.target for fact in facts] == ["aten::sin", "aten::cos", "aten::only_with_mkldnn"]
    assert unpack(facts[2].detail)["when"] == "torch._C._has_mkldnn"


def test_an_operator_known_only_at_run_time_is_said_so() -> None:
    source = HEAD + "for op in find_ops():\n    register_decomposition(op)(g)\ndef g(): ...\n"
    (fact,) = [fact for fact in read(source) if fact.kind == "unresolved"]
    assert (fact.target, unpack(fact.detail)["expression"]) == ("", "op")


def test_functions_that_other_modules_call_are_followed() -> None:
    source = """\
import torch
from .lowering import register_lowering, make_fallback
aten = torch.ops.aten
def register_ops():
    @register_lowering(aten.mkldnn_rnn_layer)
    def lowered(x): ...
    make_fallback(aten.special)
def temporary():
    with patched():
        make_fallback(aten.not_for_good)
        yield
"""
    facts = [fact for fact in read(source, "torch/_inductor/x.py") if fact.kind == "lowering"]
    assert [(fact.target, fact.line) for fact in facts] == [
        ("aten::mkldnn_rnn_layer", 6),
        ("aten::special", 7),
        ("aten::not_for_good", 10),
    ]
    assert all(unpack(fact.detail)["when"].endswith("is called") for fact in facts)


@pytest.mark.parametrize(
    "source",
    [
        b"register_decomposition(",
        b"@register_meta(aten.x)\ndef",
        b"\x00register_meta()",
        b"register_meta(" * 3000,
        b"def f(): f()\nregister_meta(f())\nf()\n",
        HEAD.encode() + b"def f(x):\n    return f(register_decomposition(x))\nf(aten.add)\n",
        b"register_meta\n" + bytes(range(128, 256)),
        b"register_meta" + b"(" * 500 + b")" * 500,
    ],
)
def test_bad_input_is_a_problem_not_a_failure(source: bytes) -> None:
    facts, problems = read_python(source, DECOMP)
    assert all(fact.line > 0 for fact in facts)
    assert all(problem.path == DECOMP for problem in problems)


def test_somebody_elses_escape_sequences_warn_nobody(recwarn: pytest.WarningsRecorder) -> None:
    read(HEAD + 'pattern = "\\d"\n@register_decomposition(aten.a)\ndef f(): ...\n')
    assert [str(one.message) for one in recwarn] == []


def test_a_loop_without_end_stops() -> None:
    body = "".join(f"def f{n}(x):\n    f{n + 1}(x)\n    f{n + 1}(x)\n" for n in range(40))
    source = HEAD + body + "def f40(x):\n    register_decomposition(x)(x)\nf0(aten.add)\n"
    facts, _ = read_python(source.encode(), DECOMP)
    assert any(fact.kind == "def" for fact in facts)


@pytest.mark.parametrize(
    "growth",
    [
        "x = x + x\n" * 60,
        "x += x\n" * 60,
        "x = [*x, *x]\n" * 60,
        "x.extend(x)\n" * 60,
        "s = s + s\n" * 60,
        "s = s.replace('a', s)\n" * 60,
        "s = f'{s}{s}'\n" * 60,
        "for a in y:\n  for b in y:\n    for c in y: pass\n",
        "s.split(1)\ns.replace('a')\n",
    ],
)
def test_what_grows_without_end_is_given_up(growth: str) -> None:
    items = ", ".join(["aten.a"] * 500)
    source = HEAD + f"x = y = [{items}]\ns = 'a'\n{growth}register_decomposition(x)(f)\n"
    facts, problems = read_python(source.encode(), DECOMP)
    assert len(facts) < 30
    assert problems == ()


def test_a_decorator_of_the_module_own_fills_its_own_table() -> None:
    source = """\
import torch
aten = torch.ops.aten
table = {}

def register_decomposition(aten_op, registry=None):
    def decorator(f):
        nonlocal registry
        if registry is None:
            registry = table
        registry[str(aten_op)] = f
        return f
    return decorator

@register_decomposition(aten.var)
def var(x): ...
"""
    (fact,) = (f for f in read(source, "torch/jit/_x.py") if f.kind == "decomposition")
    assert unpack(fact.detail)["registry"] == "table"


def test_what_is_passed_over_when_it_raises_is_conditional() -> None:
    source = (
        HEAD
        + """\
def maybe(op):
    def decorator(f):
        try:
            return register_decomposition(op)(f)
        except Exception:
            return f
    return decorator

@maybe(aten.trace.default)
def trace(x): ...

@register_decomposition(aten.mv, disable_meta=True)
def mv(x): ...
"""
    )
    maybe, sure = (unpack(f.detail) for f in read(source) if f.kind == "decomposition")
    assert maybe["when"] == "it raises nothing"
    assert "when" not in sure
    assert sure["disable_meta"] == "True"


def test_a_switch_that_is_not_understood_is_no_rule() -> None:
    source = "def register_meta(op, on=True):\n    if on or op:\n        lib.impl(op)\n"
    assert not [f for f in read(source, "torch/x.py") if f.kind == "meta_rule"]
    (rule,) = (f for f in read(source.replace("on or op", "on")) if f.kind == "meta_rule")
    assert (rule.target, unpack(rule.detail)) == ("Meta", {"on": "on"})
