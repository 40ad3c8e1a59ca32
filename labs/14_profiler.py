# %% [markdown]
# # Reading a profile
# [[torch.profiler.profile]] records each operator as it begins and ends: a tree by time, on each
# thread. What belongs together across forward and backward is joined by numbers.

# %%
import json
import tempfile
from pathlib import Path

import torch
from torch.profiler import ProfilerActivity, profile, record_function

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(64, 256), torch.nn.ReLU(), torch.nn.Linear(256, 8))
x = torch.randn(32, 64)
with profile(activities=[ProfilerActivity.CPU], record_shapes=True, with_flops=True) as prof:
    with record_function("step"):
        loss = model(x).square().mean()
        loss.backward()
events = prof.events()

# %% [markdown]
# ## A tree by time
# Operators report through [[at::RecordFunction]], also those that operators call. Time in
# itself, `self`, is what its children leave; over the tree it adds up without counting twice.

# %%
by_name = {event.name: event for event in events}
linear = by_name["aten::linear"]
print([child.name for child in linear.cpu_children])
assert linear.cpu_parent.name == "step", "record_function is a row like any other"
children = sum(child.cpu_time_total for child in linear.cpu_children)
assert abs(linear.self_cpu_time_total + children - linear.cpu_time_total) < 1, "self is the rest"

# %% [markdown]
# ## Forward and backward
# A node has the number that its forward had when it was made. In the profile both operators
# carry it: so a slow backward leads to the line of the forward.

# %%
forward = [event for event in events if event.name == "aten::addmm"]
backward = [event for event in events if event.name == "AddmmBackward0"]
numbers = [event.sequence_nr for event in forward]
print(numbers, [event.sequence_nr for event in backward])
assert sorted(numbers) == sorted(one.sequence_nr for one in backward), "the same two numbers"
assert [one.sequence_nr for one in backward] == numbers[::-1], "the last forward comes back first"
around = backward[0].cpu_parent.name
assert around.endswith("evaluate_function: AddmmBackward0"), "around it: the engine's own row"

# %% [markdown]
# ## Work
# `with_flops` counts what a product of matrices multiplies and adds: twice the number of
# elements of the result times the length of a dot product.

# %%
first = forward[0]
print(first.input_shapes, first.flops)
assert first.input_shapes[1:3] == [[32, 64], [64, 256]], "shapes are those of the operator"
assert first.flops == 2 * 32 * 64 * 256, "2 * m * k * n"

# %% [markdown]
# ## The file
# The exported trace is JSON for Perfetto. `torchnav open FILE` shows the same rows, each linked
# to its chain; `torchnav export trace FILE --view operator` prints where time went.

# %%
with tempfile.TemporaryDirectory() as folder:
    file = Path(folder) / "trace.json"
    prof.export_chrome_trace(str(file))
    rows = json.loads(file.read_text())["traceEvents"]
named = [row for row in rows if row.get("name") == "aten::addmm"]
assert len(named) == len(forward), "the same operators are in the file"
assert {row["args"]["Sequence number"] for row in named} == set(numbers), "with their numbers"
