"""The learner's mistakes, and what PyTorch says of each: its class and the first line of its words.

Each line of this table is a program that fails. PyTorch's answers stand in ``mistakes.json``, for
a run without PyTorch; ``python -m tests.same_as_torch.mistakes`` writes them, with PyTorch.
"""

import json
from pathlib import Path

from tests.same_as_torch.outcomes import run

GIVEN = """
F = torch.nn.functional
a = torch.tensor([1.0, 2.0], requires_grad=True)
w = torch.tensor([3.0, 4.0], requires_grad=True)
y = a * 2
d = torch.tensor([1.0, 2.0], dtype=torch.float64)
i = torch.tensor([1, 2])
b = torch.tensor([True, False])
m = torch.ones(2, 3)
c = torch.ones(2, 3, 4)
z = torch.tensor(1.0)
empty = torch.ones(0, 3)
with torch.inference_mode():
    inference = torch.ones(2)
"""

BACKWARD = """
a.backward()
y.backward()
torch.ones(2).backward()
z.backward()
i.sum().backward()
a.detach().sum().backward()
a.sum().backward(torch.ones(2))
y.backward(torch.ones(3))
y.backward(torch.ones(2, 1))
y.backward(z)
y.backward([1.0, 1.0])
(y * y).sum().backward(inputs=[])
y.sum().backward(inputs=[i])
s = (a * a).sum(); s.backward(); s.backward()
s = (a * a).sum(); s.backward(); torch.autograd.grad(s, a)
s = a.exp().sum(); torch.autograd.grad(s, a); s.backward()
s = a.max(0).values; s.backward(); s.backward()
p = a * a; p.sum().backward(); p.grad_fn._saved_self
p = a.exp(); p.sum().backward(); p.grad_fn._saved_result
torch.autograd.grad(a.sum(), w)
torch.autograd.grad(a.sum(), [a, w])
torch.autograd.grad(a.sum(), w, allow_unused=False)
torch.autograd.grad(a.sum(), a, materialize_grads=True, allow_unused=False)
torch.autograd.grad(a.sum(), i)
torch.autograd.grad(a.sum(), 'a')
torch.autograd.grad(a.sum(), [a, 'a'])
torch.autograd.grad('a', a)
torch.autograd.backward('a')
torch.func.grad(lambda t: t.requires_grad_() * 2)(z)
torch.func.grad(lambda t: t.sum())(3)
torch.func.jacrev(lambda t: 3)(z)
torch.func.vjp(lambda t: t, 3)
torch.full((2,), torch.tensor([2.0, 3.0]))
torch.full((2,), torch.tensor([2.0]))
torch.full((2,), torch.tensor(2.0, requires_grad=True))
m.as_strided((2,), (1,), -1)
torch.func.vjp(lambda t: (t, {"a": t}), a)[1](a)
torch.func.vjp(lambda t: (t, {"a": t}), a)[1]((a, {"a": [a]}))
torch.func.vjp(lambda t: t, a)[1]((a,))
torch.func.jacrev(lambda t: t)(i)
torch.func.jacfwd(lambda t: t)(i)
torch.func.grad(lambda t: t.sum())(i)
torch.vmap(lambda t: 3)(m)
a.data = 3
torch.autograd.grad(a.sum(), a.detach())
torch.autograd.grad(i.sum(), a)
torch.autograd.grad(a, a)
torch.autograd.grad(y, a, torch.ones(3))
torch.autograd.grad(y.sum(), a, torch.ones(1))
torch.autograd.grad([a * 2, w * 3], [a, w], [torch.ones(2)])
torch.autograd.grad(y.sum(), [])
torch.autograd.backward([a * 2, w * 3], [torch.ones(2)])
(a // 2).sum().backward()
(7 % a).sum().backward()
"""

LEAVES = """
y.requires_grad = 1
i.requires_grad = True
b.requires_grad = True
i.requires_grad_()
y.requires_grad = False
y.requires_grad_(False)
torch.tensor([1, 2], requires_grad=True)
torch.tensor(True, requires_grad=True)
torch.ones(2, dtype=torch.int64, requires_grad=True)
torch.arange(3, requires_grad=True)
torch.randint(3, (2,), requires_grad=True)
i.retain_grad()
a.detach().retain_grad()
i.register_hook(print)
z.register_hook(print)
y.register_post_accumulate_grad_hook(print)
i.register_post_accumulate_grad_hook(print)
a.register_hook(lambda g: 1); y.sum().backward()
a.register_hook(lambda g: torch.ones(3)); y.sum().backward()
a.register_hook(lambda g: g.double()); y.sum().backward()
y.register_hook(lambda g: g[:1]); y.sum().backward()
a.register_post_accumulate_grad_hook(lambda leaf: 3); y.sum().backward()
a.grad = 1
a.grad = torch.ones(3)
a.grad = d
a.grad = i
i.grad = torch.ones(2)
a.view(2).detach_()
inference.requires_grad = True
inference.requires_grad_()
inference._version
import copy; copy.deepcopy(y)
"""

