"""Tests that need a full PyTorch tree run where TORCHNAV_CHECKOUT names one, slow ones where
``-m slow`` asks for them."""

from __future__ import annotations

import os

import pytest

_NO_TREE = "needs a PyTorch source tree: set TORCHNAV_CHECKOUT"


_SLOW = "takes minutes: run it with -m slow"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        if item.get_closest_marker("slow") and "slow" not in config.option.markexpr:
            item.add_marker(pytest.mark.skip(reason=_SLOW))
    if os.environ.get("TORCHNAV_CHECKOUT"):
        return
    for item in items:
        if item.get_closest_marker("checkout"):
            item.add_marker(pytest.mark.skip(reason=_NO_TREE))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    skipped = terminalreporter.stats.get("skipped", [])
    count = sum(1 for report in skipped if _NO_TREE in str(report.longrepr))
    if count:
        terminalreporter.write_line(
            f"{count} tests on a full PyTorch tree were skipped;"
            " run them with: TORCHNAV_CHECKOUT=/path/to/pytorch .ci/check -m checkout"
        )
