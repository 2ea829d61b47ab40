"""Results lie in memory as PyTorch's do, whatever the inputs' layouts are."""

from itertools import product
from typing import Any

import pytest

import autodiff_kit
from tests.parity import require_torch

torch = require_torch()
pytestmark = [pytest.mark.parity, pytest.mark.filterwarnings("ignore")]

LAYOUTS = {
    "rows": "arange(24.).reshape(2, 3, 4)",
    "first two swapped": "arange(24.).reshape(3, 2, 4).transpose(0, 1)",
    "last two swapped": "arange(24.).reshape(2, 4, 3).transpose(1, 2)",
    "reversed": "arange(24.).reshape(4, 3, 2).transpose(0, 2)",
    "permuted": "arange(24.).reshape(3, 4, 2).permute(2, 0, 1)",
    "expanded in front": "arange(12.).reshape(3, 4).expand(2, 3, 4)",
    "expanded behind": "arange(6.).reshape(2, 3, 1).expand(2, 3, 4)",
    "transposed, expanded": "arange(12.).reshape(4, 3).t().expand(2, 3, 4)",
    "with gaps": "arange(96.).reshape(4, 6, 4)[::2, ::2]",
    "transposed, with gaps": "arange(96.).reshape(4, 6, 4).transpose(0, 2)[:2, ::2, :4]",
    "matrix": "arange(12.).reshape(3, 4)",
    "transposed matrix": "arange(12.).reshape(4, 3).t()",
    "vector": "arange(4.)",
    "every second": "arange(8.)[::2]",
    "column": "arange(3.).reshape(3, 1)",
    "one row": "ones(1, 4)",
    "number": "tensor(2.)",
}
_OF_ONE = """
    x*2 2-x x.exp() x.relu() x.sign() -x x**2 x**0.5 2.**x 1/x x.clamp(0,1) x>1 x.isnan() x.clone()
    x.double() x.long() x.bool() zeros_like(x) ones_like(x) rand_like(x) x.cumsum(0) x.cumsum(-1)
    x.sort(0).values x.sort(-1).indices x.softmax(0) x.log_softmax(-1) x.flip(0) x.sum(0) x.sum(-1)
    x.sum(0,keepdim=True) x.sum(-1,keepdim=True) x.mean(0) x.prod(-1) x.amax(0) x.max(0).values
    x.max(-1).indices x.argmax(0) x.all(0) x.any(-1) x.var(0) x.norm(2,0) x.logsumexp(-1)
    x.topk(1,0).values where(x>1,x,0.) x.masked_fill(x>1,0.) F.dropout(x,0.5) F.gelu(x)
    F.softplus(x) x.contiguous() x.repeat(2,1,1,2) cat([x,x]) stack([x,x]) stack([x,x],-1)
    x.index_select(0,zero) x[[0]] x.masked_select(x>0) x.gather(0,zeros_like(x).long())
    x.unsqueeze(0) x.T
    x.unsqueeze(-1) x[None] x.t()@x x@x.transpose(-1,-2) F.layer_norm(x,x.shape[-1:])
    F.one_hot(x.long()) x.scatter(0,zeros_like(x).long(),x) x.index_add(0,zeros(len(x)).long(),x)
"""
_OF_TWO = """
    x+y x*y x-y x/y x**y x>y x%y maximum(x,y) where(x>1,x,y) where(y>1,2.,x) x.add(y,alpha=2)
    x.clamp(min=y) x.clamp(y,x) x.masked_fill(y>1,0.) F.mse_loss(x,y,reduction='none')
"""
OF_ONE, OF_TWO = _OF_ONE.split(), _OF_TWO.split()
NAMES = {
    package: {**vars(package), "F": package.nn.functional} for package in (torch, autodiff_kit)
}
autodiff_kit.ops.load_all()
NAMES[autodiff_kit] |= {
    name: getattr(autodiff_kit, name) for name in autodiff_kit.function_files.FUNCTIONS
}


def _result(package: Any, expression: str, **layouts: str) -> Any:
    names = NAMES[package]
    inputs = {name: eval(layout, names) for name, layout in layouts.items()}
    package.manual_seed(0)
    return eval(expression, names, inputs | {"zero": package.tensor([0])})


def _assert_alike(expression: str, **layouts: str) -> bool:
    """Compare, and return whether PyTorch takes these dimensions: whether it was compared."""
    try:
        expected = _result(torch, expression, **layouts)
    except (RuntimeError, IndexError, TypeError):
        return False  # not for this number of dimensions
    result = _result(autodiff_kit, expression, **layouts)
    # The step along a dimension of one element leads nowhere: any will do.
    steps = zip(expected.shape, expected.stride(), result.stride(), strict=True)
    assert all(n < 2 or s == t for n, s, t in steps), (layouts, expected.stride(), result.stride())
    return True


@pytest.mark.parametrize("expression", OF_ONE)
def test_a_result_lies_in_memory_as_in_pytorch(expression: str) -> None:
    compared = [_assert_alike(expression, x=layout) for layout in LAYOUTS.values()]
    assert any(compared)


@pytest.mark.parametrize("expression", OF_TWO)
def test_the_first_input_that_can_tell_decides_how_a_result_lies(expression: str) -> None:
    pairs = product(list(LAYOUTS.values())[::2], repeat=2)
    compared = [_assert_alike(expression, x=x, y=y) for x, y in pairs]
    assert any(compared)


@pytest.mark.parametrize("expression", ["F.dropout(x, 0.5)", "rand_like(x)"])
def test_random_numbers_are_drawn_in_the_order_of_memory(expression: str) -> None:
    for layout in LAYOUTS.values():
        expected, result = (_result(p, expression, x=layout) for p in (torch, autodiff_kit))
        assert result.tolist() == expected.tolist()


def test_tensors_without_elements_have_pytorchs_strides() -> None:
    for expression in ("zeros(0)", "ones(2, 0)", "zeros(0, 3)", "zeros(2, 0, 3) * 2"):
        assert (
            eval(expression, vars(autodiff_kit)).stride() == eval(expression, vars(torch)).stride()
        )
