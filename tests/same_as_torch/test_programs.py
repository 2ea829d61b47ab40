"""What programs rely on, run by both packages: the same output, the same warnings.

The names of the programs say what PyTorch does; that it is so is seen by running it.
"""

import pytest

from tests.same_as_torch.outcomes import run_as_pytorch

GIVEN = """
a = torch.tensor([1.0, 2.0], requires_grad=True)
w = torch.tensor([3.0, 4.0], requires_grad=True)
d = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
i = torch.tensor([1, 2])
m = torch.arange(6.0).reshape(2, 3)

def tree(node, depth=6):
    if node is None or depth == 0:
        return None
    return node.name(), [tree(n, depth - 1) for n, _ in node.next_functions]
"""

LEAVES = {
    "leaves are what the learner made and what needs no gradient": """
        for t in (a, i, a * 2, i * 2, a.detach(), a.clone(), a.data, torch.zeros(2)):
            print(t.is_leaf, t.requires_grad, t.grad_fn is None)
    """,
    "only leaves get a gradient": """
        y = a * 2
        y.sum().backward()
        print(a.grad, w.grad)
    """,
    "reading the gradient of a non-leaf warns": """
        y = a * 2
        print(y.grad)
    """,
    "retain_grad keeps the gradient of a non-leaf": """
        y = a * 2
        y.retain_grad()
        y.retain_grad()
        print(y.grad, y.retains_grad, a.retains_grad)
        (y * y).sum().backward()
        print(y.grad, a.grad)
    """,
    "retain_grad does nothing on leaves": """
        a.retain_grad()
        print(a.retains_grad)
    """,
    "retained gradients add up over backward calls": """
        y = a * 2
        y.retain_grad()
        for _ in range(2):
            y.sum().backward(retain_graph=True)
        print(y.grad, a.grad)
    """,
    "requires_grad can be switched on leaves": """
        a.requires_grad = False
        print(a.requires_grad, a.is_leaf, (a * 2).requires_grad)
        a.requires_grad_()
        print(a, (a * 2).requires_grad, torch.ones(2).requires_grad_(False).requires_grad)
    """,
    "detach gives a leaf with the same memory": """
        x = a.detach()
        x[0] = 7
        print(a, x, x.is_leaf, x.requires_grad, a._version, x._version)
    """,
    "detach_ cuts a tensor itself out of the graph": """
        y = (a * 2).detach_()
        print(y, y.is_leaf)
    """,
    "data is not watched": """
        y = a.exp()
        a.data.zero_()
        y.data.zero_()
        print(a, a._version, y._version)
        y.sum().backward()
        print(a.grad)
    """,
    "clone is part of the graph": """
        x = a.clone()
        x.sum().backward()
        print(x, x.is_leaf, a.grad)
    """,
    "a constant of dtype int never needs a gradient": """
        print((i * 2).requires_grad, (a * i).requires_grad, a.long().requires_grad)
        print(a.argmax().requires_grad, (a > 1).requires_grad, a.bool().is_leaf)
    """,
}

ACCUMULATION = {
    "gradients add up in place": """
        (a * 3).sum().backward()
        kept = a.grad
        (a * 2).sum().backward()
        print(kept, kept is a.grad, kept._version)
    """,
    "a tensor used twice gets both contributions": """
        (a * 3 + a * a).sum().backward()
        print(a.grad)
        (a + a).sum().backward()
        print(a.grad)
    """,
    "gradients have the dtype of their leaf": """
        (a * d).sum().backward()
        print(a.grad.dtype, d.grad.dtype, a.grad, d.grad)
        (a.double() * 2).sum().backward()
        print(a.grad.dtype, a.grad)
    """,
    "grad can be assigned, cleared and deleted": """
        a.grad = torch.ones(2)
        (a * 2).sum().backward()
        print(a.grad)
        a.grad = None
        print(a.grad)
        a.sum().backward()
        del a.grad
        print(a.grad)
    """,
    "gradients of two leaves share no memory": """
        (a + w).backward(torch.ones(2))
        a.grad.zero_()
        print(a.grad, w.grad)
    """,
    "the gradient that flows in stays as it is": """
        g = torch.ones(2)
        a.backward(g)
        a.grad.zero_()
        (w + 0).backward(g)
        w.grad.add_(5)
        print(g)
    """,
    "the gradient of a view of a leaf has the leaf's shape": """
        a[0].backward()
        print(a.grad)
        x = torch.ones(2, 3, requires_grad=True)
        x.t()[1].sum().backward()
        print(x.grad, x.grad.stride())
    """,
    "inputs choose what is accumulated": """
        y = a * 2
        (y * w).sum().backward(inputs=[a])
        print(a.grad, w.grad)
        (a * w).sum().backward(inputs=w)
        print(a.grad, w.grad)
        y = a * 2
        (y * w).sum().backward(inputs=[y, w])
        print(y.grad, a.grad, w.grad)
    """,
    "several outputs go backward together": """
        torch.autograd.backward([(a * 2).sum(), a * w], [None, torch.tensor([1.0, 10.0])])
        print(a.grad, w.grad)
    """,
    "gradients of another dtype are converted on the way in": """
        (a * 2).backward(torch.tensor([1.0, 2.0], dtype=torch.float64))
        print(a.grad, a.grad.dtype)
        (w * 2).backward(i)
        print(w.grad)
    """,
    "with create_graph the sum is a new tensor": """
        import warnings
        warnings.simplefilter("ignore")
        (a * a).sum().backward(create_graph=True)
        kept = a.grad
        print(kept)
        (a * a).sum().backward(create_graph=True)
        print(kept, a.grad, kept is a.grad)
        (a * a).sum().backward()
        print(a.grad)
    """,
}

