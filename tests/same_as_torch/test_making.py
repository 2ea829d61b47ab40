"""Factories, conversions and dtypes: the same values, shapes and types as PyTorch's."""

import itertools
from typing import Any

import pytest

import autodiff_kit
from tests.parity import torch_if_there
from tests.same_as_torch.outcomes import run, run_as_pytorch

torch = torch_if_there()

FACTORIES = """
torch.tensor([1, 2], dtype=torch.float64)
torch.tensor([2, 0, 0.5], dtype=torch.bool)
torch.ones_like(torch.ones(2, 3), dtype=torch.float64)
torch.tensor(3)
torch.tensor(2.5)
torch.tensor(True)
torch.tensor([])
torch.tensor([[], []])
torch.tensor([1, 2.5])
torch.tensor([True, 2])
torch.tensor([True, 2.5])
torch.tensor([[1, 2], (3, 4)])
torch.tensor(range(3))
torch.tensor([1.7, -1.7], dtype=torch.int64)
torch.tensor(-1, dtype=torch.uint8)
torch.tensor([1e300])
torch.tensor([1], dtype=float)
torch.tensor([1.0, 2.0], requires_grad=True)
torch.tensor(np.float32(2))
torch.tensor(np.array([1, 2], "int32"))
torch.tensor(np.arange(6.0).reshape(2, 3).T)
torch.tensor([np.float64(1), 2.0])
torch.tensor([np.float32(1), 2])
torch.tensor([np.int32(1), 2])
torch.tensor([torch.tensor(1.0, dtype=torch.float64)])
torch.tensor([torch.tensor(1), 2.0])
torch.zeros(2, 3)
torch.zeros((2, 3))
torch.zeros([2])
torch.zeros(torch.Size([2]))
torch.zeros(())
torch.zeros(2, 0)
torch.zeros(torch.tensor(2))
torch.ones(2, dtype=torch.int64)
torch.ones(2, dtype=bool)
torch.ones(2, requires_grad=True)
torch.empty(3).shape
torch.full((2,), 3)
torch.full((2,), 3.0)
torch.full([2], True)
torch.full((2, 2), 7, dtype=torch.float32)
torch.full((2,), torch.tensor(2.0))
torch.eye(2)
torch.eye(2, 3)
torch.eye(3, dtype=torch.int64)
torch.arange(5)
torch.arange(1, 10, 3)
torch.arange(5.0)
torch.arange(1, 2, 0.5)
torch.arange(3, 0, -1)
torch.arange(0)
torch.arange(0.0, 3, dtype=torch.int64)
torch.arange(0, 1, 0.1, dtype=torch.float64).tolist()
torch.arange(3, dtype=torch.float32, requires_grad=True)
torch.arange(0, 5, 1.5, dtype=torch.int64)
torch.arange(-0.5, 5, 1.5, dtype=torch.int64)
torch.arange(-0.5, 5, 1.5, dtype=torch.int32)
torch.linspace(0, 1, 5)
torch.linspace(0, 1, 1)
torch.linspace(0, 1, 0)
torch.linspace(1, 0, 4, dtype=torch.float64).tolist()
torch.linspace(0, 10, 5, dtype=torch.int64)
torch.linspace(-3, 10, 7, dtype=torch.int64)
torch.linspace(5, -5, 4, dtype=torch.int32)
torch.linspace(0, 200, 7, dtype=torch.uint8)
torch.linspace(200, 0, 7, dtype=torch.uint8)
torch.linspace(0, 1, 1, dtype=torch.bool)
torch.linspace(0, 1, 0, dtype=torch.bool)
torch.arange(0.5, 9, 1.5, dtype=torch.uint8)
torch.arange(9, 0.5, -1.5, dtype=torch.uint8)
torch.linspace(-1, 1, 3, requires_grad=True)
torch.zeros_like(torch.ones(2, dtype=torch.int64))
torch.ones_like(torch.ones(2), requires_grad=True)
torch.rand_like(torch.ones(2, 3)).shape
torch.Tensor(2, 3).shape
torch.Tensor([1, 2])
torch.Tensor((2, 3))
torch.Tensor(torch.Size([2])).shape
torch.Tensor()
torch.Tensor(torch.tensor([1, 2]))
torch.Tensor(np.array([1, 2]))
torch.from_numpy(np.array([True, False]))
torch.from_numpy(np.arange(6, dtype="int16").reshape(2, 3).T)
torch.randint(5, (2,)).dtype
torch.randint(high=3, size=(2, 2)).shape
torch.randint(0, 5, (2,), dtype=torch.float32).dtype
torch.cuda.is_available()
torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.zeros(2, device="cpu").device == torch.device("cpu")
torch.device(torch.device("cpu")).type
torch.Size([2, 3]) + torch.Size([4])
torch.Size([2, 3])[1:]
torch.Size([2]) * 2
(1,) + torch.Size([2])
torch.Size([2, 3]).numel()
torch.ones(2, 3).shape == (2, 3)
torch.where(torch.tensor([0, 3, 0, 4]) > 0)
torch.where(torch.tensor([[True, False], [True, True]]))
torch.equal(torch.ones(2), torch.ones(2).double())
torch.equal(torch.ones(2), torch.ones(2, 1))
torch.allclose(torch.tensor([1.0]), torch.tensor([1.0 + 1e-6]))
torch.allclose(torch.tensor([1.0]), torch.tensor([1.001]), rtol=0.01)
"""


