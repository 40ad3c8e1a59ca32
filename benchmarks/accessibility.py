"""Accessibility of a site made by ``torchnav export site``: axe in headless Chromium with the rules
of WCAG 2.2 A and AA and best practice, dark and light, in phone and desktop width.

    python -m benchmarks.accessibility SITE [--pages 100] [--seed S]

Checks ``--pages`` pages of operators and all other pages. Needs Chromium and ``pip install
playwright axe-playwright-python``.
"""

from __future__ import annotations

import argparse
import random
import shutil
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

_RULES = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice")
_SIZES = ((390, 800), (1280, 900))
_WIDER = "document.documentElement.scrollWidth > document.documentElement.clientWidth"


def pages(site: Path, operators: int, seed: int) -> Iterator[Path]:
    """The pages to check."""
    found = sorted(site.rglob("*.html"))
    chosen = [one for one in found if one.parent.name == "op"]
    yield from (one for one in found if one.parent.name != "op")
    yield from random.Random(seed).sample(chosen, min(operators, len(chosen)))


def findings(browser: Any, axe: Any, read: Sequence[Path]) -> Iterator[tuple[str, str, str]]:
    """Each violated rule, its page and element; ``wider`` is a page that scrolls sideways."""
    for scheme in ("light", "dark"):
        for width, height in _SIZES:
            size = {"width": width, "height": height}
            page = browser.new_page(color_scheme=scheme, viewport=size)
            for path in read:
                page.goto(path.absolute().as_uri())
                where = f"{path.name}, {scheme}, {width}"
                found = axe.run(page, options={"runOnly": list(_RULES)}).response["violations"]
                yield from ((one["id"], where, n["html"]) for one in found for n in one["nodes"])
                if page.evaluate(_WIDER):
                    yield "wider", where, ""
            page.close()


def main() -> int:
    """Returns 1 if a rule is violated."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("site", type=Path)
    parser.add_argument("--pages", type=int, default=100)
    parser.add_argument("--seed", type=int, default=28)
    asked = parser.parse_args()
    from axe_playwright_python.sync_playwright import Axe
    from playwright.sync_api import sync_playwright

    read = [*pages(asked.site, asked.pages, asked.seed)]
    broken: Counter[str] = Counter()
    with sync_playwright() as player:
        browser = player.chromium.launch(executable_path=shutil.which("chromium"))
        for rule, where, element in findings(browser, Axe(), read):
            broken[rule] += 1
            if broken[rule] <= 3:
                print(f"{rule}: {where}: {element[:200]}")
    print(f"{len(read)} pages, {broken.total()} findings {dict(broken) or ''}")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