FREEING = {
    "a graph that saved nothing can be used again": """
        y = (a + 1).sum()
        y.backward()
        y.backward()
        print(a.grad)
    """,
    "retain_graph keeps what was saved": """
        y = (a * a).sum()
        y.backward(retain_graph=True)
        print(y.grad_fn.next_functions[0][0]._saved_self)
        y.backward()
        print(a.grad)
    """,
    "create_graph keeps what was saved": """
        y = (a * a).sum()
        g, = torch.autograd.grad(y, a, create_graph=True)
        y.backward()
        print(g, a.grad)
    """,
    "only the part that leads to the inputs is freed": """
        y = a * a
        z = w * w
        s = (y + z).sum()
        print(torch.autograd.grad(s, a))
        print(z.grad_fn._saved_self)
    """,
    "what is saved can be looked at": """
        y = a * w
        print(y.grad_fn._saved_self is a, y.grad_fn._saved_other is w)
        print((a * 2).grad_fn._saved_other, (a * 2).grad_fn._saved_self)
        print(a.exp().grad_fn._saved_result)
        print((a**3).grad_fn._saved_exponent, (a**3).grad_fn._saved_self)
        print((2**a).grad_fn._saved_self, (2**a).grad_fn._saved_exponent)
        print(a.sum().grad_fn._saved_self_sym_sizes)
    """,
}

UNUSED = {
    "unused inputs are None if allowed": """
        print(torch.autograd.grad(a.sum(), [a, w], allow_unused=True))
    """,
    "unused inputs are zeros if wanted": """
        print(torch.autograd.grad(a.sum(), [w, d], materialize_grads=True))
    """,
    "used inputs without influence get zeros": """
        print(torch.autograd.grad((a * 0 + a.round()).sum(), a))
    """,
    "an input may be asked for twice": """
        print(torch.autograd.grad((a * w).sum(), [a, a, w]))
    """,
    "grad works for tensors inside of the graph": """
        y = a * 2
        z = (y * y).sum()
        print(torch.autograd.grad(z, [y, a]))
        print(torch.autograd.grad(a, a, torch.ones(2)), a.grad)
    """,
    "grad takes several outputs": """
        print(torch.autograd.grad([a.sum(), (a * w).sum()], [a, w]))
        print(torch.autograd.grad([a * 2, w], [a, w], [torch.ones(2), torch.tensor([5.0, 6.0])]))
    """,
    "grad leaves the leaves alone": """
        torch.autograd.grad((a * w).sum(), a)
        print(a.grad, w.grad)
    """,
}

HIGHER = {
    "derivatives of any order": """
        x = torch.tensor(2.0, requires_grad=True)
        y = x**5
        for _ in range(6):
            (y,) = torch.autograd.grad(y, x, create_graph=True)
            print(y.item())
    """,
    "mixed second derivatives are symmetric": """
        x, y = (torch.tensor(v, requires_grad=True) for v in (0.5, 2.0))
        f = (x * y).sin() + x.exp() * y**3
        fx, fy = torch.autograd.grad(f, [x, y], create_graph=True)
        print(torch.autograd.grad(fx, y, retain_graph=True), torch.autograd.grad(fy, x))
    """,
    "a gradient penalty reaches the parameters": """
        x = torch.ones(3, 2, requires_grad=True)
        y = torch.tanh(x @ a).sum()
        (g,) = torch.autograd.grad(y, x, create_graph=True)
        ((g.pow(2).sum(1).sqrt() - 1) ** 2).mean().backward()
        print(a.grad, x.grad)
    """,
    "gradients without create_graph are constants": """
        (g,) = torch.autograd.grad((a * a).sum(), a)
        print(g.requires_grad, g)
    """,
    "the graph of a gradient": """
        (g,) = torch.autograd.grad((a * a).sum(), a, create_graph=True)
        print(g, tree(g.grad_fn))
    """,
    "Newton's method": """
        x = torch.tensor(3.0, requires_grad=True)
        for _ in range(4):
            f = x**4 - 2 * x**2
            (g,) = torch.autograd.grad(f, x, create_graph=True)
            (h,) = torch.autograd.grad(g, x)
            with torch.no_grad():
                x -= g / h
            print(x)
    """,
}

BATCHES = {
    "a batch of gradients gives the rows of the Jacobian": """
        y = a * a
        print(torch.autograd.grad(y, a, torch.eye(2), is_grads_batched=True, retain_graph=True))
        gradients = torch.eye(2), torch.tensor([3.0, 4.0])
        print(torch.autograd.grad((y * w, w.sum()), (a, w), gradients, is_grads_batched=True))
        print(a.grad, w.grad)
    """,
    "what was frozen, or no output depends on, is the same as for one gradient": """
        options = {"retain_graph": True, "is_grads_batched": True}
        y = a * a
        for more in ({"allow_unused": True}, {"materialize_grads": True}):
            print(torch.autograd.grad(y, (a, w), torch.eye(2), **options, **more))
        print(torch.autograd.grad(y, a, torch.ones(3, 2), is_grads_batched=True))
        try:
            y.sum().backward()
        except RuntimeError as error:
            print(str(error).split("\\n")[0])
    """,
    "gradients of a batch can be differentiated again": """
        y = a**3
        g, = torch.autograd.grad(y, a, torch.eye(2), is_grads_batched=True, create_graph=True)
        print(g.requires_grad, g.detach(), g.shape)
        (g * w).sum().backward()
        print(a.grad, w.grad)
        v = torch.eye(2, requires_grad=True)
        g, = torch.autograd.grad(a * 3, a, v, is_grads_batched=True, create_graph=True)
        g.sum().backward()
        print(v.grad)
    """,
    "what a batch of gradients cannot be": """
        y, z = a * a, a.sum()
        for outputs, gradients in (
            (y, torch.ones(2)), (y, torch.ones(2, 3)), (y, torch.tensor(1.0)), (y, None),
            (z, None), (z, torch.tensor(1.0)), (y, torch.ones(0, 2)),
            ((y, z), (torch.eye(2), None)), ((y, z), (torch.eye(2),)),
            ((y, z), (torch.eye(2), torch.ones(3))),
        ):
            try:
                torch.autograd.grad(outputs, a, gradients, is_grads_batched=True)
            except Exception as error:
                print(type(error).__name__, str(error).split("\\n")[0])
    """,
}

