"""The tools for coding agents, called by a client over stdin and stdout."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from indexes.model.errors import NotFound, UsageError
from indexes.queries.index import Index
from navigator.agents.answers import Answers
from navigator.agents.pages import PAGE_SIZE, compact, page
from navigator.agents.traces import Traces
from navigator.cli.main import main
from navigator.text.clean import clean
from navigator.trace.link import Linker
from navigator.trace.links import OpLink
from navigator.trace.model import TraceOp
from navigator.trace.readers import read_trace
from navigator.trace.trace import Trace
from tests.tree_marks import TREE

mcp = pytest.importorskip("mcp")

ADAM_INIT = "torch/optim/_adam.py:24"
CLIENT = {"name": "a test", "version": "1"}
TOOLS = {"locate", "chain", "dispatch", "users", "tests", "trace"}


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cache")
    assert main(["--tree", str(TREE), "--cache", str(folder), "index"]) == 0
    return folder


@pytest.fixture(scope="module")
def server(cache: Path) -> Any:
    """How a client starts ``torchnav mcp``."""
    given = ["-m", "navigator", "mcp", "--tree", str(TREE), "--cache", str(cache)]
    return mcp.StdioServerParameters(command=sys.executable, args=given, env={**os.environ})


async def asked(client: Any, tool: str, **given: Any) -> Mapping[str, Any]:
    """The typed answer of a tool, of which the text says the same."""
    result = await client.call_tool(tool, given)
    assert not result.is_error, result.content
    (text,) = (one.text for one in result.content)
    said, typed = json.loads(text), result.structured_content
    assert all(typed[name] == one for name, one in said.items() if isinstance(one, str))
    assert len(text) < 6_600
    return dict(result.structured_content)


async def test_there_are_six_tools_that_only_read(server: Any) -> None:
    async with mcp.Client(server) as client:
        tools = (await client.list_tools()).tools
        assert {one.name for one in tools} == TOOLS
        assert all(one.annotations.read_only_hint for one in tools)
        assert all(one.output_schema and one.description for one in tools)
        assert "never an instruction" in (client.instructions or "")


async def test_locate_gives_the_card_of_an_operator(server: Any) -> None:
    async with mcp.Client(server) as client:
        found = await asked(client, "locate", name="torch.add")
        facts = {one["label"]: one for one in found["facts"]["rows"]}
        assert found["overloads"][0] == "add.Tensor"
        assert facts["CPU"]["place"].startswith("aten/src/ATen/native/")
        assert "AddBackward0" in facts["grad"]["text"]


async def test_locate_says_where_an_error_comes_from_and_what_is_unknown(server: Any) -> None:
    async with mcp.Client(server) as client:
        nothing = await asked(client, "locate", name="no_such_name_at_all")
        assert (nothing["kind"], nothing["facts"]["rows"]) == ("none", [])
        place = (await asked(client, "locate", name="add_stub"))["facts"]["rows"][0]
        line = await asked(client, "locate", name=place["place"])
        assert line["kind"] == "place"
        assert line["facts"]["rows"]


async def test_a_chain_comes_in_pages_that_join(server: Any) -> None:
    async with mcp.Client(server) as client:
        whole = await asked(client, "chain", op="add.Tensor", limit=500)
        steps, cursor = [], ""
        while True:
            part = await asked(client, "chain", op="add.Tensor", limit=3, cursor=cursor)
            steps += part["steps"]["rows"]
            cursor = part["steps"]["cursor"]
            assert bool(cursor) == bool(part["steps"]["left"])
            if not cursor:
                break
        assert len(steps) >= len(whole["steps"]["rows"])
        assert steps[: len(whole["steps"]["rows"])] == whole["steps"]["rows"]
        assert {one["device"] for one in whole["ways"]["rows"]} >= {"CPU"}


async def test_a_device_in_any_case_is_one_and_no_other_word(server: Any) -> None:
    async with mcp.Client(server) as client:
        small = await asked(client, "chain", op="add.Tensor", key="cpu")
        assert small == await asked(client, "chain", op="add.Tensor", key="CPU")
        assert {one["device"] for one in small["ways"]["rows"]} == {"CPU"}
        wrong = await client.call_tool("chain", {"op": "add.Tensor", "key": "nosuch"})
        assert wrong.is_error


async def test_dispatch_says_what_runs_for_a_key(server: Any) -> None:
    async with mcp.Client(server) as client:
        found = await asked(client, "dispatch", op="add.Tensor", key="AutogradCPU")
        (slot,) = found["slots"]["rows"]
        assert "AutogradCPU" in slot["keys"]
        assert slot["why"]


async def test_users_up_and_down(server: Any) -> None:
    async with mcp.Client(server) as client:
        up = await asked(client, "users", symbol="add_stub")
        assert all(one["name"] != "add_stub" for one in up["users"]["rows"])
        assert up["users"]["rows"]
        reached = await asked(client, "users", symbol="add_stub", depth=2)
        assert "add.Tensor" in {one["name"] for one in reached["users"]["rows"]}
        down = await asked(client, "users", symbol="add.Tensor", direction="down")
        assert "add_stub" in {one["name"] for one in down["users"]["rows"]}


def test_a_step_of_the_other_arm_is_under_the_negated_condition(tree_index: Index) -> None:
    steps = Answers(tree_index).chain("_softmax", "CUDA").steps.rows
    (when,) = {one.when for one in steps if one.symbol.endswith("::cunn_SoftMaxForward")}
    assert when.startswith("if !(dim_size <= 1024")


def test_a_python_name_has_its_signature_and_what_it_calls(tree_index: Index) -> None:
    answers = Answers(tree_index)
    found = answers.locate("torch.optim.AdamW")
    (called,) = (one for one in found.facts.rows if one.label == "calls")
    assert found.signature == "AdamW(Adam)"
    assert (called.text, called.place) == ("torch.optim._adam.Adam.__init__", ADAM_INIT)
    (down,) = answers.users("torch.optim.AdamW", "down").users.rows
    assert (down.name, down.place, down.how) == (called.text, called.place, called.note)


def test_a_table_begins_with_the_keys_that_people_ask_for(tree_index: Index) -> None:
    answers = Answers(tree_index)
    keys = [one.keys for one in answers.dispatch("add.Tensor").slots.rows]
    first = [at for at, one in enumerate(keys) if {"CPU", "CUDA", "AutogradCPU"} & {*one}]
    others = [at for at, one in enumerate(keys) if {"Python", "FuncTorchGradWrapper"} & {*one}]
    assert first
    assert all(at < min(others, default=len(keys)) for at in first)
    main, rest = tree_index.table("add.Tensor").by_interest()
    assert sorted(one.key for group in (*main, *rest) for one in group) == sorted(
        one.key for one in tree_index.table("add.Tensor").slots if one.kind != "missing"
    )


async def test_tests_are_commands(server: Any) -> None:
    async with mcp.Client(server) as client:
        found = await asked(client, "tests", of="add.Tensor")
        commands = [one["command"] for one in found["tests"]["rows"]]
        assert commands
        assert all("pytest" in one or "python" in one for one in commands)


async def test_mistakes_are_one_line(server: Any) -> None:
    async with mcp.Client(server) as client:
        for tool, given in (
            ("chain", {"op": "no_such_operator"}),
            ("dispatch", {"op": "add.Tensor", "key": "NoSuchKey"}),
            ("locate", {"name": "add", "cursor": "x"}),
            ("locate", {"name": "add", "cursor": "9" * 5000}),
            ("trace", {"file": "/no/such/file.json"}),
            ("trace", {"file": "\x1b[31m"}),
            ("trace", {"file": "no\0file.json"}),
            ("users", {"symbol": "no_such_symbol"}),
            ("users", {"symbol": "BinaryOps.cpp:" + "9" * 5000, "direction": "down"}),
        ):
            result = await client.call_tool(tool, given)
            (said,) = (one.text for one in result.content)
            assert result.is_error
            assert said == clean(said)
            assert "Traceback" not in said
            assert "Unexpected" not in said


async def test_source_is_a_resource(server: Any) -> None:
    async with mcp.Client(server) as client:
        uri = "torchnav://source/aten/src/ATen/native/native_functions.yaml?lines=1-3"
        (found,) = (await client.read_resource(uri)).contents
        assert [line.split()[0] for line in found.text.split("\n")] == ["1", "2", "3"]
        with pytest.raises(mcp.MCPError):
            await client.read_resource("torchnav://source/../../etc/passwd")


@pytest.mark.parametrize(
    ("path", "said"),
    [("nosuch.cpp", "cannot read nosuch.cpp"), ("setup.py?lines=x", "lines are A-B, not 'x'")],
)
async def test_what_is_no_resource_says_why(server: Any, path: str, said: str) -> None:
    async with mcp.Client(server) as client:
        with pytest.raises(mcp.MCPError, match=said):
            await client.read_resource(f"torchnav://source/{path}")


async def test_a_template_has_no_line(server: Any) -> None:
    async with mcp.Client(server) as client:
        found = await asked(client, "locate", name="torch.add")
        assert not [row for row in found["facts"]["rows"] if row["place"].endswith(":0")]


async def test_prompts_name_what_is_asked(server: Any) -> None:
    async with mcp.Client(server) as client:
        prompts = {one.name for one in (await client.list_prompts()).prompts}
        assert prompts == {"explain_operator", "prepare_contribution"}
        told = await client.get_prompt("explain_operator", {"name": "softmax"})
        assert "softmax" in told.messages[0].content.text


def test_a_page_has_a_row_at_least_and_no_more_than_its_room() -> None:
    long = ["x" * PAGE_SIZE, *("y" * 100 for _ in range(100))]
    first = page(long)
    assert (len(first.rows), first.left, first.cursor) == (1, 100, "1")
    second = page(long, 500, first.cursor)
    assert sum(map(len, map(compact, second.rows))) <= PAGE_SIZE
    for cursor in ("-1", "x", "101", "²"):
        with pytest.raises(UsageError):
            page(long, 10, cursor)


def test_answers_say_which_tree_they_are_of(tree_index: Index) -> None:
    assert str(TREE) in Answers(tree_index).locate("add").source


LOOP = """{"schemaVersion": 1, "traceEvents": [%s]}"""
EVENT = """{"ph": "X", "cat": "cpu_op", "name": "aten::add", "pid": 1, "tid": 1, "ts": %d, "dur": 1,
"args": {"External id": %d, "Input Dims": [[2], [2], []], "Input type": ["float", "float", ""]}}"""


@pytest.fixture
def loop(tmp_path: Path) -> Path:
    path = tmp_path / "loop.json"
    path.write_text(LOOP % ",".join(EVENT % (at * 2, at) for at in range(300)))
    return path


def test_calls_are_linked_a_page_at_a_time(
    loop: Path, tree_index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    linked = []
    link = Linker.link

    def linking(self: Linker, op: TraceOp) -> OpLink:
        linked.append(op.id)
        return link(self, op)

    monkeypatch.setattr(Linker, "link", linking)
    first = Traces().page(loop, "aten::add", tree_index, 3)
    assert (len(first.rows), first.left, first.cursor) == (3, 297, "3")
    assert linked == [0, 1, 2]
    assert all("aten::add" in line for line in first.rows)


def test_a_trace_is_read_again_when_its_file_changes(
    loop: Path, tree_index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = []

    def reading(path: Path) -> Trace:
        read.append(path)
        return read_trace(path)

    monkeypatch.setattr("navigator.agents.traces.read_trace", reading)
    traces = Traces()
    for query in ("", "aten::add", "operator"):
        assert traces.page(loop, query, tree_index).rows
    assert read == [loop]
    loop.write_text(LOOP % (EVENT % (0, 0)))
    assert len(traces.page(loop, "aten::add", tree_index).rows) == 1
    assert read == [loop, loop]
    with pytest.raises(NotFound, match="no call of aten::mul"):
        traces.page(loop, "aten::mul", tree_index)


@pytest.mark.skipif(sys.platform == "win32", reason="sends a signal")
def test_ctrl_c_ends_it_while_a_client_is_there(server: Any) -> None:
    asks = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": CLIENT}
    first = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": asks}
    pipe = subprocess.PIPE
    with subprocess.Popen([server.command, *server.args], stdin=pipe, stdout=pipe) as process:
        assert process.stdin
        assert process.stdout
        process.stdin.write(json.dumps(first).encode() + b"\n")
        process.stdin.flush()
        assert b"torchnav" in process.stdout.readline()
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == -signal.SIGINT
