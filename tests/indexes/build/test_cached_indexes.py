"""The indexes in a cache: listed with what they are of, and pruned when nothing can use them."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

import pytest

from indexes.build import cached_indexes
from indexes.build.cached_indexes import list_cached, prune
from indexes.queries.index import Index
from indexes.source.source import Source
from indexes.source.versions import open_version
from tests.indexing import build, opened
from tests.repositories import commit, git, repository


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return repository(tmp_path / "pytorch")


def test_what_the_cache_holds(repo: Path, cache: Path) -> None:
    build(repo, cache)
    v1 = open_version("v1", Source.find(str(repo)))
    Index.open(v1, cache).close()
    (cache / "indexes/broken.db").write_bytes(b"not an index")
    found = {one.state: one for one in list_cached(cache)}
    assert set(found) == {"in use", "commit", "other version"}
    assert found["in use"].root == str(repo)
    assert found["commit"].revision == git(repo, "rev-parse", "v1")
    assert found["in use"].files == found["commit"].files > 100


def test_prune_removes_what_is_of_no_use(repo: Path, cache: Path) -> None:
    build(repo, cache)
    other = repo.with_name("other")
    shutil.copytree(repo, other)
    build(other, cache)
    shutil.rmtree(other)
    cut_off = cache / "indexes/x.db1.building"
    being_built = cache / "indexes/x.db2.building"
    for path in (cut_off, being_built):
        path.write_bytes(b"")
    os.utime(cut_off, (0, time.time() - 48 * 3600))
    gone = prune(cache)
    assert sorted(one.state for one in gone) == ["left over", "tree is gone"]
    assert being_built.exists()
    assert [one.root for one in list_cached(cache)] == [str(repo)]
    assert not [p for p in (cache / "indexes").iterdir() if p.name.startswith(gone[0].path.name)]
    with opened(repo, cache) as index:
        assert index.report.read == 0


def test_only_the_last_used_commits_stay(
    repo: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cached_indexes, "COMMITS_KEPT", 2)
    commits = [git(repo, "rev-parse", "v1")]
    for number in range(2):
        (repo / "version.txt").write_text(f"9.9.{number}")
        commits.append(commit(repo, f"Version {number}"))
    tree = Source.find(str(repo))
    for at, name in enumerate((commits[0], commits[1], commits[0], commits[2])):
        Index.open(open_version(name, tree), cache).close()
        stamp = 1_000_000 + at  # used one after the other, however quick the disk
        newest = next((cache / "indexes").glob(f"commit-{name[:20]}.db"))
        os.utime(newest, (stamp, stamp))
    assert {one.revision for one in list_cached(cache)} == {commits[0], commits[2]}