@pytest.mark.parity
@pytest.mark.parametrize("expression", FACTORIES.strip().split("\n"))
def test_both_make_the_same(expression: str) -> None:
    expected = run(torch, f"print({expression})")
    assert expected.raised is None

    outcome = run(autodiff_kit, f"print({expression})")

    assert outcome == expected


KINDS = ["float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "bool"]


@pytest.mark.parity
@pytest.mark.parametrize(("a", "b"), [*itertools.product(KINDS, KINDS)])
def test_types_combine_as_in_pytorch(a: str, b: str) -> None:
    def combined(package: Any) -> list[str]:
        first = [package.ones(n, dtype=getattr(package, a)) for n in ((2,), ())]
        second = [package.ones(n, dtype=getattr(package, b)) for n in ((2,), ())]
        results = []
        for x, y in itertools.product(first, second):
            results += [
                x + y,
                x * y,
                x / y,
                package.where(y > 0, x, y),
                x == y,
                package.maximum(x, y),
            ]
        for x, number in itertools.product(first, (True, 2, 2.5)):
            results += [x * number, number + x, number / x, x > number]
            results += [x.clamp(min=number), x**number] if a != "bool" else []
        return [str(t.dtype) for t in results]

    assert combined(autodiff_kit) == combined(torch)


@pytest.mark.parity
@pytest.mark.parametrize(("a", "b"), [*itertools.product(KINDS, KINDS)])
def test_gradients_come_back_in_the_type_of_their_leaf(a: str, b: str) -> None:
    def types(package: Any) -> list[str]:
        x = package.ones(2, dtype=getattr(package, a))
        y = package.ones(2, dtype=getattr(package, b))
        leaves = [t.requires_grad_() for t in (x, y) if t.is_floating_point()]
        total = (x * y + x / y).sum() * 2
        if not total.requires_grad:
            return [str(total.dtype)]
        total.backward()
        return [str(total.dtype), *(str(t.grad.dtype) for t in leaves)]

    assert types(autodiff_kit) == types(torch)


@pytest.mark.parity
@pytest.mark.parametrize("dtype", KINDS)
def test_conversions_to_every_type(dtype: str) -> None:
    program = f"""
x = torch.tensor([0.0, 1.0, 2.7, 100.5])
for t in (x, x.long(), x > 1, x.double(), x.half()):
    print(t.to(torch.{dtype}), t.type(torch.{dtype}).dtype, torch.{dtype}.itemsize)
"""
    expected = run(torch, program)
    assert expected.raised is None

    assert run(autodiff_kit, program) == expected


OTHER = """
torch.sum(torch.tensor([.5, .5]), 0, out=torch.ones((), dtype=torch.int64))
torch.prod(torch.tensor([.5, 1.5]), 0, out=torch.ones((), dtype=torch.int64))
torch.cumsum(torch.tensor([.5, .5]), 0, out=torch.ones(2, dtype=torch.int64))
torch.arange(2.5, out=torch.ones(2, dtype=torch.int64))
torch.full((2,), 1.5, out=torch.ones(2, dtype=torch.int64))
torch.linspace(0, 1, 4, out=torch.ones(4, dtype=torch.float64))
torch.nn.HingeEmbeddingLoss(3.7, reduction='none')(torch.tensor([1, 2]), torch.tensor([1., -1]))
torch.nn.ParameterList([1, torch.ones(2)])
torch.tensor([[1., 2.], np.ones(2)])
torch.arange(-8, 8, 0.1).tolist()
torch.arange(-1, 3, 1 / 3, dtype=torch.float64).tolist()
torch.arange(0.3, 7, 0.7).tolist()
torch.arange(5, -5, -0.1).tolist()
list(torch.nn.ParameterList([1, torch.ones(2), 'a'])[1:].parameters())
"""


@pytest.mark.parametrize("text", OTHER.strip().split("\n"))
def test_results_of_other_kinds_are_the_same(text: str) -> None:
    run_as_pytorch(f"print({text})")


@pytest.mark.parametrize("data", ["x", "x * 2", "x.detach()", "i", "np.ones(2)", "[1., 2.]"])
@pytest.mark.parametrize("dtype", ["", ", dtype=torch.float64", ", dtype=torch.int64"])
@pytest.mark.parametrize("copy", ["", ", copy=True", ", copy=False"])
@pytest.mark.parametrize("grad", ["", ", requires_grad=True", ", requires_grad=False"])
def test_an_array_of_a_tensor_stays_in_its_graph(
    data: str, dtype: str, copy: str, grad: str
) -> None:
    program = f"""
x = torch.tensor([1., 2.], requires_grad=True)
i = torch.tensor([1, 2])
data = {data}
out = torch.asarray(data{dtype}{copy}{grad})
print(out, out is data, out.requires_grad, data, x.requires_grad)
"""
    run_as_pytorch(program)
