"""LeNet with a DataLoader and a scheduler, on the device that there is, as in a quickstart."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split

device = (
    "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
)
torch.manual_seed(0)
torch.cuda.manual_seed_all(0)
torch.backends.cudnn.deterministic = True
print(f"Using {device} device")

images = torch.from_numpy(IMAGES).view(-1, 1, 8, 8)[:120]  # noqa: F821 (handed in)
labels = torch.from_numpy(LABELS).long()[:120]  # noqa: F821 (handed in)
train, test = random_split(TensorDataset(images, labels), [96, 24])
train_loader = DataLoader(train, batch_size=20, shuffle=True)
test_loader = DataLoader(test, batch_size=16)
for X, y in test_loader:
    print(f"Shape of X [N, C, H, W]: {X.shape}, of y: {y.shape} {y.dtype}")
    break


class LeNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(
            nn.LazyConv2d(4, kernel_size=3, padding=1), nn.LazyBatchNorm2d(), nn.LeakyReLU(0.1),
            nn.AvgPool2d(kernel_size=2, stride=2),
            nn.LazyConv2d(6, kernel_size=3), nn.SiLU(), nn.AdaptiveAvgPool2d((2, 2)),
            nn.Dropout2d(0.2),
            nn.Flatten(), nn.LazyLinear(16), nn.ELU(), nn.LazyLinear(10),
        )  # fmt: skip

    def forward(self, x):
        return self.net(x)


model = LeNet().to(device)
print(model)
model(X.to(device))
print(model)
loss_fn = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=4)

for epoch in range(3):
    model.train()
    for X, y in train_loader:
        X, y = X.to(device), y.to(device)
        loss = loss_fn(model(X), y)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    scheduler.step()
    model.eval()
    test_loss, correct = 0, 0
    with torch.no_grad():
        for X, y in test_loader:
            pred = model(X)
            test_loss += loss_fn(pred, y).item()
            correct += (pred.argmax(1) == y).float().sum().item()
    print(f"epoch {epoch}: {test_loss / len(test_loader):.4f}", correct, scheduler.get_last_lr())
