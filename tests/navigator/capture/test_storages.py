"""Where parameters, gradients, the state of optimizers and inputs are, as hooks find it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

torch = pytest.importorskip("torch")

from navigator.capture.storages import Storages  # noqa: E402 -- needs torch


@pytest.fixture
def storages() -> Iterator[Storages]:
    found = Storages()
    undo = found.follow()
    yield found
    for one in undo:
        one()


def address(tensor: object) -> int:
    return int(tensor.untyped_storage().data_ptr())  # type: ignore[attr-defined]


def test_a_step_of_training(storages: Storages) -> None:
    layer = torch.nn.Linear(3, 2)
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.1, momentum=0.9)
    batch = torch.ones(4, 3)
    layer(batch[1:]).sum().backward()
    optimizer.step()
    called, stepped = storages.fresh()
    parameters = tuple(map(address, layer.parameters()))
    assert (called["parameter"], called["input"]) == (parameters, (address(batch),))
    assert stepped["parameter"] == parameters
    assert stepped["gradient"] == tuple(address(one.grad) for one in layer.parameters())
    momenta = tuple(address(optimizer.state[one]["momentum_buffer"]) for one in layer.parameters())
    assert stepped["optimizer state"] == momenta
    assert storages.fresh() == []


def test_parameters_are_told_again_where_they_have_moved(storages: Storages) -> None:
    layer = torch.nn.Linear(3, 2)
    for _ in range(2):
        layer(torch.ones(1, 3))
    layer.weight.data = torch.zeros(2, 3)
    layer(torch.ones(1, 3))
    assert ["parameter" in told for told in storages.fresh()] == [True, False, True]


def test_what_has_no_address_is_passed_over(storages: Storages) -> None:
    layer = torch.nn.Linear(3, 2, device="meta")
    layer(torch.ones(1, 3, device="meta"))
    torch.nn.Identity()(torch.ones(2).to_sparse())
    torch.vmap(torch.nn.Identity())(torch.ones(2, 2))
    assert not any("parameter" in told for told in storages.fresh())


def test_a_lazy_copy_stays_lazy(storages: Storages) -> None:
    lazy = torch._lazy_clone(torch.ones(4))
    torch.nn.Identity()(lazy)
    assert torch._C._is_cow_tensor(lazy)
    assert storages.fresh() == []


def test_a_wrapper_has_the_memory_of_what_it_wraps(storages: Storages) -> None:
    from torch.testing._internal.two_tensor import TwoTensor

    one, other = torch.ones(2), torch.ones(2)
    torch.nn.Identity()(TwoTensor(one, other))
    (told,) = storages.fresh()
    assert told["input"] == (address(one), address(other))
