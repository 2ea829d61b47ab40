"""Programs in which hooks, or Functions of the learner's own, were once wrong."""

from tests.fuzz.once_wrong.functions import DIRTY, PARTLY, TIMES, UNMARKED, function_text

PROGRAMS = {
    "data of another type behind a graph": [
        *("a = torch.ones(2, requires_grad=True)", 'a.register_hook(hook("a"))', "b = a * 2"),
        *("a.data = torch.zeros(2, dtype=torch.float64)", "c = a * 5"),
        "k = torch.autograd.grad(b.sum(), a, allow_unused=True, retain_graph=True)",
        *("k = torch.autograd.grad(c.sum(), a)", "b.sum().backward()"),
    ],
    "the gradient of a median of one number": [
        *("a = torch.tensor(2.0, requires_grad=True)", 'a.register_hook(hook("a"))'),
        *("b = a.median(0)[0]", "b.backward(b)", "a.mode(0)[0].backward(b * 1)"),
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
    "what flows in after .data of another size is summed, as hooks see": [
        *("a = torch.ones(2, requires_grad=True)", "b = (a * 2).sum()", "b.data = a.data"),
        "b.grad_fn.register_hook(hook('a', lambda i, o: None))",
        "b.backward(torch.ones_like(b))",
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
    "a hook of a node with packed tensors sees what was asked for": [
        *("a = torch.ones(1, requires_grad=True)", "b = a * 2"),
        "with torch.autograd.graph.saved_tensors_hooks(lambda v: v * 2, lambda v: v / 2):\n"
        "    c = a * b",
        "c.grad_fn.register_hook(hook('c'))",
        "k = torch.autograd.grad(c.sum(), [b])",
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
    "a hook of a Function's node sees all that backward has returned": [
        *("a = torch.ones(2, requires_grad=True)", "b = torch.ones(2)", PARTLY),
        *("k = Partly.apply(b, a)", 'k[1].grad_fn.register_hook(hook("c"))'),
        "k[0].sum().backward(retain_graph=True)",
        "k[1].sum().backward(retain_graph=True)",
        "k[0].backward(torch.ones(2), create_graph=True)",
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
            function_text("Turned", "): return x.t()", "g): return g.t()"),
        ),
        *("b = Turned.apply(a)", "k = torch.autograd.grad(b.sum(), [a, a])", "k[1][-1, 1:] -= 0.5"),
    ],
    "zeros for a view without elements have no history": [
        "a = torch.ones(2, requires_grad=True)",
        *("b = a[1:1]", "b.detach().log1p_()", 'a.register_hook(hook("a"))'),
        "b.exp().sum().backward(create_graph=True)",
        *("c = a.as_strided((0, 2), (1, 1))", "c.exp().sum().backward(create_graph=True)"),
    ],
    "a leaf that is gone had a gradient without a history": [
        *("a = torch.ones(2, requires_grad=True)", "a.sum().backward(create_graph=True)"),
        'a.register_post_accumulate_grad_hook(lambda p: log.append(("c", p.grad.tolist())))',
        *("b = a.abs()", "a = torch.ones(2)", "b.backward(b)"),
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
    "what a hook of a leaf's node sees, if the leaf does not require grad any more": [
        *("a = torch.tensor(4.0, requires_grad=True)", "b = a * 2"),
        *("b.grad_fn.next_functions[0][0].register_hook(hook('a'))", "a.detach_()"),
        *("b.backward()", "a = torch.ones(2, requires_grad=True)", "b = a.exp()"),
        "b.grad_fn.next_functions[0][0].register_hook(hook('b'))",
        *("a.requires_grad_(False)", "b.sum().backward()"),
    ],
    "what hooks after a gradient return": [
        *("a = torch.tensor([2.0, 1.0], requires_grad=True)", "b = a * 2"),
        *("h = a.register_post_accumulate_grad_hook(lambda p: p)", "b.sum().backward()"),
        *("h.remove()", "h = a.register_post_accumulate_grad_hook(lambda p: p.grad * 1)"),
        *("b.sum().backward()", "h.remove()"),
        *("a.register_post_accumulate_grad_hook(lambda p: p.grad[:1])", "b.sum().backward()"),
    ],
    "hooks pack and unpack what an op was given, before it was converted": [
        *("a = torch.tensor([1, 2, 3]).to(torch.uint8)", "b = torch.ones(3, requires_grad=True)"),
        "with torch.autograd.graph.saved_tensors_hooks(lambda v: v * 150, lambda v: v / 2):\n"
        "    c = b * a + b.pow(a)\n    d = F.smooth_l1_loss(b, a)",
        *("c.sum().backward()", "d.backward()", "e = torch.ones(3, dtype=torch.float64)"),
        "with torch.autograd.graph.saved_tensors_hooks(\n"
        "    lambda v: log.append((str(v.dtype), v.requires_grad)) or v, lambda v: v\n):\n"
        "    c = torch.addcmul(e, a, b) * b.maximum(e) + F.mse_loss(b, e) + torch.hypot(b * 2, e)",
        *("f = c.sum()", "f.backward()"),
    ],
    "what a node shows of what it has saved is what its op was given": [
        *("a = torch.tensor([1, 2, 3])", "b = torch.ones(3, requires_grad=True)", "c = b * a"),
        *("r = str(c.grad_fn._saved_other)", "c = b.double() * b", "d = c.grad_fn._saved_other"),
        *("r = d is b", "c = torch.addcdiv(d.double(), d, a)", "d = c.grad_fn._saved_tensor2 * 1"),
    ],
    "hooks pack what is saved beside an edge that leads nowhere": [
        *("a = torch.eye(3, requires_grad=True)", "b = a.t()", "c = a[:]"),
        "with torch.no_grad():\n    d, e = a.t(), a[:]",
        "with torch.autograd.graph.saved_tensors_hooks(\n"
        "    lambda v: log.append(v.tolist()) or v * 2, lambda v: v / 2\n):\n"
        "    f, g = b * d, (c * e).atan2(e / c) + e**c + F.smooth_l1_loss(c, e)",
        *("f.backward(f)", "g.sum().backward()"),
    ],
    "what hooks have packed has the history of then": [
        *("a = torch.tensor(-0.5, requires_grad=True)", "b = torch.ones(2, requires_grad=True)"),
        "with torch.autograd.graph.saved_tensors_hooks(lambda v: v * 2, lambda v: v / 2):\n"
        "    c, d = b * a, b.double() * a",
        *("a.detach_()", "e, = torch.autograd.grad(c.sum(), b, create_graph=True)"),
        "f, = torch.autograd.grad(d.sum(), b, create_graph=True)",
    ],
    "a gradient of bools is refused before hooks see it": [
        *("a = torch.tensor(-0.5, requires_grad=True)", "b = torch.ones(2) < 1", "b.fill_(a)"),
        "b.register_hook(lambda g: log.append(g.tolist()))",
        "b.backward(torch.ones_like(b))",
    ],
    "a leaf that a Function has saved is detached in place": [
        *("a = torch.tensor([1.0, 2.0], requires_grad=True)", "b = a.detach().requires_grad_()"),
        *(TIMES, "c = Times.apply(a, b)", "d = b.detach_()"),
        "e, = torch.autograd.grad(c.sum(), a, create_graph=True)",
    ],
    "hooks of a Function's node see what leads nowhere, too": [
        *("a = torch.ones(2, requires_grad=True)", TIMES),
        "with torch.no_grad():\n    b = a[:]",
        *(
            "c = Times.apply(b, a)",
            "d = Times.apply(a, b)",
            "d.sum().backward()",
            "c.grad_fn.register_hook(hook('c'))",
            "c.sum().backward()",
        ),
    ],
    "hooks see a node all of whose many inputs lead nowhere": [
        "a = torch.ones(2, 2, requires_grad=True)",
        "with torch.no_grad():\n    b = a.t()",
        *("c = torch.stack([b, b])", "c.grad_fn.register_hook(hook('c'))", "c.sum().backward()"),
        *("d = torch.cat([b, a])", "d.grad_fn.register_hook(hook('d'))", "d.sum().backward()"),
        *("e = torch.cat([b])", "e.sum().backward()"),
    ],
}
