"""Packing what is saved, gradient edges, hooks of nodes: the same as in PyTorch."""

import gc

import pytest

import autodiff_kit as ak
from autodiff_kit.autograd.graph import (
    disable_saved_tensors_hooks,
    register_multi_grad_hook,
    saved_tensors_hooks,
)
from tests.autograd.programs import check

pytestmark = pytest.mark.parity

GIVEN = """
graph = torch.autograd.graph

def pack(x):
    print("pack", x, x is a, x is b)
    return x.clone()

def unpack(x):
    print("unpack", x)
    return x

def packed(function):
    with graph.saved_tensors_hooks(pack, unpack):
        y = function()
    y = y.sum()
    y.backward(retain_graph=True)
    print("again")
    y.backward()
    attempt(lambda: y.backward())
    print(a.grad, b.grad)
"""

PACKED = {
    "a * b": "a * b",
    "a * 2": "a * 2",
    "one factor that needs no gradient": "a * b.detach()",
    "exp": "a.exp()",
    "a / b": "a / b",
    "a power": "a**3",
    "a**b": "a**b",
    "2**a": "2**a",
    "a matrix product": "a.reshape(1, 2) @ b.reshape(2, 1)",
    "tanh of a result": "(a * 2).tanh()",
    "maximum": "torch.maximum(a, b)",
    "a sum": "a.sum()",
}

