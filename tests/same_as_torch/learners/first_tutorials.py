"""Tensors, datasets, a model, training, saving, autograd: the first steps in a row."""

import math
import os
import tempfile

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(0)
data = [[1, 2], [3, 4]]
x_data = torch.tensor(data)
np_array = np.array(data)
x_np = torch.from_numpy(np_array)
x_ones = torch.ones_like(x_data)
print(f"Ones Tensor: \n {x_ones} \n")
x_rand = torch.rand_like(x_data, dtype=torch.float)
print(f"Random Tensor: \n {x_rand} \n")
shape = (
    2,
    3,
)
print(torch.rand(shape), torch.ones(shape), torch.zeros(shape))
tensor = torch.rand(3, 4)
print(f"Shape of tensor: {tensor.shape}\nDatatype: {tensor.dtype}\nDevice: {tensor.device}")
if torch.accelerator.is_available():
    tensor = tensor.to(torch.accelerator.current_accelerator())
device = torch.accelerator.current_accelerator().type if torch.accelerator.is_available() else "cpu"
print(f"Using {device} device")
tensor = torch.ones(4, 4)
print(
    f"First row: {tensor[0]}",
    f"First column: {tensor[:, 0]}",
    f"Last column: {tensor[..., -1]}",
    sep="\n",
)
tensor[:, 1] = 0
print(tensor)
t1 = torch.cat([tensor, tensor, tensor], dim=1)
print(t1)
y1 = tensor @ tensor.T
y2 = tensor.matmul(tensor.T)
y3 = torch.rand_like(y1)
torch.matmul(tensor, tensor.T, out=y3)
print(y3)
z3 = torch.rand_like(tensor)
print(torch.mul(tensor, tensor, out=z3))
agg = tensor.sum()
print(agg.item(), type(agg.item()))
print(f"{tensor} \n")
tensor.add_(5)
print(tensor)
t = torch.ones(5)
n = t.numpy()
t.add_(1)
print(f"t: {t}", f"n: {n}")
n = np.ones(5)
t = torch.from_numpy(n)
np.add(n, 1, out=n)
print(f"t: {t}", f"n: {n}")


class Digits(Dataset):
    def __init__(self, n, transform=None, target_transform=None):
        g = torch.Generator().manual_seed(1)
        self.X = torch.randint(0, 256, (n, 1, 8, 8), generator=g, dtype=torch.uint8)
        self.y = torch.randint(0, 10, (n,), generator=g).tolist()
        self.transform, self.target_transform = transform, target_transform

    def __len__(self):
        return len(self.y)

    def __getitem__(self, idx):
        image, label = self.X[idx], self.y[idx]
        if self.transform:
            image = self.transform(image)
        if self.target_transform:
            label = self.target_transform(label)
        return image, label


training = Digits(96, transform=lambda im: im.float() / 255)
onehot = Digits(
    4,
    target_transform=lambda y: torch.zeros(10, dtype=torch.float).scatter_(
        0, torch.tensor(y), value=1
    ),
)
print(onehot[0][1])
train_dataloader = DataLoader(training, batch_size=32, shuffle=True)
test_dataloader = DataLoader(Digits(40, lambda im: im.float() / 255), batch_size=32)
for X, y in test_dataloader:
    print(f"Shape of X [N, C, H, W]: {X.shape}")
    print(f"Shape of y: {y.shape} {y.dtype}")
    break
train_features, train_labels = next(iter(train_dataloader))
print(
    f"Feature batch shape: {train_features.size()}",
    train_features[0].squeeze().shape,
    f"Label: {train_labels[0]}",
)


class NeuralNetwork(nn.Module):
    def __init__(self):
        super().__init__()
        self.flatten = nn.Flatten()
        self.linear_relu_stack = nn.Sequential(
            nn.Linear(8 * 8, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 10)
        )

    def forward(self, x):
        return self.linear_relu_stack(self.flatten(x))


model = NeuralNetwork().to(device)
print(model)
X = torch.rand(1, 8, 8, device=device)
logits = model(X)
pred_probab = nn.Softmax(dim=1)(logits)
y_pred = pred_probab.argmax(1)
print(f"Predicted class: {y_pred}")
for name, param in model.named_parameters():
    print(f"Layer: {name} | Size: {param.size()} | Values : {param[:2]} \n")


def train_loop(dataloader, model, loss_fn, optimizer):
    size = len(dataloader.dataset)
    model.train()
    for batch, (X, y) in enumerate(dataloader):
        X, y = X.to(device), y.to(device)
        pred = model(X)
        loss = loss_fn(pred, y)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if batch % 2 == 0:
            loss, current = loss.item(), batch * 32 + len(X)
            print(f"loss: {loss:>7f}  [{current:>5d}/{size:>5d}]")


