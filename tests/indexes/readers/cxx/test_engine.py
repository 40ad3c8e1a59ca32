from __future__ import annotations

import os
from pathlib import Path

import pytest

from indexes.model.answers import EngineFunction
from indexes.readers.cxx.engine import PHASES, read_engine

SOURCE = """\
namespace torch::autograd {
namespace {
// Not an engine's own.
void helper() {}
}
auto ReadyQueue::push(NodeTask item, bool increment) -> void {
  heap_.push(std::move(item));
}
size_t ReadyQueue::size() const { return heap_.size(); }
bool ReadyQueue::empty() const { return heap_.empty(); }
// Runs one node,
// then the next.
void Engine::evaluate_function(std::shared_ptr<GraphTask>& graph_task, Node* func) {
  auto outputs = call_function(graph_task, func, inputs);
  auto queue = ready_queue(cpu_ready_queue, device);
  queue->push(NodeTask(graph_task, func));
  if (outputs.size() > 0) { helper(); }
}
static variable_list call_function(std::shared_ptr<GraphTask>& graph_task, Node* func) {
  const char* decoy = "evaluate_function()";
  return call_post_hooks(fn, std::move(outputs)); // thread_main()
}
static variable_list call_post_hooks(Node& fn, variable_list outputs) { return outputs; }
auto Engine::compute_dependencies(Node* root, GraphTask& task) -> void {
  std::vector<Node*> queue{root};
  while (!queue.empty()) { queue.push(root); }
}
auto Engine::execute(const edge_list& roots) -> variable_list {
  compute_dependencies(root.get(), *graph_task);
  std::thread t(&Engine::thread_main, this);
  graph_task->mark_as_completed();
  return validate(roots);
}
auto Engine::thread_main(const std::shared_ptr<GraphTask>& graph_task) -> void {
  while (!graphtasks_queue_.empty()) {
    evaluate_function(graph_task, task.fn_.get());
  }
  graph_task->mark_as_completed();
  CPUQueue* q;
}
std::shared_ptr<ReadyQueue> Engine::ready_queue(std::shared_ptr<ReadyQueue> q, at::Device d) {
  return q;
}
void GraphTask::mark_as_completed() {}
}  // namespace torch::autograd
"""


def read(text: str) -> dict[str, EngineFunction]:
    functions, problems = read_engine(text.encode(), "engine.cpp")
    assert not problems
    return {function.name: function for function in functions}


def callees(function: EngineFunction) -> list[str]:
    return [name for name, _ in function.calls]


def test_functions_with_lines_and_comments() -> None:
    found = read(SOURCE)
    evaluate = found["Engine::evaluate_function"]
    assert (evaluate.location.line, evaluate.location.end_line) == (13, 18)
    assert evaluate.comment == "Runs one node,\nthen the next."
    assert "helper" in found
    assert found["ReadyQueue::push"].comment == ""


def test_calls_are_those_of_engine_functions_alone() -> None:
    found = read(SOURCE)
    assert found["Engine::evaluate_function"].calls == (
        ("call_function", 14),
        ("Engine::ready_queue", 15),
        ("ReadyQueue::push", 16),
        ("helper", 17),
    )
    assert callees(found["call_function"]) == ["call_post_hooks"]
    assert callees(found["ReadyQueue::push"]) == [], "heap_ is a standard container"
    assert callees(found["Engine::compute_dependencies"]) == [], "queue is a vector here"
    assert callees(found["Engine::thread_main"]) == [
        "Engine::evaluate_function",
        "GraphTask::mark_as_completed",
    ]


def test_a_function_whose_address_is_taken_counts_as_called() -> None:
    assert "Engine::thread_main" in callees(read(SOURCE)["Engine::execute"])


