"""Writes docs/screen.svg, the picture of the README: the real screen on the small tree of the
tests.

python docs/make_screen.py
"""

from __future__ import annotations

import asyncio
import html
import re
import sys
import tempfile
from pathlib import Path

from textual.pilot import Pilot

from navigator.tui.app import TorchnavApp
from navigator.tui.config import Config
from navigator.tui.session import Opener

ROOT = Path(__file__).resolve().parents[1]
PICTURE = ROOT / "docs" / "screen.svg"
SIZE = (120, 34)
_PATIENCE = 60.0
"""Seconds."""


async def _wait(pilot: Pilot[int], words: str) -> None:
    shown = ""
    for _ in range(int(_PATIENCE / 0.2)):
        await pilot.pause(0.2)
        tags = re.sub(r"<[^>]*>", "", pilot.app.export_screenshot(simplify=True))
        shown = html.unescape(tags).replace("\xa0", " ")
        if words in shown:
            return
    raise SystemExit(f"{words!r} did not appear on the screen: {shown[-2000:]}")


async def picture(cache: str) -> str:
    """The screen after the steps, as SVG."""
    app = TorchnavApp(Opener(str(ROOT / "tests" / "tree"), Path(cache)), Config())
    async with app.run_test(size=SIZE) as pilot:
        await _wait(pilot, "Choose")
        await pilot.press("m", "u", "l")
        await _wait(pilot, "BinaryMulKernel.cu")
        await pilot.press("enter")
        await pilot.press("2")
        await _wait(pilot, "BinaryMulKernel.cu:")
        await pilot.pause(0.5)
        return app.export_screenshot(title="torchnav")


def main() -> int:
    with tempfile.TemporaryDirectory() as cache:
        PICTURE.write_text(asyncio.run(picture(cache)), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
