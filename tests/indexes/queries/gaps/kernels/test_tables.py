"""Tables of expected failures are read by their form, whatever a version calls them."""

from __future__ import annotations

from indexes.queries.gaps.kernels.tables import Tables, rows_of

TEXT = """
def mps_ops_modifier(ops):
    # A comment with a bracket }
    UNIMPLEMENTED_XFAILLIST: dict[str, list | None] = {
        'alone': None,  # why
        "first": None, 'second': [torch.uint8],
        **others,
    }
    UNIMPLEMENTED_XFAILLIST_SPARSE = {
        'sparse': None,
    }
    XFAILLIST_GRAD = {'backward': None}
    MACOS_BEFORE_13_3_XFAILLIST = {'old': None}
    FP16_LOW_PRECISION_LIST = {'inexact'}
    EMPTY_OPS_SKIPLIST = {'empty': None}


class TestConsistency:
    ALLOWLIST_OP = {
        'works': ['f32'],
    }
    BLOCKLIST = ["blocked"]
"""


def rows() -> dict[str, tuple[str, int, bool]]:
    return {one.opinfo: (one.group, one.location.line, one.whole) for one in rows_of(TEXT, "x.py")}


def test_rows_of_mappings_sets_and_lists_with_their_lines() -> None:
    found = rows()
    assert found["alone"] == ("UNIMPLEMENTED_XFAILLIST", 5, True)
    assert found["first"] == ("UNIMPLEMENTED_XFAILLIST", 6, True)
    assert found["second"] == ("UNIMPLEMENTED_XFAILLIST", 6, False)
    assert found["works"] == ("ALLOWLIST_OP", 20, False)
    assert found["blocked"] == ("BLOCKLIST", 22, True)


def test_what_fails_on_one_release_or_is_less_exact_is_left_out() -> None:
    assert not {"old", "inexact"} & rows().keys()


def test_a_table_of_a_layout_is_not_for_ordinary_tensors() -> None:
    tables = Tables(tuple(rows_of(TEXT, "x.py")))
    assert {one.opinfo for one in tables.of_family("Sparse").fails} == {"sparse"}
    assert "sparse" not in {one.opinfo for one in tables.of_family("").fails}
    assert not tables.of_family("NestedTensor").fails


def test_a_table_that_never_ends_is_no_table() -> None:
    assert not list(rows_of("XFAILLIST = {\n 'one': None,\n", "x.py"))
