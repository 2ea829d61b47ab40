"""gradcheck: right rules pass, wrong ones are shown as PyTorch shows them."""

import pytest

import autodiff_kit as ak
from tests.autograd.programs import check

pytestmark = pytest.mark.parity

GIVEN = """
gradcheck, gradgradcheck = torch.autograd.gradcheck, torch.autograd.gradgradcheck
e = torch.tensor([3.0, 4.0], dtype=torch.float64, requires_grad=True)
m = torch.arange(4.0, dtype=torch.float64).reshape(2, 2).requires_grad_()

class Half(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**2

    @staticmethod
    def backward(ctx, g):
        return g * ctx.saved_tensors[0]  # the 2 is forgotten

def blocks(function):
    try:
        print(function())
    except Exception as error:
        print(type(error).__name__, str(error).split("->")[0].split("NOTE")[0].strip())
"""

PROGRAMS = {
    "right gradients pass": """
        print(gradcheck(lambda x, y: (x * y, x.sum()), (d, e)))
        print(gradcheck(lambda x: x.exp(), d), gradcheck(lambda x, k: x * k, (d, 3)))
        print(gradcheck(lambda x, y: x * 2, (d, e)), gradcheck(lambda x: (x * 1).round(), (d,)))
        print(gradgradcheck(lambda x, y: x * y**2, (d, e)), gradgradcheck(lambda x: x * 2, (d,)))
        print(gradcheck(torch.matmul, (m, m.detach())), d, d.grad)
    """,
    "wrong ones are shown": """
        blocks(lambda: gradcheck(Half.apply, (d,)))
        blocks(lambda: gradcheck(lambda x, y: (x * y, Half.apply(y)), (d, e)))
        blocks(lambda: gradcheck(Half.apply, m))
        blocks(lambda: gradcheck(Half.apply, d, raise_exception=False))
    """,
    "a gradient that cannot be differentiated": """
        class Square(Function):
            @staticmethod
            def forward(ctx, x):
                ctx.x = x.detach()
                return x**2

            @staticmethod
            def backward(ctx, g):
                return g * 2 * ctx.x

        print(gradcheck(Square.apply, (d,)))
        ones = torch.ones(2, dtype=torch.float64, requires_grad=True)
        blocks(lambda: gradgradcheck(Square.apply, (d,), ones))
        print(gradgradcheck(Square.apply, (d,), ones, raise_exception=False))
    """,
    "a gradient that was cut off": """
        blocks(lambda: gradcheck(lambda x: x.detach(), (d,)))
        print(gradcheck(lambda x: x.detach() * 0, (d,)))
    """,
    "single precision is warned of": """
        print(gradcheck(lambda x: x * 2, (a,), eps=1e-2, atol=1e-2))
        blocks(lambda: gradcheck(lambda x: x * 2, (a,), raise_exception=False))
    """,
    "inputs that cannot be checked": """
        blocks(lambda: gradcheck(lambda x: x * 2, (torch.ones(2),)))
        blocks(lambda: gradcheck(lambda x: x * 2, (torch.ones(2),), raise_exception=False))
        blocks(lambda: gradcheck(lambda x: x * 2, (d[:1].expand(2),)))
    """,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_both_print_the_same(name: str) -> None:
    check(PROGRAMS[name], GIVEN)


def test_it_stays_a_function_when_its_module_is_imported() -> None:
    from autodiff_kit.autograd.gradcheck import GradcheckError

    assert issubclass(GradcheckError, RuntimeError)
    assert ak.autograd.gradcheck(lambda x: x * x, ak.ones(1, dtype=ak.float64, requires_grad=True))


def test_the_inputs_are_left_as_they_were() -> None:
    x = ak.tensor([0.1, 0.2], dtype=ak.float64, requires_grad=True)

    ak.autograd.gradcheck(ak.exp, x)

    assert x.tolist() == [0.1, 0.2]
    assert x._version == 0
    assert x.grad is None