IN_PLACE = """
torch.add(d[1:], 1, out=d[:-1]); torch.exp(m.t(), out=m.view(3, 2))
torch.cat([i[:1], i[:1]], out=i); torch.cumsum(c[0, 0, :3], 0, out=c[0, 0, 1:])
a += 1
a.add_(1)
a.zero_()
a.copy_(w)
a[0] = 1
a[[0]] = 1
a[a > 1] = 0
a.view(2).add_(1)
a[0].zero_()
v = a[:1]; v += 1
a.expand(2, 2).add_(1)
v = a.detach().requires_grad_(); v.mul_(2)
y.expand(2, 2).add_(1)
p = y * y; y += 1; p.sum().backward()
p = y.exp(); p += 1; p.sum().backward()
p = y.tanh(); p.mul_(2).add_(1); p.sum().backward()
v = torch.ones(2); p = a * v; v += 1; p.sum().backward()
p = y * y; y.detach().zero_(); p.sum().backward()
p = y * y; y[0].zero_(); p.sum().backward()
y *= y; y.sum().backward()
y *= y.detach(); y.sum().backward()
s = y.sum(); s *= s; s.backward()
p = a * a; exec("with torch.no_grad(): a.add_(1)"); p.sum().backward()
p = w.double() * d; d.add_(1); d.sub_(1); p.sum().backward()
p = c.requires_grad_().exp(); p[0, 0, 0] = 1; p.sum().backward()
c.requires_grad_(); c[:, :, :2].fill_diagonal_(1)
torch.zeros(2, 2, 2, requires_grad=True).fill_diagonal_(1)
c.t_()
c.requires_grad_().t_()
b.any().hypot_(i[0])
i.hypot_(i)
i.clip_(1.5)
y.layout = 1
y.is_meta = True
y.name = "y"
y.real = None
a.real = y
y.real = torch.ones(3)
i.sum().real = [1]
y.mean(dtype=torch.int64)
i += 1.5
i /= 2
i.copy_(m)
b += 1
i.add_(d)
m[0] += torch.ones(2)
torch.ones(2).add_(m.t())
torch.ones(3).add_(m)
torch.ones(3).copy_(m)
torch.ones(3).copy_(torch.ones(2))
torch.ones(3).fill_(m)
m[5] = 1
m[0, 7] = 1
m[0] = 'a'
m[0] = [1, 2, 3]
m[0] = None
m[0] = torch.ones(2)
m[0] = torch.ones(2, 3)
m[:, :2] = torch.ones(3)
m[[0, 1]] = torch.ones(2)
m[[0, 5]] = 1
m[b] = torch.ones(2)
m[torch.tensor([True, False, True])] = 0
inference.add_(1)
inference[0] = 1
inference * a
(a * inference).sum()
inference @ a
v = torch.ones(1); v[::2] = v
v = torch.ones(1); v[None] = v
v = torch.ones(2); v[torch.tensor(True)] = v.detach()
v = torch.ones(4); v[1:] = v[:-1]
v = torch.ones(4); v[[0, 1]] = v[:2]
v = torch.ones(0); v[[-1]] = v
v = torch.arange(3); v[v] = 1
v = m.t(); v[...] = torch.ones(3)
m.add_(m[0])
torch.ones(3).expand(2, 3).fill_(z)
torch.ones(3).expand(2, 3).copy_(torch.ones(2, 2))
torch.ones(3).cumsum_(1)
torch.ones(1).expand(3).cumsum_(0)
b[:1].expand(3).cumsum_(0)
b[:1].expand(3).trunc_()
z.expand(2).bitwise_not_()
i[:1].expand(2).frac_()
z.expand(2).gcd_(z)
i.gcd_(torch.ones(2))
i.bitwise_and_(torch.ones(1, 2))
i.bitwise_left_shift_(torch.ones(2))
i.bitwise_and_(2.)
i.lerp_(i, 0.5)
i.lerp_(torch.tensor([1, 2, 3]), 0.5)
torch.gcd(z, torch.ones(2))
torch.gcd(torch.ones(3), torch.ones(2))
torch.ones(3) << torch.ones(2)
torch.bitwise_not(z)
~z
torch.ones(1, 2).addmm_(torch.ones(2, 2), torch.ones(2, 2))
b.expand(2, 2).add_(1)
b.expand(2, 2).abs_()
b.expand(2, 2).neg_()
b.expand(2, 2).clamp_(0, 5)
i.expand(2, 2).exp_()
i.expand(2, 2).pow_(-1)
i[:1].clone().add_(i, alpha=0.5)
b[:1].clone().remainder_(b)
b.floor_divide_(0)
b.clone().add_(i, alpha=0.5)
b.cumsum_(0)
b.clamp_(3, 1)
i.clamp_(0.5, 2)
i.clamp_min_(0.5)
i.masked_fill_(i > 0, float("inf"))
i[i > 0] = torch.tensor(float("inf"))
i.scatter_(0, i - 1, float("inf"))
i.index_add_(1, i, i)
i.index_add_(0, i, i)
m.index_add_(0, i - 1, m)
m.scatter_(0, torch.zeros(1, 3, dtype=torch.int64), m)
a.fill_(w)
a.copy_(m)
a[[-9]] = 1
torch.empty(0, requires_grad=True)[[-1]] = 1
torch.ones(2, 3)[[-9]] = torch.ones(2)
torch.ones(2, 3)[[-9]] = torch.ones(3).double()
m[0] = m > 0
m[torch.tensor([])] = 1
inference.mul_(m)
inference.cumsum_(1)
inference[inference > 0] = torch.ones(3)
inference.detach()[0] = 1
inference.data[...].mul_(2)
exec("with torch.no_grad(): v = a.view(2)"); v.unsqueeze(0)[0] = 1
exec("with torch.inference_mode(): v = a.view(1, 2)"); v.unbind()[0].mul_(2)
i.fill_(a[0]); i[0] = 1
p = (a * 1).unbind()[0]; p.detach().add_(1); y.fill_(p.view(1))
v = y.view(1, 2).unbind()[0]; y.add_(1); torch.ones(2).fill_(v)
v = (a * 1).view(1, 2).unbind()[0].unsqueeze(0).squeeze(0); v += 1
s = a.sum(0, keepdim=True); p = s * s; s += 1; p.backward()
v = torch.ones(1, 0); v[..., [0, 0]] = v
m.max(0)[0] = m
m.sort()[1] += 2
"""

