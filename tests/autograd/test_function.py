"""Functions of the learner's own: as in PyTorch, seen by the recorder, gone when dropped."""

import gc

import pytest

import autodiff_kit as ak
from autodiff_kit.autograd import Function
from autodiff_kit.autograd.function import FunctionCtx
from tests.autograd.programs import check

pytestmark = pytest.mark.parity

GIVEN = """
from importlib import import_module
once_differentiable = import_module(torch.__name__ + ".autograd.function").once_differentiable

class Cube(Function):
    @staticmethod
    def forward(ctx, x, k=1.0):
        ctx.save_for_backward(x)
        ctx.k, ctx.shape = k, x.shape
        return x**3 * k

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * 3 * x**2 * ctx.k, None

class Exp(Function):
    @staticmethod
    def forward(ctx, x):
        result = x.exp()
        ctx.save_for_backward(result)
        return result

    @staticmethod
    def backward(ctx, g):
        return g * ctx.saved_tensors[0]

class Two(Function):
    @staticmethod
    def forward(ctx, x, y):
        product, total = x * y, x + y
        ctx.save_for_backward(x, y, product)
        return product, total

    @staticmethod
    def backward(ctx, g, h):
        x, y, product = ctx.saved_tensors
        print("backward", g, h, product)
        return g * y + h, g * x + h
"""

