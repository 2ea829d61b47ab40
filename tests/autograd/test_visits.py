"""Which nodes a backward pass visits, what it checks there, and which hooks it calls."""

import pytest

from tests.autograd.programs import check

pytestmark = pytest.mark.parity

GIVEN = """
class Square(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x
    @staticmethod
    def backward(ctx, g):
        print("backward", g)
        return 2 * g * ctx.saved_tensors[0]

class Nothing(Function):
    @staticmethod
    def forward(ctx, x): return x.clone()
    @staticmethod
    def backward(ctx, g): return None

class Wrong(Function):
    @staticmethod
    def forward(ctx, x, factor): return x * factor
    @staticmethod
    def backward(ctx, g): return g.sum(), g

def show(name): return lambda *gradients: print(name, gradients)
"""

PROGRAMS = {
    "backward(inputs=) goes through the node of an input": """
        y = a.exp()
        y.sum().backward(inputs=[y])
        attempt(lambda: y.sum().backward(inputs=[y]))
        y = Square.apply(a)
        y.sum().backward(inputs=[y])
        print(a.grad, y.grad)
        attempt(lambda: y.sum().backward())
    """,
    "grad() does not": """
        y = Square.apply(a)
        print(torch.autograd.grad(y.sum(), y))
        y.sum().backward()
    """,
    "a Function that nobody asks is checked all the same": """
        y = Wrong.apply(a, 2.0)
        attempt(lambda: y.sum().backward(inputs=[y]))
        y = a // 2
        attempt(lambda: y.sum().backward(inputs=[y]))
        attempt(lambda: (y * b).sum().backward(inputs=[b]))
    """,
    "where nothing arrives, saved values are checked": """
        y = a * b
        z = Nothing.apply(y)
        with torch.no_grad(): b.add_(1)
        attempt(lambda: z.sum().backward())
    """,
    "and freed": """
        y = a * b
        z = Nothing.apply(y)
        z.sum().backward()
        print(a.grad, b.grad)
        attempt(lambda: y.sum().backward())
        y = a * b
        Nothing.apply(y).sum().backward(retain_graph=True)
        y.sum().backward()
        print(a.grad)
    """,
    "with a hook that watches, too": """
        y = a * b
        y.register_hook(show("tensor"))
        y.grad_fn.register_hook(show("node"))
        Nothing.apply(y).sum().backward()
        attempt(lambda: y.sum().backward())
    """,
    "packed values are unpacked where nothing arrives": """
        def unpack(x):
            print("unpack", x)
            return x
        with torch.autograd.graph.saved_tensors_hooks(lambda x: x.detach(), unpack):
            y = a * b
        Nothing.apply(y).sum().backward()
    """,
    "an operation without a derivative is refused where nothing arrives": """
        y = Nothing.apply(a // b)
        attempt(lambda: y.sum().backward())
    """,
    "hooks of nodes see None for what nobody asks for": """
        y = a * b
        y.grad_fn.register_hook(show("node"))
        y.sum().backward(inputs=[a], retain_graph=True)
        y.sum().backward(inputs=[y], retain_graph=True)
        print(torch.autograd.grad(y.sum(), b))
    """,
    "a hook on several tensors waits for those that this backward visits": """
        x, y, z = a * 1, b * 1, a * b
        torch.autograd.graph.register_multi_grad_hook((x, a, y, x), show("all"))
        (x * y).sum().backward(retain_graph=True)
        (x * y).sum().backward(retain_graph=True, inputs=[a])
        (y * 1).sum().backward(retain_graph=True)
        z.sum().backward()
        x.backward(torch.ones(2), retain_graph=True)
        print(torch.autograd.grad((x * y).sum(), [x, y]))
        attempt(lambda: torch.autograd.grad((x * y).sum(), a))
    """,
    "or for the first": """
        x, y = a * 1, b * 1
        h = torch.autograd.graph.register_multi_grad_hook((x, a, y), show("any"), mode="any")
        (x * y).sum().backward(retain_graph=True)
        (y * 1).sum().backward()
        h.remove()
        x.sum().backward()
    """,
    "what a hook on several tensors refuses": """
        register = torch.autograd.graph.register_multi_grad_hook
        attempt(lambda: register((a.detach(), a), print))
        attempt(lambda: register((a,), print, mode="some"))
        with torch.inference_mode():
            attempt(lambda: register((a,), print))
            e = torch.ones(2, requires_grad=True)
        attempt(lambda: register((e,), print))
        print(register((a.detach(),), print, mode="any").handles)
    """,
    "a pass inside of a hook is another pass": """
        x, y = a * 1, b * 1
        def inner(g): print("inner", torch.autograd.grad((b * 2).sum(), b))
        torch.autograd.graph.register_multi_grad_hook((x, y), show("all"))
        x.register_hook(inner)
        (x * y).sum().backward()
    """,
    "hooks on a view without a history are not called": """
        with torch.no_grad(): v = a.view(1, 2)
        v.register_hook(show("view"))
        (v * a).sum().backward()
        print(a.grad)
    """,
    "what was converted for an operation is saved as it was given": """
        y = d * a.detach().clone()
        y.sum().backward()
        x, n = a.detach().clone(), torch.tensor(3)
        y, z = d * x, n.clamp(min=a)
        x.add_(1)
        n.add_(1)
        attempt(lambda: y.sum().backward())
        attempt(lambda: z.sum().backward())
        x = torch.tensor(2.0)
        y = d * x
        x.add_(1)
        attempt(lambda: y.sum().backward())
    """,
    "a gradient that looks into what was given is a view of that": """
        for y in (a.t(), a.view(1, 2), a * 1):
            for g in (y, y.detach(), torch.ones(y.shape)):
                c, = torch.autograd.grad(y, a, g, retain_graph=True)
                print(c.requires_grad, c.is_leaf, c._base is None)
    """,
    "a power of -inf, in the rule as in forward": """
        x = torch.tensor(-float("inf"), requires_grad=True)
        print(torch.autograd.grad(x.pow(0.5), x), torch.autograd.grad(x.pow(2), x))
    """,
    "types that a rule cannot take": """
        F = torch.nn.functional
        attempt(lambda: (a ** (b > 0)).sum().backward())
        attempt(lambda: F.huber_loss(a, d.detach()).backward())
        attempt(lambda: F.huber_loss(d, b > 0).backward())
    """,
    "the graph keeps the gradient of a leaf that nobody holds any more": """
        def variable(y, depth):
            node = y.grad_fn
            for _ in range(depth): node = node.next_functions[0][0]
            return node.variable
        def made():
            w = torch.tensor(2.0, requires_grad=True)
            return w * w
        y = made()
        y.backward(retain_graph=True)
        y.backward(retain_graph=True)
        print(variable(y, 1).grad)
        variable(y, 1).grad = None
        print(variable(y, 1).grad)
        y.backward()
        print(variable(y, 1).grad)
        w = torch.tensor(2.0, requires_grad=True)
        for i in range(2):
            loss = (w - 5) ** 2
            loss.backward()
            if i == 0: w = w - 0.1 * w.grad
        print(variable(loss, 3).grad)
    """,
    "a hook of a leaf that nobody holds any more is called": """
        x = a * 1
        x.grad_fn.next_functions[0][0].variable.register_post_accumulate_grad_hook(show("leaf"))
        y = torch.ones(2, requires_grad=True)
        y.register_post_accumulate_grad_hook(lambda p: print("gone", p.grad))
        y = y * 2
        (x * y).sum().backward()
    """,
    "a view without a history is no input that anything leads to": """
        with torch.no_grad(): v = a.view(1, 2)
        m = (v * b).sum()
        m.retain_grad()
        print(torch.autograd.grad(m * 1, [v, a], allow_unused=True), m.grad)
    """,
    "gradients are new tensors of their input's type": """
        print(torch.autograd.grad(a * 1, a, torch.tensor([True, False])))
        print(torch.autograd.grad(b, b, torch.tensor([True, False])))
        x = torch.tensor(4.0, requires_grad=True)
        for y in (x.clamp(max=10), x.relu(), x * 1):
            print(torch.autograd.grad(y, x, y)[0].requires_grad)
        g, = torch.autograd.grad(a.mean(), a, create_graph=True)
        print(g.stride(), torch.autograd.grad(a.mean(), a)[0].stride())
    """,
    "an operation without a derivative shows only inputs that require grad": """
        y = b.detach() // a
        print(len(y.grad_fn.next_functions), y.grad_fn.next_functions[0][0].name())
    """,
    "an input that a Function returns as it is may not be changed": """
        class Same(Function):
            @staticmethod
            def forward(ctx, x): return x
            @staticmethod
            def backward(ctx, g): return g
        y = Same.apply(torch.ones(2))
        attempt(lambda: y.mul_(a))
    """,
    "indices are saved as they were given": """
        i, m = torch.tensor([0, 1]), torch.tensor([True, False])
        y, z = (a * 1)[i], (a * 1)[m]
        i.add_(0)
        m.fill_(True)
        attempt(lambda: y.sum().backward())
        attempt(lambda: z.sum().backward())
    """,
    "a gradient whose elements share a place is not added to": """
        g, = torch.autograd.grad(a.sum(), a)
        a.grad = g
        attempt(lambda: a.sum().backward())
    """,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_both_print_the_same(name: str) -> None:
    check(PROGRAMS[name], GIVEN)
