"""Functions of tensors: graph, layout, views, printing and refusals are PyTorch's.

Values and gradients of PyTorch's own samples are compared in ``test_op_db.py``.
"""

from typing import Any

import pytest

import autodiff_kit
from autodiff_kit.function_files import FILES, FUNCTIONS, METHODS
from autodiff_kit.functions import find
from autodiff_kit.in_place_ops import METHODS_IN_PLACE
from tests.parity import torch_if_there
from tests.same_as_torch.outcomes import run_as_pytorch, tree

torch = torch_if_there()

GIVEN = """
import warnings
warnings.simplefilter("ignore")
x = torch.linspace(.1, .9, 12).reshape(3, 4).requires_grad_()
y = torch.linspace(.2, .7, 12).reshape(3, 4).requires_grad_()
v = torch.linspace(.3, .8, 4).requires_grad_()
s = (torch.eye(3) + torch.linspace(0, .8, 9).reshape(3, 3)).requires_grad_()
b = torch.linspace(-1, 1, 24).reshape(2, 3, 4).requires_grad_()
i, m, n = torch.tensor([0, 2]), x.detach() > .5, torch.tensor([3, 0, 2])
"""
# What it is for: whether the graph, the layout and the kind (view or copy) are those of PyTorch.
_OF_ONE = """
    x.log10() x.log2() x.exp2() x.sinh() x.cosh() x.asin() x.acos() x.atan() x.asinh() x.atanh()
    torch.arctan(x) x.erf() x.erfc() x.erfinv() x.trunc() x.frac() x.sgn() x.logit() x.logit(.2)
    x.sinc() x.deg2rad() x.rad2deg() x.nan_to_num() x.round(decimals=1) torch.positive(x)
    x.absolute() x.negative() x.clip(.2,.5) x.isfinite() x.isinf() x.signbit() x.logical_not()
    x.real x.isposinf() torch.square(x) x.median() x.nanmedian() x.quantile(.3) x.nansum(1)
    x.nanmean() x.aminmax() x.aminmax(dim=1) torch.std_mean(x) torch.var_mean(x,1) x.median(1)
    x.kthvalue(2,1) x.mode(1) x.quantile(.3,dim=1) x.cumprod(1) x.cummax(1) x.logcumsumexp(1)
    x.argsort() x.msort() x.diff() torch.trapezoid(x) torch.cumulative_trapezoid(x)
    x.count_nonzero() x.nonzero() torch.argwhere(m) m.nonzero(as_tuple=True) x.histc(4)
    torch.histc(x,3,0,1) torch.hardshrink(x) x.hardshrink(1) torch.threshold(x,0.2,-1)
"""
_OF_TWO = """
    x.atan2(y) x.hypot(y) torch.logaddexp(x,y) torch.logaddexp2(x,y) x.copysign(y)
    x.copysign(-1) x.fmax(y) x.fmin(y) x.fmod(2) x.fmod(y) x.heaviside(y) x.xlogy(y)
    torch.xlogy(2,y) torch.xlogy(x,2) x.lerp(y,.25) x.lerp(y,y) x.addcmul(y,y,value=.5)
    x.addcdiv(y,y) x.ldexp(n[:1]) torch.float_power(x,2) torch.rsub(x,1) x.true_divide(y)
    x.multiply(2) x.subtract(y,alpha=2) x.isclose(y) x.greater(y) x.not_equal(y)
    x.logical_and(y) x.dist(y) torch.inner(v,v) torch.inner(x,y) torch.tensordot(x,y,2)
    torch.tensordot(x,y,dims=([0],[0])) torch.kron(x,s) torch.cdist(x,y) torch.cdist(x,y,p=1)
    torch.cross(s[:2],x[:2,:3],dim=1) torch.vdot(v,v) torch.ger(v,v) torch.addmv(v[:3],x,v)
    torch.addr(x,v[:3],v) torch.baddbmm(b,b,b.mT@b) s.inverse() s.det() s.logdet()
    torch.linalg.solve(s,x) torch.linalg.solve(s,v[:3]) torch.linalg.norm(x)
    torch.linalg.norm(x,1) torch.matrix_power(s,3) torch.matrix_power(s,-1) s.matrix_power(0)
    s.matrix_power(5) s.matrix_power(-2)
    torch.linalg.solve(s.expand(4,3,3),x) torch.special.expit(x) torch.special.ndtr(x)
    torch.special.entr(x) torch.special.xlog1py(x,y) torch.isin(n,i) n<<1 n>>1 1<<n
    n.bitwise_and(2) torch.gcd(n,n+3)
"""
_OF_SHAPES = """
    x.tril() b.triu(1) s.diagonal() b.diagonal(dim1=-1,dim2=0) s.diag() v.diag() v.diag_embed()
    torch.diagflat(v,1) s.trace() x.roll(1) x.roll((1,2),(0,1)) x.rot90() x.rot90(2) x.rot90(-1)
    x.fliplr() x.flipud() torch.repeat_interleave(x,2) x.repeat_interleave(2,dim=1)
    x.repeat_interleave(n,dim=0) torch.repeat_interleave(n) torch.meshgrid(v,v,indexing='ij')
    torch.meshgrid(v,v,indexing='xy') torch.vstack([v,v]) torch.hstack([v,v])
    torch.hstack([x,x]) torch.dstack([v,v]) torch.column_stack([v,x.T]) torch.atleast_2d(v)
    torch.atleast_3d(x) x.movedim(0,1) b.movedim((0,1),(2,0)) x.swapaxes(0,1) b.mT x.H x.mH
    b.adjoint() x.tile(2) x.tile((2,1,1)) b.unflatten(2,(2,-1)) x.tensor_split(2,dim=1)
    x.tensor_split((1,2),dim=1) x.hsplit(2) b.squeeze((0,1)) x.unsqueeze(0).squeeze((0,1))
    x.view_as(y) x.reshape_as(y) v.expand_as(x) torch.broadcast_to(v,(3,4))
    torch.broadcast_tensors(v,x) x.ravel() x.T.ravel() x.select(0,1) x.as_strided((2,2),(1,2))
    x.unfold(1,2,1) x.sum_to_size(1,4) x.split_with_sizes((1,2)) torch.block_diag(x,s)
    torch.cartesian_prod(v,v) torch.concat([x,y]) torch.broadcast_shapes((2,1),(3,))
    torch.tril_indices(3,3) torch.triu_indices(2,4,1) torch.unravel_index(n,(2,2)) x.take(i)
    x.take_along_dim(i.reshape(1,2),1) x.index_fill(0,i,1.) x.index_fill(0,i,v[0])
    x.index_copy(1,i,x[:,:2]) x.scatter_add(1,i.reshape(1,2),x)
    x.scatter_reduce(1,i.reshape(1,2),x,'amax') x.masked_scatter(m,y) x.index_put((i,),v)
    n.bincount() n.unique(return_counts=True) n.unique_consecutive() torch.searchsorted(v,x)
    torch.bucketize(x,v) x.new_zeros(2) n.new_tensor([1.5]) x.new_full((2,),3)
    torch.full_like(n,2.5) torch.logspace(0,2,3) torch.LongTensor([1,2]) torch.FloatTensor(2,0)
    torch.as_tensor([1.,2]) torch.asarray(3) torch.scalar_tensor(3) torch.vander(v).shape
    torch.result_type(n,1.) torch.promote_types(torch.int32,torch.uint8)
    torch.can_cast(torch.float,torch.int) torch.pi torch.finfo(torch.float32)
    torch.iinfo(torch.int8) torch.finfo().eps isinstance(x,torch.FloatTensor)
    x.type(torch.LongTensor) x.type('torch.DoubleTensor').dtype x.byte() x.short() x.is_cuda
    x.storage_offset() v[1:].storage_offset() torch.combinations(n) torch.cov(x)
    torch.corrcoef(x) torch.combinations(v) torch.combinations(v,3,True) torch.combinations(v,0)
    torch.tensordot(x,y) torch.tensordot(x,y.T,([0,1],[1,0])) torch.tensordot(x,x.T,1)
    torch.tensordot(n.char(),n.char(),1) torch.tensordot(s.int(),s.int(),([0,1],[1,0]))
    torch.unravel_index(n,()) torch.unravel_index(n.byte(),(20,20))
    n.byte().cumsum(0,dtype=torch.uint8) n.short().cumprod(0,dtype=torch.int16)
    x.cumsum(1,dtype=torch.float64)
"""
EXPRESSIONS = [*_OF_ONE.split(), *_OF_TWO.split(), *_OF_SHAPES.split()]
# Only the name of the last node is compared: PyTorch's C++ code takes other steps before.
_OWN_STEPS = """
    torch.cov(x) torch.corrcoef(x) torch.cartesian_prod(v,v) torch.kron(x,s)
    torch.dstack([v,v]) x.quantile(.3,dim=1) s.logdet() torch.inner(v,v)
    torch.cumulative_trapezoid(x)
"""
OWN_STEPS = _OWN_STEPS.split()
# A product with a number is MulBackward0, but MulBackward1 where C++ code asks for it.
WITH_A_NUMBER = ("torch.trapezoid(x)", "torch.special.ndtr(x)")