SHAPES = """
m + torch.ones(2)
m + torch.ones(4, 3)
m * torch.ones(2, 2)
m == torch.ones(2)
torch.maximum(m, torch.ones(2))
torch.where(b, a, m)
m @ m
m @ torch.ones(2)
torch.ones(2) @ torch.ones(3)
torch.ones(2) @ m.t()
m @ d
m @ i
m @ m.double().t()
m.half() @ m.t()
a.dot(d)
i @ i.float()
z @ a
a @ z
z.mv(a)
a @ torch.ones(3).double()
a @ torch.ones(3, 1, 2)
torch.ones(3, 1, 2).transpose(1, 2) @ a
b.view(1, 1, 2) @ torch.ones(1, 2, 1)
c @ c
c @ torch.ones(3, 4, 2)
c.bmm(c)
c.bmm(m)
m.bmm(c)
c.bmm(c.double().transpose(1, 2))
m.mm(a)
a.mm(m)
m.mv(m)
m.mv(a)
m.dot(m)
m.mv(torch.ones(3, dtype=torch.int64))
b @ b
torch.outer(m, a)
torch.outer(a, m)
m.view(7)
m.view(-1, 4)
m.view(-1, -1)
m.view(0, -1)
m.reshape(4)
m.reshape(5, -1)
m.reshape((2.0, 3))
empty.view(-1, 0)
m.t().view(-1)
m.t().view(3, 2, 1).view(-1)
m.expand(3)
m.expand(3, 2, 2)
m.expand(2, 3, 1)
b.expand(2, 2).expand(2)
z.expand(-1)
torch.ones(1).expand(-2)
a.expand(-1, 2)
m.permute(0)
m.permute(0, 0)
m.permute(0, 2)
m.transpose(0, 2)
c.t()
m.squeeze(2)
m.unsqueeze(3)
m.unsqueeze(-4)
m.repeat(2)
m.repeat(-1, 2)
a.repeat(-1, -1)
torch.ones(-1, -2)
a.sum(dtype=torch.int64)
a.cumsum(0, dtype=torch.int32)
m.repeat(0, -1)
z.repeat(2, -1)
m.flatten(1, 0)
m.flatten(3)
z.flatten(1)
m.flip(2)
m.flip(0, 0)
m.narrow(0, 1, 2)
m.narrow(0, 3, 1)
m.narrow(2, 0, 1)
z.narrow(0, 0, 1)
torch.cat([])
torch.cat(a)
torch.cat([a, 1])
torch.cat([a, m])
torch.cat([m, torch.ones(3, 4)])
torch.cat([m, torch.ones(2, 4, 1)], 0)
torch.cat([m, torch.ones(3, 3)], 1)
torch.cat([z, z])
torch.cat([a, a], 2)
torch.stack([])
torch.stack(a)
torch.stack([a, m])
torch.stack([a, torch.ones(3)])
torch.stack([a, a], 3)
"""

