# %% [markdown]
# # Data parallel
# [[torch.nn.parallel.DistributedDataParallel]] gives each rank the same model and another part of
# the batch, and averages gradients while backward still runs.
#
# needs: processes

# %%
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.profiler import profile


def model_and_batch():
    torch.manual_seed(0)
    return torch.nn.Linear(64, 8), torch.randn(4, 64)


# %% [markdown]
# ## Two ranks
# Each rank is a process. They meet in a file here, over the network usually, and make a process
# group: [[ProcessGroupGloo]] for tensors on the CPU.
#
# DDP hangs a hook on each [[torch::autograd::AccumulateGrad]]. [[c10d::Reducer]] puts gradients
# into buckets and starts one all_reduce for each bucket as soon as it is full.


# %%
def rank(number, folder):
    where = f"file://{folder}/meet"
    dist.init_process_group("gloo", init_method=where, rank=number, world_size=2)
    model, batch = model_and_batch()
    parallel = torch.nn.parallel.DistributedDataParallel(model)
    with profile(record_shapes=True) as prof:
        parallel(batch[2 * number : 2 * number + 2]).square().mean().backward()
    gradient = model.weight.grad.clone()
    found = [event for event in prof.events() if event.name == "c10d::allreduce_"]
    above = [event.cpu_parent.name for event in found if event.cpu_parent]
    with parallel.no_sync(), profile() as quiet:
        parallel(batch).sum().backward()
    unsynced = [event.name for event in quiet.events() if event.name == "c10d::allreduce_"]
    result = {"calls": len(found), "above": above, "unsynced": unsynced, "gradient": gradient}
    torch.save(result, f"{folder}/{number}.pt")
    dist.destroy_process_group()


# %% [markdown]
# ## What came of it
# The gradient of each rank is that of the whole batch: an average of averages over equal parts.

# %%
if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        mp.spawn(rank, (folder,), nprocs=2)
        first, second = (torch.load(f"{folder}/{number}.pt") for number in range(2))
    alone, batch = model_and_batch()
    alone(batch).square().mean().backward()
    print(first["calls"], "all_reduce, below", first["above"])
    assert torch.allclose(first["gradient"], alone.weight.grad, atol=1e-6), (
        "that of one process alone"
    )
    assert torch.equal(first["gradient"], second["gradient"]), "and the same on both ranks"
    assert first["calls"] == 1, "weight and bias went together, in one bucket"
    assert "AccumulateGrad" in first["above"][0], "it was started by the node of the last gradient"
    assert first["unsynced"] == [], "no_sync leaves it out, to accumulate first"
