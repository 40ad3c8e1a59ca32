"""Short programs on packages of others: tiny models with random weights and random data."""

from __future__ import annotations

GPT2 = """\
import torch
from transformers import GPT2Config, GPT2LMHeadModel

torch.manual_seed(0)
config = GPT2Config(vocab_size=99, n_positions=64, n_embd=32, n_layer=2, n_head=2)
model = GPT2LMHeadModel(config)
optimizer = torch.optim.AdamW(model.parameters())
tokens = torch.randint(0, 99, (2, 16))
for _ in range(3):
    loss = model(tokens, labels=tokens).loss
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    print(loss.item())
model.eval()
print(model.generate(tokens[:1, :4], max_new_tokens=6, do_sample=True, pad_token_id=0))
"""

MAMBA = """\
import torch
from transformers import MambaConfig, MambaForCausalLM

torch.manual_seed(0)
model = MambaForCausalLM(MambaConfig(vocab_size=99, hidden_size=16, num_hidden_layers=2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
tokens = torch.randint(0, 99, (2, 8))
for _ in range(2):
    loss = model(tokens, labels=tokens).loss
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad()
    print(loss.item())
"""

BERT = """\
import torch
from accelerate import Accelerator
from torch.utils.data import DataLoader, TensorDataset
from transformers import BertConfig, BertForSequenceClassification

torch.manual_seed(0)
accelerator = Accelerator(mixed_precision="bf16", cpu=True, gradient_accumulation_steps=2)
config = BertConfig(
    vocab_size=99, hidden_size=32, num_hidden_layers=2, num_attention_heads=2,
    intermediate_size=64, attn_implementation="sdpa",
)
model = BertForSequenceClassification(config)
model.gradient_checkpointing_enable()
data = TensorDataset(torch.randint(0, 99, (16, 12)), torch.randint(0, 2, (16,)))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
model, optimizer, loader = accelerator.prepare(model, optimizer, DataLoader(data, batch_size=4))
for tokens, labels in loader:
    with accelerator.accumulate(model):
        loss = model(input_ids=tokens, labels=labels).loss
        accelerator.backward(loss)
        optimizer.step()
        optimizer.zero_grad()
    print(loss.item())
"""

VISION = """\
import timm
import timm.optim
import torch
import torch.nn.functional as F

torch.manual_seed(0)
model = timm.create_model(
    "vit_tiny_patch16_224", img_size=32, patch_size=8, embed_dim=32, depth=2, num_heads=2,
    num_classes=5,
)
optimizer = timm.optim.create_optimizer_v2(model, opt="lamb", lr=1e-3)
for step in range(3):
    images, labels = torch.randn(4, 3, 32, 32), torch.randint(0, 5, (4,))
    loss = F.cross_entropy(model(images), labels, label_smoothing=0.1)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
"""

MOBILENET = """\
import torch
from torchvision.models import mobilenet_v3_small

torch.manual_seed(0)
model = mobilenet_v3_small(num_classes=4).to(memory_format=torch.channels_last)
optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-3)
images = torch.randn(2, 3, 48, 48).to(memory_format=torch.channels_last)
for _ in range(2):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = torch.nn.functional.cross_entropy(model(images), torch.tensor([1, 2]))
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    print(loss.item())
model.eval()
print(torch.jit.trace(model, images)(images).argmax(1))
"""

GRAPH = """\
import torch
import torch.nn.functional as F
from torch_geometric.nn import GATConv, GCNConv

torch.manual_seed(0)
nodes, edges = torch.randn(20, 8), torch.randint(0, 20, (2, 60))
labels = torch.randint(0, 3, (20,))


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = GCNConv(8, 8), GATConv(8, 3, heads=2, concat=False)

    def forward(self, x):
        return self.second(F.dropout(self.first(x, edges).relu(), training=self.training), edges)


net = Net()
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
for _ in range(5):
    optimizer.zero_grad()
    loss = F.cross_entropy(net(nodes), labels)
    loss.backward()
    optimizer.step()
    print(loss.item())
"""

LIGHTNING = """\
import pytorch_lightning as lightning
import torch
from torch.utils.data import DataLoader, TensorDataset


class Regression(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Sequential(
            torch.nn.Linear(4, 8), torch.nn.BatchNorm1d(8), torch.nn.ReLU(), torch.nn.Linear(8, 1)
        )

    def training_step(self, batch, _number):
        x, y = batch
        loss = torch.nn.functional.mse_loss(self.net(x), y)
        print(loss.item())
        return loss

    def configure_optimizers(self):
        optimizer = torch.optim.Adam(self.parameters())
        return [optimizer], [torch.optim.lr_scheduler.StepLR(optimizer, 1)]


lightning.seed_everything(0)
data = TensorDataset(torch.randn(32, 4), torch.randn(32, 1))
trainer = lightning.Trainer(
    accelerator="cpu", max_epochs=2, logger=False, enable_checkpointing=False,
    enable_progress_bar=False,
)
trainer.fit(Regression(), DataLoader(data, batch_size=8))
"""

T5 = """\
import torch
from transformers import T5Config, T5ForConditionalGeneration

torch.manual_seed(0)
config = T5Config(
    vocab_size=99, d_model=16, d_kv=8, d_ff=32, num_layers=2, num_heads=2, decoder_start_token_id=0
)
model = torch.nn.DataParallel(T5ForConditionalGeneration(config)).module
tokens = torch.randint(1, 99, (2, 10))
loss = model(input_ids=tokens, labels=tokens).loss
gradients = torch.autograd.grad(loss, [p for p in model.parameters() if p.requires_grad])
print(loss.item(), sum(g.square().sum().item() for g in gradients))
print(model.eval().generate(tokens, num_beams=2, max_new_tokens=4))
"""

SCRIPTS = {
    "gpt2_generates": GPT2,
    "mamba_trains": MAMBA,
    "bert_trains_bf16": BERT,
    "vision_transformer": VISION,
    "mobilenet_autocast": MOBILENET,
    "graph_network": GRAPH,
    "lightning_fits": LIGHTNING,
    "t5_beams": T5,
}