PROGRAMS = {
    "the innermost hooks count, and only while an operation runs": """
        def hooks(name):
            return graph.saved_tensors_hooks(
                lambda x: (print("pack", name, x), x)[1], lambda x: (print("unpack", name), x)[1]
            )

        with hooks("outer"):
            with hooks("inner"):
                y = (a * 0.1).exp()
            z = y * y
        z.sin().sum().backward()
        print(a.grad)
    """,
    "saved values are unpacked when they are read": """
        with graph.saved_tensors_hooks(pack, unpack):
            y = a.exp()
        print(y.grad_fn._saved_result)
    """,
    "packed values lead on in a second derivative": """
        with graph.saved_tensors_hooks(lambda x: x.detach(), lambda x: x):
            y = (a**3 * b).exp().sum()
        (g,) = torch.autograd.grad(y, a, create_graph=True)
        print(g)
        print(torch.autograd.grad(g.sum(), [a, b]))
    """,
    "gradients that are recorded are packed, too": """
        with graph.saved_tensors_hooks(lambda x: x.tolist(), torch.tensor):
            (g,) = torch.autograd.grad((a * b * b).sum(), b, create_graph=True)
        print(torch.autograd.grad(g.sum(), [a, b]))
    """,
    "saved tensors on disk": """
        import os, tempfile
        with tempfile.TemporaryDirectory() as folder:
            def to_disk(x):
                name = os.path.join(folder, f"{len(os.listdir(folder))}.npy")
                np.save(name, x.detach().numpy())
                return name

            with graph.saved_tensors_hooks(to_disk, lambda name: torch.from_numpy(np.load(name))):
                y = ((a * b).tanh() ** 2).sum()
            print(len(os.listdir(folder)))
            y.backward()
        print(a.grad, b.grad)
    """,
    "a Function's saved tensors are packed": """
        class Exp(Function):
            @staticmethod
            def forward(ctx, x):
                result = x.exp()
                ctx.save_for_backward(x, result)
                print("saved")
                return result

            @staticmethod
            def backward(ctx, g):
                print("backward")
                x, result = ctx.saved_tensors
                print(x, result, x is a)
                return g * result

        packed(lambda: Exp.apply(a))
    """,
    "what may go wrong": """
        def of(pack, unpack):
            with graph.saved_tensors_hooks(pack, unpack):
                y = (a * b).sum()
            return y.backward()

        attempt(lambda: of(lambda x: x, lambda x: 3))
        attempt(lambda: of(lambda x: x.data.numpy(), lambda x: torch.from_numpy(x)))
        attempt(lambda: of(lambda x: x.add_(1) if x.grad_fn else x, lambda x: x))
        attempt(lambda: of(lambda x: 1 / 0, lambda x: x))

        def in_place():
            with graph.saved_tensors_hooks(lambda x: x.add_(1), lambda x: x):
                return (a * 1) * b.detach().clone()

        attempt(in_place)
    """,
    "changes after packing are not looked at": """
        x = a * 1
        with graph.saved_tensors_hooks(lambda x: x, lambda x: x):
            y = x * b
        x.add_(1)
        y.sum().backward()
        print(a.grad, b.grad)
    """,
    "hooks can be forbidden": """
        with graph.disable_saved_tensors_hooks("not here"):
            print(a * b)

            def inside():
                with graph.saved_tensors_hooks(pack, unpack):
                    print("never")

            attempt(inside)

        def around():
            with graph.saved_tensors_hooks(pack, unpack):
                with graph.disable_saved_tensors_hooks("nor here"):
                    print("never")

        attempt(around)
        packed(lambda: a * 2)

        @graph.disable_saved_tensors_hooks("not in here")
        def forbidden():
            attempt(inside)

        forbidden()
        forbidden()
        packed(lambda: a * 2)
    """,
    "save_on_cpu": """
        with graph.save_on_cpu(pin_memory=False):
            y = (a * b).exp().sum()
        y.backward()
        print(a.grad)
    """,
    "gradient edges stand for tensors": """
        y = a * 2
        edge = graph.get_gradient_edge(y)
        print(edge.node, edge.output_nr, type(edge).__name__)
        print(torch.autograd.grad((y * y).sum(), edge))
        print(torch.autograd.grad((y * y).sum(), [edge, a]))
        y = a.double().exp()
        edge = graph.get_gradient_edge(y)
        del y
        g = torch.tensor([1 / 3, 1 / 7], dtype=torch.float64)
        print(torch.autograd.grad(edge, a, grad_outputs=g, retain_graph=True))
        attempt(lambda: torch.autograd.grad(edge, a))
        torch.autograd.backward(edge, g)
        print(a.grad)
        print(graph.get_gradient_edge(a).node)
        attempt(lambda: graph.get_gradient_edge(torch.ones(2)))
    """,
    "hooks of several tensors": """
        c = torch.tensor([5.0], requires_grad=True)
        x, y = a * 1, b * 1
        handle = graph.register_multi_grad_hook((x, y, c), lambda gs: print("all", gs))
        (x * y).sum().backward(retain_graph=True)
        (x * y * c).sum().backward(retain_graph=True)
        (x.sum() + c).backward(retain_graph=True)
        handle.remove()
        (x * y).sum().backward(retain_graph=True)
    """,
    "hooks of nodes see what flows in and out": """
        y = a * torch.ones(3, 2)
        print(y.grad_fn.metadata)
        y.grad_fn.metadata["note"] = 1
        print(y.grad_fn.metadata)
        y.grad_fn.register_hook(lambda inputs, outputs: print("hook", inputs, outputs))
        y.grad_fn.register_prehook(lambda outputs: print("prehook", outputs))
        y.sum().backward()
        print(a.grad)
    """,
    "hooks of tensors come first, then hooks of nodes": """
        y = a * b
        y.grad_fn.register_prehook(lambda outputs: (outputs[0] * 2,))
        y.register_hook(lambda g: print("tensor", g))
        y.retain_grad()
        y.sum().backward()
        print(y.grad, a.grad)
    """,
    "hooks of nodes replace what flows": """
        y = a * b
        handle = y.grad_fn.register_hook(lambda inputs, outputs: (inputs[0] * 10, inputs[1]))
        y.grad_fn.register_prehook(lambda outputs: (outputs[0] * 2,))
        y.sum().backward(retain_graph=True)
        print(a.grad, b.grad)
        handle.remove()
        y.sum().backward()
        print(a.grad, b.grad)
        y = a * b
        y.grad_fn.register_hook(lambda inputs, outputs: (None, inputs[1]))
        print(torch.autograd.grad(y.sum(), [a, b], allow_unused=True))
        y.grad_fn.register_hook(lambda inputs, outputs: inputs[0])
        attempt(lambda: (y * 1).sum().backward())
        y = a * b
        y.grad_fn.register_hook(lambda inputs, outputs: (inputs[0],))
        attempt(lambda: y.sum().backward())
    """,
    "hooks of a leaf's node are called when the gradient is there": """
        node = (a * 1).grad_fn.next_functions[0][0]
        node.register_prehook(lambda outputs: print("prehook", outputs, a.grad))
        handle = node.register_hook(lambda inputs, outputs: print("hook", inputs, outputs, a.grad))
        (a * 2).sum().backward()
        handle.remove()
        (a * 2).sum().backward()
    """,
    "hooks of a Function with two outputs": """
        class Two(Function):
            @staticmethod
            def forward(ctx, x, y):
                ctx.save_for_backward(x, y)
                return x * y, x + y

            @staticmethod
            def backward(ctx, g, h):
                x, y = ctx.saved_tensors
                return g * y + h, g * x + h

        c, e = Two.apply(a, b)
        c.grad_fn.register_hook(lambda inputs, outputs: print("hook", inputs, outputs))
        c.grad_fn.register_prehook(lambda outputs: print("prehook", outputs))
        (c * e).sum().backward(retain_graph=True)
        c.grad_fn.register_prehook(lambda outputs: (outputs[0] * 0, outputs[1]))
        (c + e).sum().backward()
        print(a.grad, b.grad)
    """,
    "a node can be called": """
        print((a * b).grad_fn(torch.ones(2)), a.exp().grad_fn(torch.ones(2)))
        y = a.exp().sum()
        y.backward()
        attempt(lambda: (a * b).sum().grad_fn(torch.tensor(1.0)))
    """,
    "an optimizer step in backward": """
        w = [torch.ones(2, requires_grad=True), torch.full((2,), 2.0, requires_grad=True)]

        def step(p):
            p.data -= 0.1 * p.grad
            p.grad = None

        for p in w:
            p.register_post_accumulate_grad_hook(step)
        for _ in range(3):
            (w[0] * a.detach() * w[1]).sum().backward()
        print(w, w[0].grad)
    """,
}