def facts(package: Any, expression: str) -> Any:
    """Return what an expression gives: text, layout, kind and graph of every tensor."""
    names: dict[str, Any] = {"torch": package}
    exec(GIVEN, names)
    result = eval(expression, names)
    results = []
    for value in result if isinstance(result, tuple | list) else (result,):
        if not isinstance(value, package.Tensor):
            results.append(repr(value))
            continue
        steps = [s for n, s in zip(value.shape, value.stride(), strict=True) if n > 1]
        graph = value.grad_fn and tree(value.grad_fn, 3)
        if graph and expression in OWN_STEPS:
            graph = graph[0]
        if expression in WITH_A_NUMBER:
            graph = value.grad_fn is not None
        results.append([repr(value.detach()), steps, value._is_view(), graph])
    return results


@pytest.mark.parity
@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_result_layout_and_graph_are_pytorchs(expression: str) -> None:
    assert facts(autodiff_kit, expression) == facts(torch, expression)


PROGRAMS = [
    "x = torch.zeros(3, 3).fill_diagonal_(5)\nprint(x, x._version)",
    "x = torch.ones(2, 3); x.unsqueeze_(0); x.transpose_(0, 1); print(x.shape, x._version)",
    "x = torch.ones(1, 2, requires_grad=True) * 1; x.squeeze_(); print(x); x.sum().backward()",
    "x = torch.ones(2, 3); x.t_(); print(x.shape, x.stride())",
    "x = torch.ones(2, requires_grad=True); x.unsqueeze_(0)",
    "x = torch.arange(3.); x.apply_(lambda a: a * 2); print(x, x._version)",
    "x = torch.arange(4.); x[1:].log10_(); print(x)",
    "x = torch.ones(2, requires_grad=True)\ny = x * 2; y.log2_(); y.sum().backward()"
    "; print(x.grad)",
    "x = torch.arange(3); x.bitwise_left_shift_(2); x |= 1; print(x)",
    "x = torch.zeros(3); x.index_fill_(0, torch.tensor([0, 2]), 7.); print(x)",
    "x = torch.zeros(3); x.scatter_add_(0, torch.tensor([0, 0]), torch.ones(2)); print(x)",
    "a = torch.as_tensor(np.ones(2)); b = a.numpy(); b[0] = 5; print(a)",
    "x = torch.ones(2); print(torch.as_tensor(x) is x, torch.asarray(x, copy=True) is x)",
    "x = torch.arange(6.).reshape(2, 3); d = x.diagonal(); d.mul_(10); print(x)",
    "torch.manual_seed(1); s = torch.get_rng_state(); a = torch.rand(2); torch.set_rng_state(s)\n"
    "print(torch.equal(a, torch.rand(2)), torch.initial_seed())",
    "print(torch.tensor([3, 1]).sort().indices, torch.ones(2, 3).max(1))",
    "print(torch.tensor([2., 1., 3.]).median(0), torch.tensor([1., 2.]).aminmax())",
]


