"""Planted in-place errors: the line that wrote is the one that is named, without anomaly mode."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from indexes.model.answers import Hit
from indexes.model.vocabulary import Location
from indexes.queries.index import Index
from navigator.explanation import Explanation
from navigator.objects.graph import variables
from navigator.objects.why import explain
from navigator.objects.writes import Writes

BEGIN = "import torch\nfrom torch.utils.checkpoint import checkpoint\n"
PLANTED = {
    "alias": "y = x.exp()\nz = y\nz.add_(1)  # here\ny.sum().backward()",
    "setitem": "y = x.exp()\ny[0] = 3.0  # here\ny.sum().backward()",
    "augmented": "y = x.sigmoid()\ny *= 2  # here\ny.sum().backward()",
    "foreach": "y = x.exp()\ntorch._foreach_mul_([y.detach()], 2.0)  # here\ny.sum().backward()",
    "no_grad": "y = x.tanh()\nwith torch.no_grad():\n    y.mul_(2)  # here\ny.sum().backward()",
    "module": (
        "class M(torch.nn.Module):\n    def forward(self, v):\n        y = v.exp()\n"
        "        y.clamp_(0)  # here\n        return y\nM()(x).sum().backward()"
    ),
    "inplace module": (
        "y = x.exp()\nz = torch.nn.ReLU(inplace=True)(y)  # here\n(z * z).sum().backward()"
    ),
    "view of a view": "y = x.exp()\ny[1:][1:].mul_(2)  # here\ny.sum().backward()",
    "out": "y = x.exp()\ntorch.add(x.detach(), 1, out=y.detach())  # here\ny.sum().backward()",
    "detached": "y = x.sqrt()\ny.detach().zero_()  # here\ny.sum().backward()",
    "argument": "w = x.detach().clone()\ny = x * w\nw.add_(1)  # here\ny.sum().backward()",
    "optimizer": (
        "w = torch.nn.Parameter(torch.ones(4))\no = torch.optim.SGD([w], lr=0.1)\n"
        "loss = (w * w).sum()\nloss.backward(retain_graph=True)\no.step()  # here\nloss.backward()"
    ),
    "copy": "y = x.exp()\ny.detach().copy_(torch.zeros(4))  # here\ny.sum().backward()",
    "random": "y = x.exp()\ntorch.nn.init.normal_(y.detach())  # here\ny.sum().backward()",
    "fill diagonal": (
        "y = torch.ones(3, 3, requires_grad=True).exp()\ny.fill_diagonal_(0)  # here\n"
        "y.sum().backward()"
    ),
    "index": "y = x.exp()\ny.index_fill_(0, torch.tensor([0]), 1.0)  # here\ny.sum().backward()",
    "masked": "y = x.exp()\ny[y > 1] = 0  # here\ny.sum().backward()",
    "transposed": (
        "y = torch.ones(2, 3, requires_grad=True).exp()\ny.t()[0].neg_()  # here\n"
        "y.sum().backward()"
    ),
    "beside a checkpoint": (
        "y = x.exp()\nz = checkpoint(torch.sin, x, use_reentrant=False)\ny.add_(1)  # here\n"
        "(y.sum() + z.sum()).backward()"
    ),
    "own function": (
        "class S(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, v, w):\n"
        "        ctx.save_for_backward(w)\n        return v * w\n    @staticmethod\n"
        "    def backward(ctx, g):\n        return g * ctx.saved_tensors[0], None\n"
        "w = torch.ones(4)\ny = S.apply(x, w)\nw.mul_(3)  # here\ny.sum().backward()"
    ),
}


def explained(code: str, path: Path, index: Index) -> Explanation:
    path.write_text(code)
    writes, names = Writes(), {}  # type: ignore[var-annotated]
    with pytest.raises((RuntimeError, ValueError)) as raised, writes:
        exec(compile(code, str(path), "exec"), names)
    return explain(raised.value, writes, variables(names), index)


def line_of(code: str, mark: str = "# here") -> int:
    return next(at for at, line in enumerate(code.split("\n"), 1) if mark in line)


@pytest.mark.parametrize("kind", PLANTED)
def test_the_line_that_wrote_is_named(kind: str, tmp_path: Path, tree_index: Index) -> None:
    code = f"{BEGIN}x = torch.ones(4, requires_grad=True)\n{PLANTED[kind]}\n"
    path = tmp_path / "train.py"
    found = explained(code, path, tree_index)

    assert found.causes
    for cause in found.causes:
        assert [write.line for write in cause.writes] == [(str(path), line_of(code))]


def test_each_value_has_the_writes_since_it_was_saved(tmp_path: Path, tree_index: Index) -> None:
    code = (
        f"{BEGIN}x = torch.ones(4, requires_grad=True)\ny = x * 2\nv = y[1:]\nv.mul_(2)\n"
        "loss = (y * y).sum()\ny[0] = 3.0  # here\nloss.backward()\n"
    )
    (cause,) = explained(code, tmp_path / "train.py", tree_index).causes

    assert cause.node == "MulBackward0"
    assert cause.saved == ("other", "self")
    assert [write.call for write in cause.writes] == ["Tensor.__setitem__"]
    assert cause.entry is not None
    assert [one.inputs for one in cause.formulas] == [("self",), ("other",)]


def test_an_error_at_the_write_itself_tells_where_the_tensors_were_made(
    tmp_path: Path, tree_index: Index
) -> None:
    code = (
        f"{BEGIN}x = torch.ones(3, requires_grad=True) * 2\na, b, c = x.unbind(0)  # here\n"
        "a.mul_(2)  # raised\n"
    )
    found = explained(code, tmp_path / "train.py", tree_index)

    assert ("a", (str(tmp_path / "train.py"), line_of(code))) in found.made
    assert found.raised_at == (str(tmp_path / "train.py"), line_of(code, "# raised"))


def test_text_and_json(tmp_path: Path, tree_index: Index) -> None:
    code = f"{BEGIN}x = torch.ones(4, requires_grad=True)\n{PLANTED['no_grad']}\n"
    found = explained(code, tmp_path / "train.py", tree_index)

    lines = str(found).splitlines()
    assert lines[0] == f"written to at {tmp_path}/train.py:6 by Tensor.mul_"
    assert lines[1] == "    through shape (4,), version 0 to 1, under no_grad"
    assert "expected version 0" in " ".join(lines[-4:])
    data = json.loads(found.as_json())
    assert data["causes"][0]["writes"][0]["at"]["line"] == 6
    assert data["causes"][0]["node"] == "TanhBackward0"


def test_another_error_has_its_call_its_tensors_and_the_line_that_checks(
    tmp_path: Path, tree_index: Index
) -> None:
    code = f"{BEGIN}flags = torch.ones(2, dtype=torch.bool)\ntorch.relu(flags)\n"
    found = explained(code, tmp_path / "a.py", tree_index)

    assert found.causes == ()
    assert (found.call, found.given) == ("torch.relu", ("flags: (2,) bool on cpu",))
    assert {one.location.path for one in found.said_by if one.kind == "error"} == {
        "aten/src/ATen/native/Activation.cpp"
    }
    assert any(line.startswith("raised in at::native::relu") for line in str(found).splitlines())


def test_an_error_that_no_line_of_the_tree_says(tmp_path: Path, tree_index: Index) -> None:
    found = explained(
        f"{BEGIN}raise RuntimeError('no such file of mine')\n", tmp_path / "a.py", tree_index
    )

    assert found.said_by == ()
    version = tree_index.info.version
    assert found.note == f"no line of {version} (checkout) is known to raise this"


def test_only_where_the_traceback_is_lost_can_another_file_have_raised_it(
    tmp_path: Path, tree_index: Index
) -> None:
    error = "ValueError('dropout probability has to be between 0 and 1, but got 2')"
    there = explained(f"raise {error}", tmp_path / "a.py", tree_index)
    assert there.said_by == ()
    again = f"e = {error}\nraise e.with_traceback(None)"
    (found,) = explained(again, tmp_path / "b.py", tree_index).said_by
    assert found.location.path == "torch/nn/functional.py"


def test_lines_of_one_function_and_of_others_that_can_have_raised_it() -> None:
    places = [("f", "a.cpp", 3), ("f", "a.cpp", 7), ("g", "a.cpp", 9)]
    hits = [Hit("error", name, Location(path, line), "said") for name, path, line in places]
    lines = str(Explanation("said", None, (), said_by=tuple(hits))).splitlines()
    assert lines[:5] == [
        "raised in f  a.cpp:3",
        "    said",
        "    line 7: said",
        "or in g  a.cpp:9",
        "    said",
    ]
