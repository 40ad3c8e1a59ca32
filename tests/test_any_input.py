"""Inputs of a form that is right, with values that are not: found by hypothesis, in the same order
each time."""

from __future__ import annotations

import contextlib
import json
import time
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from indexes.model.errors import TorchnavError
from indexes.queries.index import Index
from indexes.readers.yaml.nodes import read_entries
from navigator.agents.answers import Answers
from navigator.agents.pages import compact
from navigator.trace.readers import read_trace
from navigator.trace.summary import summary_lines
from tests.navigator.trace.made import op

quickly = settings(
    max_examples=150,
    deadline=None,
    database=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=8
)
FIELDS = st.sampled_from(
    ("ph", "cat", "name", "pid", "tid", "ts", "dur", "args", "id", "bp", "s")
) | st.text(max_size=5)
CATEGORIES = st.sampled_from(
    ("cpu_op", "kernel", "cuda_runtime", "python_function", "ac2g", "fwdbwd", "torchnav_call")
)
KEYS = st.sampled_from(
    (
        *("correlation", "External id", "Sequence number", "Input Dims", "Input type", "stream"),
        *("Concrete Inputs", "Fwd thread id", "device", "Python id", "Python parent id", "call"),
    )
)
EVENTS = st.builds(
    lambda base, cat, args, odd: {**base, "cat": cat, "args": args, **odd},
    st.builds(op, st.text(max_size=20), st.floats(0, 1e6), st.floats(0, 1e3)),
    CATEGORIES,
    st.dictionaries(KEYS, VALUES, max_size=4),
    st.dictionaries(FIELDS, VALUES, max_size=2),
)


@quickly
@given(events=st.lists(EVENTS, max_size=12), around=st.dictionaries(st.text(), VALUES, max_size=3))
def test_any_events_are_read_or_refused(
    tmp_path: Path, events: list[dict[str, Any]], around: dict[str, Any]
) -> None:
    path = tmp_path / "trace.json"
    path.write_text(json.dumps({**around, "traceEvents": [op("aten::add", 0, 1), *events]}))
    with contextlib.suppress(TorchnavError):
        trace = read_trace(path)
        assert [*summary_lines(trace)]


ENTRIES = st.lists(
    st.dictionaries(
        st.from_regex(r"[a-z_]{1,8}", fullmatch=True),
        st.booleans() | st.integers(-99, 99) | st.from_regex(r"[A-Za-z_(),.:*' ]{0,30}"),
        min_size=1,
        max_size=4,
    ),
    min_size=1,
    max_size=6,
)


@quickly
@given(entries=ENTRIES, flow=st.booleans())
def test_entries_are_those_that_pyyaml_reads(entries: list[dict[str, Any]], flow: bool) -> None:
    text = yaml.safe_dump(entries, default_flow_style=flow, sort_keys=False, allow_unicode=True)
    found, problems = read_entries(text.encode(), "x.yaml")
    plain = yaml.load(text, yaml.BaseLoader)
    assert not problems
    read = [{key: field.value.text for key, field in one.fields.items()} for one in found]
    assert read == plain


@pytest.mark.parametrize("tool", ["locate", "chain", "dispatch", "users", "tests"])
@quickly
@given(text=st.text(max_size=30), limit=st.integers(1, 500), cursor=st.text(max_size=3))
def test_agents_may_ask_anything(
    tree_index: Index, tool: str, text: str, limit: int, cursor: str
) -> None:
    with contextlib.suppress(TorchnavError):
        answer = getattr(Answers(tree_index), tool)(text, limit=limit, cursor=cursor)
        assert len(compact(answer)) < 20_000


@pytest.mark.parametrize("tool", ["locate", "chain", "dispatch", "users", "tests"])
@pytest.mark.parametrize(
    "text",
    [
        "x" * 1_000_000,
        "%" * 16_000,
        "\N{GRINNING FACE}" * 16_000,
        "a." * 300_000 + "b",
        "a." * 8000 + "b",
        "a/" * 100_000 + "x.cpp:1",
        "a/" * 2000 + "x.cpp:1",
        f'File "a.py", line {"9" * 5000}, in f',
        f"BinaryOps.cpp:{'9' * 5000}",
        f"x.cpp:{'9' * 5000}]",
    ],
    ids=lambda text: f"{text[:12]!a}-{len(text)}",
)
def test_agents_may_ask_for_more_than_anyone_would(tree_index: Index, tool: str, text: str) -> None:
    begun = time.process_time()
    with contextlib.suppress(TorchnavError):
        compact(getattr(Answers(tree_index), tool)(text, limit=5))
    assert time.process_time() - begun < 4
