"""Programs in which views, or what shares memory, were once wrong."""

from tests.fuzz.once_wrong.functions import function_text

PROGRAMS = {
    "indices that are changed after an assignment": [
        *("a = torch.ones(2, requires_grad=True)", "b = torch.tensor([0, 1])"),
        *("c = torch.tensor([True, False, True])", "d = torch.zeros(3)", "d[b] = a"),
        *("e = torch.zeros(2, 3)", "e[:, b] = a", "f = torch.zeros(2, 3)", "f[0][c] = a"),
        *("g = torch.index_put(torch.zeros(3), (b,), a, accumulate=True)", "b[0] = 2", "c[0] = 0"),
        *("d.sum().backward()", "e.sum().backward()", "f.sum().backward()", "g.sum().backward()"),
    ],
    "changed by a view of it that has other data": [
        *("a = torch.ones(3, requires_grad=True)", "b = a * 2", "c = b.view(3)"),
        *("c.data = torch.ones(3)", "b *= c", "b.sum().backward()"),
    ],
    "functions of a view without a history": [
        *("a = torch.ones(2, requires_grad=True)", "with torch.no_grad():\n    b = a.view(2)"),
        "c = torch.func.grad(lambda v: (v * v).sum())(b) * 1",
        "with torch.inference_mode():\n    d = (a * 2)[-1]",
        "d = torch.func.grad(torch.func.grad(lambda v: v**3))(a[0].detach().clone())",
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
    "another shape for an inference tensor, in place": [
        *("with torch.inference_mode():\n    a = torch.ones(2, 1)", "a.t_()", "a.squeeze_()"),
        *("a.unsqueeze_(0)", "a.transpose_(0, 1)", "with torch.inference_mode():\n    a.t_()"),
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
    "gradients of what is written to an expanded tensor where a mask is true": [
        *("a = torch.tensor(2.0, requires_grad=True)", "b = a * 1", "c = b.expand(3)"),
        *("c[torch.tensor([True, False, True])] = -2.0", "b.backward()"),
    ],
    "the places of extremes lie outside since": [
        *("a = torch.linspace(-1, -2.0, 6, requires_grad=True)", "b = a.min(-1)"),
        *("b[1].data.neg_()", "b[0].backward()", "c = a.view(2, 3).max(0)"),
        *("c[1].data.add_(1)", "c[0].sum().backward()"),
    ],
    "a step of an optimizer after .data of another size": [
        *("a = torch.ones(2, requires_grad=True)", "a.sum().backward()", "a.data = a.sum().data"),
        *("torch.optim.SGD([a], lr=0.1).step()", "torch.optim.Adam([a]).step()"),
        *("a.data = torch.ones(3)", "torch.optim.SGD([a], lr=0.1, weight_decay=0.1).step()"),
    ],
    "the gradient of a leaf whose .data is expanded since": [
        *("a = torch.ones(2, requires_grad=True)", "b = a.expand(3, 2, 2)", "a.data = b.data"),
        "b.sum().backward()",
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
    "a rule is not called for a view that no gradient flows through": [
        "a = torch.ones(1, 1, requires_grad=True)",
        "with torch.no_grad():\n    b = a.view(1)",
        *("c = b ** (b > 0)", "c.sum().backward()"),
    ],
    "the gradient of a 0-d leaf is 0-d, though its .data has dimensions since": [
        *("a = torch.ones(2, 1)", "b = torch.tensor(4.0, requires_grad=True)"),
        *("c = b.clamp(min=a)", "b.data = c.data", "c.sum().backward()"),
    ],
    "truth values of 0 dimensions that are filled with the same count a change": [
        *("a = torch.tensor(2.0, requires_grad=True)", "b = a.bool()", "b.fill_(a)"),
        *("c = torch.tensor(True)", "c.copy_(a)", "c.fill_(a)"),
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
    "assignments to inference tensors": [
        "a = torch.ones(2, 2, requires_grad=True)",
        "with torch.inference_mode():\n    b = a * 2\n    c = torch.ones(2, 2, requires_grad=True)",
        "b[0] = a",
        "b[-1] = a[0] * 2",
        "c[None] = 0.5",
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
    "what only the rule of a view without a history reads may change": [
        *("a = torch.ones(2, requires_grad=True)", "with torch.no_grad():\n    b = a.view(-1)"),
        *("c = torch.ones(2)", "d = c * b", "c.add_(1)", "d.sum().backward()"),
    ],
    "what the rule of a view without a history and another read must not change": [
        *("a = torch.ones(2, requires_grad=True)", "with torch.no_grad():\n    b = a.view(-1)"),
        *("c = torch.ones(2)", "d = torch.pow(c, b)", "e = b.exp()", "c.add_(1)"),
        *("e.add_(1)", "e.sum().backward()", "d.sum().backward()"),
    ],
    "a view without a history that is expanded has a part in create_graph": [
        "a = torch.tensor([[1.0, -2.3], [1.0, 0.1]], requires_grad=True)",
        *("b = a.sum()", "c, = torch.autograd.grad(b, a, b)", "d = a / c"),
        *("d.sum().backward(create_graph=True)", "e = a * c"),
        "f, = torch.autograd.grad(e.sum(), a, create_graph=True)",
    ],
    "a gradient of another size than the output has is summed, with its history": [
        *("a = torch.ones(3, 3, requires_grad=True)", "b = F.mse_loss(a, torch.zeros(3, 3))"),
        *("b.data = a.data", "c, = torch.autograd.grad(b, b, a)"),
    ],
    "what only the rule of a view without a history reads is not even saved": [
        *("a = torch.ones(2, requires_grad=True)", "with torch.no_grad():\n    b = a.view(-1)"),
        *("c = b * torch.ones(2)", "c.sum().backward()", "c.sum().backward()"),
        *("d = b / torch.ones(2)", "d.sum().backward()", "d.sum().backward()"),
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
    "gradients may be enabled in inference mode, where nothing is recorded": [
        "a = torch.ones(2, requires_grad=True)",
        "with torch.inference_mode(), torch.enable_grad():\n"
        "    log.append(torch.is_grad_enabled())\n    b = a * 2",
        "with torch.inference_mode(), torch.set_grad_enabled(True):\n"
        "    log.append(torch.is_grad_enabled())\n    b = a * 2",
        "with torch.inference_mode():\n    log.append(torch.is_grad_enabled())",
        "log.append(torch.is_grad_enabled())",
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
    "no gradient comes to a view that was changed by what has no derivative": [
        *(
            "a = torch.tensor([0.6, -2.1], requires_grad=True)",
            "b = a * 1",
            "b[:].floor_divide_(2)",
        ),
        function_text("First", ", y): return x * 2", "g): return g, None"),
        *("c = First.apply(a, b * 1)", "c.sum().backward()", "b.sum().backward()"),
    ],
    "zeros for an expanded input that was not used": [
        *("a = torch.ones(3, 2, requires_grad=True)", "b = torch.ones(2, requires_grad=True)"),
        *("c = a.t().expand(4, 2, 3)", "d = a.expand(4, 3, 2)", "e = torch.ones(1)"),
        "k = torch.autograd.grad(b, [c, d], torch.ones(2), materialize_grads=True)",
    ],
    "and, or, not of a leaf, in place": [
        *("a = torch.ones(2, requires_grad=True)", "a.logical_not_()", "a.logical_or_(a)"),
        *("b = a[:]", "b.logical_and_(a)", "k = (a * 1).unbind()", "k[0].logical_xor_(a[0])"),
        *("c = a * 1", "c.logical_not_()", "c.sum().backward()"),
    ],
    "refused: a number that is copied to two places": [
        *("a = torch.ones(3)", "a.index_copy(0, torch.tensor([0, 1]), torch.tensor(2.0))"),
        "a.index_copy(0, torch.tensor([0], dtype=torch.int32), torch.ones(1))",
        "a.as_strided((0, 2), (1, -1))",
    ],
    "what the only rule reads is saved, though no gradient flows": [
        "a = torch.ones(2, requires_grad=True)",
        *("with torch.no_grad():\n    b = a[:]", "c = b.masked_fill(b > 0, 1)"),
        *("c.sum().backward()", "c.sum().backward()"),
    ],
    "what a view was changed by, without a derivative, is all of its history": [
        *("a = torch.tensor([-2.0, 1.0], requires_grad=True)", "b = torch.ones(2)[:]"),
        *("b.floor_divide_(a)", "c = b * b", "d, = torch.autograd.grad(c.sum(), a)"),
        *("d, = torch.autograd.grad(c.sum(), a, allow_unused=True)", "c.sum().backward()"),
    ],
    "a view that backward makes anew is no rule's": [
        *("c = torch.ones(2, requires_grad=True)", "e = c.squeeze(0)", "f = e.cos()"),
        *("with torch.no_grad():\n    c.fill_(0.5)", "g, = torch.autograd.grad(f.sum(), c)"),
    ],
    "views of what was given another shape in place have their history anew": [
        *(
            "a = torch.ones(2, 2, requires_grad=True)",
            "b = a * 1",
            "c = b[0]",
            "b.transpose_(0, 1)",
        ),
        *("d = b.view(-1, 2)", "b.unsqueeze_(0)", "c.mul_(2)", "d.mul_(3)"),
        *("(c * 2).sum().backward()", "(d * b).sum().backward()", "e = a.round()"),
        *("f = e.unbind()[0]", "e.t_()", "f * 2"),
        *("g = torch.ones(2, 2)", "h = g[1]", "g.t_()", "h.mul_(a[0])", "g.sum().backward()"),
    ],
    "views after a view was given another shape in place": [
        *("a = torch.ones(2, 3, requires_grad=True)", "b = a * 1", "c, d = b.t(), b.view(-1)"),
        *("with torch.no_grad():\n    c.t_()", "e = c.t()", "e.t_()", "d = d * 2"),
        *("with torch.no_grad():\n    f = b.t()\n    f.t_()", "g = f.is_leaf"),
    ],
    "a leaf is refused before a dimension": [
        *("a = torch.ones(2, 2, requires_grad=True)", "a.transpose_(2, 1)", "a.squeeze_(5)"),
        *("a[0].unsqueeze_(5)", "a.swapaxes_(0, 4)"),
    ],
    "one number under one mask": [
        *("a = torch.tensor([True, False])", "a.index_put_((a,), a[:1])", "b = torch.ones(1)"),
        *(
            "b.index_put_((torch.tensor([False]),), b)",
            "a.index_put_((a,), a[:1], accumulate=True)",
        ),
        *("a = torch.tensor([1]).expand(3)", "a.nan_to_num_()", "a.add_(1)"),
    ],
    "a result in memory that is there": [
        *("a = torch.from_numpy(np.ones(4))", "b = a[:2]", "c = a[2:]"),
        *("torch.add(torch.ones(3), 1, out=b)", "a = a + 0", "torch.add(torch.ones(3), 1, out=c)"),
    ],
}
