"""Views, changes in place, hooks and Functions: what PyTorch says of short programs, the kit says.

The programs are those by which the kit was once found to be wrong, and their siblings. Each prints
what it has found out; a program that ends with an error must end with the same one.
"""

import pytest

from tests.parity import require_torch
from tests.same_as_torch.outcomes import run_both

torch = require_torch()

FUNCTIONS = """
class Tripled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        x.mul_(3)
        return x
    @staticmethod
    def backward(ctx, g):
        return g * 3

class Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = x * 2
        return y, y
    @staticmethod
    def backward(ctx, g, h):
        return g + 10 * h

class Same(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x): return x
    @staticmethod
    def backward(ctx, g): return g * 2

class First(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x): return x[:1]
    @staticmethod
    def backward(ctx, g): return torch.cat([g, g * 0])

class Nothing(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x): return x.clone()
    @staticmethod
    def backward(ctx, g): return None

class Doubled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x): return x.clone()
    @staticmethod
    def backward(ctx, g): return g * 2

def leaf(*values): return torch.tensor(values or (1., 2.), requires_grad=True)
log = []
"""

PROGRAMS = {
    # -- a write reaches memory, whatever the layout
    "a row of a transposed view": """
w = torch.zeros(2, 3, requires_grad=True) * 1
w.t()[0] = 7.
print(w, w.grad_fn.next_functions)""",
    "a row of a permuted view": """
w = torch.zeros(2, 3, 4, requires_grad=True) * 1
w.permute(2, 0, 1)[1] = 7.
print(w)""",
    "a transposed view of a leaf under no_grad": """
w = torch.zeros(2, 3, requires_grad=True); v = w.t()
with torch.no_grad(): v[0] = 7.
print(w, v.grad_fn)""",
    "under a mask without dimensions": """
x = torch.arange(6.).reshape(2, 3)
x[x.sum() > 0] = -2.
print(x, x._version)""",
    "a row of an expanded tensor": """
x = torch.zeros(3); v = x.expand(2, 3)
v[0] = 2.
print(x)
v.zero_()
print(x)""",
    "all of an expanded tensor": "torch.zeros(3).expand(2, 3)[:] = torch.ones(3)",
    "a dimension put into a slice keeps its strides": """
a = torch.arange(14).view(2, 7)
for x in (a[:1, 0], a[:1], a[:, 0], a[0, 0], torch.empty(0), torch.empty(0, 3), torch.empty(3, 0)):
    print([x.unsqueeze(d).stride() for d in range(-1, x.ndim + 1)], x[None].stride())
print(a[:1, 0].unsqueeze(1)._base is a, a[0, 0].unsqueeze(0))""",
    # -- overlaps
    "a tensor added to its transpose": "x = torch.ones(2, 2); x.T.add_(x)",
    "a row copied from a shifted one": "x = torch.ones(9); x[1:] = x[:-1]",
    "a tensor added to itself": "x = torch.ones(3); print(x.add_(x), x[:].add_(x))",
    "a gradient with one element in many places": """
x = leaf()
g, = torch.autograd.grad(x.sum(), x)
g.mul_(2)""",
    # -- histories
    "mark_dirty on a view": """
a = torch.ones(4, requires_grad=True); b = a * 1; v = b[1:3]
print(Tripled.apply(v) is v, v.grad_fn, b.grad_fn, b.grad_fn.next_functions, v._version)
b.sum().backward()
print(a.grad)""",
    "mark_dirty on a view of a leaf": "Tripled.apply(leaf()[:1])",
    "mark_dirty on a part": "Tripled.apply((leaf() * 1).split(1)[0])",
    "one of several views": "(leaf() * 1).chunk(2)[0].mul_(2)",
    "one of several views whose base changes": """
x = leaf() * 1; a, b = x.split(1); x.mul_(2)
print(a)
a.grad_fn""",
    "a view made under no_grad": """
a = leaf()
with torch.no_grad():
    b = a[:]
print(b.requires_grad, b.is_leaf, b.grad_fn, (b * 2).grad_fn.next_functions)
with torch.no_grad():
    b *= 2
    print(b + 1)
print(b)
b + 1""",
    "a view older than requires_grad_": """
x = torch.ones(2, 2); v = x[:1]; x.requires_grad_()
print(v.requires_grad, v.is_leaf, v.grad_fn)
(v * 2).sum().backward()
print(x.grad)
with torch.no_grad(): x.add_(1)
print(v.requires_grad, v.is_leaf, v.grad_fn)
(v * 2).sum().backward()
print(x.grad)
x.requires_grad_(False)""",
    "a change through an alias": """
a = leaf(); b = a[:1]; a.detach().fill_(2.)
print(b, b._version)""",
    "two full slices": """
x = torch.ones(2, 2, requires_grad=True); y = x[0:2, 0:2]
y.register_hook(lambda g: g * 10)
(x.sum() + y.sum()).backward()
print(y is x, y.is_leaf, y.grad_fn, x.grad)""",
    "assigning to all, a part, a gathered part": """
whole = slice(0, 2)
for key in (0, slice(None), (whole, whole), ..., (0, 0), None, [0, 1], True, (0, [0, 1])):
    b = leaf() * torch.ones(2, 2)
    b[key] = torch.tensor(5., requires_grad=True)
    print(key, b.grad_fn, b.grad_fn.next_functions, b._version)""",
    "what an Identity and a view return": """
b = leaf() * 1; o = Same.apply(b)
print(o is b, o._is_view(), o._base is b)
b.mul_(2)
print(o)
First.apply(b).mul_(2)""",
    "a Function that returns one tensor twice": """
x = leaf(); a, b = Twice.apply(x)
print(a is b, a.output_nr)
a.sum().backward()
print(x.grad)""",
    # -- one node with several outputs
    "the node of several outputs": """
x = torch.arange(6.).reshape(3, 2).requires_grad_()
for a, *_, b in (x.unbind(1), x.split(2), x.split([1, 2]), x.chunk(2, 1), x, x.unbind(0)):
    print(a.grad_fn is b.grad_fn, a.output_nr, b.output_nr, a.grad_fn.next_functions)
    print((b * 2).grad_fn.next_functions, (b * 2).grad_fn.next_functions[0][0] is a.grad_fn)
a, b = x.split(2)
n = a.grad_fn
print(n._saved_dim, n._saved_split_size, n._saved_self_sym_sizes, n.name())
print(n(torch.ones(2, 2), None), n(None, torch.ones(1, 2)), n(None, None))
n(torch.ones(2, 2))""",
    "only some outputs are used": """
for cut in (lambda x: x.unbind(1), lambda x: x.split(2, 1), lambda x: x.split([1, 3], 1)):
    x = torch.arange(8.).reshape(2, 4).requires_grad_()
    parts = cut(x)
    (parts[-1] ** 3).sum().backward()
    print(x.grad)
    g, = torch.autograd.grad((parts[0] ** 3).sum(), x, create_graph=True)
    print(torch.autograd.grad((g * g).sum(), x))""",
    "hooks of several outputs": """
x = leaf(); a, b = (x * 1).unbind()
n = a.grad_fn
b.register_hook(lambda g: log.append(("b", g))); a.register_hook(lambda g: log.append(("a", g)))
b.register_hook(lambda g: log.append(("b2", g)))
n.register_prehook(lambda g: log.append(("pre", g)))
n.register_hook(lambda i, o: log.append(("post", i, o)))
def told():
    print(log); log.clear()
a.backward(retain_graph=True); told()
(a + b).backward(retain_graph=True); told()
print(torch.autograd.grad(a * 2 + b * 3, [a], retain_graph=True)); told()
print(torch.autograd.grad(a * 2 + b * 3, [a, x], retain_graph=True)); told()
print(torch.autograd.grad(a, [b], retain_graph=True, allow_unused=True)); told()
a.retain_grad(); b.retain_grad()
(a * 2).backward(inputs=[a, b], retain_graph=True)
print(a.grad, b.grad, x.grad); told()""",
    "what hooks of several outputs return": """
x = leaf(); a, b = x.unbind()
a.register_hook(lambda g: g * 10)
handle = a.grad_fn.register_prehook(lambda g: (g[0] * 2, g[1]))
(a * 3).backward(retain_graph=True)
print(x.grad)
b.register_hook(lambda g: torch.tensor(1.))
a.backward()""",
    "a hook outlives its output": """
x = leaf(); a, b = x.unbind()
b.register_hook(lambda g: log.append(g)); del b
a.backward()
print(log)""",
    "a hook on several outputs of one node": """
x = leaf(); a, b = x.unbind()
def note(gradients): log.append([g if g is None else g.tolist() for g in gradients])
torch.autograd.graph.register_multi_grad_hook((a, b, x), note)
a.backward(retain_graph=True)
(a * b).backward(retain_graph=True)
print(log, x.grad)""",
    "which output a message names": """
x = leaf() * 1; a, b = x.split(1)
try: b.mul_(2)
except RuntimeError as e: print(str(e).split(chr(10))[0])
x.mul_(2)
b.grad_fn""",
    "which view of an output a message names": """
keys = ("...", "0", "1:", "None", "0, [0]", "[0], 0", "0:2, [0]", "None, [0]", "True", "[0]", "[5]")
for key in keys:
    x = torch.ones(2, 2, 2, requires_grad=True)
    with torch.no_grad(): v = x[0]
    for name in ("x", "x.unbind()[1]", "v", "(x * 1)"):
        try:
            exec(f"y = {name}; y[{key}] = 5.; print(y.grad_fn.name())")
        except (IndexError, RuntimeError) as e:
            print(name, key, str(e).split(chr(10))[0])""",
    "edges to several outputs": """
x = leaf(); a, b = x.unbind()
edge = torch.autograd.graph.get_gradient_edge(b)
print(edge.node is a.grad_fn, edge.output_nr)
print(torch.autograd.grad(a * b * b, edge, retain_graph=True))
torch.autograd.backward([a, b], [torch.tensor(2.), torch.tensor(3.)])
print(x.grad)""",
    "a scalar has no entries": "torch.tensor(1.).unbind()",
    # -- versions and saved tensors
    "x.data = ... goes on counting": """
x = torch.ones(2); x.add_(1); v = x[:]
x.data = torch.zeros(3)
x.add_(1); v.add_(1)
print(x._version, v._version, x, v)""",
    "x.data = ... is what a saved leaf has": """
x, w = leaf(), leaf(); y = x * w
w.data = torch.full((2,), 5.)
y.sum().backward()
print(x.grad)""",
    "x.data counts for itself, and is saved": """
w = leaf(); d = torch.ones(2).data; y = d * w; d.add_(1)
print(d._version)
y.sum().backward()""",
    "from_numpy counts for itself": """
a = np.ones(2); x, y = torch.from_numpy(a), torch.from_numpy(a); x.add_(1)
print(x._version, y._version, y)""",
    "optimizers": """
for name in ("SGD", "Adam", "AdamW", "RMSprop"):
    p = torch.nn.Parameter(torch.ones(2)); v = p[:1]
    step = getattr(torch.optim, name)([p], lr=.1)
    (p * 2).sum().backward(); step.step(); step.zero_grad(set_to_none=False)
    print(name, p._version, p.grad._version, v.grad_fn)""",
    "a saved tensor detached in place": """
a = torch.tensor(1., requires_grad=True).clone(); b = a.sin(); a.detach_()
b.backward()""",
    "a saved view of what is changed": """
a = leaf().sum(0); b = a.transpose(-1, 0); a.div_(b)
b.backward()""",
    "backward twice through x[[...]]": """
b = leaf(); c = torch.zeros(3); c[[1, 2]] = b[[1, 1]]
c.sum().backward()
c.sum().backward()""",
    # -- refusals
    "an integer as data": "x = leaf(); x.data = torch.tensor(3)",
    "minus a bool": "torch.ones(2) - True",
    "a tensor as its own gradient": "x = torch.ones(2); x.grad = x",
    "requires_grad = True on a result": "y = leaf() * 2; y.requires_grad = True",
    "backward and vjp": """
class Two(torch.autograd.Function):
    forward = staticmethod(lambda ctx, x: x.clone())
    backward = vjp = staticmethod(lambda ctx, g: g)
Two.apply(leaf()).sum().backward()""",
    # -- hooks and the order
    "retain_grad, then in place": """
x = leaf(); y = x * 1; y.retain_grad(); y.mul_(2)
v = y[:1]; v.retain_grad(); v.mul_(2)
(y * 5).sum().backward()
print(y.grad, v.grad, x.grad)""",
    "a hook belongs to the value at the time": """
x = leaf(); y = x * 1; v = y[:]
y.register_hook(lambda g: log.append("y")); v.register_hook(lambda g: log.append("v"))
v.mul_(2)
y.register_hook(lambda g: log.append("y2")); v.register_hook(lambda g: log.append("v2"))
(v * 1).sum().backward()
print(log)""",
    "a view is changed through what is detached from it": """
b = leaf(1., 2., 3., 4.) * 1
v = b.view(2, 2)
v.detach().add_(1)
print(v.grad_fn.name(), b.grad_fn.name(), v._version)
w = First.apply(b)
w.detach().exp_()
w.grad_fn""",
    "a view made in no_grad mode is changed through what is detached from it": """
x = leaf()
with torch.no_grad(): v = x.view(1, 2)
v.detach().add_(1)
print(v.requires_grad)
v.grad_fn""",
    "a hook on a view without a history waits until it requires grad": """
x = leaf()
with torch.no_grad(): v = x.view(1, 2)
v.register_hook(lambda g: print("hook", g))
(v * x).sum().backward()
print(x.grad)
v.requires_grad_()
print(torch.autograd.grad(v.sum(), v))""",
    "grad() of a hooked tensor and of what lies behind": """
x = leaf(); y = x * 1; y.register_hook(lambda g: g * 2)
print(torch.autograd.grad((y ** 2).sum(), [y, x]))
print(torch.autograd.grad((y ** 2).sum(), [y]) if False else None)""",
    "which hooks of a leaf run when": """
x = leaf(); y = (x * 3).sum(); node = y.grad_fn.next_functions[0][0].next_functions[0][0]
x.register_hook(lambda g: log.append("tensor")); node.register_prehook(lambda g: log.append("pre"))
node.register_hook(lambda *g: log.append("post"))
x.register_post_accumulate_grad_hook(lambda x: log.append("accumulated"))
y.backward(retain_graph=True); log.append("|")
torch.autograd.grad(y, x, retain_graph=True); log.append("|")
y.backward(inputs=[x])
print(log)""",
    "leaves as soon as they are complete": """
a, b = leaf(), leaf()
for n, t in (("a", a), ("b", b)):
    t.register_post_accumulate_grad_hook(lambda t, n=n: log.append(n))
p, q = b * 2, a + b
p, q = q * 2, p + q
(p * q).sum().backward()
lin = torch.nn.Linear(2, 2); x = torch.ones(3, 2, requires_grad=True)
for n, t in (("w", lin.weight), ("b", lin.bias), ("x", x)):
    t.register_hook(lambda g, n=n: log.append(n))
lin(x).sum().backward()
print(log)""",
    "leaves that were complete before backward failed": """
a, b, c = leaf(), leaf(), leaf(); y = c * 1; z = y * y + a; y.add_(1)
try: (z + b).sum().backward()
except RuntimeError: print(a.grad, b.grad, c.grad)""",
    "what a Function without a gradient sends": """
x = leaf(); y = x * 2; y.register_hook(lambda g: log.append(g))
Nothing.apply(y).sum().backward()
print(x.grad, log)
Nothing.apply(Doubled.apply(x)).sum().backward()
print(x.grad)""",
    "backward(inputs=[...]) of a result": """
x = leaf(); y = x.exp(); (y * 2).sum().backward(inputs=[y])
print(y.grad, x.grad)
y.sum().backward()""",
    "a leaf detached in place": """
x = leaf(); y = x * 1; x.detach_(); y.sum().backward()
print(x.grad)""",
    "a leaf in the middle of a graph": """
x = leaf(); y = x * 3; x.requires_grad_(False); x.mul_(leaf()); y.sum().backward()""",
    "a leaf that is one again": """
x = leaf(); x.register_hook(lambda g: g * 10); x.requires_grad_(False); x.requires_grad_()
(x * 1).sum().backward()
print(x.grad)""",
    "materialized gradients": """
x, a = leaf(.5), leaf(1.)
d, = torch.autograd.grad((x * a).sum(), x, create_graph=True)
z = torch.autograd.grad(d.sum(), x, create_graph=True, materialize_grads=True)
print(torch.autograd.grad(z[0].sum(), x, materialize_grads=True))""",
    "gradients that are what was given": """
a = leaf(); g = torch.ones(2)
print(torch.autograd.grad(a, a, g)[0] is g)""",
    "gradients that share memory": """
a, b = leaf(), leaf()
for y in (a + b, a - b, (a + b) * 2, a.view(2, 1) + b.view(2, 1), torch.cat([a, b])):
    p, q = torch.autograd.grad(y, [a, b], torch.ones_like(y))
    print(p is q, p.data_ptr() == q.data_ptr())""",
    "gradients that are no views": """
x = torch.tensor([[3., 1.], [2., 4.]], requires_grad=True)
for f in (lambda v: v.sort(-1)[0], lambda v: v.cumsum(-1), lambda v: v.flip(0), lambda v: v.sign(),
          lambda v: v.gather(0, torch.tensor([[0, 1]])), lambda v: v.repeat(2, 1), torch.round,
          lambda v: v.index_select(0, torch.tensor([1])), lambda v: v.masked_select(v > 1)):
    g, = torch.autograd.grad(f(x).sum(), x)
    g -= x.detach()
    print(g, g._is_view(), g.detach_() is g)
""",
    "a view that nobody asked since its base changed": """
a, b = torch.ones(2), leaf()
c = a.view(2)
a.mul_(b)
c.div_(2)
""",
    "a view that was asked since": """
a, b = torch.ones(2), leaf()
c = a.view(2)
a.mul_(b)
print(c.is_leaf, c.output_nr)
c.div_(2)
print(c.grad_fn.name())
""",
    "output_nr of a view that cannot follow": """
a = leaf()
with torch.no_grad():
    b = a.view(2)
    b[torch.tensor([0, 0])] = 1.5
print(b.output_nr)
""",
    "an inference tensor is refused before shapes": """
with torch.inference_mode():
    index = torch.zeros(2, 2, dtype=torch.long)
leaf().index_select(0, index)
""",
    "an inference tensor beside a view that leads nowhere": """
with torch.inference_mode():
    m = torch.ones(2)
with torch.no_grad():
    v = leaf()[:]
print((v * m).requires_grad)
""",
    "hooks see what was given": """
a, given = leaf(), leaf(3., 4.)
a.register_hook(lambda g: log.append((g.requires_grad, g.is_leaf)))
a[...].backward(given)
(a * 2).backward(given)
print(log)
""",
    "a gradient given in another dtype": """
a = leaf()
b = a.double()
g, = torch.autograd.grad(b, b, a)
print(g.dtype, g.requires_grad, g.grad_fn.name())
""",
    "a gradient that is a view of what was given": """
a = leaf(1.)
b = a.sum()
g, = torch.autograd.grad(b, a, b)
print(g.requires_grad, g._is_view(), g.grad_fn)
""",
    "a hook beside an edge that leads nowhere": """
a = leaf()
with torch.no_grad():
    b = a.view(2)
c = torch.where(b > 1, b, b * 2)
c.grad_fn.register_hook(lambda i, o: log.append(i))
c.sum().backward()
print(log)
""",
    "a hook after a gradient of a wrong shape": """
a, c = leaf(1., 2.), torch.zeros(2)
d = c.scatter(0, torch.arange(1), a)
d.grad_fn.register_hook(lambda i, o: print(i))
try:
    d.sum().backward()
except RuntimeError as refused:
    print("refused")
""",
    "the diagonal of a cube": """
a = torch.zeros(3, 3, 3, requires_grad=True)
d = (a * 2).transpose(0, 1)
d.fill_diagonal_(4.)
print(d.grad_fn.name())
e = a * 2
e.fill_diagonal_(torch.tensor(4.))
print(e.grad_fn.name())
(d.exp() + e).sum().backward()
print(a.grad)
""",
    "an inference tensor that requires grad, multiplied by its other names": """
for name in ("mul_", "multiply_", "div_", "divide_", "true_divide_", "sub_", "subtract_"):
    with torch.inference_mode():
        d = torch.ones(2, requires_grad=True)
    try:
        getattr(d, name)(2)
    except RuntimeError as refused:
        print(name, str(refused)[:30])
""",
    "the real part, which is all of a tensor, is written": """
a, b = leaf(1., 2.), leaf(3., 4.)
d = a * 1
d.real = b * b
print(d, d._version)
e = a * 1
e[:1].real = 5
(d * e).sum().backward()
print(a.grad, b.grad, e)
i = torch.arange(2)
i.real = torch.tensor(1.5)
print(i)
""",
    "data of another size": """
b = torch.tensor([[2.], [1.]], requires_grad=True)
d = b + 1
b.data = torch.ones(2, 3)
d.backward(torch.ones(2, 1))
print(b.grad)
""",
    "data too small for the gradient": """
b = torch.ones(2, 2, requires_grad=True)
d = b.cos().sum()
b.data = torch.tensor(1.)
d.backward()
""",
    "data larger than the gradient that is there": """
b = torch.ones(2, 3, requires_grad=True)
b.sum().backward()
b.data = torch.ones(2, 3, 2, 3)
(b * 2).sum().backward()
""",
    "a result whose data have another size": """
a = leaf()
d = a.cos()
d.data = torch.tensor(1.)
d.backward(torch.tensor(1.))
""",
    "data of a number": """
a = torch.tensor(4., requires_grad=True)
c = a.log1p()
a.data = torch.tensor(2.)
print(torch.autograd.grad(c, a))
n = leaf().norm()
shared = torch.from_numpy(n.detach().numpy())
b = leaf(3., 4.)
n = b.norm()
shared = torch.from_numpy(n.detach().numpy())
shared *= 2
print(torch.autograd.grad(n, b))
""",
    "a change of a truth value that was saved": """
d = torch.tensor(2., requires_grad=True)
e = d > 0
g = e / d
e.logical_not_()
g.backward()
""",
    "a result that was converted in place": """
b, c = torch.tensor([2., 0.6]), torch.tensor([1.5, 1.7], dtype=torch.float64, requires_grad=True)
b.pow_(c)
b += b
b.sum().backward()
""",
    "create_graph in inference mode": """
a = leaf()
b = a.norm()
b.backward(retain_graph=True)
before = a.grad
import warnings
with torch.inference_mode(), warnings.catch_warnings(action="ignore"):
    b.backward(create_graph=True)
print(a.grad, a.grad is before, a.grad.is_inference(), before)
""",
    "inference tensors as gradients": """
a = leaf()
b = 10 / a.reshape(1, 2)
with torch.inference_mode():
    g, = torch.autograd.grad(b, a, torch.ones(1, 2))
print(g.is_inference())
a * g
""",
    "repeated no times": """
a = torch.tensor(2.3, requires_grad=True)
g, = torch.autograd.grad(a.repeat(0, 3).exp().sum(), a, create_graph=True)
print(g, g.requires_grad)
torch.rand(0, 3, requires_grad=True).repeat(-1, 3).sum().backward()
""",
    "whole numbers with a history change in place": """
b, f = torch.full((2, 1), 1), torch.tensor(2., requires_grad=True)
d = b * b
b.t().fill_(f)
d *= b
print(d, d.grad_fn.name())
""",
    "an optimizer changes repeated elements": """
c = torch.ones(()).expand(2).requires_grad_()
c.sum().backward()
torch.optim.SGD([c], lr=0.1).step()
""",
    "an optimizer changes a view": """
a = leaf()
with torch.inference_mode():
    b = a[:]
b.requires_grad_()
b.sum().backward()
torch.optim.SGD([b], lr=0.1).step()
print(b.is_leaf)
""",
    "two results of one node": """
for f in (torch.var_mean, torch.std_mean, torch.aminmax, torch.linalg.qr, torch.linalg.slogdet):
    x = torch.tensor([[1., 5., 2.], [7., 3., 3.], [4., 4., 6.]], requires_grad=True)
    a, b = f(x)
    print(a, b, a.grad_fn is b.grad_fn, a.output_nr, b.output_nr)
    arrived = []
    a.register_hook(arrived.append)
    b.sum().backward(retain_graph=True)
    (a * b).sum().backward()
    print(arrived, x.grad)
    a, b = f(x)
    g, = torch.autograd.grad((a * b).sum(), x, create_graph=True)
    print(torch.autograd.grad(g.square().sum() + g.sum() * x.sum(), x))
""",
    "a result that a node with several has saved is changed": """
functions = {"qr": torch.linalg.qr, "svd": torch.linalg.svd, "slogdet": torch.linalg.slogdet}
functions |= {"std_mean": torch.std_mean, "aminmax": torch.aminmax, "var_mean": torch.var_mean}
for name, f in functions.items():
    x = torch.tensor([[1., 5., 2.], [7., 3., 3.], [4., 4., 6.]], requires_grad=True)
    for which in range(len(f(x))):
        for change in (lambda t: t.mul_(2), lambda t: t.detach().zero_(), torch.Tensor.detach_,
                       lambda t: setattr(t, "data", t.data * 3)):
            outs = f(x)
            root = outs[which - 1] * 1
            try:
                change(outs[which])
                g, = torch.autograd.grad(root.sum(), x, allow_unused=True)
                print(name, which, None if g is None else 3 + g)  # no last digits of a zero
            except RuntimeError as problem:
                print(name, which, str(problem).partition("\\n->")[0])
q, r = torch.linalg.qr(x)
print(q.grad_fn._saved_Q.grad_fn is q.grad_fn, q.grad_fn._saved_R.output_nr)
print(torch.autograd.grad(q.grad_fn._saved_R.sum(), x))
log = []
with torch.autograd.graph.saved_tensors_hooks(lambda t: log.append(t.shape) or t, lambda t: t):
    outs = [f(x) for name, f in functions.items() if name != "slogdet"]
    print(log)
sum(part.sum() for out in outs for part in out).backward()
print(x.grad)
product = r * r
r.detach().add_(1)
product.sum().backward()
""",
    "inputs of a Function by name": """
class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y=5, k=None, **rest):
        print(ctx.needs_input_grad, rest)
        return x * 1
    @staticmethod
    def backward(ctx, g): return g, g * 10, g * 100
class K(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, *, k=1): return x * k
    @staticmethod
    def backward(ctx, g): return g
a, b, c = leaf(1.), leaf(2.), leaf(3.)
calls = (lambda: F.apply(x=a), lambda: F.apply(b, k=a, y=c), lambda: F.apply(b, y=a, k=3),
         lambda: F.apply(b, k=a), lambda: F.apply(b, w=a), lambda: F.apply(b, x=a),
         lambda: F.apply(k=a), lambda: F.apply(), lambda: K.apply(a, k=3), lambda: K.apply(x=a))
for number, call in enumerate(calls):
    try:
        y = call()
        y.sum().backward()
        print(number, y.grad_fn.name(), len(y.grad_fn.next_functions), a.grad, b.grad, c.grad)
    except (TypeError, RuntimeError) as error:
        print(number, str(error).splitlines()[0])
""",
    "the order in which the leaves of a cell are complete": """
for cell in (torch.nn.RNNCell(2, 2), torch.nn.LSTMCell(2, 2), torch.nn.GRUCell(2, 2)):
    x, order = torch.ones(1, 2, requires_grad=True), []
    for name, leaf in [("x", x), *cell.named_parameters()]:
        leaf.register_post_accumulate_grad_hook(lambda t, name=name: order.append(name))
    out = cell(x)
    sum(out if isinstance(out, tuple) else [out]).sum().backward()
    print(order)
""",
    "rules at ties, nan, inf and minus zero": """
for f in (lambda v: v.max(), lambda v: v.min(), lambda v: v.prod(), lambda v: v.prod(0),
          lambda v: torch.nn.functional.huber_loss(v, torch.ones(3))):
    for values in ((1., float("nan"), 2.), (2., float("inf"), 3.), (2., 0., 3.)):
        x = torch.tensor(values, requires_grad=True)
        print(torch.autograd.grad(f(x), x))
k = leaf(1., 2.).sort()
print(1 / (-torch.zeros(2)).cumsum(0))
x = leaf()
k = x.sort()
k[1].data[:1] = 1
print(torch.autograd.grad(k[0].sum(), x))
""",
}


@pytest.mark.parity
@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_views_and_hooks_are_pytorchs(program: str) -> None:
    run_both(torch, FUNCTIONS + program)


@pytest.mark.parametrize("change", ["x.add_(1)", "out.add_(1)", "loss.backward()"])
def test_sgn_saves_what_complex_numbers_would_need(change: str) -> None:
    program = f"""
x = torch.ones(2, requires_grad=True) * 1
out = x.sgn()
loss = out.sum()
with torch.no_grad():
    {change}
loss.backward()
"""
    assert run_both(torch, program).raised is not None
