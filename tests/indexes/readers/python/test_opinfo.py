"""OpInfo entries: each name that leads to an operator."""

from __future__ import annotations

from indexes.model.files import unpack
from indexes.readers.python.blocks import Text
from indexes.readers.python.module import read_python
from indexes.readers.python.opinfo import read_opinfo

PATH = "torch/testing/_internal/common_methods_invocations.py"


def entries(source: str) -> list[tuple[str, str, str]]:
    """Target, name and variant of each row."""
    facts, problems = read_opinfo(Text(source.encode()), PATH)
    assert problems == []
    return [(fact.target, fact.symbol, unpack(fact.detail).get("variant", "")) for fact in facts]


def test_an_entry_leads_to_its_backward_and_to_what_it_is_made_of() -> None:
    source = 'op_db = [OpInfo("fft.fft", aten_name="fft_fft", decomp_aten_name="_fft_c2c",'
    source += ' aten_backward_name="_fft_backward")]'
    targets = [target for target, _, _ in entries(source)]
    assert targets == ["aten::fft_fft", "aten::_fft_backward", "aten::_fft_c2c"]


def test_a_loop_over_written_values_makes_an_entry_of_each() -> None:
    source = 'op_db = [*(OpInfo("polygamma", variant_test_name=f"n_{n}") for n in [1, 2])]'
    assert entries(source) == [
        ("aten::polygamma", "polygamma", "n_1"),
        ("aten::polygamma", "polygamma", "n_2"),
    ]


def test_a_loop_that_only_a_run_tells_makes_one_entry() -> None:
    source = 'op_db = [*(OpInfo("mvlgamma", variant_test_name=f"p_{p}") for p in range(3))]'
    assert entries(source) == [("aten::mvlgamma", "mvlgamma", "")]


def test_entries_that_are_appended() -> None:
    source = 'op_db = []\nop_db.append(OpInfo("bmm", variant_test_name="fast"))\n'
    source += 'op_db.extend([OpInfo("mm")])\nlog.append("OpInfo")'
    assert entries(source) == [("aten::bmm", "bmm", "fast"), ("aten::mm", "mm", "")]


def test_aliases_with_and_without_their_package() -> None:
    source = "op_db = [OpInfo('igamma', aliases=('torch.special.gammainc', 'special.gamma'))]"
    assert [target for target, *_ in entries(source)] == [
        "aten::igamma",
        "torch.special.gammainc",
        "torch.special.gamma",
    ]


OPINFO = """\
def make_mvlgamma_opinfo(variant_test_name, domain):
    return UnaryUfuncInfo('mvlgamma',
                          aliases=('special.multigammaln',),
                          variant_test_name=variant_test_name)

op_db: list[OpInfo] = [
    UnaryUfuncInfo('abs',
                   aliases=('absolute', ),
                   skips=(
                       DecorateInfo(unittest.skip("Skipped!"), 'TestMeta'),
                       DecorateInfo(
                           "TestReductions"),
                   )),
    OpInfo(
        # a comment
        name="linalg.lstsq",
        # variant_test_name='not_this_one'
        decomp_aten_name="lstsq_parts",
        aten_name="linalg_lstsq",
    ),
    # OpInfo('commented'),
    OpInfo('nn.functional.pad', variant_test_name='constant', aten_name='constant_pad_nd'),
    OpInfo('nn.functional.pad', variant_test_name='reflect'),
    *(
        OpInfo("index_reduce", variant_test_name=mode)
        for mode in modes
    ),
    make_mvlgamma_opinfo(variant_test_name='mvlgamma_p_1', domain=(1, None)),
]

foreach_unary_op_db = [
    ForeachFuncInfo("exp", dtypes=None),
]

python_ref_db = [
    PythonRefInfo("_refs.nn.functional.pad", torch_opinfo_name="nn.functional.pad",
                  torch_opinfo_variant_name="constant"),
]

not_a_list = OpInfo("alone")
"""


def test_opinfo_entries() -> None:
    facts = [fact for fact in read_python(OPINFO.encode(), PATH)[0] if fact.kind == "opinfo"]
    assert [(f.symbol, f.target, f.line, f.end_line) for f in facts] == [
        ("abs", "aten::abs", 7, 13),
        ("abs", "torch.absolute", 7, 13),
        ("linalg.lstsq", "aten::linalg_lstsq", 14, 20),
        ("linalg.lstsq", "aten::lstsq_parts", 14, 20),
        ("nn.functional.pad", "aten::constant_pad_nd", 22, 22),
        ("nn.functional.pad", "torch.nn.functional.pad", 23, 23),
        ("index_reduce", "aten::index_reduce", 25, 27),
        ("mvlgamma", "aten::mvlgamma", 28, 28),
        ("_foreach_exp", "aten::_foreach_exp", 32, 32),
        ("_refs.nn.functional.pad", "aten::constant_pad_nd", 36, 37),
    ]
    assert unpack(facts[2].detail) == {"cls": "OpInfo", "db": "op_db", "aten_name": "linalg_lstsq"}
    assert unpack(facts[7].detail)["variant"] == "mvlgamma_p_1"
    assert [
        f for f in read_python(OPINFO.encode(), "test/test_ops.py")[0] if f.kind == "opinfo"
    ] == []
