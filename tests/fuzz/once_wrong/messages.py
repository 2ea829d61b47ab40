"""Programs that ended in another error than in PyTorch, or in none, once."""

from tests.fuzz.once_wrong.functions import DIRTY, function_text

PROGRAMS = {
    "rows of a table were looked up, and the indices are saved": [
        *("a = torch.ones(3, 2, requires_grad=True)", "b = F.embedding(torch.tensor([0, 1]), a)"),
        *("b.sum().backward()", "b.sum().backward()"),
    ],
    "the gradients of rows of a table save the indices, too": [
        *("a = torch.ones(3, 2, requires_grad=True)", "b = F.embedding(torch.tensor([2]), a)"),
        "c = torch.autograd.grad((b * b).sum(), a, create_graph=True)[0]",
        *("(c * c).sum().backward()", "(c * c).sum().backward()"),
    ],
    "the smallest of nothing along a dimension": [
        *("a = torch.rand(2, 0)", "k = a.aminmax(dim=-1)", "k = a.aminmax()"),
    ],
    "a copy of a part that is not there": [
        *("a = torch.ones(4)", "b = a.narrow_copy(1, 0, 2)", "b = a.narrow_copy(0, 3, -1)"),
        *("b = a.narrow_copy(0, 5, -1)", "b = a.narrow_copy(-1, -1, 2)"),
    ],
    "a number written over entries that are not there": [
        *("a = torch.ones(2, 0)", "a.index_fill_(1, torch.tensor([1, 0]), 2)"),
        *("b = torch.ones(0, 2, dtype=torch.float64)", "c = b.index_fill(0, torch.tensor([1]), 2)"),
        "c = a.index_fill(0, torch.tensor([5]), 2)",
    ],
    "a batch without channels": [
        *("a = torch.ones(1, 0)", "b = torch.nn.BatchNorm1d(0)(a)"),
        *("a = torch.ones(2, 0)", "b = torch.nn.BatchNorm1d(0)(a)"),
    ],
    "rows that truth values look up": ["a = torch.ones(2)", "b = F.embedding(a > 0, a.view(2, 1))"],
    "the class of an image in no batch": [
        *("a = torch.ones(0, 2, 2, 2)", "b = F.cross_entropy(a, torch.tensor(0))"),
        "b = F.cross_entropy(a[..., 0], torch.tensor(0))",
    ],
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
        function_text(
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
        function_text("Flipped", "): return x.t()", "g): return g.t()"),
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
    "what a converted input had become": [
        *("a = torch.ones(2, requires_grad=True)", "b = a * 2", "c = b.double() * b"),
        *("d = torch.ones(2).double() * b", "b.detach_()", "c.sum().backward()"),
        *("a = torch.ones(2, 3, requires_grad=True) * 1", "b = a[:, 0]", "c = b * b.double()"),
        *("a.add_(1)", "c.sum().backward()"),
    ],
    "what an op computes in another dtype is saved as it was": [
        "a = torch.ones(2, 3, requires_grad=True) * 1",
        *("k = [a.prod(dtype=torch.float64), a.prod(0, dtype=torch.float64)]", "a.add_(1)"),
        *("k[0].backward()", "k[1].sum().backward()", "b = a.cumprod(0, dtype=torch.float64)"),
        "c = a.norm(dtype=torch.float64) + torch.linalg.vector_norm(a, dtype=torch.float64)",
        *("d = a.nansum(dtype=torch.float64)", "r = str(d.grad_fn.next_functions[0][0].name())"),
        *("a.mul_(2)", "b.sum().backward()", "c.backward()", "d.backward()"),
    ],
    "an index that is out of bounds, after what does not fit": [
        *("a = torch.tensor(2)", "b = torch.ones(1, 3)", "c = b.index_put((a,), b)"),
        *("c = torch.ones(2, 0, dtype=torch.uint8).index_put((a,), a)", "d = b > 0"),
        *("c = b.index_put((a - 2, d), a)", "c = torch.ones(2, 3).index_put((d.t(),), a)"),
        "c = b.index_put((d, d), torch.tensor(1.0))",
        *("b = torch.ones(1)", "b.index_put_((torch.ones(1, 2) > 0,), b)"),
    ],
    "a mask that does not fit, and memory that is read and written": [
        *("a = torch.ones(4) > 0", "b = torch.hstack([a, a])", "a.index_put_((b,), a)"),
        *("b = a[:2]", "b.index_put_((b.unsqueeze(0),), torch.tensor(1.0))"),
    ],
    "dimensions of cummax, and rows of nothing": [
        *("a = torch.ones(2, 0)", "b = a.cummax(2)", "b = torch.tensor(1.0).cummin(1)"),
        *("b = F.embedding(torch.tensor([0]), torch.ones(0, 3))", "b = torch.ones(2).cummax(1)"),
    ],
}