REDUCTIONS_AND_INDEXING = """
m.sum(axis=0, dim=1)
m.mean(axis=0, dim=1)
torch.softmax(m, axis=0, dim=1)
torch.cat([m, m], axis=1, dim=0)
i.norm(dtype=torch.float32)
m.sum(2)
m.sum(-3)
m.sum((0, 0))
m.mean(5)
i.mean()
b.mean(0)
m.prod(2)
m.sum(keepdim=True)
m.mean(keepdims=True)
m.prod(keepdim=True)
m.max(keepdim=True)
m.min(keepdim=True)
m.median(keepdim=True)
m.max(dim=None)
torch.prod(m, None, True)
torch.sum(m, keepdim=True)
torch.max(m, keepdim=True)
m.max(2)
m.min(-3)
torch.ones(0).max()
torch.ones(0).amin()
torch.ones(0).argmax()
empty.max(0)
empty.amax(0)
empty.amax(-2)
empty.amin((0, 0))
torch.ones(0).amax((-1, 0))
empty.argmin(0)
b.argmax()
m.size(2)
z.size(0)
len(z)
list(z)
for element in z: pass
m[2]
m[-3]
m[0, 3]
m[0, 0, 0]
m[1.0]
m[a]
m['a']
m[[0, 2]]
m[:, [0, 7]]
m[torch.tensor([0, 5])]
m[torch.tensor([-3])]
m[b, b]
m[torch.tensor([True, False, True])]
m[torch.tensor([[True]])]
m[[0, 1], [0, 1, 2]]
m[::-1]
z[0]
z[-1]
z[1]
z[0, 0]
z[:]
z[[0]]
empty[[0]]
z[a]
m[torch.ones(0)]
m[a, 5]
m[b, 0, 0]
m[[True, False, True], 0]
m[[0, 1], [3, -3]]
c[0, torch.tensor([[0, 3], [4, 0]])]
m[[0, 1], [2, -5]]
"""

VALUES = """
m.item()
empty.item()
float(m)
int(m)
bool(m)
bool(empty)
if m > 0: pass
m and m
not m
a.numpy()
np.asarray(a)
np.asarray(y)
[1, 2, 3][z]
z.__index__()
range(a[0])
'a' in i
None in i
a + None
a - [1]
a * {}
a / None
a // None
a % None
a ** [1]
a @ 2
a @ [1]
2 @ a
[1] - a
'a' - a
None * a
[1] / a
[1] ** a
a < None
a >= [1]
a & a
a | b
b ^ 1.0
~a
-b
+b
b - b
b - True
True - b
True - a
1 - b
a - b
m - b
b & m
m | b
m ^ torch.ones(2)
(m > 0) % b
(m > 0) // b
i % torch.tensor([0, 1, 2])
m.long() // torch.tensor([0, 1])
m.long().div(torch.tensor([0, 1]), rounding_mode='trunc')
torch.full((2,), 3, dtype=torch.uint8) % 256
True ** b
torch.pow(False, b)
(m > 0) ** b
b.clamp(min=True)
b.clamp(max=False)
b.clamp(False, True)
b.clamp(b, b)
b.clamp_min(True)
m.clamp(m, 1.0)
m.clamp(0, a)
m.half().clamp(max=10**6)
m.half() ** 10**6
m.add(a, alpha=True)
i.add(1, alpha=True)
m.long().add(i, alpha=0.5)
m.long().sub(i > 0, alpha=True)
torch.sub(True, b)
torch.eq(1, a)
torch.remainder(1, 2)
torch.pow(1, 2)
a.outer(1)
torch.allclose(m, torch.ones(2))
a.t(1)
a.t(x=1)
a.scatter(0)
a.scatter(0, i)
a.var(0, 1)
a.squeeze(0, 1)
m.squeeze((0, 0))
b.relu()
b.abs()
b.floor()
b.ceil()
b.round()
b ** b
i ** -1
i % 0
i // 0
i % torch.tensor([0, 1])
i.div(0, rounding_mode='floor')
i.div(2, rounding_mode='x')
torch.sub(i, i, alpha=0.5)
torch.add(i, i, alpha=0.5)
m.clamp()
a.mul([1])
a.add(None)
torch.mul(a, [1])
torch.add(a, None)
torch.maximum(a, 1)
a.maximum(1.0)
torch.exp(2.0)
torch.sum([1.0])
torch.mm(m, 2)
torch.where(a, a, a)
torch.equal(a, [1])
torch.allclose(a, d)
a.pow('a')
"""

