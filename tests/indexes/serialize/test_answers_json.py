"""The JSON contract: keys that scripts rely on, and nothing that could act on a terminal."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import indexes.serialize.dispatch  # noqa: F401 gives slots their keys
from indexes.model.answers import (
    Card,
    Chain,
    DeviceKernelAnswer,
    Hop,
    Member,
    NameMatch,
    Route,
    Unresolved,
)
from indexes.model.dispatch import DispatchSlot
from indexes.model.errors import NotFound, SourceError
from indexes.model.vocabulary import (
    Choice,
    Definition,
    DerivativeEntry,
    DtypeDispatch,
    Formula,
    FormulaSet,
    KernelRow,
    Location,
    NativeFunction,
    OperatorSummary,
    SourceInfo,
    StubRow,
)
from indexes.serialize import answers as contract

YAML = "aten/src/ATen/native/native_functions.yaml"
SOURCE = SourceInfo("checkout", "/secret/place", "2.7.0", "a" * 40, True, ("x: y",))
SCHEMA = "mul.Tensor(Tensor self, Tensor other) -> Tensor"
OP = OperatorSummary(
    "mul.Tensor", SCHEMA, Location(YAML, 10), ("CPU",), ("core",), None, True, "delegate"
)
KERNEL = Definition("mul_kernel", "at::native", "function", Location("a.cpp", 5, 9), guard="X")


def written(answer: object) -> Any:
    """What a script reads of an answer."""
    return json.loads(contract.dumps(answer))


def entry(*formulas: Formula) -> DerivativeEntry:
    sets = (FormulaSet("Default", "MulBackward0", formulas, Location("d.yaml", 2)),)
    return DerivativeEntry("mul.Tensor", SCHEMA, Location("d.yaml", 2), sets)


def formula(names: str, line: int, kind: str = "gradient") -> Formula:
    where = Location("d.yaml", line)
    return Formula(
        tuple(names.split()), "grad", where, "forward" if kind == "forward" else "gradient"
    )


def chain() -> Chain:
    native = NativeFunction("mul", "Tensor", SCHEMA, OP.location, {}, None)
    hops = (
        Hop(0, None, "schema", "mul.Tensor", OP.location, "the entry", "exact"),
        Hop(
            1,
            0,
            "kernel",
            "at::native::mul_kernel",
            KERNEL.location,
            "named in dispatch",
            "by rule",
            "CPU",
            ("CPU",),
            (Location(YAML, 12),),
            "X",
            "n",
            (
                DtypeDispatch(
                    "AT_DISPATCH_INDEX_TYPES",
                    Location("a.cpp", 6),
                    ("Int", "Long"),
                    "index_t",
                    "mul_cpu",
                ),
            ),
            (Choice("if (small)", "else", Location("a.cpp", 7)),),
            "dispatches",
            {"checks": 2},
            "torchnav op mul.out",
        ),
        Hop(2, 0, "library", "cuBLAS", None, "a closed library", "exact"),
    )
    unresolved = (Unresolved("kernel", "mul_mps", "not in this tree", ("MPS",), 0),)
    return Chain(SOURCE, OP, native, entry(formula("self", 3)), hops, unresolved)


def test_chain_has_every_key_of_the_contract() -> None:
    answer = json.loads(contract.dumps(contract.chain_json(chain())))
    assert list(answer)[:5] == ["schema_version", "source", "op", "hops", "unresolved"]
    assert answer["schema_version"] == 1
    assert list(answer["source"])[:4] == ["kind", "version", "commit", "dirty"]
    expected = {
        "id": 1,
        "parent": 0,
        "role": "kernel",
        "device": "CPU",
        "keys": ["CPU"],
        "symbol": "at::native::mul_kernel",
        "path": "a.cpp",
        "line": 5,
        "end_line": 9,
        "rule": "named in dispatch",
        "evidence": [{"path": YAML, "line": 12}],
        "confidence": "by rule",
        "guard": "X",
        "note": "n",
        "dtypes": [
            {
                "macro": "AT_DISPATCH_INDEX_TYPES",
                "path": "a.cpp",
                "line": 6,
                "dtypes": ["Int", "Long"],
                "type_name": "index_t",
                "tag": "mul_cpu",
                "guard": "",
                "unread": [],
            }
        ],
        "choices": [{"text": "if (small)", "arm": "else", "path": "a.cpp", "line": 7}],
        "work": "dispatches",
        "folded": {"checks": 2},
        "continues": "torchnav op mul.out",
        "again": None,
    }
    assert answer["hops"][1] == expected
    assert answer["unresolved"][0] == {
        "role": "kernel",
        "keys": ["MPS"],
        "symbol": "mul_mps",
        "reason": "not in this tree",
        "parent": 0,
    }


def test_every_hop_has_the_same_keys_in_the_same_order() -> None:
    hops = [written(hop) for hop in chain().hops]
    assert len({tuple(hop) for hop in hops}) == 1
    assert hops[2]["path"] is None
    assert hops[2]["line"] is None
    assert hops[0]["end_line"] is None


def test_the_tree_s_own_place_is_not_told() -> None:
    assert "/secret/place" not in contract.dumps(contract.chain_json(chain()))


def test_a_formula_for_several_inputs_stands_under_each() -> None:
    row = contract.derivative_row_json(
        entry(formula("self other", 3), formula("self", 4, "forward")), [KERNEL]
    )
    assert isinstance(row["formulas"], dict)
    assert list(row["formulas"]) == ["self", "other"]
    first = {"text": "grad", "path": "d.yaml", "line": 3, "kind": "gradient"}
    assert row["formulas"]["self"] == row["formulas"]["other"] == first
    assert row["functions"] == [{"name": "mul_kernel", "path": "a.cpp", "line": 5}]
    assert row["grad_fn"] == "MulBackward0"


def test_rows_of_the_exports() -> None:
    kernel = written(
        KernelRow("mul.Tensor", "CPU", "mul_kernel", "plain", (KERNEL,), "exact", "rule")
    )
    assert list(kernel) == [
        "op",
        "key",
        "symbol",
        "kind",
        "definitions",
        "confidence",
        "rule",
        "reason",
    ]
    assert isinstance(kernel["definitions"], list)
    stub = StubRow("mul_stub", "CPU", "REGISTER_DISPATCH", "f", Location("a.cpp", 7), None, "why")
    row = written(stub)
    assert row["registration"] == {"path": "a.cpp", "line": 7}
    assert row["definition"] is None
    assert row["reason"] == "why"


def test_a_device_kernel() -> None:
    answer = DeviceKernelAnswer("k<4>", None, KERNEL, None, "exact", "by its lambda")
    row = contract.device_kernel_json(answer)
    assert row["launcher"] is None
    assert row["source"] == {"symbol": "at::native::mul_kernel", "path": "a.cpp", "line": 5}


def test_a_member_with_unnamed_accessors() -> None:
    member = Member("a_", "int", "c", Location("t.h", 1), (Location("t.h", 5),), ())
    assert contract.member_json(member)["accessors"] == [{"name": "", "path": "t.h", "line": 5}]


def test_hostile_text_comes_out_as_plain_ascii() -> None:
    line = contract.dumps({"x": "\x1b[31m\x9b\u202e\ud800é\n"})
    assert line.isascii()
    assert line.isprintable()
    assert json.loads(line)["x"] == "\x1b[31m\x9b\u202e\ud800é\n"


def test_errors_say_their_exit_code() -> None:
    error = contract.error_json(NotFound("no x", ("y",)))["error"]
    assert error == {"message": "no x", "exit_code": 1, "suggestions": ["y"]}
    broken = contract.error_json(SourceError("gone"))["error"]
    assert broken == {"message": "gone", "exit_code": 3, "suggestions": []}


def test_documented_keys_are_the_real_ones() -> None:
    """docs/json.md shows one object of each kind; its keys must be what is written."""
    text = (Path(__file__).parents[3] / "docs/json.md").read_text()
    answers = {
        "hop": written(chain().hops[1]),
        "unresolved": written(chain().unresolved[0]),
        "op": written(OP),
        "source": written(SOURCE),
        "dtypes": written(chain().hops[1].dtypes[0]),
        "choice": written(chain().hops[1].choices[0]),
        "route": written(Route("CPU", "loop", "f", Location("x.cpp", 1), ())),
        "card": written(Card("f() -> ()", "plain", Location("x.yaml", 1), ())),
        "match": written(NameMatch("python", "torch.relu")),
        "slot": written(DispatchSlot("CPU", "f", "kernel", "x.cpp", "why", "exact")),
    }
    for name, answer in answers.items():
        block = text.split(f"<!-- {name} -->")[1].split("```")[1].removeprefix("json")
        assert list(json.loads(block)) == list(answer), name
