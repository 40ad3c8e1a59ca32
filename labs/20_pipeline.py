# %% [markdown]
# # Pipeline parallel
# Layers on different ranks, and the batch in parts that follow one another: while the second
# rank computes the first part, the first rank is at the next.
#
# needs: processes, torch 2.5

# %%
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.distributed.pipelining import PipelineStage, ScheduleGPipe
from torch.profiler import profile


def layers_and_batch():
    torch.manual_seed(0)
    return [torch.nn.Linear(64, 64), torch.nn.Linear(64, 64)], torch.randn(8, 64)


def loss_of(result, target):
    return (result - target).square().mean()


# %% [markdown]
# ## Stages
# A [[torch.distributed.pipelining.PipelineStage]] is what one rank has; activations go to the
# next rank by send and receive, gradients back. [[torch.distributed.pipelining.ScheduleGPipe]]
# runs all forwards, then all backwards.


# %%
def rank(number, folder):
    where = f"file://{folder}/meet"
    dist.init_process_group("gloo", init_method=where, rank=number, world_size=2)
    layers, batch = layers_and_batch()
    stage = PipelineStage(layers[number], number, 2, torch.device("cpu"))
    schedule = ScheduleGPipe(stage, n_microbatches=2, loss_fn=loss_of)
    losses, zeros = [], torch.zeros_like(batch)
    given = [(batch,), {}] if number == 0 else [(), {"target": zeros, "losses": losses}]
    schedule.step(*given[0], **given[1])  # the first step also tells the shapes to the next rank
    layers[number].zero_grad()
    with profile() as prof:
        schedule.step(*given[0], **given[1])
    events = sorted(prof.events(), key=lambda event: event.time_range.start)
    names = [event.name for event in events]
    result = {
        "steps": [name for name in names if name.startswith(("Forward ", "Backward "))],
        "sends": names.count("c10d::send"),
        "receives": names.count("c10d::recv_"),
        "gradient": layers[number].weight.grad,
        "losses": [loss.item() for loss in losses],
    }
    torch.save(result, f"{folder}/{number}.pt")
    dist.destroy_process_group()


# %% [markdown]
# ## What came of it
# The loss is averaged over the parts, so gradients are those of the whole batch.

# %%
if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        mp.spawn(rank, (folder,), nprocs=2)
        first, second = (torch.load(f"{folder}/{number}.pt") for number in range(2))
    layers, batch = layers_and_batch()
    loss_of(layers[1](layers[0](batch)), torch.zeros_like(batch)).backward()
    print(first["steps"], second["losses"])
    expected = ["Forward 0", "Forward 1", "Backward 0", "Backward 1"]
    assert first["steps"] == expected, "all forwards, then all backwards"
    assert len(second["losses"]) == 2, "the last stage has a loss for each part"
    assert first["sends"] == 2, "two activations were sent"
    assert second["sends"] == 2, "and two gradients back"
    whole = layers[0].weight.grad
    assert torch.allclose(first["gradient"], whole, atol=1e-6), "that of the whole batch"