@pytest.mark.parametrize("name", PACKED)
def test_both_pack_the_same(name: str) -> None:
    check(f"packed(lambda: {PACKED[name]})", GIVEN)


@pytest.mark.parametrize("name", PROGRAMS)
def test_both_print_the_same(name: str) -> None:
    check(PROGRAMS[name], GIVEN)


def test_packing_by_identity_leaves_no_garbage() -> None:
    def work() -> None:
        x = ak.ones(2, requires_grad=True)
        with saved_tensors_hooks(lambda t: t, lambda t: t):
            y = (x.exp() * x).tanh().sum()
        y.backward(retain_graph=True)
        x.exp().grad_fn.register_hook(lambda inputs, outputs: None)
        handle = register_multi_grad_hook((x,), lambda gradients: None)
        y.backward()
        handle.remove()

    work()
    gc.collect()
    gc.disable()
    try:
        work()
        assert gc.collect() == 0
    finally:
        gc.enable()


def test_packed_values_are_what_a_recording_shows_as_saved() -> None:
    x = ak.tensor(3.0, requires_grad=True)
    with saved_tensors_hooks(ak.Tensor.half, ak.Tensor.float), ak.record() as rec:
        (x * x).backward()

    assert rec.note is None
    assert [saved["bytes"] for saved in rec.nodes[-1]["saved"]] == [2, 2]  # two float16
    assert x.grad.item() == 6


def test_hooks_inside_of_a_recording() -> None:
    x = ak.tensor(3.0, requires_grad=True)
    with ak.record() as rec, saved_tensors_hooks(lambda t: t.item(), ak.tensor):
        (x * x).backward()

    assert rec.note is None
    assert x.grad.item() == 6


def test_a_refusal_whose_block_was_never_left_is_not_put_back_by_the_garbage_collector() -> None:
    with disable_saved_tensors_hooks("outer"):
        block = disable_saved_tensors_hooks("inner")
        block.__enter__()  # and a clock strikes on the way out, before anything is put back
        del block
        gc.collect()

        with pytest.raises(RuntimeError, match="inner"):
            saved_tensors_hooks(ak.Tensor.half, ak.Tensor.float).__enter__()
