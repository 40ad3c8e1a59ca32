"""The computed dispatch tables of all operators against the dispatcher of the installed torch."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from indexes.model.errors import SourceError
from indexes.queries.dispatch_path.live import PROBE, Difference, Installed, compare
from indexes.queries.index import Index
from navigator.live import installed as live
from navigator.live.installed import LiveTorch, live_torch, same_version


@pytest.fixture(scope="module")
def operators(wheel: Index) -> tuple[str, ...]:
    return tuple(op for op in wheel.dispatch.operators() if "::" not in op)


@pytest.fixture(scope="module")
def torch(operators: tuple[str, ...]) -> LiveTorch:
    return live_torch([*operators, PROBE])


@pytest.fixture(scope="module")
def differences(wheel: Index, operators: tuple[str, ...], torch: LiveTorch) -> list[Difference]:
    keys = wheel.dispatch.keys
    installed = Installed.of(torch.tables[PROBE], keys, same_version(torch, wheel.info))
    assert installed.same_version
    assert "CPU" in installed.backends
    return [
        difference
        for op in operators
        for difference in compare(wheel.table(op), torch.tables[op], keys, installed)
    ]


def test_every_difference_is_explained(differences: list[Difference]) -> None:
    assert [(d.op, d.key, d.ours, d.theirs) for d in differences if not d.reason] == []


def test_the_keys_that_every_build_has_agree(
    differences: list[Difference], operators: tuple[str, ...]
) -> None:
    differ = Counter(difference.key for difference in differences)
    assert len(operators) > 2000
    for key in ("CPU", "AutogradCPU", "Tracer", "BackendSelect"):
        assert differ[key] == 0, key
    for key in ("ADInplaceOrView", "Functionalize", "Meta"):
        assert differ[key] <= 0.001 * len(operators), key


def test_without_torch_the_reason_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "_FOLDER", Path("no-such-folder"))
    with pytest.raises(SourceError) as error:
        live_torch(["add.Tensor"])
    assert "\n" not in str(error.value)
