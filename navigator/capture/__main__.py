"""``python -m navigator.capture`` or, without torchnav installed, ``python PATH/capture``."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from types import ModuleType

HERE = os.path.dirname(os.path.abspath(__file__))


def load_package() -> str:
    """Import this folder under a private name, so that ``sys.path`` stays as it is."""
    name = "_torchnav_capture"
    spec = importlib.util.spec_from_file_location(
        name, os.path.join(HERE, "__init__.py"), submodule_search_locations=[HERE]
    )
    assert spec is not None
    assert spec.loader is not None
    package: ModuleType = importlib.util.module_from_spec(spec)
    sys.modules[name] = package
    spec.loader.exec_module(package)
    return name


if __name__ == "__main__":
    _package = __package__ or load_package()
    importlib.import_module(_package + ".program").main(sys.argv[1:])