@pytest.mark.parametrize("program", PROGRAMS)
def test_programs_print_the_same(program: str) -> None:
    run_as_pytorch(program)


_MISUSED = """
torch.tril([1.])
torch.tril(x, 'a')
torch.tril(x, 1, 2)
x.tril(foo=1)
x[0].tril()
x.view_as([1])
x.roll()
x.roll((1, 2))
x.rot90(1, [0])
x.unflatten(0, (2, 2))
x.movedim((0, 1), 0)
x.movedim((0, 0), (0, 1))
x.tile()
x.tensor_split(0)
x.hsplit(3)
torch.vstack([])
torch.vstack(x)
torch.hstack([x, x[0]])
torch.broadcast_shapes((2, 3), (2,))
x.select(0, 5)
x.unfold(0, 5, 1)
x.repeat_interleave(-1)
torch.repeat_interleave(3)
torch.meshgrid(x[0], x[0].long(), indexing='ij')
torch.block_diag(x[None])
x[0].mT
x[None].H
x.take(x)
x.take(torch.tensor([70]))
x.median(5)
x.kthvalue(7)
x.quantile(2)
x.quantile('a')
x.long().quantile(.5)
x.cumprod()
x.cumprod(5)
x.bincount()
x.cumsum_(1, dtype=torch.float64)
x.cumprod_(1, dtype=torch.float64)
x.cumsum_(2, dtype=torch.float64)
x.cumprod_(1, dtype=3)
x.cumsum(1, dtype=torch.bool)
x.cumprod(1, dtype=torch.bool)
(x > 0).cumprod_(1)
torch.unravel_index(x, (2, 4))
torch.unravel_index(x.long(), (2, -4))
torch.unravel_index(x.long(), (2, .5))
torch.unravel_index(x.long(), None)
torch.searchsorted(x, x[0])
torch.cdist(x, x[:, :2])
torch.cross(x[0, :2], x[0, :2])
torch.tensordot(x, x, dims=1)
torch.inner(x, x[0, :2])
torch.isclose(x, x.double())
torch.isclose([1.], x)
torch.allclose(x, 1)
torch.gcd(x, x)
x << 1
torch.lerp(x, x.double(), .5)
torch.addcdiv(x.long(), x.long(), x.long())
torch.multinomial(x, 9)
torch.multinomial([.5], 1)
torch.multinomial(-x, 1)
torch.multinomial(x * 0, 1)
torch.multinomial(x.long(), 1)
torch.normal(0, 1)
torch.normal(0., -1., (2,))
torch.bernoulli(x, p=1.5)
x.bernoulli_(2)
x.uniform_(2, 1)
x.normal_(0, -1)
x.exponential_(-1)
x.long().normal_()
x.random_(5, 2)
torch.full_like([1], 3)
torch.full_like(x)
x.new_zeros()
torch.LongTensor('a')
torch.finfo(torch.int8)
torch.tril_indices(-1, 3)
torch.linalg.inv(x)
torch.linalg.solve(torch.eye(3), x[:2])
"""
MISUSED = _MISUSED.strip().split("\n")


@pytest.mark.parametrize("call", MISUSED)
def test_misuse_is_refused_in_pytorchs_words(call: str) -> None:
    program = f"x = torch.arange(1., 9.).reshape(2, 4)\n{call}"

    assert run_as_pytorch(program).raised is not None


@pytest.mark.parametrize("file", FILES)
def test_the_table_names_what_a_file_has(file: str) -> None:
    names = FILES[file].split()
    module = find(names[0]).__module__ if file not in ("types", "making") else None

    offered = __import__(f"autodiff_kit.functions.{file}", fromlist=["__all__"]).__all__

    assert sorted(names) == sorted(offered)
    assert module is None or module == f"autodiff_kit.functions.{file}"


@pytest.mark.parity
def test_functions_and_methods_are_pytorchs() -> None:
    assert [name for name in FUNCTIONS if not hasattr(torch, name)] == []
    assert [name for name in (*METHODS, *METHODS_IN_PLACE) if not hasattr(torch.Tensor, name)] == []
    missing = {n for n in FUNCTIONS if hasattr(torch.Tensor, n)} - {*METHODS, "real"}
    missing -= {*FILES["basic"].split()}  # which stand in methods/
    assert missing == set()