BROADCASTING = {
    "broadcast inputs get summed gradients": """
        row = torch.ones(3, requires_grad=True)
        column = torch.ones(2, 1, requires_grad=True)
        number = torch.tensor(2.0, requires_grad=True)
        (m * row + column * number).sum().backward()
        print(row.grad, column.grad, number.grad)
    """,
    "expand and added dimensions are summed out": """
        x = torch.ones(2, requires_grad=True)
        (x.expand(3, 2) * m.reshape(3, 2)).sum().backward()
        (x * torch.ones(4, 1, 2)).sum().backward()
        print(x.grad)
    """,
}

SINGULAR = {
    "ties share evenly, unless there is an index": """
        x = torch.tensor([2.0, 2.0, 1.0], requires_grad=True)
        for y in (x.max(), x.amax(), x.max(0).values, torch.maximum(x, x.flip(0)).sum()):
            print(torch.autograd.grad(y, x))
    """,
    "slopes at singular points": """
        x = torch.tensor(0.0, requires_grad=True)
        for f in ("x.abs()", "x.relu()", "x.sign()", "x.sqrt()", "x**0", "x**2", "x.clamp(0, 1)"):
            print(f, *torch.autograd.grad(eval(f), x, allow_unused=True))
        x = torch.tensor(1.0, requires_grad=True)
        print(torch.autograd.grad(x.clamp(0, 1), x))
    """,
    "prod is right with zeros": """
        for values in ([2.0, 0.0, 3.0], [0.0, 0.0, 3.0], [2.0, 3.0, 4.0]):
            x = torch.tensor(values, requires_grad=True)
            print(torch.autograd.grad(x.prod(), x), torch.autograd.grad(x.prod(0), x))
    """,
    "where lets a nan through from the branch that was not taken": """
        x = torch.tensor([0.0, 1.0], requires_grad=True)
        torch.where(x > 0.2, x.sqrt(), 0 * x).sum().backward()
        print(x.grad)
    """,
}

DTYPES = {
    "categories decide about dtypes": """
        b, h = torch.tensor([True]), torch.ones(2, dtype=torch.float16)
        s = torch.tensor(1.0, dtype=torch.float64)
        for t in (i + 0.5, i + True, i / 2, i * a, a + d, a + s, i + s, i + torch.tensor(1.0)):
            print(t.dtype)
        for t in (i.int() + i, torch.tensor(1).int() + 1, b + 1, h + a, h + 1.0, b * 2.5, b + b):
            print(t.dtype)
        for t in (b.sum(), i.int().sum(), i.prod(), i.max(), i.float().mean(), i > 1, i // 2, -i):
            print(t.dtype)
    """,
    "integers divide to floats and count down": """
        print(i / 2, i // 2, -i // 2, i % 2, -i % 3, i**2, 2**i, 7 // i, 7 % i, 3 - i, 1 / i)
    """,
    "the default dtype": """
        print(torch.get_default_dtype(), torch.tensor(1.0).dtype, (i / 2).dtype)
        torch.set_default_dtype(torch.float64)
        print(torch.ones(2).dtype, torch.tensor([1.5]), torch.Tensor([1]).dtype, (i / 2).dtype)
        torch.set_default_dtype(torch.float32)
    """,
    "names of dtypes": """
        print(torch.float, torch.double, torch.int, torch.long, torch.bool, torch.uint8)
        print(torch.float is torch.float32, torch.half, torch.float64.is_floating_point)
        print(torch.int64.is_floating_point, torch.float32.itemsize, torch.bool.itemsize)
    """,
    "conversions": """
        x = torch.tensor([1.7, -1.7, 0.0])
        print(x.long(), x.int(), x.bool(), x.double(), x.half(), x.to(torch.int64), x.to(int))
        print(x.float() is x, x.to("cpu") is x, x.to(x.double()).dtype, x.type_as(i).dtype)
        print(x.to(torch.float32, copy=True) is x, x.to(dtype=torch.float64).dtype)
    """,
    "in-place operations keep the dtype": """
        x = torch.tensor([1, 2])
        x += True
        x *= 3
        y = torch.tensor([1.0, 2.0])
        y += x
        y += d.detach()
        x[0] = 7.9
        print(x, y)
    """,
    "python numbers": """
        for x in (a[0], i[0], torch.tensor(True), torch.tensor([[2.5]])):
            x = x.detach()
            print(x.item(), type(x.item()), float(x), int(x), bool(x))
        print([10, 20, 30][i[0]], list(range(i[1])), hex(torch.tensor(10)), f"{a[0]:.2f}")
        print(f"{i[0]}", f"{a}", round(a[0].item(), 1), "%.1f" % a[1], max(i), min(a), sum(i))
    """,
}