SORTING_AND_STATISTICS = """
i.var()
b.std(0)
m.var(5)
m.std((0, 0))
m.softmax(3)
i.softmax(0)
m.cumsum(2)
b.log_softmax(0)
i.norm()
m.norm('foo')
m.norm(2, 5)
empty.norm(float('inf'))
empty.norm(-1)
empty.norm(-float('inf'), 0)
empty.norm(-1, -2)
m.sort(4)
m.topk(5)
k = m.max(0); del k[0]
m.topk(-1)
z.topk(2)
b.topk(1)
torch.topk(m, 4, 1)
m.logsumexp(2)
z.max(1)
m.masked_fill(m.long(), 0)
m.masked_fill(torch.tensor([True, False]), 0)
m.masked_fill(i, 0)
m.masked_fill(m > 0, a)
i.masked_fill(b, float('inf'))
m.masked_select(i)
m.masked_select(torch.tensor([True, False]))
m.masked_select([True])
a.detach().masked_fill_(m[:, :2] > 0, 0)
"""

PARTS_AND_PLACES = """
m.split(0)
m.split(-1)
m.split([1, 1], 1)
m.split([-1, 3])
m.split(1, 5)
m.split(-1, 5)
m.split(1.0)
z.split(1)
z.chunk(1)
z.unbind()
m.chunk(0)
m.chunk(2, 9)
m.gather(1, i)
m.gather(2, i.view(1, 2))
m.gather(1, i.view(1, 2) + 4)
m.gather(1, -i.view(1, 2))
m.gather(1, m)
m.gather(0, torch.zeros(1, 4, dtype=torch.int64))
m.gather(1, [0])
m.scatter(1, i, m)
m.scatter(1, i.view(1, 2), z)
m.scatter(1, i.view(1, 2), m[:, :1])
m.scatter(0, torch.zeros(1, 4, dtype=torch.int64), 1.0)
m.scatter(1, i.view(1, 2), m.double())
m.scatter(1, i.view(1, 2) + 4, m)
m.scatter(1, m, m)
m.scatter(3, i, m)
m.index_select(0, i)
m.index_select(0, -i)
m.index_select(0, i.view(1, 2))
m.index_select(0, a)
m.index_select(3, i)
m.index_select(0, [0])
z.index_select(0, i)
empty.index_select(0, i)
m.index_add(0, i, m)
m.index_add(0, i * 0, m[:1])
m.index_add(0, i * 0, m[:, :2])
m.index_add(0, a, m)
m.index_add(0, i * 0, m.double())
m.index_add(0, i.view(1, 2), m)
m.index_add(3, i, m)
m.index_add(0, i, 3.0)
z.index_add(0, i[:1] * 0, torch.ones(1))
z.index_add(0, i[:1], z)
a.index_add(0, i, a)
m.index_add(1, i + 4, m[:, :2])
c.index_add(1, i + 4, c[:, :2])
m.index_add(1, i, z)
m.index_add(1, i, a)
empty.index_select(1, i + 4)
m.index_select(1, i + 4)
torch.ones(0).index_select(0, i)
z.index_select(0, a)
a.scatter(0, i.float(), d)
z.scatter(0, i, z)
c.scatter(2, torch.zeros(1, 1, 1).long(), m)
a.scatter(0, i[:1], w).sum().backward()
"""

