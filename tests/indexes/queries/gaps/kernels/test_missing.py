"""Kernels that are missing are found by key, with what speaks for them."""

from __future__ import annotations

import shutil
from pathlib import Path

from indexes.queries.gaps.find import find_gaps
from indexes.queries.gaps.kernels.keys import DENSE, kernel_keys
from indexes.queries.gaps.model import Gap, GapFilter, GapList
from indexes.queries.gaps.tree import Tree
from indexes.queries.index import Index
from tests.indexes.queries.gaps.grown_files import write_tests
from tests.indexes.queries.gaps.grown_operators import write_operators, write_python
from tests.indexing import append, opened, write
from tests.tree_marks import TREE, YAML

_PART = """
- func: _{0}_part(Tensor self) -> Tensor
  dispatch:
    {1}: {0}_part
"""
_PARTED = """
- func: parted(Tensor self) -> Tensor
"""


def kernels(answer: GapList) -> dict[str, Gap]:
    return {gap.subject: gap for gap in answer.gaps if gap.kind == "kernel"}


def test_families_follow_from_the_keys_that_make_tensors(grown: Index) -> None:
    families = kernel_keys(Tree(grown)).families
    assert {"CPU", "CUDA", "MPS", "Meta"} <= {key.name for key in families[DENSE]}
    assert {"SparseCPU", "SparseCUDA"} <= {key.name for key in families["Sparse"]}
    assert all(key.name == key.family + key.backend for keys in families.values() for key in keys)


def test_what_other_back_ends_have_and_a_table_lists_is_likely(answer: GapList) -> None:
    gap = kernels(answer)["MPS/lonely"]
    assert (gap.confidence, gap.stated, gap.keys) == ("likely", True, ("MPS",))
    assert "CPU and CUDA and none for MPS" in gap.rule


def test_what_has_a_kernel_under_an_alias_key_misses_none(answer: GapList) -> None:
    assert "MPS/everywhere" not in kernels(answer)


def test_a_back_end_whose_kernels_stand_elsewhere_is_unknown_and_not_nothing(grown: Index) -> None:
    unknown = kernel_keys(Tree(grown)).unknown
    assert unknown
    for key in unknown:
        found = find_gaps(grown, GapFilter(("kernel",), key=key))
        assert not found.gaps
        assert found.counts[0].lacks == unknown[key]


def test_what_torchgen_takes_no_kernel_for_is_unknown_and_no_gap(
    tree_copy: Path, cache: Path
) -> None:
    write_operators(tree_copy)
    taken = ("CPU", "CUDA", "MPS", "SparseCPU", "CompositeImplicitAutograd")
    model = f"dispatch_keys = [{', '.join(f'DispatchKey.{key}' for key in taken)}]\n"
    write(tree_copy, {"torchgen/model.py": model})
    with opened(tree_copy, cache) as index:
        keys = kernel_keys(Tree(index))
    sparse = {key.name for key in keys.families["Sparse"]}
    assert "SparseCPU" in sparse
    assert "SparseCUDA" in sparse  # some entry has a kernel for it all the same
    assert "SparseMPS" not in sparse
    assert "torchgen" in keys.unknown["SparseMPS"]


def test_what_nobody_calls_and_nothing_is_made_of_is_only_possible(
    tree_copy: Path, cache: Path
) -> None:
    write_operators(tree_copy)
    write_python(tree_copy)
    write_tests(tree_copy)
    append(tree_copy, {YAML: _PART.format("inner", "CPU, CUDA")})
    infos = tree_copy / "torch/testing/_internal/common_methods_invocations.py"
    head = "op_db: list[OpInfo] = [\n"
    infos.write_text(infos.read_text().replace(head, f'{head}    OpInfo("_inner_part"),\n'))
    table = tree_copy / "test/test_mps.py"
    text = table.read_text().replace("'lonely': None", "'lonely': None, '_inner_part': None")
    table.write_text(text)
    with opened(tree_copy, cache) as index:
        found = kernels(find_gaps(index, GapFilter(("kernel",), key="MPS")))
    assert found["MPS/lonely"].confidence == "likely"
    assert (found["MPS/_inner_part"].stated, found["MPS/_inner_part"].confidence) == (
        True,
        "possible",
    )


