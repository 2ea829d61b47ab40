"""Loops written for a GPU, run without one: autocast and GradScaler switch themselves off."""

import warnings

import torch
import torch.nn as nn
from torch.amp import GradScaler, autocast

warnings.simplefilter("ignore")
torch.manual_seed(10)
use_cuda = torch.cuda.is_available()
device = torch.device("cuda:0" if use_cuda else "cpu")
print(device, torch.cuda.device_count())
torch.backends.cudnn.benchmark = True
model = nn.Linear(4, 2).to(device, non_blocking=True)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = GradScaler("cuda", enabled=use_cuda)
x, y = torch.randn(8, 4).to(device), torch.randint(0, 2, (8,)).to(device)
outputs = []
for step in range(3):
    with autocast(device_type="cuda", dtype=torch.float16, enabled=use_cuda):
        output = model(x)
        outputs.append(output.detach())
        outputs.append(output.softmax(1).detach())
        loss = nn.functional.cross_entropy(output, y)
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    scaler.step(optimizer)
    scaler.update()
    optimizer.zero_grad()
    print(step, output.dtype, f"{loss.item():.4f}", scaler.get_scale(), scaler.is_enabled())
with torch.autocast("cuda"):
    print(torch.mm(torch.ones(2, 2), torch.ones(2, 2)).dtype, torch.is_autocast_enabled())
old = torch.cuda.amp.GradScaler()
with torch.cuda.amp.autocast():
    print((torch.ones(2, 2) @ torch.ones(2, 2)).dtype, old.state_dict())
with torch.autocast(device_type="cpu", enabled=False):
    print(torch.mm(torch.ones(2, 2), torch.ones(2, 2)).dtype)


@torch.autocast(device_type="cuda")
def forward(x):
    return model(x)


print(forward(x).dtype, model.weight.is_cuda, x.is_cuda, next(model.parameters()).device.type)
if use_cuda:
    model = nn.DataParallel(model)
torch.cuda.empty_cache()

if torch.cuda.is_available():
    torch.cuda.synchronize()
