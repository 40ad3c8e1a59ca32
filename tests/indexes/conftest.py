"""Real YAML for the tests: that of the installed torch wheel, found without importing torch."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from indexes.model.vocabulary import DerivativeEntry, NativeFunction
from indexes.readers.yaml.derivatives import read_derivatives
from indexes.readers.yaml.native_functions import read_native_functions


@pytest.fixture(scope="session")
def packaged() -> Path:
    """The ``torchgen/packaged`` folder of the installed wheel."""
    spec = importlib.util.find_spec("torchgen")
    if spec is None or not spec.submodule_search_locations:
        pytest.skip("torch is not installed")
    return Path(spec.submodule_search_locations[0]) / "packaged"


@pytest.fixture(scope="session")
def wheel_functions(packaged: Path) -> tuple[NativeFunction, ...]:
    """Every entry of the wheel's native_functions.yaml."""
    data = (packaged / "ATen/native/native_functions.yaml").read_bytes()
    functions, problems = read_native_functions(data, "native_functions.yaml")
    assert not problems
    return functions


@pytest.fixture(scope="session")
def wheel_derivatives(
    packaged: Path, wheel_functions: tuple[NativeFunction, ...]
) -> tuple[DerivativeEntry, ...]:
    """Every entry of the wheel's derivatives.yaml."""
    data = (packaged / "autograd/derivatives.yaml").read_bytes()
    entries, problems = read_derivatives(data, "derivatives.yaml", wheel_functions)
    assert not problems
    return entries
