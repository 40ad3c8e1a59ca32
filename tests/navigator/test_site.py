"""The site of the small tree: its files, its links, its search in a real browser."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from indexes.queries.index import Index
from navigator.site import build
from navigator.site.build import Built, build_site
from navigator.site.layout import LISTS, address
from navigator.text.html import stylesheet
from tests.indexing import opened

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
_VOID = {"meta", "link", "input", "br"}


class Reader(HTMLParser):
    """Where a page leads, what its text is, and which tags are not closed."""

    def __init__(self) -> None:
        super().__init__()
        self.leads: list[str] = []
        self.open: list[str] = []
        self.wrong: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.leads += [value for name, value in attrs if name in ("href", "src") and value]
        if tag not in _VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in _VOID and (not self.open or self.open.pop() != tag):
            self.wrong.append(tag)


@pytest.fixture(scope="module")
def built(tree_index: Index, tmp_path_factory: pytest.TempPathFactory) -> Built:
    return build_site(tree_index, tmp_path_factory.mktemp("site"), lambda *_: None)


@pytest.fixture(scope="module")
def pages(built: Built) -> dict[Path, Reader]:
    found = {}
    for path in built.folder.rglob("*.html"):
        found[path] = reader = Reader()
        reader.feed(path.read_text("utf-8"))
    return found


def test_every_operator_has_a_page(built: Built, tree_index: Index) -> None:
    missing = {one.partition(":")[0] for one in built.missing}
    for one in tree_index.operators():
        assert one.full_name in missing or (built.folder / address(one.full_name)).is_file()
    assert len(missing) < 0.1 * len(tree_index.operators())


def test_no_link_is_broken(pages: dict[Path, Reader]) -> None:
    for path, page in pages.items():
        for lead in page.leads:
            parts = urlsplit(lead)
            assert parts.scheme in ("", "https")
            assert parts.scheme or (path.parent / parts.path).resolve().is_file(), (path, lead)


def test_tags_are_closed_and_text_of_the_tree_is_text(pages: dict[Path, Reader]) -> None:
    assert {path.name: page.wrong + page.open for path, page in pages.items()} == {
        path.name: [] for path in pages
    }


def test_lists_lead_to_operators(built: Built) -> None:
    page = address("add.Tensor")
    for name in LISTS:
        text = (built.folder / f"{name}.html").read_text("utf-8")
        assert name == "errors" or f'href="{page}"' in text, name
    assert "AddBackward0" in (built.folder / "nodes.html").read_text("utf-8")


def test_a_page_says_what_computes_and_how_the_gradient_is_formed(built: Built) -> None:
    text = (built.folder / address("add.Tensor")).read_text("utf-8")
    for said in ("add.Tensor(Tensor self", "Routes", "Gradient", "Chain"):
        assert said in text


def test_a_chain_is_whole_and_leads_to_the_pages_of_what_it_calls(
    built: Built, tree_index: Index
) -> None:
    for one in tree_index.operators():
        text = (built.folder / address(one.full_name)).read_text("utf-8")
        assert text.count("<li>") == len(tree_index.chain(one.full_name, depth=0).hops)
    text = (built.folder / address("add_.Tensor")).read_text("utf-8")
    assert '<a href="add.out.html">' in text.partition("<h2>Chain</h2>")[2]


def test_overloads_quote_the_same_lines_once(built: Built) -> None:
    found: set[tuple[str, str]] = set()
    texts = {path: path.read_text() for path in (built.folder / "op").iterdir()}
    for path, text in texts.items():
        for quoted in re.findall(r"</summary>[^\n]*:\d+<pre.*?</pre>", text, re.DOTALL):
            key = (path.name.partition(".")[0].rstrip("_"), quoted)
            assert key not in found, path
            found.add(key)
    assert found
    assert any(": quoted in <a href=" in text for text in texts.values())


def _contrast(one: str, other: str) -> float:
    """The contrast of two colours as WCAG counts it."""
    lighter, darker = sorted(map(_luminance, (one, other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(colour: str) -> float:
    digits = colour if len(colour) == 6 else "".join(2 * one for one in colour)
    parts = [int(digits[at : at + 2], 16) / 255 for at in (0, 2, 4)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_text_has_contrast(theme: int) -> None:
    root = re.findall(r":root \{(.*?)\}", stylesheet(), re.DOTALL)[theme]
    colours = dict(re.findall(r"--(\w+): #(\w+)", root))
    for ink in ("ink", "dim", "link", "bad"):
        for paper in ("paper", "soft"):
            assert _contrast(colours[ink], colours[paper]) >= 4.5, (ink, paper)


def test_versions_stand_above(built: Built) -> None:
    text = (built.folder.parent / "index.html").read_text("utf-8")
    assert f'href="{built.folder.name}/index.html"' in text


def test_processes_write_the_same_pages(
    built: Built, tree_index: Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build, "_FEW", 0)
    beside = build_site(tree_index, tmp_path, lambda *_: None)
    for path in built.folder.rglob("*.*"):
        assert (beside.folder / path.relative_to(built.folder)).read_bytes() == path.read_bytes()
    assert beside[1:] == built[1:]


def test_addresses_are_stable_and_plain() -> None:
    assert address("add.Tensor") == address("aten::add.Tensor") == "op/add.Tensor.html"
    names = ["add.out", "quantized::add", "quantized_add", "__and__.Scalar", "../../x", "a b/c"]
    assert len({address(name).lower() for name in names}) == len(names)
    assert all(re.fullmatch(r"op/[\w.-]+\.html", address(name)) for name in names)


def test_a_tree_says_nothing_that_leads_out_of_the_site(tree_copy: Path, tmp_path: Path) -> None:
    (tree_copy / "version.txt").write_text("../../evil<b>\n")
    long = f'TORCH_LIBRARY(a, m) {{\n  m.def("{"x" * 300}(Tensor a) -> Tensor");\n}}\n'
    (tree_copy / "aten/src/ATen/native/Long.cpp").write_text(long)
    site = tmp_path / "out" / "site"
    with opened(tree_copy, tmp_path / "cache") as index:
        built = build_site(index, site, lambda *_: None)

    assert built.folder.parent == site
    assert [*(tmp_path / "out").iterdir()] == [site]
    assert [one for one in built.missing if "too long" in one and one.startswith("a::xxx")]
    assert "<b>" not in (site / "index.html").read_text()


def test_a_folder_that_cannot_be_written_is_one_line(tree_index: Index, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(Exception, match="cannot write the site"):
        build_site(tree_index, tmp_path / "file", lambda *_: None)


def _shown(address: str) -> Iterator[str]:
    """The links that the search box shows for what the address asks."""
    assert CHROMIUM
    done = subprocess.run(
        [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom", address],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    found = done.stdout.partition('<ul id="found"')[2].partition("</ul>")[0]
    yield from re.findall(r'<a href="([^"]+)">', found)


@pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")
def test_search_in_a_browser(built: Built) -> None:
    index = (built.folder / "index.html").as_uri()
    assert next(_shown(f"{index}?q=add.tensor")) == address("add.Tensor")
    assert address("add.Tensor") in [*_shown(f"{index}?q=AddBackward0")]
    page = (built.folder / address("add.Tensor")).as_uri()
    assert next(_shown(f"{page}?q=mul.tensor")) == f"../{address('mul.Tensor')}"
    assert not [*_shown(f"{index}?q=no_such_operator")]
    assert next(_shown(f"{index}?q=expected%20all")).startswith("errors/e.html#")