MODES = {
    "no_grad nests and survives exceptions": """
        with torch.no_grad():
            print((a * 2).requires_grad, torch.is_grad_enabled())
            with torch.enable_grad():
                print((a * 2).requires_grad)
            print((a * 2).requires_grad)
        try:
            with torch.no_grad():
                raise ValueError
        except ValueError:
            print(torch.is_grad_enabled())
    """,
    "modes decorate functions": """
        @torch.no_grad()
        def f(x):
            "Doc."
            return (x * 2).requires_grad
        @torch.no_grad
        def g(x): return (x * 2).requires_grad
        @torch.enable_grad()
        def h(x): return (x * 2).requires_grad
        print(f(a), g(a), f.__name__, f.__doc__)
        with torch.no_grad():
            print(h(a))
    """,
    "modes decorate generator functions": """
        @torch.no_grad()
        def numbers():
            for k in range(3):
                got = yield k, torch.is_grad_enabled()
                print("got", got, torch.is_grad_enabled())
            return "end"
        generator = numbers()
        print(next(generator), torch.is_grad_enabled())
        print(generator.send("x"), torch.is_grad_enabled())
        generator.close()
        print(list(numbers()), torch.is_grad_enabled())
    """,
    "set_grad_enabled works at once, as context and as decorator": """
        torch.set_grad_enabled(False)
        print((a * 2).requires_grad)
        torch.set_grad_enabled(True)
        with torch.set_grad_enabled(False):
            print(torch.is_grad_enabled())
        print(torch.is_grad_enabled())
        @torch.set_grad_enabled(False)
        def f(): return torch.is_grad_enabled()
        print(torch.is_grad_enabled(), f(), torch.is_grad_enabled())
    """,
    "factories ask for gradients under no_grad, too": """
        with torch.no_grad():
            x = torch.ones(2, requires_grad=True)
            y = torch.tensor([1.0]).requires_grad_()
        print(x.requires_grad, y.requires_grad, (x * 2).requires_grad)
    """,
    "modes belong to a thread": """
        import threading
        def report(): print(torch.is_grad_enabled())
        with torch.no_grad():
            thread = threading.Thread(target=report)
            thread.start()
            thread.join()
            report()
    """,
    "leaves may be changed under no_grad": """
        with torch.no_grad():
            a.add_(1)
            a[0] = 5
            a -= torch.ones(2)
        print(a, a._version, a.is_leaf)
    """,
    "inference tensors": """
        with torch.inference_mode():
            x = torch.ones(2)
            y = a * 2
            print(x.is_inference(), y.is_inference(), y.requires_grad, a.is_inference())
            x.add_(1)
            v = a.view(2)
            print(v.is_inference(), torch.is_inference_mode_enabled())
        print(x, x.view(2).is_inference(), x.clone().is_inference(), (x * 2).is_inference())
        print(x + a, x[0].is_inference(), x.detach().is_inference())
        with torch.inference_mode(False):
            print(torch.is_inference_mode_enabled())
    """,
    "inference_mode decorates": """
        @torch.inference_mode()
        def f(): return torch.is_inference_mode_enabled(), torch.is_grad_enabled()
        @torch.inference_mode
        def g(): return torch.is_inference_mode_enabled()
        print(f(), g(), torch.is_inference_mode_enabled())
    """,
    "leaves made and changed in inference mode": """
        with torch.inference_mode():
            x = torch.ones(2, requires_grad=True)
            x.add_(1)
            print(x)
            a.add_(1)
        print(a, a._version)
    """,
}

