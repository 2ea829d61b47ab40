"""Programs that the fuzzer has written and made small, by what was wrong in them.

PyTorch, which runs beside the kit, says what is right.
"""

import pytest

from tests.parity import require_torch

require_torch()

from tests.fuzz.known import reason_for  # noqa: E402
from tests.fuzz.running import replay  # noqa: E402

pytestmark = [pytest.mark.parity, pytest.mark.filterwarnings("ignore")]


def _function(name: str, forward: str, backward: str) -> str:
    return f"""class {name}(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x{forward}
    @staticmethod
    def backward(ctx, {backward}"""


UNMARKED = _function("Unmarked", "):\n        x.mul_(2)\n        return x", "g): return g * 2")
DIRTY = _function(
    "Dirty",
    "):\n        ctx.mark_dirty(x)\n        x.mul_(2)\n        return x",
    "g): return g * 2",
)
PARTLY = _function(
    "Partly",
    ", y):\n        ctx.set_materialize_grads(False)\n        return x * 2, y * 3",
    "g, h): return g, h",
)
ONCE_WRONG = {
    "answers that are written over what was compared": [
        *("a = torch.tensor([0.5, 2.0], requires_grad=True)", "b = a * 2", "b.lt_(1.5)"),
        *("b.sum().backward()", "c = torch.ones(2)", "c.ge_(a)", "c.sum().backward()"),
        *("d = torch.ones(2, 2).double() * a.sum()", "d[0].eq_(a)", "d.sum().backward()"),
        *("e = torch.ones(2) > 0", "e.greater_(a)", "f = (a * 1)", "f.not_equal_(a.double())"),
    ],
    "functions of a view without a history": [
        *("a = torch.ones(2, requires_grad=True)", "with torch.no_grad():\n    b = a.view(2)"),
        "c = torch.func.grad(lambda v: (v * v).sum())(b) * 1",
        "with torch.inference_mode():\n    d = (a * 2)[-1]",
        "d = torch.func.grad(torch.func.grad(lambda v: v**3))(a[0].detach().clone())",
    ],
    "quantiles along a dimension that is counted from the end": [
        "a = torch.arange(12.).reshape(2, 3, 2).sin()",
        *("b = a.quantile(0.4, -2) * 1", "c = a.nanquantile(0.7, -3, True) * 1"),
    ],
    "derivatives of functions inside of inference mode": [
        *(
            "a = torch.arange(3.0)",
            "with torch.inference_mode():\n    b = torch.func.jacrev(torch.sin)(a) * 1",
        ),
        "with torch.inference_mode():\n    b = torch.func.vmap(torch.func.grad(torch.exp))(a) * 1",
        "with torch.inference_mode():\n    b = torch.func.jvp(torch.exp, (a,), (a,))[1] * 1",
        "with torch.inference_mode():\n    b = torch.func.grad(lambda v: (v * v).sum())(a * 2) * 1",
    ],
    "data of another type behind a graph": [
        *("a = torch.ones(2, requires_grad=True)", 'a.register_hook(hook("a"))', "b = a * 2"),
        *("a.data = torch.zeros(2, dtype=torch.float64)", "c = a * 5"),
        "k = torch.autograd.grad(b.sum(), a, allow_unused=True, retain_graph=True)",
        *("k = torch.autograd.grad(c.sum(), a)", "b.sum().backward()"),
    ],
    "the gradient of a copy is the one that flows in": [
        *("a = torch.ones(3, requires_grad=True)", "b = torch.zeros(3)", "b.copy_(a)"),
        *("c, = torch.autograd.grad(b.sum(), a)", "c *= 1.5"),
    ],
    "a tensor is read where another reading of it is written": [
        *("a = torch.tensor([0.0, 1.0])", "b = torch.tensor([0, 1])", "a.index_put_((b,), a)"),
        *("a.index_copy_(0, b, a)", "a.scatter_add_(0, b, a)", "b.index_fill_(0, b, 1)"),
        *("a.scatter_reduce_(0, b, a, 'sum')", "c = torch.arange(6.0)"),
        *("torch.add(c[:3], c[3:], out=c[1:4])", "torch.add(c[:3], c[3:], out=c[:3])"),
        *("torch.exp(a, out=torch.ones(1).expand(2))", "torch.add(a[:1], 2, out=a[:1])"),
        *("d = a[:1]", "torch.add(d, a, out=d)", "torch.relu(a, out=a)", "torch.isnan(a, out=a)"),
    ],
    "a number that is multiplied with products of integers": [
        *("a = torch.arange(3)", "b = torch.addcmul(a, a, a, value=2.7)"),
        *("b = torch.addcmul(a, a, a, value=float('nan'))", "a.addcmul_(a, a, value=-1.5)"),
    ],
    "the gradient of a median of one number": [
        *("a = torch.tensor(2.0, requires_grad=True)", 'a.register_hook(hook("a"))'),
        *("b = a.median(0)[0]", "b.backward(b)", "a.mode(0)[0].backward(b * 1)"),
    ],
    "matrices of no dimension": [
        *("a = torch.tensor(2.0, requires_grad=True)", "b = a.mT", "r = b is a", "c = a.mH"),
    ],
    "another shape for an inference tensor, in place": [
        *("with torch.inference_mode():\n    a = torch.ones(2, 1)", "a.t_()", "a.squeeze_()"),
        *("a.unsqueeze_(0)", "a.transpose_(0, 1)", "with torch.inference_mode():\n    a.t_()"),
    ],
    "arguments that only other functions take": [
        *("a = torch.ones(3)", "b = torch.tensor([-1])", "c = a.index_copy(0, b, a[:1])"),
        *("c = a.take_along_dim(a > 0, 0)", "c = a.unfold(0, -1, 1)", "c = (a > 0).kthvalue(1)"),
        *("c = a.index_put((b,), b)", "c = a.sum().roll(1, 0)", "c = torch.ones(2, 2) > 0"),
        *("d = c.trace()", "d = torch.addcmul(c, c, c)", "d = torch.addcmul(c[0], c, c)"),
        *("c.dist(a[:2])", "c.index_put((c[0],) * 3, c)"),
    ],
    "powers that are not a number": [
        *("a = torch.tensor(float('nan'), requires_grad=True)", "b = torch.tensor([False, True])"),
        *("c, = torch.autograd.grad((b ** a).sum(), a)", "d = torch.tensor([0.0, 2.0]) ** a"),
        *("d.sum().backward()", "(0 ** a).backward()", "(0 ** (a * 1)).backward()"),
    ],
    "a loss of logits and targets of two dtypes": [
        "a = torch.tensor([9.0, -8.0, 0.3], dtype=torch.float64, requires_grad=True)",
        "b = torch.tensor([1.0, 0.0, 0.5], requires_grad=True)",
        *("c = F.binary_cross_entropy_with_logits(a, b)", "c.backward()"),
        *("d = F.binary_cross_entropy_with_logits(b, a, reduction='none')", "d.sum().backward()"),
        "f = torch.tensor([0.1, 0.7, 1.0])",
        *("e = F.binary_cross_entropy_with_logits(a, b, f, pos_weight=f * 2)", "e.backward()"),
    ],
    "a gradient that is expanded to the size that it has": [
        *("a = torch.ones(2, 2, requires_grad=True)", "b = a.expand(2, 2)"),
        *("c, = torch.autograd.grad(b, a, a, create_graph=True)", "r = c is a"),
    ],
    "detach_ of what has become an inference tensor": [
        *("a = torch.ones(2, 2)", "with torch.inference_mode():\n    b = a.clone()"),
        *("d = a.t()", "d.data = b", "d.detach_()"),
        *("with torch.inference_mode():\n    c = torch.ones(2, requires_grad=True)", "c.detach_()"),
    ],
    "a remainder by a view without a history, twice": [
        "a = torch.tensor([-0.7, -1.3], requires_grad=True)",
        *("with torch.no_grad():\n    d = a.view(-1)", "e = a % d", "e.sum().backward()"),
        *("e.sum().backward()", "e = d % a", "e.sum().backward()", "e.sum().backward()"),
    ],
    "running products beside zeros that are followed by inf or nan": [
        "a = torch.tensor([2.0, 0.0, float('inf'), 0.0, 3.0], requires_grad=True)",
        *("a.cumprod(0).sum().backward()", "b = torch.tensor([0.0, 3.0, 0.0], requires_grad=True)"),
        "c, = torch.autograd.grad(b.cumprod(0).sum(), b, create_graph=True)",
        *("c.sum().backward()", "d = torch.tensor([[0.0, float('nan')]], requires_grad=True)"),
        *("d.cumprod(1).sum().backward()", "d.cumprod(0).sum().backward()"),
        "c, = torch.autograd.grad(d.cumprod(1).sum(), d, create_graph=True)",
    ],
    "a number of truth values as an exponent of 2": [
        *("a = torch.ones(2)", "b = torch.ldexp(a, a > 0)", "b = torch.ldexp(a > 0, a > 0)"),
    ],
    "a hook on a view that a Function changes later": [
        *("b = torch.tensor([[-0.3], [0.9]], requires_grad=True)", "c = b * 1"),
        *("d = c.reshape(2, 1)", 'd.register_hook(hook("d"))', DIRTY, "m = Dirty.apply(d)"),
        "c.sum().backward()",
    ],
    "hooks of a result that is detached in place and requires grad again": [
        *("a = torch.tensor([1.0, 2.0], requires_grad=True)", "b = a * 2"),
        *('b.register_hook(hook("b"))', "c = b * 3", "b.detach_()", "b.requires_grad_()"),
        *("(b * 2).sum().backward()", "c.sum().backward()"),
    ],
    "gradients of what is written to an expanded tensor where a mask is true": [
        *("a = torch.tensor(2.0, requires_grad=True)", "b = a * 1", "c = b.expand(3)"),
        *("c[torch.tensor([True, False, True])] = -2.0", "b.backward()"),
    ],
    "the places of extremes lie outside since": [
        *("a = torch.linspace(-1, -2.0, 6, requires_grad=True)", "b = a.min(-1)"),
        *("b[1].data.neg_()", "b[0].backward()", "c = a.view(2, 3).max(0)"),
        *("c[1].data.add_(1)", "c[0].sum().backward()"),
    ],
    "truth values with a history are saved before they are changed": [
        *("a = torch.ones(2, 1, 3) > 0", "b = torch.tensor(2.0, requires_grad=True)"),
        *("a[1:1] = b", "a.remainder_(a)", "a.fmod_(a)", "a.pow_(a)"),
        *("c = torch.ones(2, 1, 3) > 0", "a.remainder_(c)", "a.hypot_(c)", "c.pow_(a)"),
    ],
    "a step of an optimizer after .data of another size": [
        *("a = torch.ones(2, requires_grad=True)", "a.sum().backward()", "a.data = a.sum().data"),
        *("torch.optim.SGD([a], lr=0.1).step()", "torch.optim.Adam([a]).step()"),
        *("a.data = torch.ones(3)", "torch.optim.SGD([a], lr=0.1, weight_decay=0.1).step()"),
    ],
    "what flows in after .data of another size is summed, as hooks see": [
        *("a = torch.ones(2, requires_grad=True)", "b = (a * 2).sum()", "b.data = a.data"),
        "b.grad_fn.register_hook(hook('a', lambda i, o: None))",
        "b.backward(torch.ones_like(b))",
    ],
    "what has no derivative refuses before other rules are called": [
        *("a = torch.ones(2, requires_grad=True)", "b = a // 1", "c = a.exp()"),
        *("torch.autograd.backward([c.sum(), b.sum()])", "c.sum().backward()"),
    ],
    "the gradient of a leaf whose .data is expanded since": [
        *("a = torch.ones(2, requires_grad=True)", "b = a.expand(3, 2, 2)", "a.data = b.data"),
        "b.sum().backward()",
    ],
    "integers with a history are divided without one": [
        *("a = torch.tensor(3.0, requires_grad=True)", "b = torch.tensor([5, 6])", "b[None] = a"),
        *("c = b // b", "d = b // 2", "e = 2 // b", "b.floor_divide_(2)", "b //= b"),
    ],
    "a tensor without elements is written to at indices that are detached from it": [
        *("a = torch.zeros(0, dtype=torch.int64)", "b = a.detach()", "a.scatter_(-1, b, 2)"),
    ],
    "what two rules read is saved, though no gradient flows through a view": [
        *("a = torch.ones(3, requires_grad=True)", "with torch.no_grad():\n    b = a.view(3)"),
        *("c = torch.arange(3)", "d = torch.pow(c, b)", "c.add_(1)", "d.sum().backward()"),
    ],
    "a view that no gradient flows through is an edge of what has no derivative": [
        *("a = torch.ones(3, requires_grad=True)", "with torch.no_grad():\n    b = a.expand(2, 3)"),
        "c = b // b",
    ],
    "a gradient that is an expanded tensor of one element each is added to": [
        *("a = torch.ones(3, requires_grad=True)", "a.grad = a.expand(3)"),
        *("a.sum().backward()", "b = a.grad * 1"),
    ],
    "a view whose .data is an inference tensor is one, too": [
        "a = torch.ones(2, 2, requires_grad=True)",
        "k = (a * 2).unbind(-1)",
        "with torch.inference_mode():\n    b = 4. ** k[1]",
        *("k[1].data = b", "c = k[1] % b", "d = k[1] * k[0]"),
    ],
    "a saved leaf that no longer requires grad has no part in create_graph": [
        *("a = torch.ones(2, requires_grad=True)", "b = a.log()", "c = a * b"),
        *("b.register_hook(lambda g: log.append(g.requires_grad))", "a.requires_grad_(False)"),
        "a.register_hook(lambda g: log.append(g.requires_grad))",
        "d, = torch.autograd.grad(c.sum(), b, create_graph=True)",
        *("c.sum().backward(create_graph=True)", "e = torch.ones(2, requires_grad=True)"),
        *("f = e.log()", "e.register_hook(lambda g: log.append(g.requires_grad))"),
        *("e.detach_()", "f.sum().backward(create_graph=True)"),
    ],
    "a rule is not called for a view that no gradient flows through": [
        "a = torch.ones(1, 1, requires_grad=True)",
        "with torch.no_grad():\n    b = a.view(1)",
        *("c = b ** (b > 0)", "c.sum().backward()"),
    ],
    "the gradient of a 0-d leaf is 0-d, though its .data has dimensions since": [
        *("a = torch.ones(2, 1)", "b = torch.tensor(4.0, requires_grad=True)"),
        *("c = b.clamp(min=a)", "b.data = c.data", "c.sum().backward()"),
    ],
    "a hook of a node with packed tensors sees what was asked for": [
        *("a = torch.ones(1, requires_grad=True)", "b = a * 2"),
        "with torch.autograd.graph.saved_tensors_hooks(lambda v: v * 2, lambda v: v / 2):\n"
        "    c = a * b",
        "c.grad_fn.register_hook(hook('c'))",
        "k = torch.autograd.grad(c.sum(), [b])",
    ],
    "truth values of 0 dimensions that are filled with the same count a change": [
        *("a = torch.tensor(2.0, requires_grad=True)", "b = a.bool()", "b.fill_(a)"),
        *("c = torch.tensor(True)", "c.copy_(a)", "c.fill_(a)"),
    ],
    "the gradient of a value that was assigned has the type of the value": [
        "a = torch.ones(2, requires_grad=True)",
        "c = torch.zeros(2, 3, dtype=torch.float64)",
        "c[0] = a[0]",
        "c.sum().backward()",
    ],
    "a change of what a Function has returned as it was": [
        "a = torch.ones(2, requires_grad=True)",
        UNMARKED,
        "b = Unmarked.apply(a)",
        "g = torch.ones(2) * 2",
        "with torch.no_grad():\n    b *= g",
    ],
    "what a Function sends on is what it was given": [
        "a = torch.ones(2, requires_grad=True)",
        PARTLY,
        "k = Partly.apply(a * 1, a * 1)",
        "b = k[0] * 1",
        "k2 = torch.autograd.grad(k[1].sum(), a)",
        "k = Partly.apply(b, a)",
        "c, = torch.autograd.grad(k[0], b, k[0])",
    ],
    "a Function that changes a tensor forgets its gradient": [
        "a = torch.ones(2, requires_grad=True)",
        DIRTY,
        "c = a * 1",
        "c.sum().backward(inputs=[c])",
        "e = Dirty.apply(c)",
    ],
    "the largest of one number sends a gradient of its own": [
        "a = torch.tensor(0.5, requires_grad=True)",
        "k = a.min(0)",
        "e, = torch.autograd.grad(k[0], a, a)",
        "k = a.max(-1)",
        "k2 = torch.autograd.grad(k[0].sum(), [a, k[0]])",
        "k2[1].requires_grad_(True)",
    ],
    "products and running sums of one number pass their gradients on": [
        "a = torch.tensor([[0.0, 0.5, 2.0]], requires_grad=True)",
        "b, = torch.autograd.grad((a.prod(0) * 2).sum(), a, create_graph=True)",
        "c, = torch.autograd.grad(a.prod(0, keepdim=True), a, a)",
        "d, = torch.autograd.grad(a.cumsum(0), a, a, create_graph=True)",
    ],
    "x.data = ... of another size": [
        "a = torch.tensor(0.5, requires_grad=True)",
        "b = a + torch.ones(3, 2)",
        "b.data = a.data",
        "k = torch.autograd.grad(b.sum(), [a, b], allow_unused=True)",
        "c = torch.ones(2, requires_grad=True)",
        "e = F.mse_loss(c, c * 2)",
        "e.data = c.data",
        "f, = torch.autograd.grad(e, e, torch.ones_like(e))",
        "a = torch.ones(2, requires_grad=True)",
        "b = a.repeat(2)",
        "b.data = torch.ones(3)",
        "b.sum().backward()",
    ],
    "zeros under inference mode that require grad": [
        "a = torch.ones(2, requires_grad=True)",
        "b = torch.ones(2, requires_grad=True) * 2",
        "with torch.inference_mode():\n    f, = torch.autograd.grad(b, a, b, create_graph=True, "
        "materialize_grads=True)",
    ],
    "whole numbers that have a history": [
        "a = torch.tensor(0.5, requires_grad=True)",
        "b = torch.arange(4)",
        "b[:] = a",
        "c = b + 1",
        "c = b[torch.tensor([True, False, True, True])]",
        "c = b.unbind()",
        "b[1:].sum().backward()",
        "b.double().sum().backward()",
        "b.requires_grad_()",
        "d = torch.tensor([2])",
        "d[d > 1] = a",
        "d.backward()",
    ],
    "hooks after a gradient where there is none": [
        "a = torch.tensor(2.0, requires_grad=True)",
        "a.register_post_accumulate_grad_hook(lambda p: log.append(p.grad is None))",
        "b = a * 2",
        "a.detach_()",
        "b.backward()",
        "c = torch.ones(2, requires_grad=True) * 2",
        "with torch.no_grad():\n    d = c.view(1, 2)",
        "d.register_post_accumulate_grad_hook(lambda p: log.append(1))",
        "(d * 2).sum().backward()",
    ],
    "what is asked of a view that lags behind without looking": [
        "a = torch.ones(3, requires_grad=True) * 2",
        "k = a.unbind()",
        "with torch.no_grad():\n    k[2].ceil_()",
        "k[0].requires_grad_()",
        "r = k[0].retains_grad",
        "b = torch.ones(3, requires_grad=True)",
        "with torch.no_grad():\n    c = b.view(1, 3)\n    b.mul_(2)",
        "c.retain_grad()",
        "c.requires_grad = False",
    ],
    "a view of a tensor that no longer requires grad": [
        "a = torch.ones(2, 2, requires_grad=True)",
        "with torch.no_grad():\n    b = a.reshape(-1)",
        "with torch.inference_mode():\n    a.zero_()",
        "a.detach_()",
    ],
    "views in inference mode are left as they are": [
        "a = torch.ones(2, 2)",
        "b = a.t()",
        "with torch.inference_mode():\n    b.detach_()",
    ],
    "a gradient that others look into": [
        "a = torch.tensor(4.0, requires_grad=True)",
        _function("Same", "): return x", "g): return g * 2"),
        "b = Same.apply(a)",
        "a.grad = b",
        "c = 0.1 + a",
        "c.backward()",
    ],
    "assignments to inference tensors": [
        "a = torch.ones(2, 2, requires_grad=True)",
        "with torch.inference_mode():\n    b = a * 2\n    c = torch.ones(2, 2, requires_grad=True)",
        "b[0] = a",
        "b[-1] = a[0] * 2",
        "c[None] = 0.5",
    ],
    "a source of scatter whose gradient is a sum": [
        "a = torch.randn(3, requires_grad=True)",
        "b = torch.full((0, 3), 3)",
        "c = torch.mul(a, b)",
        "c.scatter(1, b, a).sum().backward()",
    ],
    "a change of one element through a view, under create_graph": [
        "a = torch.tensor(0.0, requires_grad=True)",
        "b = a - 0",
        "b[..., None].sub_(0.5)",
        "c, = torch.autograd.grad(b, a, b, create_graph=True)",
    ],
    "back through a view that repeats what was written": [
        "a = torch.ones(2, requires_grad=True)",
        "b = a.sum()",
        "c = b.expand(2)",
        "c.fill_(0)",
        "b.backward()",
    ],
    "x.data = ... of an inference tensor": [
        "a = torch.ones(2, requires_grad=True)",
        "with torch.inference_mode():\n    b = torch.zeros(2)",
        "a.data = b.data",
        "c = a * a",
        "c.sum().backward()",
        "with torch.no_grad():\n    a.add_(1)",
    ],
    "x.data = ... while a graph has x": [
        "c = torch.ones(2, 1, requires_grad=True)",
        "d = c.norm(2, -1)",
        "c.data = d.data",
        "c.sum().backward()",
    ],
    "copying a view that lags behind into truth values": [
        "a = torch.ones(3, requires_grad=True) * 2",
        "k = a.unbind()",
        "with torch.no_grad():\n    a.mul_(2)",
        "b = torch.zeros(2, dtype=torch.bool)",
        "b[0].copy_(k[0])",
        "b.copy_(k[1])",
    ],
    "a number that was saved, changed, and given up": [
        "a = torch.tensor([-0.3, -0.6], requires_grad=True)",
        "b = a.sum()",
        "b /= b",
        "b = b.sum(0)",
        "b.backward()",
    ],
    "a number that was saved and changed behind the back of the graph": [
        "a = torch.tensor(2.0, requires_grad=True)",
        "b = a * a",
        "a.data.sigmoid_()",
        "c, = torch.autograd.grad(b, a)",
    ],
    "changes of inference tensors that require grad": [
        "with torch.inference_mode():\n    a = torch.ones(2, 3, requires_grad=True)",
        *("a.add_(1)", "a.mul_(torch.ones(3))", "a.zero_()"),
    ],
    "inference tensors that would be saved": [
        "a = torch.ones(2, requires_grad=True)",
        "with torch.inference_mode():\n    b = torch.arange(2)\n    c = b > 0",
        "with torch.inference_mode():\n    d = torch.tensor(2.0, requires_grad=True)",
        "e = torch.tensor(0.1)",
        *("f = a * b", "f = a[c]", "f = a[b]", "f = e % d", "f = a + b", "f = e.remainder(d)"),
    ],
    "the largest of one, in NumPy": [
        "k = torch.ones(1).topk(1, 0)",
        "a = torch.from_numpy(k[1].numpy())",
    ],
    "0 times nan": [
        "a = torch.full((3, 1), float('nan'))",
        "b = torch.zeros(1)",
        "c = F.linear(b, a)",
        "d = a @ b",
        "e = b @ a.t()",
        "f = torch.zeros(1, 1) @ a.t()",
        "g = a @ torch.zeros(1, 1)",
    ],
    "the variance of one number, and the signs of truth values": [
        "a = torch.tensor(1.0, requires_grad=True)",
        "b, = torch.autograd.grad(a.var(0), a, create_graph=True)",
        "a = torch.tensor([[False], [True]])",
        "b = torch.sign(a)",
        "a.logical_not_()",
        "a[0] = False",
    ],
    "hooks see the very tensor that was given": [
        "a = torch.ones(2, requires_grad=True)",
        "b = a * 2",
        "b.register_hook(hook('b'))",
        "b.register_hook(lambda g: log.append(g.grad_fn is None))",
        "b.grad_fn.register_prehook(hook('node'))",
        "b.backward(b)",
    ],
    "hooks see the gradient of a sum as a view of the number that was given": [
        "a = torch.ones(2, requires_grad=True)",
        *("a.register_hook(hook('a'))", "b = a.sum()", "b.backward(b)"),
    ],
    "a gradient that is retained is nobody else's": [
        "a = torch.ones(2, requires_grad=True)",
        "b = a * 2",
        "c = b.cos()",
        "b.retain_grad()",
        "e, = torch.autograd.grad(c.sum(), b, create_graph=True)",
        "e.fill_(3)",
    ],
    "where nothing was squeezed the gradient is passed on": [
        "a = torch.ones(2, requires_grad=True)",
        "b = a.squeeze()",
        "c, = torch.autograd.grad(b, a, b)",
        "b = a.squeeze(0)",
        "c, = torch.autograd.grad(b, a, b)",
    ],
    "the sign of a loss of 0": [
        "a = F.log_softmax(torch.zeros(1, 1), -1)",
        "b = 1 / F.nll_loss(a, torch.tensor([0]))",
    ],
    "a hook of a view whose elements another view overwrites": [
        "a = torch.ones(3, requires_grad=True)",
        "b = a.softmax(-1)",
        "c = b[None]",
        "c.sqrt_()",
        "d = c.view(3, 1)",
        "c.register_hook(hook('c'))",
        "d.zero_()",
        "c.sum().backward()",
    ],
    "a result that is changed after a gradient was computed with it": [
        "a = torch.tensor([1.0, -1.0, 1.0], requires_grad=True)",
        "b = a.norm()",
        "c, = torch.autograd.grad(b, a, create_graph=True)",
        "b *= 0",
        "d = torch.autograd.grad(c.sum(), a)",
        "b = a.logsumexp(0)",
        "c, = torch.autograd.grad(b, a, create_graph=True)",
        "b *= 0",
        "d = torch.autograd.grad(c.sum(), a)",
    ],
    "one gradient of two leaves": [
        "a = torch.tensor(1.0, requires_grad=True)",
        "b = torch.tensor(2.0, requires_grad=True)",
        "c = torch.tensor(3.0, requires_grad=True)",
        "(a + b).backward()",
        "d = c * b.grad",
        "a.grad.zero_()",
        "d.backward()",
    ],
    "truth values that have a history": [
        "a = torch.tensor(0.5, requires_grad=True)",
        "b = a * 2",
        "c = torch.tensor(False)",
        "c[None] = b",
        "d = torch.where(c, b, 1.5)",
        "e = c.where(a > 0, b)",
        "f = c.clamp(-1, 0.1)",
        "g = c > 0",
        "h = b.clone().masked_fill_(c, 1)",
        "(d + h).backward()",
        "c.mul_(c)",
    ],
    "a value that is broadcast where it is assigned": [
        "a = torch.ones(1, 3, requires_grad=True) * 2",
        *("b = torch.zeros(2, 3)", "b[:] = a", "b[0] = a", "b[:, 1:] = a[:, :1]"),
        *("b = torch.zeros(2, 3)", "b[torch.tensor([0, 1])] = a"),
        *("b = torch.zeros(2, 3)", "b[b == 0] = a[:, 0]"),
        "c = torch.ones(2, 1, 2, requires_grad=True).transpose(1, 2)",
        "b = torch.zeros(2, 2, 1)",
        "b[torch.tensor([0, 1])] = c[:1]",
    ],
    "functions of an integer and a float": [
        *("a = torch.tensor(2)", "b = torch.tensor(0.5, requires_grad=True)"),
        *("c = torch.hypot(a, b)", "d = torch.logaddexp(b, a)", "e = torch.hypot(a, a)"),
    ],
    "a tensor of nothing, repeated": [
        "a = torch.ones(0)",
        *("b = a.repeat(2, 2)", "a.add_(1)", "c = b + 1"),
    ],
    "an inference tensor saved for an edge that leads nowhere": [
        "a = torch.ones(2, requires_grad=True)",
        "with torch.no_grad():\n    b = a.view(1, 2)",
        "with torch.inference_mode():\n    c = torch.ones(1, 2)",
        *("d = b.minimum(c)", "d = b * c", "d = b / c"),
    ],
    "gradients lie in memory as their leaves do": [
        *("a = torch.ones(2, 3, requires_grad=True)", "b = torch.arange(6.0).reshape(3, 2)"),
        *("((-a).t().contiguous() * b).sum().backward()", "c = a.grad.view(-1)"),
        *("a = torch.ones(2, 3).t().requires_grad_()", "(a.contiguous() * b).sum().backward()"),
        "a = torch.ones(3, 3, requires_grad=True)",
        "(a.t() * (a - 0.5).sin()).sum().backward(create_graph=True)",
        "b = a.t().exp()",
        "k = torch.autograd.grad(a.sum(), [a, b], materialize_grads=True)",
    ],
    "a view that lags behind and cannot follow may be compared": [
        "a = torch.ones(2, 2, requires_grad=True) * 2",
        *("b = a.chunk(2)[1]", "a[0, 0] = 3", "c = b <= torch.ones(2, dtype=torch.float64)"),
    ],
    "the variance of what is no number": [
        *("a = torch.tensor(float('nan'), requires_grad=True)", "a.var(0).backward()"),
    ],
    "linspace is rounded once": [
        "a = torch.linspace(-1, 0.1, 12)",
        "b = a // 0.1",
    ],
    "a hook of a node sees the parts of all tensors that were stacked": [
        *("a = torch.ones(2, requires_grad=True)", "b = torch.ones(2)", "c = torch.stack([b, a])"),
        *('c.grad_fn.register_hook(hook("c"))', "c.sum().backward()"),
        *("d = torch.cat([a, b.double(), a * 2])", 'd.grad_fn.register_hook(hook("d"))'),
        "e, = torch.autograd.grad(d.sum(), a)",
    ],
    "a stack of which one part alone is wanted": [
        *("a = torch.ones(2, requires_grad=True)", "b = torch.ones(2, requires_grad=True)"),
        *("c = torch.stack([b, a])", 'c.grad_fn.register_hook(hook("c"))'),
        "e, = torch.autograd.grad(c.sum(), a)",
    ],
    "a second hook on one of several views that lags behind": [
        *("a = torch.ones(2, requires_grad=True) * 2", "b = a.unbind()[0]", "c = b * 3"),
        *('b.register_hook(hook("a"))', "a.detach().fill_(0.1)", 'b.register_hook(hook("d"))'),
        "c.backward()",
    ],
    "a second hook on a view without a history that lags behind": [
        *("a = torch.ones(2, requires_grad=True) * 2", "with torch.no_grad():\n    b = a[:]"),
        *('b.register_hook(hook("a"))', "a.tan_()", 'b.register_hook(hook("d", lambda g: g * 2))'),
        "a.sum().backward()",
    ],
    "what only the rule of a view without a history reads may change": [
        *("a = torch.ones(2, requires_grad=True)", "with torch.no_grad():\n    b = a.view(-1)"),
        *("c = torch.ones(2)", "d = c * b", "c.add_(1)", "d.sum().backward()"),
    ],
    "what the rule of a view without a history and another read must not change": [
        *("a = torch.ones(2, requires_grad=True)", "with torch.no_grad():\n    b = a.view(-1)"),
        *("c = torch.ones(2)", "d = torch.pow(c, b)", "e = b.exp()", "c.add_(1)"),
        *("e.add_(1)", "e.sum().backward()", "d.sum().backward()"),
    ],
    "a hook of a Function's node sees all that backward has returned": [
        *("a = torch.ones(2, requires_grad=True)", "b = torch.ones(2)", PARTLY),
        *("k = Partly.apply(b, a)", 'k[1].grad_fn.register_hook(hook("c"))'),
        "k[0].sum().backward(retain_graph=True)",
        "k[1].sum().backward(retain_graph=True)",
        "k[0].backward(torch.ones(2), create_graph=True)",
    ],
    "a view without a history that is expanded has a part in create_graph": [
        "a = torch.tensor([[1.0, -2.3], [1.0, 0.1]], requires_grad=True)",
        *("b = a.sum()", "c, = torch.autograd.grad(b, a, b)", "d = a / c"),
        *("d.sum().backward(create_graph=True)", "e = a * c"),
        "f, = torch.autograd.grad(e.sum(), a, create_graph=True)",
    ],
    "a backward pass that is to be recorded, in inference mode": [
        "a = torch.ones(2, requires_grad=True)",
        """class Noted(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x): return x.sin()
    @staticmethod
    def backward(ctx, g):
        log.append(torch.is_grad_enabled())
        with torch.no_grad():
            log.append(torch.is_grad_enabled())
        return g.cos()""",
        "b = Noted.apply(a)",
        "with torch.inference_mode():\n    b.backward(a, None, create_graph=True)",
        "with torch.inference_mode():\n    b.backward(torch.ones(2), retain_graph=True)",
        "with torch.inference_mode():\n    c = torch.autograd.grad(b, a, a, create_graph=True)",
        "log.append(torch.is_grad_enabled())",
    ],
    "a gradient that backward of a Function returns is shared by those who ask for it": [
        *(
            "a = torch.ones(2, 2, requires_grad=True)",
            _function("Turned", "): return x.t()", "g): return g.t()"),
        ),
        *("b = Turned.apply(a)", "k = torch.autograd.grad(b.sum(), [a, a])", "k[1][-1, 1:] -= 0.5"),
    ],
    "a gradient of another size than the output has is summed, with its history": [
        *("a = torch.ones(3, 3, requires_grad=True)", "b = F.mse_loss(a, torch.zeros(3, 3))"),
        *("b.data = a.data", "c, = torch.autograd.grad(b, b, a)"),
    ],
    "what was converted to the type of another input was changed": [
        "a = torch.tensor([0.5, -2.0], dtype=torch.float64, requires_grad=True)",
        *("b = a * 2", "c = F.binary_cross_entropy_with_logits(b, torch.ones(2))", "b.mul_(10)"),
        "c.backward()",
    ],
    "what only the rule of a view without a history reads is not even saved": [
        *("a = torch.ones(2, requires_grad=True)", "with torch.no_grad():\n    b = a.view(-1)"),
        *("c = b * torch.ones(2)", "c.sum().backward()", "c.sum().backward()"),
        *("d = b / torch.ones(2)", "d.sum().backward()", "d.sum().backward()"),
    ],
    "zeros for a view without elements have no history": [
        "a = torch.ones(2, requires_grad=True)",
        *("b = a[1:1]", "b.detach().log1p_()", 'a.register_hook(hook("a"))'),
        "b.exp().sum().backward(create_graph=True)",
        *("c = a.as_strided((0, 2), (1, 1))", "c.exp().sum().backward(create_graph=True)"),
    ],
    "what is looked at by strides counts the changes of its memory": [
        *(
            "a = torch.ones(4, requires_grad=True) * 2",
            "b = a.as_strided((2,), (1,))",
            "c = a.exp()",
        ),
        *("d = a * a", "b.data.add_(1)", "b.detach().add_(1)", "d.sum().backward()"),
        *("a = torch.ones(2, 4)", "b = a[1].unfold(0, 2, 1)", "c = b[0].add_(1)"),
        *("b = a.t()[1:].unfold(0, 2, 1)", "c = b[1].add_(1)", "b = a[:0].unfold(1, 2, 1)"),
    ],
    "a number that was detached, and given up": [
        *("a = torch.tensor(0.5, requires_grad=True)", "b = a * 0.1", "c = b.amax(0)"),
        *("b.detach_()", "del b", "c.backward()"),
    ],
    "a leaf that is gone had a gradient without a history": [
        *("a = torch.ones(2, requires_grad=True)", "a.sum().backward(create_graph=True)"),
        'a.register_post_accumulate_grad_hook(lambda p: log.append(("c", p.grad.tolist())))',
        *("b = a.abs()", "a = torch.ones(2)", "b.backward(b)"),
    ],
    "all dimensions, named by None or by an empty list": [
        *("a = torch.ones(2, 3, requires_grad=True)", "b = a.sum(None)", "c = a.mean(dim=None)"),
        *("d = a.sum([])", "e = a.mean([])", "f = torch.sum(a, dim=None, dtype=torch.float64)"),
    ],
    "a soft margin is one node, with the type of its input": [
        *("a = torch.ones(2, 3, requires_grad=True)", "b = torch.tensor([[1.0, -1.0, 1.0]] * 2)"),
        *("c = F.soft_margin_loss(a, b.double())", "d = F.soft_margin_loss(a, b[0])"),
        *("e = F.soft_margin_loss(a, b.long(), reduction='none')", "(c + d + e.sum()).backward()"),
    ],
    "repeated once, a tensor passes its gradient on": [
        *("a = torch.ones(2, 3, requires_grad=True)", "b = a.repeat(1, 1)"),
        "c, = torch.autograd.grad(b.sum(), a)",
    ],
    "gradients may be enabled in inference mode, where nothing is recorded": [
        "a = torch.ones(2, requires_grad=True)",
        "with torch.inference_mode(), torch.enable_grad():\n"
        "    log.append(torch.is_grad_enabled())\n    b = a * 2",
        "with torch.inference_mode(), torch.set_grad_enabled(True):\n"
        "    log.append(torch.is_grad_enabled())\n    b = a * 2",
        "with torch.inference_mode():\n    log.append(torch.is_grad_enabled())",
        "log.append(torch.is_grad_enabled())",
    ],
    "a leaf behind a conversion gets its gradient before the pass is refused": [
        "b = torch.tensor(-1.8, dtype=torch.float64, requires_grad=True)",
        *("c = torch.floor_divide(b, 3)", "d = torch.tensor([-1.0], requires_grad=True)"),
        *("(d * c).sum().backward()", "e = torch.tensor([2.0], requires_grad=True)"),
        *("(c * e).sum().backward()", "(e.double() * c).sum().backward()"),
        *(
            "e.register_hook(hook('e'))",
            "f = d * 1",
            "torch.cat([e, f, c[None], e]).sum().backward()",
        ),
    ],
    "what flows into a leaf of another size since": [
        *("b = torch.tensor(-0.5, requires_grad=True)", "c = b * 2", "b.data = torch.ones(3, 3)"),
        *("b.backward(torch.ones(3, 3))", "d, = torch.autograd.grad(b, b, torch.ones(3, 3))"),
        *("e = torch.ones(3, requires_grad=True)", "f = e * 1", "e.data = torch.ones(2, 3)"),
        "e.backward(torch.ones(2, 3))",
    ],
    "a number that was saved is detached, after another tensor has looked at it": [
        *("a = torch.tensor([0.9, -0.8], requires_grad=True)", "b = a.prod()", "c = b.sin()"),
        *("d = F.mse_loss(b, torch.ones(()))", "e = b.detach()", "b.detach_()", "c.backward()"),
        "d.backward()",
    ],
    "truth values with a history beside a number": [
        *("a = torch.tensor(2.4, requires_grad=True)", "b = torch.tensor([True, False])"),
        *("b[:1] = a", "c = torch.where(b, b, 3)", "c = torch.where(b, 3, b)"),
        *("c = b.where(b, True)", "c = torch.where(b, b, torch.tensor(3))"),
        "d = torch.where(b, b, 2.5)",
    ],
    "a power of 0 in uint8, twice": [
        "a = torch.tensor([1.6, 2.0, 0.0, 0.5], requires_grad=True)",
        "b = torch.tensor([0, 1, 2, 0], dtype=torch.uint8)",
        "c, = torch.autograd.grad((a**b).sum(), a, create_graph=True)",
        *("c.sum().backward()", "(a ** b.to(torch.int8)).sum().backward()"),
    ],
    "no gradient comes to a view that was changed by what has no derivative": [
        *(
            "a = torch.tensor([0.6, -2.1], requires_grad=True)",
            "b = a * 1",
            "b[:].floor_divide_(2)",
        ),
        _function("First", ", y): return x * 2", "g): return g, None"),
        *("c = First.apply(a, b * 1)", "c.sum().backward()", "b.sum().backward()"),
    ],
    "adding to a tensor without elements at one index": [
        *("a = torch.ones(1, 0)", "b = a.index_add(0, torch.tensor(2), a)"),
        "a.index_add_(0, torch.tensor(0), a)",
    ],
    "zeros for an expanded input that was not used": [
        *("a = torch.ones(3, 2, requires_grad=True)", "b = torch.ones(2, requires_grad=True)"),
        *("c = a.t().expand(4, 2, 3)", "d = a.expand(4, 3, 2)", "e = torch.ones(1)"),
        "k = torch.autograd.grad(b, [c, d], torch.ones(2), materialize_grads=True)",
    ],
    "which of equal elements are chosen": [
        "a = torch.tensor([1., 3., 3., 1., 3., 1., 3.], requires_grad=True)",
        *("b = a.topk(3)[1]", "b = a.topk(3, largest=False)[1]", "k = a.topk(5, sorted=False)"),
        *(
            "k[0].sum().backward()",
            "b = torch.zeros(20).topk(5)[1]",
            "b = torch.zeros(200).topk(3)[1]",
        ),
        *("k = torch.zeros(20).kthvalue(3)", "a.kthvalue(3)[0].backward()", "k = a.kthvalue(5)"),
        *("c = torch.arange(80).reshape(2, 40) % 3", "k = c.mode(1)", "k = c.kthvalue(7, 1, True)"),
        *("k = c.topk(9)", "k = c.topk(9, -1, False)", "k = c.topk(2, 0)", "d = a / (a - 1)"),
        *("d[4] = d[6] = float('nan')", "k = d.mode()", "k = d.topk(2)", "k = d.kthvalue(6)"),
        *("k = (torch.arange(500.) % 7).topk(100)", "k = (torch.arange(500.) % 7).topk(4)"),
    ],
    "values of one row that are added at many": [
        *("a = torch.zeros(3, 3)", "b = torch.arange(3)", "c = torch.tensor([1.0, 2.0, 3.0])"),
        *("d = a.index_put((b,), c, accumulate=True)", "a.index_put_((b,), c, True)"),
        "a.index_put_((b, b), c[1], accumulate=True)",
    ],
    "and, or, not of a leaf, in place": [
        *("a = torch.ones(2, requires_grad=True)", "a.logical_not_()", "a.logical_or_(a)"),
        *("b = a[:]", "b.logical_and_(a)", "k = (a * 1).unbind()", "k[0].logical_xor_(a[0])"),
        *("c = a * 1", "c.logical_not_()", "c.sum().backward()"),
    ],
    "indices along a dimension begin again at the end": [
        *("a = torch.tensor([3.5, 3.0], requires_grad=True)", "b = torch.tensor([-3, 2, 5, -1])"),
        *("c = a.take_along_dim(b, 0)", "c.sum().backward()", "c = a[:1].take_along_dim(b, -1)"),
    ],
    "nothing is added to or copied": [
        *("a = torch.ones(2, 3)", "b = a.scatter_add(0, torch.ones(0).long(), a)"),
        *("c = torch.tensor(True)", "b = c.scatter_add(0, torch.ones(2, 0).long(), c)"),
        "b = a[0].index_copy(0, torch.tensor([1]), torch.tensor(2.0))",
    ],
    "refused: a number that is copied to two places": [
        *("a = torch.ones(3)", "a.index_copy(0, torch.tensor([0, 1]), torch.tensor(2.0))"),
        "a.index_copy(0, torch.tensor([0], dtype=torch.int32), torch.ones(1))",
        "a.as_strided((0, 2), (1, -1))",
    ],
    "what a hook of a leaf's node sees, if the leaf does not require grad any more": [
        *("a = torch.tensor(4.0, requires_grad=True)", "b = a * 2"),
        *("b.grad_fn.next_functions[0][0].register_hook(hook('a'))", "a.detach_()"),
        *("b.backward()", "a = torch.ones(2, requires_grad=True)", "b = a.exp()"),
        "b.grad_fn.next_functions[0][0].register_hook(hook('b'))",
        *("a.requires_grad_(False)", "b.sum().backward()"),
    ],
    "what the only rule reads is saved, though no gradient flows": [
        "a = torch.ones(2, requires_grad=True)",
        *("with torch.no_grad():\n    b = a[:]", "c = b.masked_fill(b > 0, 1)"),
        *("c.sum().backward()", "c.sum().backward()"),
    ],
    "functions of batches and tensors without elements": [
        *("a = torch.zeros(0, 3)", "b = torch.func.vmap(lambda v: v.sin())(a) * 1"),
        "b = torch.func.vmap(lambda v: v.sin(), 1, 1)(a.t()) * 1",
        "c = torch.func.vmap(torch.func.grad(lambda v: (v * v).sum()))(a) * 1",
        "d = torch.func.jacfwd(lambda v: v / (v * v + 1))(a).contiguous() * 1",
        "e = torch.func.hessian(lambda v: (v.tanh() + v).sum())(a[:, 0]).contiguous() * 1",
        "f = torch.func.jacrev(lambda v: v.exp())(a.double()).contiguous() * 1",
    ],
}


