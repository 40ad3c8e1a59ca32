"""Files ranked by names and by history."""

from __future__ import annotations

from indexes.model.vocabulary import Location
from indexes.queries.contribution.evidence import rank
from indexes.queries.contribution.family import Mention
from indexes.queries.contribution.neighbours import Neighbour
from indexes.queries.contribution.precedents import Precedent
from indexes.source.git_history import Change
from tests.indexes.queries.contribution.yaml_entries import natives, unary

FAMILY = [Neighbour(one, 0.8) for one in natives(unary("a", "b", "c", "d"))]
KERNELS = frozenset({"native"})


def _named(path: str, members: str) -> tuple[Mention, ...]:
    return tuple(Mention(one, Location(path, 1), one) for one in members)


def _commit(*files: str) -> Precedent:
    return Precedent(Change("1", "Ada", "2024-01-01", "Add x (#1)", 1), ("x",), 0.5, files)


MENTIONS = {
    path: _named(path, members)
    for path, members in {
        "all.py": "abcd",
        "half.py": "ab",
        "one.py": "a",
        "native/K.cpp": "ab",
        "none.py": "z",
    }.items()
}


def test_by_names_alone() -> None:
    found = {one.path: one for one in rank(MENTIONS, FAMILY, FAMILY, (), KERNELS)}
    assert {path: one.certainty for path, one in found.items()} == {
        "all.py": "surely",
        "half.py": "perhaps",
        "native/K.cpp": "surely",
    }
    assert found["half.py"].why == "it names 2 of the 4 most similar operators"


def test_operators_that_are_hardly_like_it_make_nothing_sure() -> None:
    far = [Neighbour(one.native, 0.2) for one in FAMILY]
    found = {one.path: one.certainty for one in rank(MENTIONS, far, far, (), KERNELS)}
    assert found == {"all.py": "perhaps"}


def test_with_history_lists_that_nobody_touches_any_more_are_left_out() -> None:
    commits = [_commit("half.py", "new.cpp"), _commit("half.py"), _commit("half.py")]
    found = {one.path: one for one in rank(MENTIONS, FAMILY, FAMILY, commits, KERNELS)}
    assert found["half.py"].certainty == "surely"
    assert found["all.py"].certainty == "perhaps"
    assert found["half.py"].why.endswith("3 of 3 commits that added one changed it")
    assert "one.py" not in found


def test_what_no_commit_touched_is_not_sure() -> None:
    commits = [_commit("half.py")] * 3
    found = {one.path: one for one in rank(MENTIONS, FAMILY, FAMILY, commits, frozenset({""}))}
    assert (found["all.py"].score, found["all.py"].certainty) == (0.5, "perhaps")


def test_two_commits_are_no_history() -> None:
    found = rank(MENTIONS, FAMILY, FAMILY, [_commit("half.py"), _commit("half.py")], KERNELS)
    assert not any(one.commits for one in found)


def test_of_a_folder_of_kernels_the_likeliest_file_is_sure() -> None:
    mentions = {f"native/{one}.cpp": _named(f"native/{one}.cpp", one) for one in "abcd"}
    alike = [_commit(f"native/{one}.cpp") for one in "aabcd"]
    found = {one.path: one.certainty for one in rank(mentions, FAMILY, FAMILY, alike, KERNELS)}
    assert [path for path, sure in found.items() if sure == "surely"] == ["native/a.cpp"]
    assert found["native/b.cpp"] == "perhaps"


def test_many_that_are_hardly_alike_do_not_outvote_the_one_that_is() -> None:
    entries = natives(unary(*"abcdefgh"))
    family = [Neighbour(one, 0.9 if at == 0 else 0.4) for at, one in enumerate(entries)]
    paths = {"native/Own.cpp": "a", "native/Many.cpp": "bcdefgh"}
    mentions = {path: _named(path, members) for path, members in paths.items()}
    found = {one.path: one.certainty for one in rank(mentions, family, family, (), KERNELS)}
    assert found == {"native/Own.cpp": "surely"}