PROGRAMS = {
    "the node shows the class and what is kept at ctx": """
        y = Cube.apply(a, 2.0)
        print(y, y.grad_fn, y.grad_fn.name(), type(y.grad_fn).__name__, y.output_nr)
        print(y.grad_fn.k, y.grad_fn.saved_tensors[0] is a)
        print(y.grad_fn.next_functions, y.grad_fn.needs_input_grad)
        y.sum().backward()
        print(a.grad)
    """,
    "what was saved is gone after backward": """
        y = Cube.apply(a)
        y.sum().backward()
        attempt(lambda: y.sum().backward())
        attempt(lambda: y.grad_fn.saved_tensors)
        y = Cube.apply(a)
        y.sum().backward(retain_graph=True)
        y.sum().backward()
        print(a.grad)
    """,
    "without saved tensors backward may run twice": """
        class Double(Function):
            @staticmethod
            def forward(ctx, x):
                return x * 2

            @staticmethod
            def backward(ctx, g):
                return g * 2

        y = Double.apply(a)
        y.sum().backward()
        y.sum().backward()
        print(a.grad)
    """,
    "forward runs without a graph and backward in the mode of create_graph": """
        class Look(Function):
            @staticmethod
            def forward(ctx, x, y, k):
                print(torch.is_grad_enabled(), ctx.needs_input_grad, (x * 2).requires_grad)
                return x * y

            @staticmethod
            def backward(ctx, g):
                print(torch.is_grad_enabled(), ctx.needs_input_grad, g.requires_grad)
                return g, None, None

        y = Look.apply(a, b.detach(), 3).sum()
        torch.autograd.grad(y, a, retain_graph=True)
        torch.autograd.grad(y, a, create_graph=True)
    """,
    "without a gradient to come nothing is recorded": """
        with torch.no_grad():
            print(Cube.apply(a))
        print(Cube.apply(a.detach()))
    """,
    "several outputs are outputs of one node": """
        c, e = Two.apply(a, b)
        print(c, e, c.grad_fn is e.grad_fn, c.output_nr, e.output_nr)
        print((c * e).grad_fn.next_functions)
        print(torch.autograd.grad(e.sum(), [a, b]))
        c, e = Two.apply(a, b)
        print(torch.autograd.grad([c.sum(), (c * e).sum()], [a, b]))
    """,
    "each output has hooks and a gradient of its own": """
        c, e = Two.apply(a, b)
        c.register_hook(lambda g: print("hook", g))
        e.register_hook(lambda g: g * 2)
        e.retain_grad()
        (c * e).sum().backward()
        print(a.grad, b.grad, e.grad)
    """,
    "several outputs can be differentiated twice": """
        c, e = Two.apply(a, b)
        (g,) = torch.autograd.grad((c * c + e).sum(), a, create_graph=True)
        print(g)
        print(torch.autograd.grad(g.sum() + (c * e).sum(), [a, b]))
    """,
    "inputs and outputs that were saved lead on in a second derivative": """
        for f in (Cube, Exp):
            (g,) = torch.autograd.grad(f.apply(a).sum(), a, create_graph=True)
            print(g)
            (h,) = torch.autograd.grad(g.sum(), a, create_graph=True)
            print(h, torch.autograd.grad(h.sum(), a, allow_unused=True))
        print(torch.autograd.gradcheck(Exp.apply, d), torch.autograd.gradgradcheck(Exp.apply, d))
    """,
    "forward may leave ctx to setup_context": """
        class Scale(Function):
            @staticmethod
            def forward(x, y, k=2):
                return x * y * k

            @staticmethod
            def setup_context(ctx, inputs, output):
                print(inputs, output, torch.is_grad_enabled())
                x, y, ctx.k = inputs
                ctx.save_for_backward(x, y)

            @staticmethod
            def backward(ctx, g):
                x, y = ctx.saved_tensors
                return g * y * ctx.k, g * x * ctx.k, None

        print(Scale.apply(a, b), Scale.apply(a, b, k=3))
        Scale.apply(a, b, 3).sum().backward()
        print(a.grad, b.grad)
    """,
    "ctx is of a class that has the name of the node": """
        class Names(Function):
            @staticmethod
            def forward(ctx, x):
                print(type(ctx).__name__, getattr(ctx, "missing", None))
                return x * 2

            @staticmethod
            def backward(ctx, g):
                print(type(ctx).__name__, isinstance(ctx, torch.autograd.function.FunctionCtx))
                try:
                    return ctx.missing
                except AttributeError as e:
                    print(e)
                return g * 2

        Names.apply(a).sum().backward()
    """,
    "the rule may be called vjp": """
        class Neg(Function):
            @staticmethod
            def forward(ctx, x):
                return -x

            @staticmethod
            def vjp(ctx, g):
                return -g

        Neg.apply(a).sum().backward()
        print(a.grad)
    """,
    "once_differentiable": """
        class Sin(Function):
            @staticmethod
            def forward(ctx, x):
                ctx.save_for_backward(x)
                return x.sin()

            @staticmethod
            @once_differentiable
            def backward(ctx, g):
                print(torch.is_grad_enabled())
                return g * ctx.saved_tensors[0].cos()

        print(torch.autograd.grad(Sin.apply(a).sum(), a, create_graph=True))
        (g,) = torch.autograd.grad((Sin.apply(a) * b).sum(), a, create_graph=True)
        print(g.requires_grad)
        attempt(lambda: g.sum().backward())
    """,
    "saved tensors that were changed are refused where they are read": """
        x = a * 1
        y = Cube.apply(x)
        x.add_(1)
        attempt(lambda: y.sum().backward())
        y = Exp.apply(a)
        y.mul_(2)
        attempt(lambda: y.sum().backward())
    """,
    "missing gradients are zeros, or None on request": """
        class Three(Function):
            @staticmethod
            def forward(ctx, x, zeros):
                ctx.set_materialize_grads(zeros)
                return x * 2, x * 3, "text", None

            @staticmethod
            def backward(ctx, *g):
                print(g)
                return g[0] * 2, None

        for zeros in (True, False):
            outputs = Three.apply(a, zeros)
            print(outputs)
            outputs[0].sum().backward()
    """,
    "outputs without a derivative": """
        class Top(Function):
            @staticmethod
            def forward(ctx, x):
                copy = x.clone()
                ctx.mark_non_differentiable(copy)
                return x * 2, copy, x.argmax()

            @staticmethod
            def backward(ctx, g, h, k):
                print(g, h, k)
                return g * 2

        outputs = Top.apply(a)
        print([(t.requires_grad, t.grad_fn) for t in outputs[1:]])
        outputs[0].sum().backward()
    """,
    "an input that forward changed": """
        class Triple(Function):
            @staticmethod
            def forward(ctx, x):
                x.mul_(3)
                ctx.mark_dirty(x)
                return x

            @staticmethod
            def backward(ctx, g):
                return g * 3

        x = a * 1
        y = Triple.apply(x)
        print(y is x, x, x._version)
        y.sum().backward()
        print(a.grad)
        attempt(lambda: Triple.apply(a))
    """,
    "an input that is returned as it is": """
        class Same(Function):
            @staticmethod
            def forward(ctx, x):
                return x

            @staticmethod
            def backward(ctx, g):
                return g * 10

        y = Same.apply(a)
        print(y, y is a, y.data_ptr() == a.data_ptr())
        y.sum().backward()
        print(a.grad)
        attempt(lambda: Same.apply(a * 1).add_(1))
    """,
    "a view of an input": """
        class View(Function):
            @staticmethod
            def forward(ctx, x):
                return x.view(2, 1)

            @staticmethod
            def backward(ctx, g):
                return g.view(2)

        y = View.apply(a * 1)
        print(y)
        attempt(lambda: y.add_(1))
        (y * y).sum().backward()
        print(a.grad)
    """,
    "gradients are brought to the shape and dtype of the input": """
        class Wide(Function):
            @staticmethod
            def forward(ctx, x):
                return (x * torch.ones(3, 2)).double()

            @staticmethod
            def backward(ctx, g):
                print(g.dtype)
                return g

        Wide.apply(a).sum().backward()
        print(a.grad)
    """,
    "no gradient for an input that wants one": """
        class Left(Function):
            @staticmethod
            def forward(ctx, x, y):
                return x * y

            @staticmethod
            def backward(ctx, g):
                return None, g

        Left.apply(a * 2, b).sum().backward()
        print(a.grad, b.grad)
        attempt(lambda: torch.autograd.grad(Left.apply(a, b).sum(), [a, b]))
        print(torch.autograd.grad(Left.apply(a, b).sum(), [a, b], allow_unused=True))
    """,
    "one gradient returned for two inputs": """
        class Add(Function):
            @staticmethod
            def forward(ctx, x, y):
                return x + y

            @staticmethod
            def backward(ctx, g):
                h = g * 1
                return h, h

        Add.apply(a, b).sum().backward()
        a.grad.zero_()
        print(a.grad, b.grad)
    """,
    "what is refused": """
        class Base(Function):
            @staticmethod
            def forward(ctx, x, y):
                return x * y

        def of(returned):
            class F(Base):
                @staticmethod
                def backward(ctx, g):
                    return returned(g)

            return lambda: F.apply(a, b).sum().backward()

        attempt(lambda: Base.apply(a, b).sum().backward())
        attempt(of(lambda g: g))
        attempt(of(lambda g: (g, g, g)))
        attempt(of(lambda g: (g, g, None)))
        attempt(of(lambda g: (torch.ones(3), g)))
        attempt(of(lambda g: (g, g.sum())))
        attempt(of(lambda g: (1.0, g)))

        class Constant(Base):
            @staticmethod
            def backward(ctx, g):
                return g, g

        attempt(lambda: Constant.apply(a, 3).sum().backward())

        class Number(Function):
            @staticmethod
            def forward(ctx, x):
                ctx.save_for_backward(3)
                return x * 2

        attempt(lambda: Number.apply(a))

        class Empty(Function):
            pass

        attempt(lambda: Empty.apply(a))
    """,
    "a polynomial of Legendre's fitted to a sine": """
        import math

        class Legendre(Function):
            @staticmethod
            def forward(ctx, x):
                ctx.save_for_backward(x)
                return 0.5 * (5 * x**3 - 3 * x)

            @staticmethod
            def backward(ctx, g):
                (x,) = ctx.saved_tensors
                return g * 1.5 * (5 * x**2 - 1)

        x = torch.linspace(-math.pi, math.pi, 200, dtype=torch.float64)
        w = [torch.full((), v, dtype=torch.float64, requires_grad=True) for v in (0, -1, 0, 0.3)]
        for step in range(60):
            loss = (w[0] + w[1] * Legendre.apply(w[2] + w[3] * x) - x.sin()).pow(2).sum()
            loss.backward()
            with torch.no_grad():
                for p in w:
                    p -= 5e-6 * p.grad
                    p.grad = None
        print(loss, w[1], w[3])
    """,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_both_print_the_same(name: str) -> None:
    check(PROGRAMS[name], GIVEN)


class Square(Function):
    """Square, and count the calls of backward."""

    calls = 0

    @staticmethod
    def forward(ctx: FunctionCtx, x: ak.Tensor, y: ak.Tensor) -> ak.Tensor:
        result = x * x + y
        ctx.save_for_backward(x, result)
        return result

    @staticmethod
    def backward(ctx: FunctionCtx, g: ak.Tensor) -> tuple[ak.Tensor, ak.Tensor]:
        Square.calls += 1
        x, _ = ctx.saved_tensors
        return 2 * g * x, g


class Halves(Function):
    """Two outputs."""

    @staticmethod
    def forward(ctx: FunctionCtx, x: ak.Tensor) -> tuple[ak.Tensor, ak.Tensor]:
        ctx.save_for_backward(x)
        return x * 0.5, x * x

    @staticmethod
    def backward(ctx: FunctionCtx, g: ak.Tensor, h: ak.Tensor) -> ak.Tensor:
        (x,) = ctx.saved_tensors
        return g * 0.5 + h * 2 * x


def test_backward_is_called_once_for_all_inputs() -> None:
    x, y = (ak.ones(2, requires_grad=True) for _ in range(2))
    Square.calls = 0

    Square.apply(x, y).sum().backward()

    assert Square.calls == 1
    assert (x.grad.tolist(), y.grad.tolist()) == ([2, 2], [1, 1])


@pytest.mark.parametrize("create_graph", [False, True])
def test_a_function_leaves_no_garbage(create_graph: bool) -> None:
    def work() -> None:
        x = ak.ones(2, requires_grad=True)
        left, right = Halves.apply(Square.apply(x, x))
        (g,) = ak.autograd.grad((left * right).sum(), x, create_graph=create_graph)
        if create_graph:
            g.sum().backward()
        Square.apply(x, x)  # and one that never goes back

    work()
    gc.collect()
    gc.disable()
    try:
        work()
        assert gc.collect() == 0
    finally:
        gc.enable()


def test_a_function_is_one_op_in_a_recording() -> None:
    with ak.record() as rec:
        x = ak.tensor(3.0, requires_grad=True)
        Square.apply(x, x).backward()

    assert rec.note is None
    assert [node["op"] for node in rec.nodes] == [None, "Square"]
    assert [saved["name"] for saved in rec.nodes[1]["saved"]] == [
        "saved_tensors[0]",
        "saved_tensors[1]",
    ]
    assert x.grad.item() == 7  # 2 x + 1


def test_several_outputs_are_parts_of_one_node_in_a_recording() -> None:
    with ak.record() as rec:
        x = ak.tensor([3.0], requires_grad=True)
        left, right = Halves.apply(x)
        (left * right).sum().backward()

    assert rec.note is None
    ops = [None, "Halves", "Halves", "mul", "sum_all"]
    assert [node["op"] for node in rec.nodes] == ops
    assert [node.get("part_of") for node in rec.nodes] == [None, None, 1, None, None]
    assert x.grad.tolist() == [13.5]  # x^3 / 2 has the derivative 3 x^2 / 2


def test_a_function_is_not_called_by_itself() -> None:
    with pytest.warns(DeprecationWarning, match="should not be instantiated"):
        square = Square()
    with pytest.raises(RuntimeError, match=r"Square\.apply\(\.\.\.\)"):
        square(ak.ones(1))