def test_loop(dataloader, model, loss_fn):
    model.eval()
    size = len(dataloader.dataset)
    num_batches = len(dataloader)
    test_loss, correct = 0, 0
    with torch.no_grad():
        for X, y in dataloader:
            pred = model(X)
            test_loss += loss_fn(pred, y).item()
            correct += (pred.argmax(1) == y).type(torch.float).sum().item()
    print(
        f"Test Error: \n Accuracy: {(100 * correct / size):>0.1f}%, "
        f"Avg loss: {test_loss / num_batches:>8f} \n"
    )


loss_fn = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-1)
for t in range(2):
    print(f"Epoch {t + 1}\n-------")
    train_loop(train_dataloader, model, loss_fn, optimizer)
    test_loop(test_dataloader, model, loss_fn)
with tempfile.TemporaryDirectory() as d:
    path = os.path.join(d, "model.pth")
    torch.save(model.state_dict(), path)
    model2 = NeuralNetwork()
    print(model2.load_state_dict(torch.load(path, weights_only=True)))
    torch.save(
        {
            "epoch": 3,
            "model_state_dict": model.state_dict(),
            "optimizer_state_dict": optimizer.state_dict(),
            "loss": 0.4,
        },
        path,
    )
    ck = torch.load(path)
    optimizer.load_state_dict(ck["optimizer_state_dict"])
    print(ck["epoch"], list(ck))
    print(optimizer.state_dict()["param_groups"])
    torch.save(model, path) if False else None
for k in model.state_dict():
    print(k, "\t", model.state_dict()[k].size())
# warmstart
model2.load_state_dict({k: v for k, v in model.state_dict().items() if "4" not in k}, strict=False)
print(model2.load_state_dict({"a": torch.ones(1)}, strict=False))
# autograd
x = torch.ones(5)
y = torch.zeros(3)
w = torch.randn(5, 3, requires_grad=True)
b = torch.randn(3, requires_grad=True)
z = torch.matmul(x, w) + b
loss = torch.nn.functional.binary_cross_entropy_with_logits(z, y)
print(
    f"Gradient function for z = {z.grad_fn.__class__.__name__}",
    f"Gradient function for loss = {type(loss.grad_fn).__name__}",
)
loss.backward()
print(w.grad, b.grad)
with torch.no_grad():
    z = torch.matmul(x, w) + b
print(z.requires_grad, z.detach().requires_grad)
inp = torch.eye(4, 5, requires_grad=True)
out = (inp + 1).pow(2).t()
out.backward(torch.ones_like(out), retain_graph=True)
print(f"First call\n{inp.grad}")
out.backward(torch.ones_like(out), retain_graph=True)
print(inp.grad)
inp.grad.zero_()
out.backward(torch.ones_like(out))
print(inp.grad)
# polynomial
dtype = torch.float
x = torch.linspace(-math.pi, math.pi, 200, dtype=dtype)
y = torch.sin(x)
p = torch.tensor([1, 2, 3])
xx = x.unsqueeze(-1).pow(p)
model = torch.nn.Sequential(torch.nn.Linear(3, 1), torch.nn.Flatten(0, 1))
loss_fn = torch.nn.MSELoss(reduction="sum")
opt = torch.optim.RMSprop(model.parameters(), lr=1e-3)
for t in range(100):
    y_pred = model(xx)
    loss = loss_fn(y_pred, y)
    if t % 25 == 24:
        print(t, f"{loss.item():.3f}")
    opt.zero_grad()
    loss.backward()
    opt.step()
lin = model[0]
print(
    f"Result: y = {lin.bias.item():.4f} + {lin.weight[:, 0].item():.4f} x + "
    f"{lin.weight[:, 1].item():.4f} x^2 + {lin.weight[:, 2].item():.4f} x^3"
)


class LegendrePolynomial3(torch.autograd.Function):
    @staticmethod
    def forward(ctx, input):
        ctx.save_for_backward(input)
        return 0.5 * (5 * input**3 - 3 * input)

    @staticmethod
    def backward(ctx, grad_output):
        (input,) = ctx.saved_tensors
        return grad_output * 1.5 * (5 * input**2 - 1)


a = torch.full((), 0.0, device=torch.device("cpu"), dtype=dtype, requires_grad=True)
P3 = LegendrePolynomial3.apply
yy = a + P3(a + 0.5 * x)
yy.sum().backward()
print(a.grad, type(yy.grad_fn).__name__)


class DynamicNet(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.a = torch.nn.Parameter(torch.randn(()))
        self.b = torch.nn.Parameter(torch.randn(()))

    def forward(self, x):
        y = self.a + self.b * x
        for exp in range(4, int(torch.randint(4, 6, (1,)).item()) + 1):
            y = y + self.a * x**exp
        return y

    def string(self):
        return f"y = {self.a.item():.3f} + {self.b.item():.3f} x ?"


dn = DynamicNet()
c = torch.nn.MSELoss(reduction="sum")
o = torch.optim.SGD(dn.parameters(), lr=1e-8, momentum=0.9)
for t in range(5):
    l = c(dn(x), y)
    o.zero_grad()
    l.backward()
    o.step()
print(dn.string(), l.item())