PRODUCTS = """
m.addmm(m, m)
m.addmm(m, m.T)
a.addmm(m, m.T @ m)
torch.addmm(a, m, a)
torch.addmm(a, a, m)
torch.addmm(i, a, m)
torch.addmm(c, m, m.T)
F.linear(m, a[None])
F.linear(m, m, c)
F.linear(m, m, d)
F.linear(a, a, a)
F.linear(a, a, m)
F.linear(m, c)
F.linear(c.transpose(1, 2), m[:, :2], c[0])
torch.addmm(i, m, m.T)
torch.addmm(a, m.double(), m.T)
torch.addmm(1.0, m, m)
m.addmm(m, [1])
torch.einsum('ij,jk->ik', m, m)
torch.einsum('ij->ik', m)
F.pad(c, (4, 1), mode='reflect')
F.pad(c, (5, 1), mode='circular')
F.pad(c, (-2, -2), mode='replicate')
F.pad(c, (-3, -2), mode='circular')
F.pad(a, (1, 1), mode='reflect')
F.pad(c, (1, 1), mode='reflect', value=2.0)
torch.nn.ConvTranspose2d(1, 1, 2, padding_mode='circular')
torch.einsum('i.j', m)
torch.einsum(a, a)
del a[0]
torch.softmax(m, 1, 2)
m.softmax(1, 2)
torch.set_num_threads(0)
torch.set_num_threads('a')
torch.nn.LSTM(4, 5)(c, torch.ones(1, 3, 5))
torch.einsum('......', m)
torch.einsum('i1', m)
torch.einsum('ii', m)
torch.einsum('...ijk', m)
torch.nn.BatchNorm1d(3)(torch.ones(2, 4))
F.batch_norm(torch.ones(2, 4), None, None, torch.ones(3), None, True)
torch.einsum('ij->ii', m)
torch.einsum('ijk->i', m)
torch.einsum('ij,jk->ik', m)
torch.einsum('ij->ik', m, m)
torch.einsum('ij,jk->ik', m, m.T.long())
"""

MAKING = """
torch.tensor([[1, 2], [3]])
torch.tensor([a, a])
torch.tensor([[i, i]])
torch.tensor([1., d])
torch.tensor([d, 1.])
torch.tensor((m,))
torch.tensor([d[:0]])
torch.tensor([[1, 2], [3, 4], [5]])
torch.tensor([[[1], [2]], [[3], [4, 5]]])
torch.tensor([1, 'a'])
torch.tensor('a')
torch.tensor(None)
torch.tensor([1, None])
torch.tensor({1: 2})
torch.tensor([1, [2]])
torch.tensor([1., [2]])
torch.tensor([1, [2.]])
torch.tensor([a.detach(), [1., 2.]])
torch.tensor([i, [1, 2]])
torch.tensor(['a', 'b'])
torch.tensor([[1, 'a']])
torch.tensor([[1], 2])
torch.tensor([300], dtype=torch.uint8)
torch.tensor([float('nan')], dtype=torch.int64)
torch.tensor([1], dtype='float32')
torch.ones(2, dtype=np.float32)
torch.ones(-1)
torch.zeros(2, -3)
torch.ones('a')
torch.ones(None)
torch.ones(2.5)
torch.ones(2, 3.5)
torch.ones((2, 3.0))
torch.ones()
torch.randn('a')
torch.randn(-1)
torch.full(2, 3)
torch.full((2,), 'a')
torch.Size([2.0])
torch.Size(['a', 1])
torch.tensor(2**70)
torch.tensor([-2**70])
m.type('a')
m.type(3)
m.reshape(-2)
m * [1, 2]
'ab' * m
torch.tensor(2.0) * (1, 2)
F.leaky_relu(m, 'a')
F.elu(m, 'a')
F.softplus(m, 'a')
F.hardshrink(m, 'a')
F.softshrink(m, -1)
F.rrelu(m, 2, 1)
F.one_hot(i, 'a')
F.pad(m, 'a')
F.pad(m, 1)
F.batch_norm(m, None, None)
F.kl_div(m, None, reduction='sum')
F.nll_loss(m, i, 'sum')
F.local_response_norm(m, 2)
F.soft_margin_loss(m, m, reduction='x')
F.multilabel_soft_margin_loss(m, m, reduction='x')
F.bilinear(m, m, torch.ones(5, 3, 4))
F.bilinear(m, m[:1], torch.ones(5, 3, 3))
F.bilinear(m, m[0], torch.ones(5, 3, 3))
F.bilinear(m, m, torch.ones(5, 3, 3), torch.ones(2))
torch.nn.Softmax2d()(m)
torch.nn.Bilinear(0, 2, 3)
torch.nn.utils.rnn.pad_sequence([])
torch.eye(-1)
torch.triu(m, 1.5)
torch.roll(m, 'a')
m.normal_('a')
torch.linspace(0, 1, 2.5)
torch.matmul(m)
torch.arange(5, 1)
torch.arange(1, 5, 0)
torch.linspace(0, 1, -1)
torch.linspace(0, 1, 5, dtype=torch.bool)
torch.arange(0, 5, 0.5, dtype=torch.int64)
torch.zeros_like([1, 2])
torch.rand_like(i)
torch.randn(2, dtype=torch.int64)
torch.rand(2, dtype=torch.int64)
torch.randint(5, 0, (2,))
torch.randint(0, (2,))
torch.randint(3, 5)
torch.randperm(-1)
torch.randperm(2.5)
torch.randperm(300, dtype=torch.uint8)
torch.randperm(3000, dtype=torch.float16)
torch.randperm(3, dtype=torch.bool)
torch.randperm((3,))
torch.randperm(3, 3)
torch.randperm(3, requires_grad=True)
torch.randint(300, (2,), dtype=torch.uint8)
torch.randint(-1, 2, (2,), dtype=torch.bool)
torch.randint(0, 70000, (2,), dtype=torch.float16)
torch.from_numpy([1, 2])
torch.from_numpy(np.ones(4)[::-1])
torch.Tensor(2.5)
torch.Tensor('a')
torch.set_default_dtype(torch.int64)
torch.set_grad_enabled('a')
torch.ones(2, device="cuda")
m.to("cuda")
m.cuda()
a.cuda()
m.to("float64")
"""

