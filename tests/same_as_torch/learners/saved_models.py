"""What is saved, loaded, moved to a device, and taken over into another model."""

import os
import tempfile

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim

torch.manual_seed(0)
device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
print(device, [torch.device(f"cuda:{i}") for i in range(2)], torch.cuda.memory_allocated())


class TheModelClass(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 4, 3)
        self.pool = nn.MaxPool2d(2, 2)
        self.fc1 = nn.Linear(4 * 3 * 3, 8)
        self.fc2 = nn.Linear(8, 3)
        self.seen = 0

    def forward(self, x):
        self.seen += len(x)
        x = self.pool(F.relu(self.conv1(x)))
        return self.fc2(F.relu(self.fc1(x.view(-1, 4 * 3 * 3))))

    def get_extra_state(self):
        return {"seen": self.seen}

    def set_extra_state(self, state):
        self.seen = state["seen"]


model = TheModelClass().to(device)
optimizer = optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
inputs, labels = torch.randn(6, 1, 8, 8), torch.randint(3, (6,))
for epoch in range(3):
    loss = F.cross_entropy(model(inputs), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
for name, value in model.state_dict().items():
    print(name, "\t", value.size() if torch.is_tensor(value) else value)

with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "checkpoint.pt")
    torch.save(
        {
            "epoch": epoch,
            "model_state_dict": model.state_dict(),
            "optimizer_state_dict": optimizer.state_dict(),
            "loss": loss.item(),
        },
        path,
    )
    checkpoint = torch.load(path, map_location=lambda storage, loc: storage)
    again = torch.load(path, map_location={"cuda:0": "cpu"}, weights_only=True)

resumed = TheModelClass()
resumed_optimizer = optim.SGD(resumed.parameters(), lr=1.0)
print(resumed.load_state_dict(checkpoint["model_state_dict"]), resumed.seen)
resumed_optimizer.load_state_dict(checkpoint["optimizer_state_dict"])
print(resumed_optimizer.param_groups[0]["lr"], f"{checkpoint['loss']:.4f}", again["epoch"])
loss = F.cross_entropy(resumed(inputs), labels)
resumed_optimizer.zero_grad()
loss.backward()
resumed_optimizer.step()
print(f"{loss.item():.4f}", resumed.seen)


class Other(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 4, 3)
        self.head = nn.Linear(36, 5)


other = Other()
state = {k: v for k, v in model.state_dict().items() if torch.is_tensor(v)}
print(other.load_state_dict(state, strict=False))
try:
    other.load_state_dict(state)
except RuntimeError as error:
    print(str(error).split("\n")[0])

for parameter in resumed.parameters():
    parameter.requires_grad = False
resumed.fc2 = nn.Linear(resumed.fc2.in_features, 2)
print([name for name, p in resumed.named_parameters() if p.requires_grad])
tied = nn.Sequential(nn.Linear(3, 3), nn.Tanh())
tied.append(tied[0])
for remove_duplicate in (True, False):
    print([name for name, _ in tied.named_parameters(remove_duplicate=remove_duplicate)])
shrink = nn.Conv2d(1, 2, 3, stride=2, padding=1)
grow = nn.ConvTranspose2d(2, 1, 3, stride=2, padding=1)
print(grow(shrink(inputs), output_size=inputs.size()).shape, grow(shrink(inputs)).shape)
