"""What a gap needs, and whom that leaves out."""

from __future__ import annotations

import pytest

from indexes.model.vocabulary import Location
from indexes.queries.gaps.find import find_gaps, parse_filter
from indexes.queries.gaps.model import Gap, GapFilter, GapList
from indexes.queries.gaps.requirements import MEANS, is_for, needs
from indexes.queries.index import Index


def gap_in(path: str, *keys: str) -> Gap:
    return Gap(Location(path, 1), "", "", keys=keys)


@pytest.mark.parametrize(
    ("gap", "expected"),
    [
        (gap_in("torch/nn/functional.py"), ()),
        (gap_in("docs/source/torch.rst"), ()),
        (gap_in("aten/src/ATen/native/Copy.cpp"), ("build",)),
        (gap_in("aten/src/ATen/native/cuda/Copy.cu"), ("build", "cuda")),
        (gap_in("aten/src/ATen/native/mps/operations/Copy.mm"), ("build", "mac")),
        (gap_in("aten/src/ATen/native/native_functions.yaml", "SparseMPS"), ("build", "mac")),
        (gap_in("aten/src/ATen/native/native_functions.yaml", "SparseCsrCPU"), ("build",)),
    ],
)
def test_needs_follow_from_file_and_key(gap: Gap, expected: tuple[str, ...]) -> None:
    assert needs(gap, python=False) == expected


def test_a_change_in_python_is_not_built_wherever_it_shows() -> None:
    gap = gap_in("aten/src/ATen/native/native_functions.yaml", "SparseCUDA")
    assert needs(gap, python=True) == ("cuda",)


@pytest.mark.parametrize("has", list(MEANS))
def test_each_means_leaves_some_and_takes_some(answer: GapList, has: str) -> None:
    left = [gap for gap in answer.gaps if is_for(gap, has)]
    assert 0 < len(left) < len(answer.gaps)


def test_what_each_means_leaves_out(answer: GapList, grown: Index) -> None:
    kernel = next(gap for gap in answer.gaps if gap.id == "kernel/MPS/lonely")
    assert kernel.needs == ("build", "mac")
    assert [has for has in MEANS if is_for(kernel, has)] == ["mac"]
    found = find_gaps(grown, GapFilter(has=("hour",)))
    assert {gap.difficulty for gap in found.gaps} == {"easy"}
    assert {one.difficulty for one in found.counts if one.count} == {"easy"}
    assert not any("build" in gap.needs for gap in found.gaps)


def test_a_filter_line_takes_the_words() -> None:
    assert parse_filter("no-gpu hour words").has == ("no-gpu", "hour")