def test_a_function_that_takes_no_tensor_is_public_though_no_subclass_overrides_it(
    tree_copy: Path, cache: Path
) -> None:
    write_operators(tree_copy)
    write_tests(tree_copy)
    entry = "\n- func: {}({}) -> Tensor\n  dispatch:\n    CPU, CUDA: {}_kernel\n"
    row = "\n\ndef get_ignored_functions():\n    return {torch.made, torch.vendors}\n\n\n@x\n"
    entries = entry.format("made", "int n", "made") + entry.format("vendors", "Tensor x", "x")
    append(tree_copy, {YAML: entries})
    write(tree_copy, {"torch/overrides.py": row})
    with opened(tree_copy, cache) as index:
        found = kernels(find_gaps(index, GapFilter(("kernel",), key="MPS")))
    assert "MPS/made" in found
    assert "MPS/vendors" not in found


def test_counts_by_key_are_those_of_the_gaps(answer: GapList) -> None:
    gaps = kernels(answer).values()
    assert {"MPS", "CUDA"} <= {one.key for one in answer.keys}
    for one in answer.keys:
        mine = [gap for gap in gaps if one.key in gap.keys]
        assert one.count == len(mine)
        assert one.possible == sum(gap.confidence == "possible" for gap in mine)


def test_a_key_of_which_the_source_has_no_kernel_is_unknown_where_it_is_asked(grown: Index) -> None:
    unknown = kernel_keys(Tree(grown)).unknown
    used = {key for rows in Tree(grown).kernels.values() for key in rows}
    unnamed = [key for key in unknown if key not in used]
    assert unnamed
    asked = find_gaps(grown, GapFilter(("kernel",), key=unnamed[0]))
    assert [(one.key, one.lacks) for one in asked.keys] == [(unnamed[0], unknown[unnamed[0]])]
    every = find_gaps(grown, GapFilter(("kernel",)))
    assert not {one.key for one in every.keys}.intersection(unnamed)


def _of_parts(tmp_path: Path, key: str = "MPS") -> dict[str, Gap]:
    """What a key lacks where tests expect a composite to fail on MPS: parts of it, and their
    gradients."""
    root = Path(shutil.copytree(TREE, tmp_path / "pytorch"))
    write_operators(root)
    write_python(root)
    write_tests(root)
    parts = {"vendor": "CUDA", "plain": "CPU, CUDA", "gradient": "CPU, CUDA"}
    parts |= {"one_fast_dot": "CUDA, SparseCUDA", "one_slow_dot": "CUDA", "one_cpu_dot": "CPU"}
    for one, keys in parts.items():
        append(root, {YAML: _PART.format(one, keys)})
    append(root, {YAML: _PARTED})
    formula = "\n- name: _plain_part(Tensor self) -> Tensor\n  self: _gradient_part(grad)\n"
    append(root, {"tools/autograd/derivatives.yaml": formula})
    body = "at::_vendor_part(self); return at::_plain_part(self);"
    heads = [f"Tensor {one}_part(const Tensor& self) {{ return self; }}" for one in parts]
    text = "\n".join([*heads, f"Tensor parted(const Tensor& self) {{ {body} }}"])
    append(root, {"aten/src/ATen/native/Parted.cpp": f"namespace at::native {{\n{text}\n}}\n"})
    infos = root / "torch/testing/_internal/common_methods_invocations.py"
    head = "op_db: list[OpInfo] = [\n"
    infos.write_text(infos.read_text().replace(head, f'{head}    OpInfo("parted"),\n'))
    table = root / "test/test_mps.py"
    table.write_text(table.read_text().replace("'lonely': None", "'lonely': None, 'parted': None"))
    with opened(root, tmp_path / "cache") as index:
        return kernels(find_gaps(index, GapFilter(("kernel",), key=key)))


def test_what_the_library_of_one_vendor_has_is_not_stated_by_what_needs_it(tmp_path: Path) -> None:
    found = _of_parts(tmp_path)
    assert found["MPS/_plain_part"].stated
    assert "MPS/_vendor_part" not in found


def test_the_gradient_of_what_fails_is_missing_too(tmp_path: Path) -> None:
    gap = _of_parts(tmp_path)["MPS/_gradient_part"]
    assert gap.confidence == "likely"
    assert "UNIMPLEMENTED_XFAILLIST lists parted; for the gradient of _plain_part" in gap.rule


def test_what_a_variant_of_the_same_device_has_for_a_layout_is_possible(tmp_path: Path) -> None:
    found = _of_parts(tmp_path, "SparseCUDA")
    gap = found["SparseCUDA/_one_slow_dot_part"]
    assert (gap.confidence, gap.rule) == ("possible", "_one_fast_dot_part has one")
    assert not {"SparseCUDA/_one_fast_dot_part", "SparseCUDA/_one_cpu_dot_part"} & {*found}
