"""Programs whose pictures several test modules look at: large ones, and a net of equal blocks."""

from functools import cache

import autodiff_kit as ak
import autodiff_kit as torch
from autodiff_kit.record import record
from tests.invariants.running import run
from tests.record.cells import cell
from tests.view import recordings

LSTM = """\
H = 2
Wf, Wi, Wg, Wo = (torch.ones(4, H, requires_grad=True) for _ in range(4))
h, c = torch.zeros(1, H), torch.zeros(1, H)
for t in range({steps}):
    z = torch.cat([h, torch.ones(1, 2)], 1)
    f, i, o = torch.sigmoid(z @ Wf), torch.sigmoid(z @ Wi), torch.sigmoid(z @ Wo)
    c = f * c + i * torch.tanh(z @ Wg)
    h = o * torch.tanh(c)
loss = h.sum()
loss.backward()
"""
RECURRENT = """\
W, U, b = (torch.ones(s, requires_grad=True) for s in ((3, 3), (2, 3), (3,)))
h, loss = torch.zeros(1, 3), 0
for t in range(60):
    h = torch.tanh(h @ W + torch.ones(1, 2) @ U + b)
    loss = loss + h.sum()
loss.backward()
"""
TRAINING = """\
net = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Tanh(), torch.nn.Linear(3, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(4):
    for i in range(5):
        opt.zero_grad()
        loss = (net(torch.ones(4, 2)) ** 2).mean()
        loss.backward()
        opt.step()
"""
BY_HAND = """\
w = torch.tensor([2.0, 1.0], requires_grad=True)
for i in range(12):
    loss = ((w - 5) ** 2).sum()
    loss.backward()
    with torch.no_grad():
        w -= 0.1 * w.grad
    w.grad = None
"""
STACK = """\
class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner, self.outer = torch.nn.Linear(2, 2), torch.nn.Linear(2, 2)
    def forward(self, x):
        return x + self.outer(torch.relu(self.inner(x)))
net = torch.nn.Sequential(*(Block() for _ in range(20)))
loss = net(torch.ones(1, 2)).sum()
loss.backward()
"""
TREE = """\
w = torch.tensor(0.5, requires_grad=True)
def tree(x, depth):
    return x * w if depth == 0 else tree(x, depth - 1) + tree(x, depth - 1)
y = tree(torch.tensor(2.0), 7)
y.backward()
"""
PROGRAMS = {
    "an LSTM": LSTM.format(steps=3),
    "a long LSTM": LSTM.format(steps=30),
    "a recurrent net": RECURRENT,
    "epochs of steps": TRAINING,
    "updates by hand": BY_HAND,
    "a stack of blocks": STACK,
    "a recursion": TREE,
}
LARGE = {
    **{
        name: lambda source=source: run("", ak, source).recording
        for name, source in PROGRAMS.items()
    },
    "a loop": lambda: recordings.loop(500),
    "a long loop": lambda: recordings.long_loop(),
    "training": lambda: recordings.training(),
    "calls": lambda: recordings.calls(40, 12),
    "a chain": lambda: recordings.calls(1, 2000),
}

SETUP = """\
nn = torch.nn
torch.manual_seed(0)
class Residual(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.fc1 = nn.Linear(n, n)
        self.fc2 = nn.Linear(n, n)
    def forward(self, x):
        return x + self.fc2(torch.relu(self.fc1(x)))
net = nn.Sequential(nn.Linear(4, 8), *(Residual(8) for _ in range(12)), nn.Linear(8, 2))
X = torch.randn(3, 4)
"""
STEP = "loss = net(X).square().sum()\nloss.backward()"


@cache
def residual_net():
    """Return the model after a backward pass, and the recording of that."""
    space = {"torch": torch}
    cell(SETUP, space)
    with record() as rec:
        cell(STEP, space)
    return space["net"], rec


# Programs of a learner's with about eight rows of boxes.
SMALL = {
    "two layers by hand": """
x = torch.randn(8, 3)
t = torch.tensor([0, 1, 1, 0, 1, 0, 1, 1])
W1 = torch.randn(3, 4, requires_grad=True)
b1 = torch.zeros(4, requires_grad=True)
W2 = torch.randn(4, 2, requires_grad=True)
b2 = torch.zeros(2, requires_grad=True)
h = torch.tanh(x @ W1 + b1)
logits = h @ W2 + b2
loss = torch.nn.functional.cross_entropy(logits, t)
loss.backward()""",
    "a chain": """
x = torch.tensor(0.7, requires_grad=True)
a = torch.sin(x)
b = torch.exp(a)
c = b * 2
d = torch.tanh(c)
e = d + 1
f = torch.log(e)
g = f ** 2
g.backward()""",
    "a polynomial": """
x = torch.tensor(1.5, requires_grad=True)
y = x ** 3 - 2 * x ** 2 + 4 * x - 1
y.backward()""",
    "softmax": """
z = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
e = torch.exp(z)
p = e / e.sum()
loss = -torch.log(p[2])
loss.backward()""",
    "attention": """
x = torch.randn(4, 3)
Wq = torch.randn(3, 3, requires_grad=True)
Wk = torch.randn(3, 3, requires_grad=True)
Wv = torch.randn(3, 3, requires_grad=True)
q, k, v = x @ Wq, x @ Wk, x @ Wv
scores = q @ k.T / 3 ** 0.5
a = torch.softmax(scores, dim=-1)
loss = (a @ v).mean()
loss.backward()""",
    "linear regression": """
X = torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
y = torch.tensor([1.0, 2.0, 3.0])
w = torch.zeros(2, requires_grad=True)
b = torch.zeros(1, requires_grad=True)
err = X @ w + b - y
loss = (err ** 2).mean()
loss.backward()""",
}
