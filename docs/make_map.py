"""Writes the map of docs/architecture.md from the first sentences of the modules' docstrings.

python docs/make_map.py           # writes it
python docs/make_map.py --check   # exit code 1 where it is not up to date
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "architecture.md"
BEGIN, END = "<!-- map: python docs/make_map.py -->\n", "<!-- end of the map -->\n"


def sentence(path: Path) -> str:
    """The first sentence of a module's docstring, on one line."""
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    words = text.partition("\n\n")[0].split()
    line = " ".join(words)
    end = line.find(". ")
    return line if end < 0 else line[: end + 1]


def rooms(package: str) -> Iterator[str]:
    """A heading for each folder, and a line for each module in it."""
    for init in sorted((ROOT / package).rglob("__init__.py")):
        folder = init.parent
        yield f"\n**`{folder.relative_to(ROOT)}/`** {sentence(init)}\n\n"
        for path in sorted(folder.glob("*.py")):
            if path != init:
                yield f"- `{path.stem}`: {sentence(path)}\n"


def written(page: str) -> str:
    """The page with the map as it is now."""
    before, _, rest = page.partition(BEGIN)
    after = rest.partition(END)[2]
    lines = [*rooms("indexes"), *rooms("navigator")]
    return f"{before}{BEGIN}{''.join(lines)}\n{END}{after}"


def main() -> int:
    page = PAGE.read_text(encoding="utf-8")
    now = written(page)
    if "--check" in sys.argv[1:]:
        if page != now:
            print("docs/architecture.md: the map is old; run: python docs/make_map.py")
        return int(page != now)
    PAGE.write_text(now, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
