"""OpInfo entries: each name that leads to an operator."""

from __future__ import annotations

from indexes.model.files import unpack
from indexes.readers.python.blocks import Text
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