IN_PLACE = {
    "what overlaps may be written where PyTorch sees no harm": """
        x = torch.arange(4.0)
        x[...] = x[1]
        x[:4] = x
        x[:2].copy_(x.detach()[:2])
        x[x > 9] = x[0]
        x[torch.tensor([False] * 4)] = x[2]
        x[:0].detach()[x[:0] > 3] = x[:0].detach()
        z = x[:0]
        z[z > 3] = z.detach()
        x.mul_(x).add_(x.detach())
        x.fill_(x[2])
        print(x, x._version)
        y = torch.arange(9.0).reshape(3, 3)
        y[:, :2] = y[:, 1:]
        y.masked_fill_(y > 5, y[0, 1])
        e = torch.ones(1).expand(3)
        e.copy_(e[:])
        e[:] = e.detach()
        n = torch.from_numpy(y.detach().numpy())
        n.copy_(y.t().clone())
        print(y, e, e.zero_(), torch.ones(0, 1).expand(0, 3).add_(1))
    """,
    "memory that expand() repeats is written through data, NumPy and detach": """
        x = torch.ones(3, 1)
        x.expand(3, 2).data[1, 1] = 5
        x.expand(3, 2).detach()[0, 1] = 4
        torch.from_numpy(x.expand(3, 2).detach().numpy())[2, 0].sub_(3)
        print(x)
        y = torch.ones(0, 3)
        y.data = torch.ones(0, 3).expand(0, 3).data
        print(y.square_())
    """,
    "gradients can be written to": """
        x = torch.tensor([1.2, 0.0, 2.4], requires_grad=True)
        g, = torch.autograd.grad(x.max(0).values, x)
        g[[1, -1]] = -2.0
        h, = torch.autograd.grad(x.relu().sum(), x)
        h[:1] -= 0.25
        print(g, h)
    """,
    "what is written is converted": """
        for dtype in (torch.int64, torch.int32, torch.uint8, torch.bool):
            x = torch.ones(3).to(dtype)
            x.copy_(torch.tensor([float("inf"), -1.0, 300.0]))
            y = torch.ones(2).to(dtype)
            y[0] = torch.tensor(float("nan"))
            z = torch.ones(3).to(dtype)
            z[[True, False, True]] = torch.tensor([2.5])
            z[z > 5] = torch.tensor([True])
            print(x, y, z, torch.ones(2).to(dtype).copy_(torch.tensor(float("inf"))))
        print(torch.tensor(True).cumsum_(-1), torch.tensor([2, 3], dtype=torch.int32).cumsum_(0))
    """,
    "nodes of what is written to": """
        keys = "0 :2 0:3 :7 -3: ::2 None ... () (slice(0,9),0) (slice(None),slice(0,9)) [1,0]"
        for key in [*keys.split(), "[[1,0],slice(5)]", "[[1,0],slice(-2,None)]", "y>1"]:
            for value in (2.0, torch.ones(1), torch.tensor(3.0, requires_grad=True)):
                y = torch.zeros(3, 2, requires_grad=True) * 1
                if key.startswith("[["):
                    y[[1, 0], slice(5) if "5" in key else slice(-2, None)] = value
                elif ":" in key:
                    exec(f"y[{key}] = value")
                else:
                    y[eval(key)] = value
                print(key, y.grad_fn.name(), y.tolist())
        y = torch.zeros(0, requires_grad=True) * 1
        y[1:1] = w[:0]
        print(y.grad_fn.name())
        y = a * 1
        y.add_(d)
        print(y, y.grad_fn.name(), y.dtype)
        y.sum().backward()
        print(a.grad, d.grad)
    """,
    "integers with a history can be changed, but not saved": """
        for change in ("n.add_(n)", "n.mul_(n)", "n.mul_(2)", "n.mul_(n.clone())", "n.pow_(2)",
                       "n.clamp_(0)", "n.mul_(torch.ones_like(n))", "n.mul_(n.detach())",
                       "n.neg_()", "torch.arange(3).mul_(n)", "n *= n", "n * n"):
            n = torch.arange(3)
            n[n > 0] = a[0]
            try:
                exec(change)
                print(change, n.tolist(), n.requires_grad)
            except RuntimeError as error:
                print(change, str(error).splitlines()[0])
    """,
    "integers that are filled from a tensor of the graph": """
        for fill in ("n.fill_(a[0])", "n[:2] = a[0]", "n[n > 0] = a[0]", "n.copy_(a[0])",
                     "n[0] = a[0]", "n.masked_fill_(n > 0, a[0])", "n[...] = a[0]",
                     "n.index_fill_(0, torch.tensor([1]), a[0])"):
            n = torch.ones(3, dtype=torch.int64)
            exec(fill)
            print(fill, n.tolist(), n.requires_grad, n.is_leaf, tree(n.grad_fn, 1))
    """,
    "changes of inference tensors": """
        with torch.inference_mode():
            x = torch.ones(2)
        u, v = x.detach(), x.data
        u.add_(1)
        v[...] = 5
        print(x, u._version, v._version, u.is_inference(), v.is_inference())
        y = a * 1
        v = y.view(2, 1)
        with torch.inference_mode():
            y -= 0.5
        print(v.requires_grad, v.is_leaf, v.grad_fn.name(), y._version)
    """,
    "views see changes of detached tensors": """
        y = torch.arange(6.0, requires_grad=True).reshape(2, 3)
        v = y[1:]
        v.detach().floor_()
        print(y.grad_fn.name(), v.grad_fn.name())
        rows = (a * 1).unbind()
        rows[0].detach().zero_()
        try:
            rows[1].grad_fn
        except RuntimeError as refused:
            print(str(refused)[:90])
        x = torch.ones(2)
        f = x.expand(3, 2)[:1]
        f.requires_grad_()
        g = f[...]
        x.mul_(2)
        print(g.is_leaf, g.requires_grad, g.grad_fn.name(), g.grad_fn.next_functions)
    """,
    "versions count changes, and views share them": """
        x = torch.zeros(2, 3)
        v, t, u, n = x[0], x.t(), x.detach(), x.data
        x.add_(1)
        v.mul_(2)
        t[0, 0] = 5
        u.sub_(1)
        print([y._version for y in (x, v, t, u, n)])
        n.zero_()
        print([y._version for y in (x, v, t, u, n)], x)
    """,
    "in-place operations on tensors inside of the graph": """
        changes = "mul_(w) mul_(2) div_(w) add_(w,alpha=2) pow_(2) exp_() log_() sqrt_() tanh_()"
        changes += " sigmoid_() relu_() sin_() cos_() neg_() abs_() square_() clamp_(0,1) zero_()"
        changes += " reciprocal_() fill_(3) copy_(w) sub_(1).mul_(3) round_() rsqrt_() expm1_()"
        for change in [f"y.{change}" for change in changes.split()]:
            a.grad = w.grad = None
            y = a * 1
            kept = y
            exec(change)
            print(change, y, kept is y, y._version, tree(y.grad_fn))
            (y * torch.tensor([1.0, 10.0])).sum().backward()
            print(a.grad, w.grad)
    """,
    "augmented operators work in place": """
        x = torch.ones(2)
        z = x
        x += 2; x -= 1; x *= 6; x /= 4; x **= 2; x //= 1; x %= 3
        print(z, z is x, x._version)
        y = a
        y = y + 1
        print(y is a, a)
    """,
    "assigning to elements": """
        for change in (
            "y[0] = w[1]", "y[0] = 5.0", "y[:1] = w[1:]", "y[[1, 0]] = w", "y[y > 1] = 0",
            "y[...] = w", "y[None, 0] = w[0]", "y[-1] = w[0] * a[0]", "y[torch.tensor(1)] = 2",
        ):
            a.grad = w.grad = None
            y = a * 1
            exec(change)
            print(change, y, tree(y.grad_fn))
            (y * y).sum().backward()
            print(a.grad, w.grad)
    """,
    "assigning to elements of constants": """
        m[0, 1] = 9; m[1] = torch.tensor([7.0, 8.0, 9.0]); m[:, 0] = -1; m[m > 8] = 0
        m[[0, 1], [1, 2]] = torch.tensor([0.5, 0.25]); m[..., 2] = m[..., 1]; m[:, :] = m * 2
        print(m, m._version, m.requires_grad)
        m[0] = a[0]
        print(m, m.requires_grad)
    """,
    "filling a buffer in a loop": """
        y = torch.zeros(3)
        y[0] = a[0]
        for k in range(1, 3):
            y[k] = y[k - 1] * 2 + a[1]
        y.sum().backward()
        print(y, a.grad)
    """,
    "changing a view changes the history of its base": """
        y = a * 1
        v = y[0]
        v.mul_(3)
        print(y, v, v.grad_fn.name(), y.grad_fn.name())
        (y * y).sum().backward()
        print(a.grad)
    """,
    "changing a base changes the history of its views": """
        y = a * 1
        v, u = y[:1], y.view(2, 1)
        y.mul_(3)
        print(v, u, v.requires_grad)
        (v * v).sum().backward(retain_graph=True)
        u.sum().backward()
        print(a.grad)
    """,
    "changing a view of a view": """
        y = torch.zeros(2, 3)
        v = y.t()[1:]
        u = v[0]
        v[0].copy_(a)
        (y * torch.arange(6.0).reshape(2, 3)).sum().backward()
        print(y, v, u, a.grad, y.requires_grad)
    """,
    "a view of a constant gets a history with its base": """
        y = torch.zeros(2)
        v = y[1]
        y += a
        print(v)
        v.backward()
        print(a.grad)
    """,
    "changes that nobody had saved are harmless": """
        y = a * 1
        u = y + 1
        y.add_(5)
        (u + y).sum().backward()
        e = w * 1
        f = e.exp()
        e.zero_()
        f.sum().backward()
        print(a.grad, w.grad)
    """,
    "numbers can be changed in place": """
        x = torch.tensor(1.0, requires_grad=True)
        y = x * 2
        y += 1
        y *= 3
        y.backward()
        n = torch.tensor(3)
        n += 1
        n.zero_()
        print(y, x.grad, n)
    """,
}

