"""Writes the pages of docs/labs from real runs of all labs, and their list.

python docs/make_labs.py          # runs every lab that can be run here, and writes its page
python docs/make_labs.py views    # one of them

Links are those of the installed torch. A lab that fails, or needs what is not here, leaves its
page as it was; the exit code is then 1.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from indexes.source.torch_install import installed_torch
from navigator.cli.main import main as torchnav
from navigator.labs.cells import Lab, all_labs

PAGES = Path(__file__).resolve().parent / "labs"


def listed(labs: tuple[Lab, ...]) -> Iterator[str]:
    """The list of all labs, in the order of reading."""
    yield "# Labs"
    yield ""
    yield "Short programs, each about one thing in PyTorch, with what they printed and the claims"
    yield "that held. `torchnav lab NAME` runs one with your torch and links into your source."
    yield ""
    yield "| | lab | needs |"
    yield "|---|---|---|"
    for one in labs:
        title = f"[{one.title}]({one.name}.md)"
        yield f"| {one.number} | {title}: `torchnav lab {one.name}` | {', '.join(one.needs)} |"


def main(names: list[str]) -> int:
    torch = installed_torch()
    if torch is None:
        print("torch is not installed", file=sys.stderr)
        return 1
    labs = all_labs()
    PAGES.mkdir(exist_ok=True)
    (PAGES / "README.md").write_text("\n".join(listed(labs)) + "\n", encoding="utf-8")
    status = 0
    for one in labs:
        if not names or one.name in names:
            status |= _write(one, str(torch.root))
    return status


def _write(one: Lab, tree: str) -> int:
    page = PAGES / f"{one.name}.md"
    before = page.read_bytes() if page.exists() else b""
    status = torchnav(["lab", one.name, "--markdown", str(page), "--tree", tree])
    if status and before:
        page.write_bytes(before)
    return int(status != 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
