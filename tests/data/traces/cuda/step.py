"""One training step on a GPU: convolution, attention, a custom Function, mixed precision."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Sequential(nn.Conv2d(3, 16, 3, stride=2), nn.BatchNorm2d(16), nn.ReLU())
        self.words = nn.Embedding(50, 16)
        self.qkv = nn.Linear(16, 48)
        self.norm = nn.LayerNorm(16)
        self.head = nn.Linear(16, 50)

    def forward(self, image, words):
        x = torch.cat([self.conv(image).flatten(2).transpose(1, 2), self.words(words)], 1)
        q, k, v = self.qkv(x).view(*x.shape[:2], 3, 2, 8).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = self.norm(x + y.transpose(1, 2).flatten(2))
        return self.head(F.gelu(x[:, -words.shape[1] :]))


image = torch.randn(2, 3, 8, 8).cuda()
net = Net().cuda()
optimizer = torch.optim.AdamW(net.parameters())
words = torch.randint(0, 50, (2, 5)).to("cuda")
with torch.autocast("cuda", torch.bfloat16):
    loss = F.cross_entropy(net(image, words).flatten(0, 1), words.flatten())
loss.backward()
optimizer.step()
print(loss.item() > 0)
