"""A CUDA graph that is captured and replayed twice in one program."""

import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(16, 16), nn.GELU()).cuda()
x = torch.randn(4, 16, device="cuda")
with torch.no_grad():
    net(x)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        out = net(x).softmax(-1)
    for _ in range(2):
        graph.replay()
torch.cuda.synchronize()
print(out.sum().item() > 0)