NOTHING_THERE = """
F.pad(a, (-2, -2))
F.pad(m, (2, -4))
F.pad(m, (0, 0, -3, 1))
z.unflatten(0, (1, 1))
torch.nn.Unflatten(0, (1,))(z)
torch.nn.BatchNorm1d(0)(torch.ones(2, 0))
torch.nn.BatchNorm2d(0).eval()(torch.ones(2, 0, 2, 2))
b.scatter_reduce(0, torch.tensor([0, 1]), b, "mean")
b.scatter_reduce(0, torch.tensor([], dtype=torch.int64), b, "mean")
torch.linalg.vector_norm(empty, -1)
torch.linalg.vector_norm(empty, -0.5, 0)
torch.linalg.norm(torch.ones(0), -2)
torch.linalg.matrix_norm(i.reshape(1, 2))
torch.linalg.matrix_norm(i.reshape(1, 2), 1, dtype=torch.float64)
torch.linalg.vector_norm(i, dtype=torch.float64)
torch.linalg.matrix_norm(c, "fro", (0, 0))
torch.linalg.matrix_norm(c, 1, (0, -3))
torch.linalg.norm(c, 2, (0, 0))
torch.linalg.matrix_norm(c, 2, (0,))
torch.linalg.matrix_norm(c, 1, (0, 1, 2))
torch.linalg.matrix_norm(a, 3)
torch.linalg.cond(a, 1)
torch.linalg.cond(m, 3)
torch.linalg.cond(m, "x")
torch.linalg.cond(m[:2, :2], "x")
torch.linalg.cond(m, 1)
torch.linalg.cond(m, "fro")
torch.linalg.cond(torch.ones(2, 2).long(), 1)
torch.func.jacfwd(lambda x: x * 2)(torch.ones(1).expand(3))
torch.func.jacfwd(lambda x, y: x * y, (0, 1))(a, z.expand(2))
torch.func.hessian(lambda x: (x * x).sum())(z.expand(2))
F.hinge_embedding_loss(i, i)
torch.add(d, d, out=d.expand(2, 3, 2))
torch.exp(d, out=torch.ones(2, 1).double().expand(2, 2))
torch.index_select(d, 0, i[:1], out=d[:1].expand(2))
torch.mm(m, m.t(), out=torch.ones(2, 2).double())
torch.mm(m, m.t(), out=torch.ones(2, 2).long())
torch.bmm(c, c.mT, out=torch.ones(2, 3, 3).double())
torch.matmul(c, c.mT, out=torch.ones(2, 3, 3).double())
torch.mv(m, m[0], out=d.clone())
torch.matmul(m, m[0], out=i.clone())
torch.matmul(c, c[0, 0], out=torch.ones(2, 3).double())
torch.addmv(a.detach(), m, m[0], out=d.clone())
torch.vstack([m, m], out=torch.ones(4, 3).int())
torch.dot(m[0], m[1], out=torch.tensor(1))
torch.matmul(m[0], m[1], out=d[0].clone())
torch.cat([m, m], out=torch.ones(4, 3).long())
torch.stack([z, z], out=b.clone())
torch.ones(size=2)
torch.rand(size=2)
torch.zeros(2, size=(3,))
a.is_leaf = True
a.shape = 3
y.grad_fn = None
a.T = a
del a.dtype
del a.is_leaf
F.hinge_embedding_loss(i, torch.tensor([1.0, -1.0]))
torch.softmax(m, 0, out=torch.ones(2, 3).double())
torch.max(m, 0, out=(torch.ones(3).double(), torch.ones(3).long()))
torch.argmax(m, 0, out=torch.ones(3).int())
torch.tril(m, out=torch.ones(2, 3).double())
torch.gather(m, 0, i[None] * 0, out=torch.ones(1, 2).int())
torch.abs(m, out=torch.ones(2, 3).double())
torch.clamp(m, 0, out=torch.ones(2, 3).int())
torch.amax(m, 0, out=torch.ones(3).double())
torch.index_select(m, 0, i * 0, out=m.double())
torch.masked_select(m, m > 0, out=torch.ones(6).double())
torch.multinomial(m, 1, out=torch.ones(2, 1))
torch.nonzero(m, out=torch.ones(6, 2))
torch.take(m, i, out=d.clone())
torch.where(m > 0, m, m, out=m.double())
torch.rand(2, out=i.clone())
torch.randn(2, out=i.clone())
2.5 << d
2 >> d
del y.requires_grad
del y.data
"""