def test_phases_follow_from_the_entry_points() -> None:
    phases = {name: function.phases for name, function in read(SOURCE).items()}
    assert phases["Engine::execute"] == ("start",)
    assert phases["Engine::compute_dependencies"] == ("dependencies",)
    assert phases["Engine::thread_main"] == ("loop",)
    assert phases["Engine::evaluate_function"] == ("evaluate",)
    assert phases["call_function"] == phases["call_post_hooks"] == ("call",)
    assert phases["ReadyQueue::push"] == phases["Engine::ready_queue"] == ("queue",)
    assert phases["helper"] == ("evaluate",), "reached from evaluate_function alone"
    assert phases["ReadyQueue::size"] == ("queue",), "nothing reaches it: by its class"


GUARDS = """\
namespace torch::autograd {
void forked() {}
void track() { pthread_atfork(nullptr, nullptr, forked); }
GraphTaskGuard::GraphTaskGuard(Task task) { use(task); }
GraphTaskGuard::~GraphTaskGuard() { restore(); }
GraphTask::GraphTask(int depth) : depth_(depth) {}
void set_device(int device) { set(device); }
auto Engine::execute(const edge_list& roots) -> variable_list {
  auto task = std::make_shared<GraphTask>(1);
  set_device(0);
  return run();
}
auto Engine::start_device_threads() -> void { track(); set_device(1); }
auto Engine::thread_main(const std::shared_ptr<GraphTask>& task) -> void {
  GraphTaskGuard guard(task);
  set_device(2);
}
void Engine::queue_callback(std::function<void()> callback) { add(callback); }
}  // namespace torch::autograd
"""


def test_a_function_belongs_to_every_phase_that_leads_to_it() -> None:
    phases = {name: function.phases for name, function in read(GUARDS).items()}
    assert phases["set_device"] == ("start", "threads", "loop")
    assert phases["Engine::queue_callback"] == ("outside",), "hooks call it"


def test_what_a_guard_makes_and_ends_is_called() -> None:
    found = read(GUARDS)
    assert callees(found["Engine::thread_main"]) == [
        "GraphTaskGuard::GraphTaskGuard",
        "GraphTaskGuard::~GraphTaskGuard",
        "set_device",
    ]
    assert "GraphTask::GraphTask" in callees(found["Engine::execute"])
    assert found["forked"].phases == ("threads",), "it is handed on by name"


def test_the_header_of_the_wheel_gives_declarations(packaged: Path) -> None:
    path = packaged.parent.parent / "torch/include/torch/csrc/autograd/engine.h"
    text = path.read_text()
    found = read(text)
    lines = text.split("\n")
    assert found["Engine::thread_main"].phases == ("loop",)
    assert found["ReadyQueue::push"].calls == ()
    for name, function in found.items():
        if function.location.end_line == 0:
            assert name.rpartition("::")[2] in lines[function.location.line - 1]


@pytest.mark.checkout
def test_the_engine_of_a_checkout() -> None:
    root = Path(os.environ.get("TORCHNAV_CHECKOUT") or pytest.skip("no TORCHNAV_CHECKOUT"))
    found = read((root / "torch/csrc/autograd/engine.cpp").read_text())
    phases = {phase for function in found.values() for phase in function.phases}
    assert {phase.name for phase in PHASES} <= phases
    assert all(function.phases for function in found.values())
    assert "Engine::evaluate_function" in callees(found["Engine::thread_main"])
    assert "call_function" in callees(found["Engine::evaluate_function"])
    assert "Engine::thread_init" in callees(found["Engine::start_device_threads"])
    assert callees(found["Engine::compute_dependencies"]) in (
        [],
        ["GraphTask::stash_current_streams"],
    )


@pytest.mark.parametrize("data", [b"", b"int x;", b"\xff\xfe{{{{", b"void Engine::"])
def test_no_functions_are_a_problem(data: bytes) -> None:
    functions, problems = read_engine(data, "engine.cpp")
    assert functions == ()
    assert problems[0].message == "no functions of the autograd engine"
