# %% [markdown]
# # Fully sharded data parallel
# [[torch.distributed.fsdp.fully_shard]] keeps on each rank a part of every parameter. Before a
# module runs, its parameters are gathered; after, they are given back.
#
# needs: processes, torch 2.6

# %%
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.profiler import profile


def model_and_batch():
    torch.manual_seed(0)
    layers = [torch.nn.Linear(64, 64), torch.nn.Tanh(), torch.nn.Linear(64, 64)]
    return torch.nn.Sequential(*layers), torch.randn(4, 64)


# %% [markdown]
# ## Groups
# Each call of `fully_shard` makes a group of parameters, [[FSDPParamGroup]], that is gathered as
# one: [[FSDPParamGroup.unshard]] starts the all_gather before the module's forward, and again
# before its backward, unless it was kept. Here: each linear layer, and what is left.


# %%
def rank(number, folder):
    where = f"file://{folder}/meet"
    dist.init_process_group("gloo", init_method=where, rank=number, world_size=2)
    mesh = init_device_mesh("cpu", (2,))
    model, batch = model_and_batch()
    whole = sum(p.numel() for p in model.parameters())
    fully_shard(model[0], mesh=mesh)
    fully_shard(model[2], mesh=mesh)
    fully_shard(model, mesh=mesh)
    local = sum(p.to_local().numel() for p in model.parameters())
    with profile() as prof:
        model(batch[2 * number : 2 * number + 2]).square().mean().backward()
    names = [event.name for event in prof.events()]
    result = {
        "placements": str(model[0].weight.placements),
        "parts": (whole, local),
        "regions": sorted({name for name in names if name.startswith("FSDP::")}),
        "gathers": sum("allgather" in name and name.startswith("c10d::") for name in names),
        "scatters": sum("reduce_scatter" in name and name.startswith("c10d::") for name in names),
        "gradient": model[0].weight.grad.full_tensor(),
    }
    torch.save(result, f"{folder}/{number}.pt")
    dist.destroy_process_group()


# %% [markdown]
# ## What came of it
# A parameter is a [[DTensor]] that is split along its first dimension. Gradients are summed and
# split in one step, reduce_scatter: each rank gets the part that it keeps. They should then be
# averaged; with gloo, torch 2.7 leaves them summed.

# %%
if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        mp.spawn(rank, (folder,), nprocs=2)
        found = torch.load(f"{folder}/0.pt")
    alone, batch = model_and_batch()
    alone(batch).square().mean().backward()
    print(*found["regions"], sep="\n")
    assert "Shard(dim=0)" in found["placements"], "split along dimension 0"
    assert found["parts"][1] * 2 == found["parts"][0], "each rank keeps half of the numbers"
    ratio = round((found["gradient"].norm() / alone[0].weight.grad.norm()).item(), 3)
    same = torch.allclose(found["gradient"], ratio * alone[0].weight.grad, atol=1e-5)
    assert same, "the gradient is that of the whole batch"
    assert ratio in (1, 2), "averaged over two ranks, or summed"
    assert found["scatters"] == 2, "one reduce_scatter for each group with parameters"
    assert found["gathers"] == 4, "two all_gathers for each: one for forward, one for backward"
    assert [name for name in found["regions"] if "pre_forward" in name], "the profile says why"
