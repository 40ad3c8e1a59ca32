"""``torchnav gaps`` as people and scripts run it."""

from __future__ import annotations

import json

import pytest

from tests.conftest import Run


def test_counts_come_first_and_each_gap_says_how_to_begin(
    torchnav: Run, small_tree: tuple[str, ...]
) -> None:
    done = torchnav("gaps", "--kind", "todo", *small_tree)
    assert done.returncode == 0
    first, *_ = done.stdout.splitlines()
    assert first.split()[:3] == ["easy", "todo", str(done.stdout.count("-> torchnav contribute"))]
    assert "because a TODO" in done.stdout


def test_a_kind_begins_with_the_names_that_it_is_about(
    torchnav: Run, small_tree: tuple[str, ...]
) -> None:
    whole = json.loads(torchnav("gaps", "--json", "--kind", "ref", *small_tree).stdout)
    names = {gap["op"].partition(".")[0] for gap in whole["gaps"] if gap["op"]}
    done = torchnav("gaps", "--kind", "ref", "--limit", "1", *small_tree)
    above = done.stdout.partition("\nref/")[0].replace(",", " ").split()
    assert len(names) > 1
    assert names <= {*above}


def test_what_an_hour_leaves_out_is_no_claim_that_there_is_none(
    torchnav: Run, small_tree: tuple[str, ...]
) -> None:
    above = torchnav("gaps", "--hour", *small_tree).stdout.partition("\n\n")[0]
    counts, _, left_out = above.partition("none that match: ")
    known = [line for line in counts.splitlines() if line[:1] != " " and " ? " not in line]
    assert {line.split()[0] for line in known} == {"easy"}
    assert "kernel" in left_out


def test_json_holds_every_gap_and_filters_leave_some(
    torchnav: Run, small_tree: tuple[str, ...]
) -> None:
    everything = json.loads(torchnav("gaps", "--json", *small_tree).stdout)
    told = [one for one in everything["counts"] if one["count"] is not None]
    listed = len(everything["gaps"])
    assert sum(one["count"] for one in told) == listed + everything["more"] > listed > 10
    assert any(one["lacks"] for one in everything["counts"])
    fewer = json.loads(torchnav("gaps", "--json", "--todo", "miopen", *small_tree).stdout)
    assert 0 < len(fewer["gaps"]) < len(everything["gaps"])
    assert all("miopen" in json.dumps(gap).lower() for gap in fewer["gaps"])


def test_markdown_is_a_table_and_a_list(torchnav: Run, small_tree: tuple[str, ...]) -> None:
    done = torchnav("gaps", "--markdown", "--kind", "docs", *small_tree)
    assert "| easy | `docs` |" in done.stdout
    assert "  - begin: `torchnav contribute " in done.stdout


def test_nothing_found_is_code_1_with_what_could_not_be_told(
    torchnav: Run, small_tree: tuple[str, ...]
) -> None:
    done = torchnav("gaps", "--kind", "decomposition", *small_tree)
    assert done.returncode == 1
    assert "HasDecompTest.test_has_decomposition.expect is not in this source" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("wrong", [("--kind", "nonsense"), ("--limit", "many"), ("--nothing",)])
def test_wrong_usage_is_json_too_wherever_the_option_stands(
    wrong: tuple[str, ...], torchnav: Run, small_tree: tuple[str, ...]
) -> None:
    for arguments in (("--json", *wrong), (*wrong, "--json")):
        done = torchnav("gaps", *arguments, *small_tree)
        error = json.loads(done.stdout)["error"]
        assert (done.returncode, error["exit_code"]) == (2, 2)
        assert wrong[-1] in error["message"]


def test_an_unknown_command_is_json_too_unless_the_option_is_an_argument(torchnav: Run) -> None:
    assert json.loads(torchnav("nothing", "--json").stdout)["error"]["exit_code"] == 2
    assert torchnav("nothing", "--", "--json").stdout == ""


def test_an_unknown_kind_is_wrong_usage(torchnav: Run, small_tree: tuple[str, ...]) -> None:
    done = torchnav("gaps", "--kind", "nonsense", *small_tree)
    assert done.returncode == 2
    assert "ref" in done.stderr


def test_a_gap_s_id_is_a_name_for_contribute(torchnav: Run, small_tree: tuple[str, ...]) -> None:
    gaps = json.loads(torchnav("gaps", "--json", *small_tree).stdout)["gaps"]
    first = {gap["kind"]: gap["id"] for gap in reversed(gaps)}
    for gap in first.values():
        assert torchnav("contribute", gap, *small_tree).returncode == 0, gap
