"""The resolver over what PyTorch 2.7 defines."""

from __future__ import annotations

import pytest

from indexes.linking.device_names.resolver import Resolver
from tests.indexes.linking.device_names.device_name_table import Table, pytorch


@pytest.fixture(scope="module")
def resolver() -> Resolver:
    return Resolver(Table(pytorch()))
