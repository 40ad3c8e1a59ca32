"""Python names of the installed torch: what Python says of them, and what the index answers."""

from __future__ import annotations

import pytest

from indexes.queries.audit.compilers import python_measures
from indexes.queries.index import Index
from navigator.live.installed import live_names

MODULES = [
    "torch",
    "torch.nn",
    "torch.nn.functional",
    "torch.optim",
    "torch.utils.data",
    "torch.cuda",
    "torch.distributed",
    "torch.distributed.fsdp",
    "torch.distributed.tensor",
    "torch.ao.quantization",
    "torch.export",
    "torch.library",
    "functorch",
]
"""Among them are packages with and without ``__all__``, and each way by which a name is given."""


def test_names_lead_where_python_says(wheel: Index) -> None:
    live = live_names(modules=MODULES)
    assert len(live.names) > 600
    assert len(live.methods) > 5000
    names, methods = python_measures(wheel, live)
    assert names.met, names.short[:20]
    assert methods.met, methods.short[:20]


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("torch.nn.functional.max_pool2d", "torch/_jit_internal.py"),
        ("F.gelu", "torch/nn/functional.py"),
        ("nn.Linear.forward", "torch/nn/modules/linear.py"),
        ("torch.backends.cudnn.enabled", "torch/backends/cudnn/__init__.py"),
        ("DataLoader", "torch/utils/data/dataloader.py"),
        ("torch.Tensor.backward", "torch/_tensor.py"),
    ],
)
def test_a_name_that_people_write(name: str, path: str, wheel: Index) -> None:
    card = wheel.python(name)
    assert card
    assert card.answer.location
    assert card.answer.location.path == path