VIEWS = {
    "views share memory, copies do not": """
        base = torch.zeros(2, 3)
        forms = "view(6) t() detach() reshape(3,2) expand(2,2,3) unsqueeze(0) squeeze()"
        forms += " transpose(0,1) permute(1,0) flatten() data T narrow(0,0,1)"
        forms += " contiguous()"
        forms += " t().reshape(6) clone() t().contiguous() repeat(1,1) flip(0) float() double()"
        forms = [f"base.{form}" for form in forms.split()]
        forms += ["base[0]", "base[:, 1:]", "base[None]", "base[...]", "base[[0, 1]]"]
        forms += ["base[base == 0]"]
        for form in forms:
            base.zero_()
            other = eval(form)
            base.add_(1)
            print(form, bool((other == 1).all()), other._base is base, other.is_contiguous())
    """,
    "numpy and from_numpy share memory": """
        x = torch.zeros(2)
        n = x.numpy()
        n[0] = 1
        x.add_(1)
        print(x, n)
        s = torch.tensor(3.0)
        s.numpy()[...] = 4
        print(s)
        n = np.zeros(2)
        t = torch.from_numpy(n)
        c = torch.tensor(n)
        n[1] = 5
        t[0] = 7
        print(t, n, c)
    """,
    "a view of a number shares its memory": """
        x = torch.tensor(1.0)
        v = x.view(1)
        v[0] = 5
        x.add_(1)
        print(x, v, x[None])
    """,
    "data can be exchanged": """
        a.data = torch.tensor([5.0, 6.0, 7.0])
        (a * a).sum().backward()
        print(a, a.grad)
    """,
    "data_ptr tells who shares": """
        print(a.data_ptr() == a.detach().data_ptr(), a.data_ptr() == a.clone().data_ptr())
        print(a.data_ptr() == a.view(2, 1).data_ptr(), a[1:].data_ptr() - a.data_ptr())
    """,
}

HOOKS = {
    "hooks run in order, on the full gradient, and may replace it": """
        y = a * 2
        y.register_hook(lambda g: print("first", g))
        y.register_hook(lambda g: g * 10)
        y.retain_grad()
        y.register_hook(lambda g: print("third", g))
        (y * 3 + y * y).sum().backward()
        print(y.grad, a.grad)
    """,
    "hooks of leaves run before accumulation": """
        seen = []
        handle = a.register_hook(lambda g: seen.append(g.clone()))
        a.register_hook(lambda g: g * 2)
        for _ in range(2):
            (a * 2 + a * 3).sum().backward()
        print(seen, a.grad)
        handle.remove()
        handle.remove()
        (a * 1).sum().backward()
        print(len(seen), a.grad)
    """,
    "hooks run in grad, too": """
        a.register_hook(lambda g: g * 5)
        y = a * 2
        y.register_hook(lambda g: g + 1)
        print(torch.autograd.grad(y.sum(), a), torch.autograd.grad(y.sum(), y))
    """,
    "post-accumulate hooks run after grad is set": """
        handle = a.register_post_accumulate_grad_hook(lambda leaf: print(leaf is a, leaf.grad))
        (a * 2).sum().backward()
        torch.autograd.backward((a * 3).sum(), inputs=[a])
        torch.autograd.grad((a * 2).sum(), a)
        handle.remove()
        (a * 2).sum().backward()
    """,
    "a hook may step an optimizer and clear the gradient": """
        def step(leaf):
            with torch.no_grad():
                leaf -= 0.1 * leaf.grad
            leaf.grad = None
        a.register_post_accumulate_grad_hook(step)
        (a * a).sum().backward()
        print(a, a.grad)
    """,
    "hooks get tensors with a history under create_graph": """
        y = a * a
        y.register_hook(lambda g: g * g)
        (g,) = torch.autograd.grad((y * y).sum(), a, create_graph=True)
        print(g, torch.autograd.grad(g.sum(), a))
    """,
    "a handle is a context": """
        with a.register_hook(lambda g: g * 2):
            (a * 1).sum().backward()
        (a * 1).sum().backward()
        print(a.grad)
    """,
    "a hook may return a tensor that others hold": """
        mine = torch.ones(2)
        a.register_hook(lambda g: mine)
        a.sum().backward()
        a.grad.add_(1)
        print(mine, a.grad)
    """,
}

