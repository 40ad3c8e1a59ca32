"""The screen with an extension beside the tree: its files are opened, edited and linked."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from indexes.model.errors import SourceError
from navigator.tui.session import Opener, Session
from tests.extension_marks import EXTENSION, marked
from tests.tree_marks import TREE


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    opener = Opener(str(TREE), tmp_path_factory.mktemp("cache"), ((str(EXTENSION), ""),))
    *_, last = opener.sessions(lambda _: None, lambda: False, print)
    yield last
    last.close()


def test_a_file_of_an_extension_is_found_shown_and_edited(session: Session) -> None:
    path, _, line = marked("mul_kernel").rpartition(":")
    (hit, *_) = session.index.resolve(f"{path}:{line}").hits
    assert (hit.location.path, hit.location.line) == (path, int(line))
    assert session.absolute(path) == EXTENSION / "csrc" / "xpu" / "MulKernel.cpp"
    assert "void mul_kernel" in session.documents.document(path).lines[int(line) - 1]


def test_nothing_outside_an_extension_is_edited(session: Session) -> None:
    for path in ("@extension/../tree/version.txt", "@other/csrc/scale.cpp"):
        with pytest.raises(SourceError):
            session.absolute(path)


def test_its_chains_are_worked_out_beside_the_screen(session: Session) -> None:
    session.chains.ahead(["mul.Tensor"])
    answer = session.chains("mul.Tensor")
    assert any(route.location.path.startswith("@extension/") for route in answer.routes)


def test_lines_of_an_extension_have_authors_where_git_knows_them(session: Session) -> None:
    blame = session.blame("@extension/csrc/scale.cpp", 1, 3)
    assert blame.lines or blame.note


def test_a_permalink_needs_a_repository(session: Session) -> None:
    with pytest.raises(SourceError):
        session.permalink("@other/csrc/scale.cpp", 1)
