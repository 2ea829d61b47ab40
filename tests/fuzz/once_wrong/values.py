"""Programs in which a call computed, or refused, something else than in PyTorch once."""

PROGRAMS = {
    "what is computed of a batch without elements": [
        *("a = torch.ones(0, 3)", "b = torch.nn.BatchNorm1d(3)(a)", "b.sum().backward()"),
        *("c = F.batch_norm(a, torch.ones(4), None)", "d = F.instance_norm(a[..., None])"),
    ],
    "a copy of a part is one node, and numbers lie row by row": [
        *("a = torch.ones(2, 3, requires_grad=True)", "b = a.narrow_copy(1, 1, 2)"),
        *("(b * b).sum().backward()", "c = torch.nan_to_num(torch.ones(3).expand(2, 3))"),
        *("d = torch.tensor(1.5).nan_to_num()", "d.nan_to_num_()"),
    ],
    "quantiles along a dimension that is counted from the end": [
        "a = torch.arange(12.).reshape(2, 3, 2).sin()",
        *("b = a.quantile(0.4, -2) * 1", "c = a.nanquantile(0.7, -3, True) * 1"),
    ],
    "a number that is multiplied with products of integers": [
        *("a = torch.arange(3)", "b = torch.addcmul(a, a, a, value=2.7)"),
        *("b = torch.addcmul(a, a, a, value=float('nan'))", "a.addcmul_(a, a, value=-1.5)"),
    ],
    "matrices of no dimension": [
        *("a = torch.tensor(2.0, requires_grad=True)", "b = a.mT", "r = b is a", "c = a.mH"),
    ],
    "arguments that only other functions take": [
        *("a = torch.ones(3)", "b = torch.tensor([-1])", "c = a.index_copy(0, b, a[:1])"),
        *("c = a.take_along_dim(a > 0, 0)", "c = a.unfold(0, -1, 1)", "c = (a > 0).kthvalue(1)"),
        *("c = a.index_put((b,), b)", "c = a.sum().roll(1, 0)", "c = torch.ones(2, 2) > 0"),
        *("d = c.trace()", "d = torch.addcmul(c, c, c)", "d = torch.addcmul(c[0], c, c)"),
        *("c.dist(a[:2])", "c.index_put((c[0],) * 3, c)"),
    ],
    "a number of truth values as an exponent of 2": [
        *("a = torch.ones(2)", "b = torch.ldexp(a, a > 0)", "b = torch.ldexp(a > 0, a > 0)"),
    ],
    "truth values with a history are saved before they are changed": [
        *("a = torch.ones(2, 1, 3) > 0", "b = torch.tensor(2.0, requires_grad=True)"),
        *("a[1:1] = b", "a.remainder_(a)", "a.fmod_(a)", "a.pow_(a)"),
        *("c = torch.ones(2, 1, 3) > 0", "a.remainder_(c)", "a.hypot_(c)", "c.pow_(a)"),
    ],
    "integers with a history are divided without one": [
        *("a = torch.tensor(3.0, requires_grad=True)", "b = torch.tensor([5, 6])", "b[None] = a"),
        *("c = b // b", "d = b // 2", "e = 2 // b", "b.floor_divide_(2)", "b //= b"),
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
    "the sign of a loss of 0": [
        "a = F.log_softmax(torch.zeros(1, 1), -1)",
        "b = 1 / F.nll_loss(a, torch.tensor([0]))",
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
    "linspace is rounded once": [
        "a = torch.linspace(-1, 0.1, 12)",
        "b = a // 0.1",
    ],
    "all dimensions, named by None or by an empty list": [
        *("a = torch.ones(2, 3, requires_grad=True)", "b = a.sum(None)", "c = a.mean(dim=None)"),
        *("d = a.sum([])", "e = a.mean([])", "f = torch.sum(a, dim=None, dtype=torch.float64)"),
    ],
    "truth values with a history beside a number": [
        *("a = torch.tensor(2.4, requires_grad=True)", "b = torch.tensor([True, False])"),
        *("b[:1] = a", "c = torch.where(b, b, 3)", "c = torch.where(b, 3, b)"),
        *("c = b.where(b, True)", "c = torch.where(b, b, torch.tensor(3))"),
        "d = torch.where(b, b, 2.5)",
    ],
    "adding to a tensor without elements at one index": [
        *("a = torch.ones(1, 0)", "b = a.index_add(0, torch.tensor(2), a)"),
        "a.index_add_(0, torch.tensor(0), a)",
    ],
    "values of one row that are added at many": [
        *("a = torch.zeros(3, 3)", "b = torch.arange(3)", "c = torch.tensor([1.0, 2.0, 3.0])"),
        *("d = a.index_put((b,), c, accumulate=True)", "a.index_put_((b,), c, True)"),
        "a.index_put_((b, b), c[1], accumulate=True)",
    ],
    "nothing is added to or copied": [
        *("a = torch.ones(2, 3)", "b = a.scatter_add(0, torch.ones(0).long(), a)"),
        *("c = torch.tensor(True)", "b = c.scatter_add(0, torch.ones(2, 0).long(), c)"),
        "b = a[0].index_copy(0, torch.tensor([1]), torch.tensor(2.0))",
    ],
    "functions of batches and tensors without elements": [
        *("a = torch.zeros(0, 3)", "b = torch.func.vmap(lambda v: v.sin())(a) * 1"),
        "b = torch.func.vmap(lambda v: v.sin(), 1, 1)(a.t()) * 1",
        "c = torch.func.vmap(torch.func.grad(lambda v: (v * v).sum()))(a) * 1",
        "d = torch.func.jacfwd(lambda v: v / (v * v + 1))(a).contiguous() * 1",
        "e = torch.func.hessian(lambda v: (v.tanh() + v).sum())(a[:, 0]).contiguous() * 1",
        "f = torch.func.jacrev(lambda v: v.exp())(a.double()).contiguous() * 1",
    ],
    "a Jacobian by columns at nan and inf": [
        "a = torch.tensor([1.0, float('nan'), float('inf'), -2.0])",
        "b = torch.func.jacfwd(lambda v: v.sin())(a).contiguous() * 1",
        "b = torch.func.jacfwd(lambda v: v * v.sum())(a[2:]).contiguous() * 1",
        "b = torch.func.hessian(lambda v: (v**3).sum())(a).contiguous() * 1",
        "c = torch.func.jacfwd(lambda v: v.long())(a[:1]).contiguous() * 1",
    ],
    "one value of any type is put where a mask is true": [
        *("a = torch.ones(3, 2).bool()", "b = torch.tensor(1.4, requires_grad=True)"),
        *("c = a.index_put((a,), b)", "d = torch.zeros(2, 3, dtype=torch.float64)"),
        *("e = d.index_put((d == 0,), b)", "e.sum().backward()", "d.index_put_((d == 0,), b)"),
        *("f = torch.arange(1)", "g = f.index_put((a[0, 0],), a[0, :1])"),
        "f.index_put((a[0, 0],), b.detach(), accumulate=True)",
    ],
    "nan in logit, and in its gradient": [
        "a = torch.tensor([float('nan'), 0.5, 2.0, 0.05, 0.1, 0.9], requires_grad=True)",
        *("b = a.logit(0.1)", "c, = torch.autograd.grad(b.sum(), a)", "b = a.logit()"),
        "c, = torch.autograd.grad(b.sum(), a)",
    ],
    "a dimension that a 0-d tensor does not have, in quantile": [
        "a = torch.tensor(2.5).quantile(0.4, 0) * 1",
        *("torch.tensor(2.5).quantile(0.4, 1)", "torch.tensor(2.5).nanquantile(0.4, -2)"),
    ],
    "kron of a transposed matrix": [
        *("a = torch.arange(4.0).view(2, 2)", "b = torch.kron(a.mT, a.mT)", "torch.kron(a, a.mT)"),
        *("torch.kron(a[0], a.mT)", "b = torch.kron(a.t()[:1], a)"),
    ],
    "cosine_similarity of a number in another type": [
        *("a = torch.tensor(2.0, dtype=torch.float64)", "b = torch.ones(3, 1, requires_grad=True)"),
        *(
            "c = F.cosine_similarity(a, b)",
            "c.sum().backward()",
            "c = F.cosine_similarity(b, b > 0)",
        ),
    ],
}