GRAPH = {
    "nodes and their edges": """
        y = (a * w + 1).sum()
        n = y.grad_fn
        print(n.name(), n.next_functions[0][0].name(), n.next_functions[0][1])
        leaf = n.next_functions[0][0].next_functions[0][0].next_functions[0][0]
        print(leaf.name(), leaf.variable is a, leaf.next_functions, a.grad_fn)
        print(type(n).__name__, type(leaf).__name__, type(n.next_functions[0][0]).__name__)
        try:
            n._saved_foo
        except AttributeError as error:
            print(error)
        print(tree(n), n is y.grad_fn, n == y.grad_fn, str(n)[:12], y.output_nr)
    """,
    "what the layers of a network look like": """
        weight, bias = torch.ones(2, 3, requires_grad=True), torch.zeros(3, requires_grad=True)
        x = torch.ones(4, 2)
        out = torch.relu(x @ weight + bias)
        loss = ((out - 1) ** 2).mean()
        print(loss, tree(loss.grad_fn))
        loss.backward()
        print(weight.grad, bias.grad)
    """,
    "products join the batch to the rows as PyTorch does": """
        x, y = torch.arange(12.0).reshape(2, 3, 2), torch.arange(2.0)
        for flip in (False, True):
            wide = x.transpose(1, 2).contiguous().transpose(1, 2) if flip else x
            other = wide.transpose(1, 2)
            for narrow in (y, torch.eye(2), torch.ones(1, 2, 2)):
                for p, q in (wide, narrow), (narrow, other):
                    for wanted in (True, False), (False, True):
                        p, q = (t.detach().requires_grad_(g) for t, g in zip((p, q), wanted))
                        out = p @ q
                        print(out, tree(out.grad_fn), out._version, out.stride())
    """,
    "linear multiplies and adds in one step where it can": """
        x, w = torch.arange(12.0).reshape(2, 3, 2), torch.ones(4, 2, requires_grad=True)
        for given in (x, x[0], x[0, 0], x.transpose(0, 1), x[:, 0]):
            for bias in (torch.tensor(1.0), torch.ones(1), torch.ones(1, 4), torch.ones(1, 1)):
                try:
                    out = torch.nn.functional.linear(given, w, bias)
                    print(out, tree(out.grad_fn), out._version, out._base is None)
                except RuntimeError as error:
                    print(str(error).split("\\n")[0])
    """,
    "one_hot has been changed in place, and an average of nothing too": """
        F = torch.nn.functional
        print(F.one_hot(i)._version, F.one_hot(i[:0], 3)._version, F.one_hot(i[:0], 3).shape)
        x = torch.ones(0, 3, requires_grad=True)
        loss = F.cross_entropy(x, torch.ones(0, 3))
        print(loss, tree(loss.grad_fn))
        print(torch.cat([torch.ones(0), torch.ones(0)], 1))
    """,
    "a remainder of 0 has the sign of what is divided": """
        x = torch.tensor([0.0, -0.0, 1.0, -1.0, 2.5, -2.5])
        print(x % 0.5, x % -0.5, 3 % x, x % float("inf"), torch.arange(3) % -2)
    """,
    "sums in another dtype do not show the conversion, softmax does": """
        for call in ("sum(0)", "sum()", "mean()", "prod(0)", "cumsum(0)", "norm()", "softmax(0)"):
            name, dim = call[:-1].split("(")
            kwargs = {"dim": int(dim)} if dim else {}
            out = getattr(a, name)(dtype=torch.float64, **kwargs)
            print(name, out, tree(out.grad_fn), torch.autograd.grad(out.sum(), a)[0].dtype)
    """,
    "integers to negative powers": """
        x = torch.tensor([-(2**63), 1, -1, 0, 2, -1])
        print(x ** x, x ** torch.tensor([-2, -2, -3, 3, -1, -4]))
        print(m.t().pow(1).stride())
    """,
    "views of inference tensors have no base": """
        with torch.inference_mode():
            x = torch.ones(2, 3)
            y = x.t()
        print(y._base, x[0]._base, x[0].is_inference(), a.detach()[:1]._base is None)
    """,
    "a list of lists counts as a tuple of keys, with a warning": """
        print(m[[[0, 1], [2, 1]]], m[[None, 0]], m[[0, 1]], m[[[0]] * 40].shape)
        m[[[0, 1], [2, 1]]] = 7.0
        print(m)
    """,
    "iterating unbinds": """
        for row in m.requires_grad_():
            print(row)
        p, q = a
        (p * q).backward()
        print(a.grad, p)
    """,
    "printing": """
        print(a, a * 2, a.sum(), m, i, a.detach(), torch.zeros(0, 3), torch.tensor(True))
        y = a * 1
        y[0] = 1
        print(y, a // 2, (a > 1), a.double() * 1, a.reshape(2, 1))
        print(a.shape, a.size(), a.dtype, a.device, a.type(), repr(torch.device("cpu")))
    """,
}

ROWS = {
    "modules are taken out of a Sequential, put in and joined": """
        nn = torch.nn
        s = nn.Sequential(nn.Linear(1, 2), nn.ReLU(), nn.Tanh())
        del s[0]
        print(s, s + nn.Sequential(nn.Sigmoid()), s * 2)
        s += nn.Sequential(nn.ELU())
        print(s.insert(0, nn.Linear(1, 1)), s.insert(-1, nn.GELU()), s.pop(1))
        del s[0:2]
        print(s, [name for name, _ in s.named_children()])
    """,
    "modules are taken out of a ModuleList, put in and joined": """
        nn = torch.nn
        m = nn.ModuleList([nn.ReLU(), nn.Tanh()])
        m.insert(1, nn.ELU())
        del m[0]
        print(m, m + [nn.ReLU()], m.pop(0), m)
        m += [nn.ReLU(), nn.ReLU()]
        del m[-2:]
        print(m)
    """,
    "what cannot be joined to a Sequential": """
        nn = torch.nn
        s = nn.Sequential(nn.ReLU())
        for wrong in (lambda: s + 1, lambda: s.insert(5, nn.ReLU()), lambda: s * 0):
            try:
                wrong()
            except (ValueError, IndexError) as refused:
                print(type(refused).__name__, str(refused).split("\\n")[0])
    """,
}

