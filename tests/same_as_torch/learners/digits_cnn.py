"""A small convolutional network on handwritten digits, as in a first tutorial."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(3)
images = torch.from_numpy(IMAGES).view(-1, 1, 8, 8)  # noqa: F821 (handed in)
labels = torch.from_numpy(LABELS).long()  # noqa: F821 (handed in)
train_x, train_y = images[:192], labels[:192]
test_x, test_y = images[192:320], labels[192:320]


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, 3, padding=1)
        self.conv2 = nn.Conv2d(6, 8, kernel_size=3)
        self.pool = nn.MaxPool2d(2)
        self.drop = nn.Dropout(0.1)
        self.fc1 = nn.Linear(8, 16)
        self.fc2 = nn.Linear(16, 10)

    def forward(self, x):
        x = self.pool(F.relu(self.conv1(x)))
        x = self.pool(F.relu(self.conv2(x)))
        x = torch.flatten(x, 1)
        x = F.relu(self.fc1(self.drop(x)))
        return F.log_softmax(self.fc2(x), dim=1)


model = Net()
print(model)
print([(name, tuple(p.shape)) for name, p in model.named_parameters()])
print(sum(p.numel() for p in model.parameters() if p.requires_grad), "parameters")
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)


def accuracy(x, y):
    model.eval()
    with torch.no_grad():
        prediction = model(x).argmax(dim=1, keepdim=True)
        correct = prediction.eq(y.view_as(prediction) if hasattr(y, "view_as") else y[:, None])
    model.train()
    return 100.0 * correct.sum().item() / len(y)


for epoch in range(1, 4):
    order = torch.rand(len(train_x)).argsort() if hasattr(train_x, "argsort") else None
    order = torch.sort(torch.rand(len(train_x)))[1] if order is None else order
    total = 0.0
    for start in range(0, len(train_x), 32):
        batch = order[start : start + 32]
        optimizer.zero_grad()
        output = model(train_x[batch])
        loss = F.nll_loss(output, train_y[batch])
        loss.backward()
        optimizer.step()
        total += loss.item() * len(batch)
    print(f"epoch {epoch}: loss {total / len(train_x):.3f}, test {accuracy(test_x, test_y):.1f} %")

print({name: tuple(value.shape) for name, value in model.state_dict().items()})
print(f"{model.conv1.weight.grad.norm().item():.3f}")
state = {name: value.clone() for name, value in model.state_dict().items()}
twin = Net()
print(twin.load_state_dict(state))
twin.eval(), model.eval()
print((twin(test_x[:5]) - model(test_x[:5])).abs().max().item() == 0.0)
