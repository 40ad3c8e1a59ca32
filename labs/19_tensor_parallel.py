# %% [markdown]
# # Tensor parallel
# One product of matrices on two ranks: split by columns, then by rows, so that only the end needs
# communication. [[parallelize_module]] does it by making parameters [[DTensor]]s.
#
# needs: processes, torch 2.5

# %%
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor.debug import CommDebugMode
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module


def model_and_batch():
    torch.manual_seed(0)
    layers = [torch.nn.Linear(64, 256), torch.nn.ReLU(), torch.nn.Linear(256, 64)]
    return torch.nn.Sequential(*layers), torch.randn(4, 64)


# %% [markdown]
# ## By hand
# With `W1` split by rows of the weight (columns of the result) and `W2` by columns, each half
# goes through on its own: `relu` sees one element at a time. The sum of both is the result.

# %%
if __name__ == "__main__":
    (first, _, second), batch = model_and_batch()
    halves = [
        torch.relu(batch @ w1.t() + b1) @ w2.t()
        for w1, b1, w2 in zip(
            first.weight.chunk(2), first.bias.chunk(2), second.weight.chunk(2, dim=1), strict=True
        )
    ]
    by_hand = sum(halves) + second.bias
    assert torch.allclose(by_hand, second(torch.relu(first(batch))), atol=1e-5), "two halves, a sum"

# %% [markdown]
# ## By DTensor
# [[ColwiseParallel]] splits the first layer, `RowwiseParallel` the second. The result of the
# second is a DTensor that is still to be summed, `Partial`; [[Redistribute]] makes it whole.


# %%
def rank(number, folder):
    where = f"file://{folder}/meet"
    dist.init_process_group("gloo", init_method=where, rank=number, world_size=2)
    model, batch = model_and_batch()
    plan = {"0": ColwiseParallel(), "2": RowwiseParallel()}
    parallelize_module(model, init_device_mesh("cpu", (2,)), plan)
    with CommDebugMode() as seen, torch.no_grad():
        result = model(batch) + 0  # waits for the collective
    counts = {str(name): count for name, count in seen.get_comm_counts().items()}
    shapes = [tuple(model[at].weight.to_local().shape) for at in (0, 2)]
    torch.save({"result": result, "counts": counts, "shapes": shapes}, f"{folder}/{number}.pt")
    dist.destroy_process_group()


# %%
if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        mp.spawn(rank, (folder,), nprocs=2)
        found = torch.load(f"{folder}/0.pt")
    print(found["counts"], found["shapes"])
    assert found["shapes"] == [(128, 64), (64, 128)], "half of each weight is on a rank"
    assert torch.allclose(found["result"], by_hand, atol=1e-5), "the result is that by hand"
    assert list(found["counts"].values()) == [1], "one collective in the whole forward"
    assert "all_reduce" in next(iter(found["counts"])), "an all_reduce"