ORDER_OF_REFUSALS = """
b.trace()
b.view(1, 2, 1).trace()
empty.kthvalue(1, 0)
torch.zeros(2, 0).bool().kthvalue(1)
F.embedding(i, a[0])
F.embedding(i, m[0, 0], padding_idx=1)
F.embedding(i, m[0], padding_idx=4)
empty.t().hsplit(-1)
m.vsplit(-2)
z.repeat_interleave(2, 0)
z.repeat_interleave(-2, 0)
z.repeat_interleave(i[:1], 0)
z.repeat_interleave(i[None], 0)
b.median(0)
b.median()
b[0].nanmedian(0)
i.logcumsumexp(0)
empty.take(i)
m.take(i.int())
m.as_strided((-1, 2), (1, 2))
m.as_strided((-1,), (-1,))
torch.nn.RNN(3, 2)(empty)
torch.nn.LSTM(3, 2, batch_first=True)(torch.ones(2, 0, 3))
torch.meshgrid(m, d, indexing='ij')
F.layer_norm(d, (2,), torch.ones(2))
F.layer_norm(d, (3,), torch.ones(2))
F.layer_norm(i, (2,), None, torch.ones(2))
F.layer_norm(a, (2,), d, a)
F.layer_norm(a, (2,), a, d)
y.atanh_().sum().backward()
y[1:].acosh_(); y.sum().backward()
y.arcsinh_().sum().backward()
torch.func.grad(lambda t: (t * inference).sum())(a)
torch.func.grad(lambda t: (t * a * inference).sum())(d)
"""

GROUPS = (
    NOTHING_THERE,
    BACKWARD,
    LEAVES,
    IN_PLACE,
    SHAPES,
    REDUCTIONS_AND_INDEXING,
    VALUES,
    MAKING,
)
GROUPS += (SORTING_AND_STATISTICS, PARTS_AND_PLACES, PRODUCTS, ORDER_OF_REFUSALS)


PROGRAMS = [line for group in GROUPS for line in group.strip().split("\n")]
PROGRAMS += ["with torch.no_grad():\n    v = a[0]\nv += 1"]


FILE = Path(__file__).with_suffix(".json")


def answers() -> dict[str, list[str]]:
    """Return what PyTorch says of each program: a class and words."""
    answers: dict[str, list[str]] = json.loads(FILE.read_text(encoding="utf-8"))
    return answers


if __name__ == "__main__":
    import torch

    runs = {program: run(torch, GIVEN + program).raised for program in PROGRAMS}
    rows = [f"{json.dumps(program)}: {json.dumps(answer)}" for program, answer in runs.items()]
    FILE.write_text("{\n" + ",\n".join(rows) + "\n}\n", encoding="utf-8")
