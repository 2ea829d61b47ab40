"""What shares memory, what may be changed in place, and what PyTorch says where it may not."""

import torch

torch.manual_seed(0)


def show(name, f):
    try:
        r = f()
        print(name, r)
    except Exception as e:
        print(name, type(e).__name__, str(e).split("\n")[0])


x = torch.arange(12.0).view(3, 4)
v = x[1]
v += 100
print(x, x._version, v._version, v._base is x)
x.t_()
print(x.shape, x.is_contiguous(), x.contiguous().stride())
show("view", lambda: x.view(12))
show("reshape", lambda: x.reshape(12)[:3])
show("as_strided", lambda: torch.arange(9.0).as_strided((2, 2), (3, 1), 1))
show("unfold", lambda: torch.arange(6).unfold(0, 3, 2))
show("diag", lambda: torch.arange(9.0).view(3, 3).diagonal().add_(1))
w = torch.ones(4, requires_grad=True)
a = w * 2
b = a[1:3]
b.mul_(3)
print(a, a.grad_fn.name(), b.grad_fn.name())
a.sum().backward()
print(w.grad)
show("leaf", lambda: w.mul_(2))
show("leaf view", lambda: w[0].mul_(2))
c = w.clone()
d = c.exp()
c.add_(1)
d.sum().backward()
show("saved", lambda: (lambda t: (t.exp_(), t.exp().mul_(2).sum().backward()))(w.clone()))
e = w * 1
f = e**2
e.add_(1)
show("modified", lambda: f.sum().backward())
with torch.no_grad():
    w -= 0.5 * w.grad
    w[0] = 9
print(w, w.grad, w.is_leaf, w._version)
z = torch.zeros(3, 3)
z[0], z[:, 1] = w[:3], 5.0
print(z, z.requires_grad, z.grad_fn.name())
z[z > 4] = 0
z[[0, 2], [0, 2]] += 1
z[torch.tensor([1]), :] = torch.arange(3.0)
z[..., -1].clamp_(max=1)
print(z, z.grad_fn.name())
w.grad = None
z.sum().backward()
print(w.grad)
g = torch.zeros(2, 3)
g.index_put_(
    (torch.tensor([0, 0, 1]), torch.tensor([1, 1, 2])),
    torch.tensor([1.0, 2.0, 3.0]),
    accumulate=True,
)
print(
    g,
    g.scatter(1, torch.tensor([[0], [1]]), 7.0),
    g.index_fill(1, torch.tensor([0]), -1),
    g.masked_fill(g > 2, 0),
)
g.fill_diagonal_(8)
print(g, g.T.copy_(torch.arange(6.0).view(3, 2)), g)
l = torch.arange(6, dtype=torch.float, requires_grad=True)
show("chunk in-place", lambda: l.chunk(3)[0].mul_(2))
show("split in-place", lambda: l.clone().split(2)[0].add_(1))
show("unbind in-place", lambda: l.clone().unbind()[0].add_(1))
t = l.detach()
t[0] = 50
print(l, l._version)
y = l * l
show("after detach change", lambda: y.sum().backward())
t[1] = 60
show("changed after", lambda: (l * l, t.add_(1))[0].sum().backward())
k = l * l
t.add_(1)
show("changed between", lambda: k.sum().backward())
o = torch.ones(2, 1, requires_grad=True).expand(2, 3)
show("expanded", lambda: o.clone().add_(1))
show("expanded in place", lambda: torch.ones(2, 1).expand(2, 3).add_(1))
h = torch.randn(3, requires_grad=True)
i = h.data
i.zero_()
print(h, h._version)
h.data = torch.ones(5)
print(h, h.shape)
show("set grad", lambda: setattr(h, "grad", torch.ones(4)))
h.grad = torch.ones(5)
print(h.grad)
m = torch.nn.Parameter(torch.ones(2))
n = m.view(2)
n.requires_grad
show("swap", lambda: (m.detach_(), m.requires_grad))
j = torch.ones(2, requires_grad=True) * 3
print(j.detach_(), j.is_leaf, j.requires_grad_())
b1 = torch.tensor([True, False])
show("bool sub", lambda: b1 - b1)
show("bool and", lambda: b1 & ~b1 | b1 ^ b1)
show(
    "int div",
    lambda: (
        torch.tensor([7, -7]) // 2,
        torch.tensor([7, -7]) / 2,
        torch.tensor([7, -7]) % 3,
        torch.div(torch.tensor([7, -7]), 2, rounding_mode="trunc"),
    ),
)
show(
    "promote",
    lambda: [
        (torch.ones(1, dtype=a) + torch.ones(1, dtype=b)).dtype
        for a in (torch.int8, torch.float16, torch.bool)
        for b in (torch.uint8, torch.float32, torch.int64)
    ],
)
show("int inplace", lambda: torch.ones(2, dtype=torch.int64).add_(0.5))
show(
    "scalar",
    lambda: (
        torch.ones(2, dtype=torch.int32) * 1.5,
        torch.tensor(2.0, dtype=torch.double) * torch.ones(2),
    ),
)
show(
    "bitwise",
    lambda: (
        torch.tensor([5]) << 2,
        torch.tensor([5]) >> 1,
        torch.tensor([5]).bitwise_xor(torch.tensor([1])),
    ),
)
show(
    "nan",
    lambda: (
        torch.tensor([1.0, float("nan")]).nanmean(),
        torch.tensor([1.0, float("nan")]).nan_to_num(7),
        torch.tensor([float("nan")]).isnan(),
        torch.tensor([float("nan"), 1.0]).max(),
    ),
)
show("bool ctx", lambda: bool(torch.ones(2)))
show(
    "len",
    lambda: (
        len(torch.ones(3, 2)),
        list(torch.arange(2)),
        1 in torch.arange(2),
        torch.arange(3).tolist(),
    ),
)
show("len0", lambda: len(torch.tensor(1)))
show(
    "index",
    lambda: (
        [10, 20, 30][torch.tensor(1)],
        range(torch.tensor(2)),
        float(torch.tensor(1.5)),
        int(torch.tensor(2.7)),
        f"{torch.tensor(1.23456):.2f}",
    ),
)
show("float of vector", lambda: float(torch.ones(2)))
show(
    "hash",
    lambda: (
        len({torch.ones(1), torch.ones(1)}),
        torch.ones(1) == 1,
        torch.ones(2).eq(1).all(),
        torch.equal(torch.ones(2), torch.ones(2)),
    ),
)
show(
    "unique",
    lambda: torch.unique(torch.tensor([3, 1, 3, 2]), return_counts=True, return_inverse=True),
)
show(
    "bucketize",
    lambda: (
        torch.bucketize(torch.tensor([1.0, 4.0]), torch.tensor([0.0, 2.0, 5.0])),
        torch.searchsorted(torch.tensor([1, 3, 5]), 3),
        torch.histc(torch.arange(6.0), 3),
        torch.bincount(torch.tensor([1, 1, 4])),
    ),
)
show(
    "quantile",
    lambda: (
        torch.arange(5.0).quantile(0.3),
        torch.arange(6.0).median(),
        torch.tensor([2, 2, 1]).mode(),
        torch.arange(6.0).view(2, 3).median(1),
    ),
)
show(
    "linalg",
    lambda: (
        torch.linalg.det(torch.eye(3) * 2),
        torch.linalg.inv(torch.tensor([[2.0, 1.0], [1.0, 3.0]])),
        torch.linalg.matrix_rank(torch.ones(3, 3)),
        torch.trace(torch.eye(2)),
    ),
)