@pytest.mark.parametrize("name", ONCE_WRONG)
def test_programs_that_were_once_wrong_are_right(name: str) -> None:
    run = replay(ONCE_WRONG[name])

    found = [d for d in run.differences if d.kind != "message"]
    assert [d for d in found if reason_for(d, run.lines) is None] == []
    assert run.lines == ONCE_WRONG[name]


# Programs that ended in another error, or none, once: the words are PyTorch's, too.
MESSAGES_ONCE_WRONG = {
    "a saved view of a tensor without a history that gets one": [
        *("a = torch.ones(2, 2)", "b = torch.ones(2, 2, requires_grad=True)", "c = a.t() * b"),
        *("a.remainder_(b)", "c.sum().backward()"),
    ],
    "a saved result that is converted when it is changed": [
        *("a = torch.ones(2, requires_grad=True)", "b = a * 1", "c = b.square()"),
        *("b.mul_(b.double())", "c.sum().backward()"),
    ],
    "a rule reads the data of another size": [
        *("a = torch.ones(2, requires_grad=True)", "b = a * a", "a.data = torch.ones(3)"),
        "b.sum().backward()",
    ],
    "a rule reads the data of another size, and grad is asked": [
        *("a = torch.ones(2, requires_grad=True)", "b = a.sin()", "a.data = torch.ones(3)"),
        "torch.autograd.grad(b, a, torch.ones(2))",
    ],
    "a hook's own ValueError": [
        *("a = torch.ones(2, requires_grad=True)", "b = a * a"),
        "b.register_hook(lambda g: np.ones(2) + np.ones(3))",
        "b.sum().backward()",
    ],
    "a floor division in place has no derivative under its own name": [
        *("a = torch.ones(2, requires_grad=True)", "b = a.sin()", "b.floor_divide_(2)"),
        "b.sum().backward()",
    ],
    "a view without a history of its own may have many elements": [
        "a = torch.ones(2, requires_grad=True)",
        "with torch.no_grad():\n    b = a[:]",
        "b.backward()",
    ],
    "a reshape of what lies in another order": [
        *("a = torch.ones(3, 2).t()", "b = a.expand(2, 3)", "c = b.reshape(7)"),
    ],
    "shapes are brought together one after another": [
        *("a = torch.ones(3) > 0", "b = torch.ones(2, 3, 2)", "c = torch.where(a, b[0, 0], b)"),
    ],
    "an input and the result were changed": [
        *("a = torch.ones(3, 2, requires_grad=True)", "b = a.logsumexp(1)", "b.mul_(2)"),
        *("with torch.no_grad():\n    a.add_(1)", "b.sum().backward()"),
    ],
    "a saved tensor was changed and detached": [
        *("a = torch.ones(2, requires_grad=True)", "b = a - 0", "c = b * b", "b.detach_()"),
        *("b.sub_(1)", "c.sum().backward()"),
    ],
    "a view was saved after its base had been changed": [
        *("a = -torch.ones(2, 3, requires_grad=True)", "b = a.view(3, 2)", "b[0].mul_(0)"),
        *("c = b.cos()", "b.view(-1).exp_()", "c.sum().backward()"),
    ],
    "the shape of a gradient is looked at before a view that lags behind": [
        "a = torch.ones(2, requires_grad=True) * 2",
        *("with torch.no_grad():\n    b = a[:]", "a.mul_(2)", "b.backward()"),
        "torch.autograd.grad(b, b, torch.ones(3))",
    ],
    "a view that is a leaf, changed by a Function": [
        "a = torch.ones(2, 2, requires_grad=True)",
        "with torch.no_grad():\n    k = [row for row in a]",
        DIRTY,
        "b = Dirty.apply(k[0])",
    ],
    "a leaf was changed by way of what was detached from it": [
        *("a = torch.tensor(2.0, requires_grad=True)", "b = a.minimum(a)", "a.detach().mul_(a)"),
        "b.backward()",
    ],
    "what a Function has saved was changed by way of a detached tensor": [
        _function(
            "Kept",
            "):\n        ctx.save_for_backward(x)\n        return x * x",
            "g): return g * ctx.saved_tensors[0]",
        ),
        *("a = torch.ones(2, requires_grad=True).sum()", "b = Kept.apply(a)"),
        *("a.detach().mul_(2)", "b.backward()"),
    ],
    "of two changed inputs the one that comes first by its name is told": [
        *("a = torch.ones(1, 3, requires_grad=True)", "b = a.double()", "c = b.T"),
        *("d = torch.matmul(b, c)", "c.add_(c)", "d.sum().backward()"),
    ],
    "zeros for an input of integers are refused as by zeros_like": [
        *("a = torch.ones(2, 2, dtype=torch.int64)", "b = torch.tensor(1.0, requires_grad=True)"),
        *("a[::2] = b", "torch.autograd.grad(b, a, b, create_graph=True, materialize_grads=True)"),
    ],
    "an in-place operation without a derivative in a view ends each backward pass": [
        *("a = torch.ones(2, 2, requires_grad=True)", "b = a.sin()", "b[0].floor_divide_(2)"),
        'b.grad_fn.register_hook(hook("b"))',
        *("b.sum().backward()", "b.sum().backward()"),
    ],
    "the result of a change of a view is the view's": [
        *("a = torch.ones(2, requires_grad=True)", "b = a * a", "c = b[:]", "c.exp_()"),
        *("b[-1] = 10", "b.sum().backward()"),
    ],
    "a change of a view whose saved values were changed is not freed": [
        *("a = torch.ones(2, requires_grad=True)", "b = a * 2", "c = b[:]", "c.remainder_(c)"),
        *("b.sum().backward()", "b.sum().backward()"),
    ],
    "wrong calls in place have the name with its underscore": [
        *("a = torch.ones(2)", "a.mul_(1, 2)", "a.pow_()", "a.clamp_('b')", "a.atan2_()"),
        *("a.mul_(None)", "a.acos_(1)", "a.masked_fill_(a)", "a.tril_(1, 2)", "a.lt_('b')"),
    ],
    "one truth value that was saved, and changed": [
        *("a = torch.tensor([0.5, -1.0], requires_grad=True)", "b = torch.tensor(True)"),
        *("c = torch.where(b, a * 1, a)", "b[None] = False", "c.sum().backward()"),
        *("c = (a * 1).masked_fill(b, 2)", "b.logical_not_()", "c.sum().backward()"),
        *("d = torch.tensor([True, False])", "c = torch.where(d, a, 0.0)", "d.logical_not_()"),
        "c.sum().backward()",
    ],
    "flags of a view that cannot follow its base": [
        *(
            "a = torch.ones(2, 2, requires_grad=True) * 1",
            "k = a.unbind()",
            "k[1].detach().add_(1)",
        ),
        *("k[1].requires_grad = False", "k[0].requires_grad = True", "k[1].requires_grad_(False)"),
    ],
    "arguments that are too many, or None": [
        *("a = torch.ones(2, 3)", "a.logsumexp(None)", "a.tril(1, 2)", "a.unbind(1, 2)"),
    ],
    "soft margins that cannot be computed": [
        *("a = torch.ones(2, 3, requires_grad=True)", "F.soft_margin_loss(a[0], a.detach())"),
        *("F.soft_margin_loss(a.detach(), a)", "F.soft_margin_loss(a.long(), a.detach())"),
    ],
    "repeats of nothing, less than never": [
        *("a = torch.ones(2, 0, requires_grad=True)", "b = a.repeat(1, -1)", "b.sum().backward()"),
        *("b = a.repeat(3, 2, -1)", "b.sum().backward()"),
    ],
    "what saves itself, and was changed once more by a detached tensor": [
        *("a = torch.ones(2, requires_grad=True)", "b = a + a", "b.mul_(b)"),
        *("b.detach().square_()", "b.sum().backward()"),
    ],
    "a saved tensor was changed by a Function": [
        *("a = torch.ones(2, requires_grad=True)", "b = a + a", "c = b.exp() + b.pow(0.5)", DIRTY),
        *("d = Dirty.apply(b)", "c.sum().backward()"),
    ],
    "a gradient that is too small for what was scattered": [
        *("a = torch.ones(2, 1, requires_grad=True)", "b = torch.zeros(0, 3, dtype=torch.int64)"),
        *("c = a.scatter(-1, b, a)", "c.sum().backward()"),
    ],
    "products of many large matrices of truth values": [
        *("a = torch.ones(2, 7, 7) > 0", "a.bmm(a[:, :, :5])", "a.bmm(a.repeat(1, 1, 2))"),
    ],
    "running sums of truth values in many places": [
        *("a = (torch.ones(2) > 0).expand(3, 2)", "a.cumsum_(0)"),
    ],
    "a number that does not fit is scattered to places that do not": [
        *("a = torch.zeros(3, dtype=torch.int64)", "b = torch.tensor([0, 1, 7])"),
        *("a.scatter_(0, b, float('nan'))", "a.scatter_(0, b.flip(0), float('nan'))"),
        *("a.scatter(0, b, 1e30)", "a[:0].scatter_(0, b[:1], 1e30)"),
    ],
    "a saved tensor was changed, and another one detached": [
        *(
            "a = torch.tensor([0.1, 2.0], requires_grad=True)",
            "b = a * 2",
            "c = a * 3",
            "d = b * c",
        ),
        *("b.detach_()", "c.mul_(2)", "d.sum().backward()", "b = a * 2", "d = b * c"),
        *("b.mul_(2)", "b.detach_()", "d.sum().backward()", "e = torch.ones(2)", "d = e * a"),
        *("e.mul_(a)", "e.detach_()", "d.sum().backward()", "r = d.grad_fn._saved_self"),
    ],
    "the node of a view since a change that has saved its result": [
        *("a = torch.ones(2, requires_grad=True)", "b = a.flip(0)", "c = b[1:]", "c.relu_()"),
        *("c[-1:] = 1", "c.sum().backward()", "d = a.sum()", "d[()].rsqrt_()", "d[()] = 1.5"),
        *("d.backward()", "b = a.flip(0)", "c = b[1:]", "d = c.exp_() * 2", "c[:] = 1"),
        *("b.sum().backward()", "b = a.flip(0)", "c = b[1:]", "c.relu_()"),
        *("with torch.no_grad():\n    b.mul_(2)", "b.sum().backward()", "c.sum().backward()"),
    ],
    "integers with a history that do not fit where they are assigned": [
        *("a = torch.tensor(1.5, requires_grad=True)", "b = torch.tensor([1, 2, 3, 4])"),
        *("c = b * 1", "c[-1:] = a", "b[1:] = c", "b[1:] = c[None]", "b[1:] = c[1:]"),
    ],
    "a shape that does not fit what a Function has transposed, and that cannot follow its base": [
        "a = torch.ones(3, 2, requires_grad=True)",
        _function("Flipped", "): return x.t()", "g): return g.t()"),
        *("b = Flipped.apply(a)", "with torch.no_grad():\n    b.mul_(2)", "c = b.reshape(2, 5)"),
        "c = b.reshape(6)",
    ],
    "indices that do not fit, of what is written at them": [
        *("a = torch.ones(3)", "b = torch.ones(2, 3)", "a.index_put((torch.tensor([0, 5]),), b)"),
        *(
            "a.index_put((torch.tensor([0]),), b.double()[0])",
            "a.index_put_((torch.tensor([9]),), a)",
        ),
        *("b.index_copy(0, torch.tensor([[0]]), b)", "b.index_copy(0, torch.tensor([0]), b)"),
        *("b.index_copy(1, torch.tensor([0]), b[:1, :1])", "b.index_copy(0, torch.tensor([0]), a)"),
        *(
            "b.index_copy(0, torch.tensor([0]), b.double())",
            "b.index_copy_(0, torch.tensor([9]), b)",
        ),
        *("a.index_fill(2, torch.tensor([1.0]), 2)", "a.index_fill(2, torch.tensor([1.0]), a)"),
        "a.long().index_fill(0, torch.tensor([9]), float('nan'))",
        *("a.index_fill(0, torch.tensor([[1]]), 2)", "a.take_along_dim(torch.tensor([[True]]), 0)"),
        *("a[0].take_along_dim(torch.tensor(0), 0)", "b.take_along_dim(torch.tensor([[0, 1]]), 0)"),
        *("a.scatter_add(0, a, a)", "a.scatter_reduce(0, a, a.double(), 'sum')"),
        "a.index_fill_(0, a.int(), 2)",
    ],
}


@pytest.mark.parametrize("name", MESSAGES_ONCE_WRONG)
def test_errors_that_were_once_worded_otherwise_are_pytorchs(name: str) -> None:
    run = replay(MESSAGES_ONCE_WRONG[name])

    assert run.differences == []
    assert run.lines == MESSAGES_ONCE_WRONG[name]