CPU = {
    "a program looks for a GPU": """
        accelerator = torch.accelerator
        print(accelerator.is_available(), accelerator.current_accelerator())
        print(accelerator.device_count(), torch.version.cuda, torch.version.hip)
        torch.set_default_device("cpu")
        print(torch.ones(2), torch.get_default_device())
        torch.set_default_device(None)
        print(torch.ones(2).to(torch.device("cpu"), non_blocking=True))
        print(torch.nn.Linear(1, 1).to("cpu", non_blocking=True))
    """,
    "speed and threads are set": """
        print(torch.get_float32_matmul_precision())
        for precision in ("high", "foo", "highest"):
            torch.set_float32_matmul_precision(precision)
            print(torch.get_float32_matmul_precision())
        threads = torch.get_num_threads()
        torch.set_num_threads(1)
        print(torch.get_num_threads())
        torch.set_num_threads(threads)
    """,
}

BORDERS = {
    "borders are made of the image": """
        F = torch.nn.functional
        for shape, pad in ((1, 2, 5), (2, 1)), ((2, 3, 4), (2, 1, 1, 2)), ((1, 3, 4), (0, -1)):
            for mode in "reflect", "replicate", "circular":
                x = torch.arange(float(torch.ones(shape).numel())).reshape(shape).requires_grad_()
                y = F.pad(x, pad, mode=mode)
                g, = torch.autograd.grad((y**3).sum(), x, create_graph=True)
                g.sum().backward()
                print(y, g.detach(), x.grad)
    """,
    "convolutions pad with the image": """
        for mode in "reflect", "replicate", "circular":
            for padding in 1, (1, 0), "same", "valid":
                conv = torch.nn.Conv2d(1, 2, (3, 2), padding=padding, padding_mode=mode)
                conv.weight.data.fill_(1.0)  # sums of whole numbers are exact
                conv.bias.data.fill_(0.0)
                print(conv, conv(torch.arange(16.0).reshape(1, 1, 4, 4)))
            conv = torch.nn.Conv1d(2, 3, 2, padding=1, padding_mode=mode, bias=False)
            conv.weight.data.fill_(1.0)
            print(conv, conv(torch.arange(10.0).reshape(2, 5)))
    """,
}

LAYOUTS = {
    "gradients of weights lie row by row": """
        x = torch.ones(5, 2, 3)
        nn = torch.nn
        for layer in nn.Linear(3, 4), nn.Linear(3, 4, bias=False), nn.LSTM(3, 4), nn.GRU(3, 4):
            for create_graph in False, True:
                out = layer(x)
                out = out[0] if isinstance(out, tuple) else out
                params = list(layer.parameters())
                gs = torch.autograd.grad(out.tanh().sum(), params, create_graph=create_graph)
                print([g.stride() for g in gs], torch.cat([g.view(-1) for g in gs]).shape)
    """,
    "the gradient of a matrix lies as the matrix does": """
        m = torch.arange(6.0).reshape(2, 3).requires_grad_()
        other = torch.ones(3, 4)
        added = torch.addmm(torch.ones(3, 3), m.t(), m)
        for y in m @ other, m.t() @ m.detach(), other.t() @ m.t(), added:
            print(torch.autograd.grad(y.tanh().sum(), m)[0].stride())
    """,
    "running statistics are not counted as changed": """
        bn = torch.nn.BatchNorm1d(2)
        x = torch.tensor([[1.0, 2.0], [3.0, 5.0]], requires_grad=True)
        bn.eval()
        y = bn(x)
        bn.train()
        bn(x)
        y.sum().backward()
        print(x.grad, bn.running_mean, bn.running_mean._version, bn.running_var)
    """,
}

LONG = {
    "a chain of 20,000 operations": """
        x = torch.tensor(1.0, requires_grad=True)
        y = x
        for _ in range(10_000):
            y = y * 0.9999 + 0.0001
        y.backward()
        print(y, x.grad)
        del y
    """,
    "a tensor used 3,000 times": """
        x = torch.tensor(1.0, requires_grad=True)
        y = sum(x * k for k in range(3_000))
        y.backward()
        print(x.grad)
    """,
    "a lattice with more paths than atoms": """
        x = torch.tensor(1.0, requires_grad=True)
        y = x
        for _ in range(100):
            y = y * 0.5 + y * 0.5
        y.backward()
        print(y, x.grad)
    """,
}

COPIES = {
    "deep copies of leaves": """
        import copy
        a.grad = torch.ones(2)
        x, y = copy.deepcopy([a, a])
        print(x, x is y, x is a, x.grad)
        x.grad.zero_()
        with torch.no_grad():
            x.zero_()
        print(a, a.grad)
    """,
    "pickles of leaves": """
        import pickle
        print(pickle.loads(pickle.dumps([a, i, torch.tensor(2.5)])))
    """,
    "copy construction warns": """
        print(torch.tensor(a))
    """,
    "a list of tensors that need gradients warns": """
        print(torch.tensor([a[0], 2.0]))
    """,
}

GROUPS = (LEAVES, ACCUMULATION, FREEING, UNUSED, HIGHER, BROADCASTING, SINGULAR, DTYPES, MODES)
GROUPS += (BATCHES, IN_PLACE, VIEWS, HOOKS, GRAPH, LAYOUTS, LONG, COPIES, ROWS, CPU, BORDERS)
PROGRAMS = {name: program for group in GROUPS for name, program in group.items()}


def dedented(program: str) -> str:
    lines = program.strip("\n").split("\n")
    return "\n".join(line[8:] for line in lines)


@pytest.mark.parametrize("name", PROGRAMS)
def test_both_print_the_same(name: str) -> None:
    program = GIVEN + dedented(PROGRAMS[name])
    assert run_as_pytorch(program).raised is None
