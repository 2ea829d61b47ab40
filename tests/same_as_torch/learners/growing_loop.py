"""A loop of training that grows: by hand, with modules, with loaders, with a dataset of dicts."""

import math

import torch
import torch.nn.functional as F
from torch import nn, optim
from torch.utils.data import DataLoader, Dataset, TensorDataset

torch.manual_seed(0)
x_all = (torch.arange(240 * 16).float() * 0.37).sin().reshape(240, 16)
y_all = (x_all[:, :8].sum(1) > 0).long() + (x_all[:, 8:].sum(1) > 0).long()
x_train, y_train, x_valid, y_valid = x_all[:192], y_all[:192], x_all[192:], y_all[192:]
n, c = x_train.shape
print(y_train.min(), y_train.max(), torch.bincount(y_train))
weights = torch.randn(16, 3) / math.sqrt(16)
weights.requires_grad_()
bias = torch.zeros(3, requires_grad=True)


def log_softmax(x):
    return x - x.exp().sum(-1).log().unsqueeze(-1)


def model(xb):
    return log_softmax(xb @ weights + bias)


def nll(input, target):
    return -input[range(target.shape[0]), target].mean()


def accuracy(out, yb):
    preds = torch.argmax(out, dim=1)
    return (preds == yb).float().mean()


bs, lr, epochs = 64, 0.5, 2
for epoch in range(epochs):
    for i in range((n - 1) // bs + 1):
        start_i = i * bs
        end_i = start_i + bs
        loss = nll(model(x_train[start_i:end_i]), y_train[start_i:end_i])
        loss.backward()
        with torch.no_grad():
            weights -= weights.grad * lr
            bias -= bias.grad * lr
            weights.grad.zero_()
            bias.grad.zero_()
print(nll(model(x_train), y_train), accuracy(model(x_train), y_train))


class Logistic(nn.Module):
    def __init__(self):
        super().__init__()
        self.weights = nn.Parameter(torch.randn(16, 3) / math.sqrt(16))
        self.bias = nn.Parameter(torch.zeros(3))

    def forward(self, xb):
        return xb @ self.weights + self.bias


model = Logistic()
for _ in range(2):
    loss = F.cross_entropy(model(x_train), y_train)
    loss.backward()
    with torch.no_grad():
        for p in model.parameters():
            p -= p.grad * lr
        model.zero_grad()
print(loss, [name for name, _ in model.named_parameters()])


def get_data(train_ds, valid_ds, bs):
    return DataLoader(train_ds, batch_size=bs, shuffle=True), DataLoader(
        valid_ds, batch_size=bs * 2
    )


def loss_batch(model, loss_func, xb, yb, opt=None):
    loss = loss_func(model(xb), yb)
    if opt is not None:
        loss.backward()
        opt.step()
        opt.zero_grad()
    return loss.item(), len(xb)


def fit(epochs, model, loss_func, opt, train_dl, valid_dl):
    for epoch in range(epochs):
        model.train()
        for xb, yb in train_dl:
            loss_batch(model, loss_func, xb, yb, opt)
        model.eval()
        with torch.no_grad():
            losses, nums = zip(*[loss_batch(model, loss_func, xb, yb) for xb, yb in valid_dl])
        print(epoch, f"{sum(l * k for l, k in zip(losses, nums)) / sum(nums):.5f}")


class Lambda(nn.Module):
    def __init__(self, func):
        super().__init__()
        self.func = func

    def forward(self, x):
        return self.func(x)


class WrappedDataLoader:
    def __init__(self, dl, func):
        self.dl, self.func = dl, func

    def __len__(self):
        return len(self.dl)

    def __iter__(self):
        for b in self.dl:
            yield self.func(*b)


model = nn.Sequential(
    nn.Conv2d(1, 4, kernel_size=3, stride=1, padding=1),
    nn.ReLU(),
    nn.Conv2d(4, 3, kernel_size=3, padding=1),
    nn.ReLU(),
    nn.AdaptiveAvgPool2d(1),
    Lambda(lambda x: x.view(x.size(0), -1)),
)
train_ds, valid_ds = TensorDataset(x_train, y_train), TensorDataset(x_valid, y_valid)
train_dl, valid_dl = get_data(train_ds, valid_ds, bs)
prep = lambda x, y: (x.view(-1, 1, 4, 4), y)
train_dl, valid_dl = WrappedDataLoader(train_dl, prep), WrappedDataLoader(valid_dl, prep)
opt = optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
fit(3, model, F.cross_entropy, opt, train_dl, valid_dl)
print(model, len(train_dl), len(train_ds[0]))


class Custom(Dataset):
    def __init__(self, transform=None, target_transform=None):
        self.transform, self.target_transform = transform, target_transform

    def __len__(self):
        return 10

    def __getitem__(self, idx):
        image, label = torch.full((2, 2), float(idx)), idx % 3
        image = self.transform(image) if self.transform else image
        return {"image": image, "label": label, "name": f"img{idx}"}


loader = DataLoader(
    Custom(transform=lambda t: t / 10), batch_size=4, shuffle=True, drop_last=True, collate_fn=None
)
batch = next(iter(loader))
print(batch["image"].shape, batch["label"], batch["name"], len(loader))
for i, b in enumerate(DataLoader(Custom(), 4)):
    print(i, b["label"].tolist(), b["name"])


def collate(items):
    return torch.stack([d["image"] for d in items]).sum(), [d["name"] for d in items]


print(
    next(
        iter(
            DataLoader(
                Custom(),
                3,
                collate_fn=collate,
                sampler=torch.utils.data.SequentialSampler(range(5)),
            )
        )
    )
)
a, b2 = torch.utils.data.random_split(Custom(), [7, 3], generator=torch.Generator().manual_seed(1))
print(
    a.indices,
    b2.indices,
    len(torch.utils.data.ConcatDataset([a, b2])),
    torch.utils.data.Subset(Custom(), [1])[0]["label"],
)
