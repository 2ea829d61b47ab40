"""Programs in which gradients, or what is saved for them, were once wrong."""

from tests.fuzz.once_wrong.functions import function_text

PROGRAMS = {
    "the slope of abs and of norms has saved what it was computed of": [
        *("a = torch.tensor([1.0, -2.0], requires_grad=True)", "b = a * 2", "c = b.abs()"),
        *(
            "d, = torch.autograd.grad(c.sum(), a, create_graph=True)",
            "b *= c",
            "d.sum().backward()",
        ),
        *("b = a * 2", "c = b.norm(1) + b.norm(1.5)", "b += 1"),
        *("b = a * 2", "c = torch.linalg.vector_norm(b, 1)"),
        *("d, = torch.autograd.grad(c, a, create_graph=True)", "b += 1", "d.sum().backward()"),
    ],
    "what was converted for an op is changed through .data": [
        *("a = torch.eye(2, requires_grad=True)", "b = torch.tensor(False)", "c = a.minimum(b)"),
        *("d = a * b", "e = a * torch.tensor([1, 2])", "f = e + torch.where(a > 0, d, c)"),
        *("b.data[...] = True", "f.sum().backward()"),
    ],
    "the slope of leaky_relu is freed with the pass that has used it": [
        "a = torch.tensor([2.4], requires_grad=True)",
        "d = F.leaky_relu(a, 0.5)",
        "c, = torch.autograd.grad(d.sum(), a, create_graph=True)",
        "e, = torch.autograd.grad(c.sum(), a)",
        "(c ** 2).mean().backward()",
    ],
    "lower bound of inf without an upper one": [
        *("a = torch.tensor(float('inf'), requires_grad=True)", "b = torch.ones(3)"),
        *("b.clamp(min=a).sum().backward()", "c = torch.tensor(float('inf'))"),
        "b.clamp(a, c).sum().backward()",
    ],
    "product of one zero": [
        *("a = torch.ones(1, requires_grad=True)", "b = (a - a).prod()"),
        "c, = torch.autograd.grad(b, a, create_graph=True)",
    ],
    "nothing is freed where only the rule of a sum is called": [
        *("a = torch.ones(2, requires_grad=True)", "b = torch.ones(2, 2)", "c = F.linear(b, b, a)"),
        *("c.sum().backward()", "c.sum().backward()", "d = torch.addmm(b, b, b * a, beta=2)"),
        *("d.sum().backward()", "d.sum().backward()"),
    ],
    "the node of what has no derivative has PyTorch's name": [
        "a = torch.ones(2, requires_grad=True)",
        function_text("Once", "): return x * 2", "g): return g * 2").replace(
            "    @staticmethod\n    def backward",
            "    @staticmethod\n    @torch.autograd.function.once_differentiable\n    def backward",
        ),
        *("c = Once.apply(a)", "d = c.square().sum()"),
        *("k = torch.autograd.grad(d, [a, c], create_graph=True)", "e = repr(k[0])"),
    ],
    "answers that are written over what was compared": [
        *("a = torch.tensor([0.5, 2.0], requires_grad=True)", "b = a * 2", "b.lt_(1.5)"),
        *("b.sum().backward()", "c = torch.ones(2)", "c.ge_(a)", "c.sum().backward()"),
        *("d = torch.ones(2, 2).double() * a.sum()", "d[0].eq_(a)", "d.sum().backward()"),
        *("e = torch.ones(2) > 0", "e.greater_(a)", "f = (a * 1)", "f.not_equal_(a.double())"),
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
    "running products beside zeros that are followed by inf or nan": [
        "a = torch.tensor([2.0, 0.0, float('inf'), 0.0, 3.0], requires_grad=True)",
        *("a.cumprod(0).sum().backward()", "b = torch.tensor([0.0, 3.0, 0.0], requires_grad=True)"),
        "c, = torch.autograd.grad(b.cumprod(0).sum(), b, create_graph=True)",
        *("c.sum().backward()", "d = torch.tensor([[0.0, float('nan')]], requires_grad=True)"),
        *("d.cumprod(1).sum().backward()", "d.cumprod(0).sum().backward()"),
        "c, = torch.autograd.grad(d.cumprod(1).sum(), d, create_graph=True)",
    ],
    "what has no derivative refuses before other rules are called": [
        *("a = torch.ones(2, requires_grad=True)", "b = a // 1", "c = a.exp()"),
        *("torch.autograd.backward([c.sum(), b.sum()])", "c.sum().backward()"),
    ],
    "the gradient of a value that was assigned has the type of the value": [
        "a = torch.ones(2, requires_grad=True)",
        "c = torch.zeros(2, 3, dtype=torch.float64)",
        "c[0] = a[0]",
        "c.sum().backward()",
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
    "a gradient that others look into": [
        "a = torch.tensor(4.0, requires_grad=True)",
        function_text("Same", "): return x", "g): return g * 2"),
        "b = Same.apply(a)",
        "a.grad = b",
        "c = 0.1 + a",
        "c.backward()",
    ],
    "a source of scatter whose gradient is a sum": [
        "a = torch.randn(3, requires_grad=True)",
        "b = torch.full((0, 3), 3)",
        "c = torch.mul(a, b)",
        "c.scatter(1, b, a).sum().backward()",
    ],
    "a number that was saved, changed, and given up": [
        "a = torch.tensor([-0.3, -0.6], requires_grad=True)",
        "b = a.sum()",
        "b /= b",
        "b = b.sum(0)",
        "b.backward()",
    ],
    "the variance of one number, and the signs of truth values": [
        "a = torch.tensor(1.0, requires_grad=True)",
        "b, = torch.autograd.grad(a.var(0), a, create_graph=True)",
        "a = torch.tensor([[False], [True]])",
        "b = torch.sign(a)",
        "a.logical_not_()",
        "a[0] = False",
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
    "the variance of what is no number": [
        *("a = torch.tensor(float('nan'), requires_grad=True)", "a.var(0).backward()"),
    ],
    "what was converted to the type of another input was changed": [
        "a = torch.tensor([0.5, -2.0], dtype=torch.float64, requires_grad=True)",
        *("b = a * 2", "c = F.binary_cross_entropy_with_logits(b, torch.ones(2))", "b.mul_(10)"),
        "c.backward()",
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
    "a power of 0 in uint8, twice": [
        "a = torch.tensor([1.6, 2.0, 0.0, 0.5], requires_grad=True)",
        "b = torch.tensor([0, 1, 2, 0], dtype=torch.uint8)",
        "c, = torch.autograd.grad((a**b).sum(), a, create_graph=True)",
        *("c.sum().backward()", "(a ** b.to(torch.int8)).sum().backward()"),
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
    "indices along a dimension begin again at the end": [
        *("a = torch.tensor([3.5, 3.0], requires_grad=True)", "b = torch.tensor([-3, 2, 5, -1])"),
        *("c = a.take_along_dim(b, 0)", "c.sum().backward()", "c = a[:1].take_along_dim(b, -1)"),
    ],
    "what was converted for an op has other data since": [
        *("a = torch.ones(2)", "b = torch.tensor(-float('inf'), requires_grad=True)"),
        *("c = torch.ge(a, b)", "d = F.mse_loss(b, c)", "c.data = b.data", "d.backward()"),
        *("e = torch.ones(2, requires_grad=True)", "f = torch.arange(2)", "g = e * f + e.pow(f)"),
        *("f.data = torch.tensor([5, 6])", "g.sum().backward()"),
    ],
    "an empty view is changed twice under create_graph": [
        *("a = torch.rand(2, 0, requires_grad=True)", "b = a * 1", "c = b[...]", "c.sub_(0.1)"),
        *("c.cos_()", "d, = torch.autograd.grad(c.sum(), a, create_graph=True)"),
    ],
    "an inference tensor that torch.func differentiates by is saved for a gradient outside": [
        "a = torch.tensor([1.0, 2.0], requires_grad=True)",
        "with torch.inference_mode():\n    b = torch.tensor([2.0, 3.0])",
        "c = torch.func.grad(lambda v: (v.clone() * a).sum())(b)",
        "c = torch.func.grad(lambda v, u: (v.exp() * u).sum(), (0, 1))(b, a)",
        "c = torch.func.grad(lambda v, u: (v * u).sum(), 1)(b, a)",
        "c = torch.func.jvp(lambda v: v * v * a, (b,), (b,))[1] * 1",
        "with torch.no_grad():\n    c = torch.func.grad(lambda v, u: (v * u).sum())(b, a)",
        "c = torch.func.grad(lambda v: (v * a).sum())(b)",
        "c = torch.func.grad(lambda v: (v.t() * a).sum())(b)",
        "c = torch.func.grad(lambda v, u: (v.clone().mul_(v) * u).sum(), (0, 1))(b, a)",
    ],
    "no gradient reaches a change of a view that was freed": [
        "a = torch.ones(2, requires_grad=True)",
        "class F1(torch.autograd.Function):\n"
        "    forward = staticmethod(lambda ctx, x: x.sin())\n"
        "    backward = staticmethod(lambda ctx, g: g)",
        *("b = F1.apply(a)", "b[None] = 10", "c = F1.apply(a)", "c.view(2).sin_()"),
        *("b.sum().backward()", "b.norm(0, 0).backward()", "c.sum().backward()"),
        *("c.norm(0, 0).backward()", "d = a * 1", "d[0] = 3", "d.sum().backward()"),
        "d.norm(0, 0).backward()",
    ],
    "no gradient reaches a Function that has changed a view": [
        "class F1(torch.autograd.Function):\n"
        "    @staticmethod\n"
        "    def forward(ctx, x):\n"
        "        ctx.mark_dirty(x)\n"
        "        x.mul_(2)\n"
        "        return x\n"
        "    @staticmethod\n"
        "    def backward(ctx, g):\n"
        "        log.append(g.tolist())\n"
        "        return g * 2",
        "class F2(torch.autograd.Function):\n"
        "    forward = staticmethod(lambda ctx, x: x * 1)\n"
        "    backward = staticmethod(lambda ctx, g: None)",
        *("a = torch.ones(2, requires_grad=True)", "b = a * 2", "F1.apply(b[None])"),
        *("F2.apply(b).sum().backward()", "c = a.exp()", "F1.apply(c)"),
        "F2.apply(c).sum().backward()",
    ],
    "an input of kron is changed in place": [
        *("a = torch.ones(2, requires_grad=True)", "b = torch.ones(2, requires_grad=True)"),
        *("c = torch.kron(a, b)", "with torch.no_grad():\n    a.mul_(3)", "c.sum().backward()"),
    ],
    "a negative slope of leaky_relu_, whose rule reads the result": [
        *("a = torch.tensor([1.5, -1.0], requires_grad=True)", "b = a * 1"),
        *("F.leaky_relu_(b, 0.0)", "b.sum().backward()", "b = a * 1", "F.leaky_relu_(b, -1)"),
        "b.sum().backward()",
    ],
    "the gradient of an embedding in no dimensions": [
        "a = torch.rand(2, 0, requires_grad=True)",
        *("b = F.embedding(torch.tensor([1]), a)", "b.backward(torch.ones_like(b))"),
    ],
    "kron of an inference tensor, which a gradient needs": [
        "with torch.inference_mode():\n    a = torch.ones(2)",
        *("b = torch.ones(2, requires_grad=True)", "c = torch.kron(a, a)", "torch.kron(a, b)"),
    ],
    "how the slope of gelu changes, for an infinite gradient": [
        "a = torch.tensor([1.5, -0.5], requires_grad=True)",
        "b, = torch.autograd.grad(F.gelu(a), a, torch.full((2,), torch.inf), create_graph=True)",
        "b.sum().backward()",
    ],
    "a leaf that is a view, whose base has a history since": [
        *("a = torch.ones(2)", "with torch.no_grad():\n    b = a[()]", "b.requires_grad_()"),
        *("c = b * 2", "a.copy_(c)", "(c * c).sum().backward()"),
        *("a = torch.ones(2)", "b = a[()]", "b.requires_grad_()", "c = b * 2", "a.copy_(c)"),
        "(c * c).sum().backward()",
    ],
    "the gradient of a product without elements has its input's type": [
        *("a = torch.ones(2, 0, dtype=torch.float64)", "b = torch.ones(3, 2, requires_grad=True)"),
        *('c = torch.einsum("ij,jk->ik", b, a)', "(c ** 2).sum().backward()"),
    ],
    "what a rule saves again of what was converted, and changed since": [
        *("a = torch.tensor([2.0, 3.0], requires_grad=True)", "b = torch.tensor([2, 3])"),
        "c, = torch.autograd.grad(a.pow(b).sum(), a, create_graph=True)",
        "d, = torch.autograd.grad((b / a).sum(), a, create_graph=True)",
        "e, = torch.autograd.grad(a.atan2(b).sum(), a, create_graph=True)",
        "f, = torch.autograd.grad(a.atan2(b * 1.0).sum(), a, create_graph=True)",
        *("b += 1", "c.sum().backward()", "d.sum().backward()", "e.sum().backward()"),
        "f.sum().backward()",
    ],
    "a slope of atan2 does not need what was changed since": [
        *("a = torch.tensor([2.0, 3.0], requires_grad=True)", "b = torch.tensor([2.0, 3.0])"),
        "c, = torch.autograd.grad(a.atan2(b).sum(), a, create_graph=True)",
        *("b += 1", "c.sum().backward()"),
    ],
    "a leaf that was converted, and detached since": [
        *("a = torch.ones(2, requires_grad=True)", "b = a.detach().double().requires_grad_()"),
        *("c = a * b", "a.detach_()"),
        "d, = torch.autograd.grad(c.sum(), b, create_graph=True)",
    ],
    "what cummax and cummin have saved": [
        *("a = torch.ones(2, 2, requires_grad=True)", "b = a.cummax(0)", "c = a.cummin(-1)"),
        *("with torch.no_grad():\n    a.zero_()", "b[0].sum().backward()", "c[0].sum().backward()"),
    ],
    "slopes that PyTorch does not have of integers": [
        *("a = torch.tensor(-0.5, requires_grad=True)", "b = torch.tensor([True, False])"),
        *("torch.logaddexp2(b, a).sum().backward()", "torch.logaddexp(a, b).sum().backward()"),
        *("c = torch.addcdiv(a, a, torch.tensor(2))", "c.backward()"),
        *("c = torch.addcdiv(a, torch.tensor(2), a)", "c.backward()"),
    ],
    "the source of scatter_reduce is larger than its indices": [
        *("a = torch.arange(4.0, requires_grad=True)", "b = torch.tensor([0, 1, 1])"),
        *("c = torch.zeros(4).scatter_reduce(0, b, a, 'mean')", "c.sum().backward()"),
        *("c = torch.zeros(4).scatter_reduce(0, b, a, 'amax')", "c.sum().backward()"),
        *("c = torch.zeros(4).scatter_reduce(0, b, a[:3], 'prod')", "c.sum().backward()"),
    ],
    "an argument of a checkpoint was detached in place": [
        *("a = torch.ones(2, requires_grad=True)", "b = a * a"),
        *("c = checkpoint(lambda v: v.sin() * 2.0, b, use_reentrant=False)", "b.detach_()"),
        "c.sum().backward()",
    ],
    "two results of one op in inference mode": [
        *(
            "a = torch.arange(2.0, requires_grad=True)",
            "with torch.inference_mode():\n    b = a.aminmax()",
        ),
        *("c = a.pow(b[1])", "c = a * b[0]"),
    ],
    "what flows through a product of one number is the very gradient": [
        *("a = torch.rand(3, requires_grad=True)", "b = a.sum()", "c = b.prod(-1)"),
        "d, = torch.autograd.grad(c, b, c)",
    ],
}
