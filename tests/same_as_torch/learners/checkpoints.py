"""Checkpoints, frozen layers, the best weights of a training, and schedules by results."""

import copy
import io
import os
import tempfile

import torch
import torch.optim as optim
from torch import nn

torch.manual_seed(1)


class TheModelClass(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 3, 3)
        self.pool = nn.MaxPool2d(2, 2)
        self.fc1 = nn.Linear(3 * 3 * 3, 10)
        self.drop = nn.Dropout(p=0.25)
        self.fc2 = nn.Linear(10, 3)

    def forward(self, x):
        x = self.pool(torch.relu(self.conv1(x)))
        x = torch.flatten(x, 1)
        return self.fc2(self.drop(torch.relu(self.fc1(x))))


model = TheModelClass()
optimizer = optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
print("Model's state_dict:")
for k in model.state_dict():
    print(k, "\t", model.state_dict()[k].size())
x = (torch.arange(5 * 64).float() * 0.11).cos().view(5, 1, 8, 8)
y = torch.tensor([0, 1, 2, 1, 0])
crit = nn.CrossEntropyLoss(label_smoothing=0.1)
for epoch in range(4):
    optimizer.zero_grad()
    loss = crit(model(x), y)
    loss.backward()
    optimizer.step()
    print(f"Epoch {epoch} loss {loss:.4f}")
with tempfile.TemporaryDirectory() as d:
    path = os.path.join(d, "ckpt.tar")
    torch.save(
        {
            "epoch": 4,
            "model_state_dict": model.state_dict(),
            "optimizer_state_dict": optimizer.state_dict(),
            "loss": loss,
        },
        path,
    )
    model2 = TheModelClass()
    opt2 = optim.SGD(model2.parameters(), lr=0.5)
    ck = torch.load(path, weights_only=True)
    print(
        model2.load_state_dict(ck["model_state_dict"]),
        ck["epoch"],
        ck["loss"].item() == loss.item(),
        sorted(ck),
    )
    opt2.load_state_dict(ck["optimizer_state_dict"])
    print(opt2.param_groups[0]["lr"], len(opt2.state))
model.eval()
model2.eval()
print(torch.equal(model(x), model2(x)))
small = nn.Linear(27, 10)
sd = model.state_dict()
sd["extra"] = torch.ones(1)
del sd["fc2.bias"]
print(model2.load_state_dict(sd, strict=False))
try:
    model2.load_state_dict(sd)
except RuntimeError as e:
    print(str(e).splitlines()[:2])
try:
    small.load_state_dict({"weight": torch.ones(2, 2), "bias": torch.ones(10)})
except RuntimeError as e:
    print(str(e).splitlines()[:2])
buf = io.BytesIO()
torch.save(model.state_dict(), buf)
buf.seek(0)
print(list(torch.load(buf, map_location="cpu").keys())[:2])
for name, p in model.named_parameters():
    p.requires_grad = name.startswith("fc2")
print([n for n, p in model.named_parameters() if p.requires_grad])
model.fc2 = nn.Linear(10, 4)
opt = optim.Adam(filter(lambda p: p.requires_grad, model.parameters()), lr=1e-3)
sched = optim.lr_scheduler.StepLR(opt, step_size=2, gamma=0.5)
best, best_w = 1e9, copy.deepcopy(model.state_dict())
since = 0
for epoch in range(5):
    for phase in ["train", "val"]:
        model.train() if phase == "train" else model.eval()
        with torch.set_grad_enabled(phase == "train"):
            out = model(x)
            _, preds = torch.max(out, 1)
            loss = nn.functional.cross_entropy(out, y)
            if phase == "train":
                opt.zero_grad()
                loss.backward()
                opt.step()
        corrects = torch.sum(preds == y.data)
    sched.step()
    if loss < best:
        best, best_w = loss.item(), copy.deepcopy(model.state_dict())
    acc = corrects.double() / len(y)
    print(f"{phase} Loss: {loss.item():.4f} Acc: {acc:.4f} lr {sched.get_last_lr()}")
model.load_state_dict(best_w)
print(
    model.conv1.weight.grad is None,
    model.fc2.weight.grad is not None,
    sched.state_dict()["last_epoch"],
)
twin = copy.deepcopy(model)
with torch.no_grad():
    twin.fc2.bias.add_(1.0)
print((twin(x) - model(x)).mean().round(), twin.fc2.bias.data_ptr() != model.fc2.bias.data_ptr())
ps = optim.lr_scheduler.ReduceLROnPlateau(opt, "min", patience=0, factor=0.1)
for v in [1.0, 1.0, 0.5, 0.6]:
    ps.step(v)
print([g["lr"] for g in opt.param_groups], opt)
one = optim.lr_scheduler.OneCycleLR(
    optim.SGD(twin.fc2.parameters(), lr=0.1), max_lr=0.5, total_steps=6
)
lrs = []
for _ in range(5):
    one.optimizer.step()
    one.step()
    lrs.append(round(one.get_last_lr()[0], 5))
print(lrs)
ema = {k: v.clone() for k, v in model.state_dict().items()}
for k, v in twin.state_dict().items():
    ema[k].mul_(0.9).add_(v, alpha=0.1)
print(ema["fc2.bias"].shape, sum(p.numel() for p in model.parameters() if p.requires_grad))
