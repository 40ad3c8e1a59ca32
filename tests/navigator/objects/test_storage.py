"""What tensors cover of their storage, and which formats they have."""

from __future__ import annotations

import pytest
import torch

from navigator.objects.storage import formats, sharers, strip


@pytest.mark.parametrize(
    "tensor",
    [
        torch.arange(24.0).reshape(2, 3, 4)[:, 1:, ::2],
        torch.arange(24.0).reshape(2, 3, 4).permute(2, 0, 1),
        torch.arange(10.0).unfold(0, 3, 1),
        torch.ones(3, 1).expand(3, 4),
        torch.arange(12.0).as_strided((3, 4), (2, 1)),
        torch.ones(5),
        torch.tensor(1.0),
        torch.ones(0, 3),
    ],
    ids=lambda tensor: f"{tuple(tensor.shape)}",
)
def test_a_strip_covers_what_indexing_reaches(tensor: torch.Tensor) -> None:
    storage = torch.zeros(tensor.untyped_storage().nbytes() // 4)
    storage.as_strided(tensor.shape, tensor.stride(), tensor.storage_offset()).fill_(1)

    found = strip(tensor)
    assert found.per_cell == 1
    assert found.covered == tuple(storage.tolist())
    assert found.reached == int(storage.sum())


def test_a_large_storage_is_shown_in_cells() -> None:
    found = strip(torch.ones(1000, 1000)[:500])

    assert found.reached == 500_000
    assert len(found.covered) == 64
    assert found.covered[0] == 1.0
    assert found.covered[-1] == 0.0
    assert (found.first, found.last) == (0, 499_999)


def test_the_formula_leads_to_an_element() -> None:
    tensor = torch.arange(24.0).reshape(2, 3, 4)[1:, :, 2]
    found = strip(tensor)

    assert found.formula == "14 + 12*i + 4*j"
    assert tensor[0, 2].item() == 14 + 4 * 2


def test_a_format_says_which_stride_is_not_its_own() -> None:
    tensor = torch.ones(2, 3, 4, 5).to(memory_format=torch.channels_last)
    plain, channels = formats(tensor)

    assert (plain.holds, channels.holds) == (False, True)
    assert plain.why == "dimension 3 of size 5 has stride 3, not 1"
    assert [one.name for one in formats(torch.ones(2, 1).t())] == ["contiguous_format"]
    assert formats(torch.ones(2, 1).t())[0].holds


def test_who_shares_the_storage() -> None:
    base = torch.ones(6)
    view, copied = base[2:], base.clone()
    versions = {id(base): 1, id(view): 1, id(copied): 2}
    found = sharers(view, lambda one: versions.get(id(one)))

    assert [(one.shape, one.offset, one.is_base, one.same_version) for one in found] == [
        ((6,), 0, True, True)
    ]
    assert not sharers(copied, lambda one: None)
