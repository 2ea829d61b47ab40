"""Every operation on many tensors: values, dtypes, graph, gradients, gradients of gradients.

An expression in ``x`` is evaluated by PyTorch and by the kit for all ``INPUTS`` in all ``DTYPES``.
"""

from typing import Any

import numpy as np
import pytest

import autodiff_kit
from tests.parity import require_torch
from tests.same_as_torch.outcomes import tree, values

torch = require_torch()
pytestmark = pytest.mark.parity

INF, NAN = float("inf"), float("nan")
INPUTS: dict[str, Any] = {
    "vector": np.array([1.5, -2.0, 0.5]),
    "matrix": np.arange(6.0).reshape(2, 3) - 2.5,
    "0-d": np.array(0.7),
    "one element": np.array([2.0]),
    "ties": np.array([[1.0, 1.0, 0.0], [0.0, -1.0, 1.0]]),
    "halves": np.array([0.5, 1.5, 2.5, -0.5, -1.5, 1.0]),
    "cube": np.linspace(-1, 1, 24).reshape(2, 3, 4),
    "not contiguous": np.arange(6.0).reshape(3, 2).T,
    "empty": np.zeros((0, 3)),
    "singular": np.array([0.0, 1.0, -1.0, INF, -INF]),
    "minus zero": np.array([-0.0, 1.0]),
    "nan": np.array([NAN, 1.0]),
    "large": np.array([1e30, -1e30, 1e4, -1e4, 88.0, -88.0, 100.0, -104.0]),
    "tiny": np.array([1e-30, -1e-30, 1e-45, 1e-8]),
}
FLOATS_ONLY = {"singular", "minus zero", "nan", "large", "tiny"}
DTYPES = ["float32", "float64", "int64", "bool"]

ELEMENTWISE = """
    x.exp() x.log() x.log1p() x.expm1() x.sqrt() x.rsqrt() x.reciprocal() x.sin() x.cos() x.tan()
    x.tanh() x.sigmoid() x.relu() x.abs() x.neg() x.sign() x.floor() x.ceil() x.round() x.trunc()
    x.isnan() x.isinf() x.isfinite() x.square() x.clone() x.contiguous() x.logical_not()
    x.clamp(0,1) x.clamp(min=-1.) x.clamp(max=0.5) x.clamp(1,0) x.clamp_min(0.) x.clamp_max(0)
    x.clamp(x*0,x*0+1) x.clamp(min=torch.tensor(0.)) x.clamp(max=x.flip(0)) x.clip(-1,1)
    x.double() x.float() x.half() x.long() x.int() x.bool() x.to(torch.float64) x.to(float)
    x.type(torch.float64) x.type_as(x.double()) x.detach() torch.relu(x) torch.exp(x) torch.abs(x)
    torch.sign(x) torch.square(x) torch.clamp(x,0,1) torch.clamp(x,min=0) torch.neg(x)
    torch.negative(x) torch.rsqrt(x) torch.reciprocal(x) torch.trunc(x) torch.clone(x)
"""
ARITHMETIC = """
    x+1 1+x x-1 1-x x*2 2*x x/2 2/x x+True x*1.5 -x +x abs(x) x//2 x//0.3 x%2 x%-2. 5%x 2//x
    x**2 x**3 x**0 x**1 x**0.5 x**-1 x**-2 x**-0.5 x**2.5 x**2. 2**x 2.5**x 0**x (-2)**x 1**x x**x
    x+x x-x x*x x/x x%x x//x x*x.sum() x+x.mean() x/x.max() x-x.min() x*x[0] x+x[:1] x*x.t()
    x==1 x!=1 x<1 x<=1 x>0 x>=0 1<x 1==x x==x (x>0)&(x<1) (x>0)|(x<1) (x>0)^(x<1) ~(x>0)
    torch.add(x,x,alpha=2) torch.sub(x,x,alpha=.5) x.add(2,alpha=3) x.sub(1,alpha=2) x.sub(x)
    x.div(2) x.div(x) x.mul(x) x.div(2,rounding_mode='floor') x.div(x,rounding_mode='trunc')
    torch.div(x,2) torch.mul(x,x) x.remainder(2) torch.remainder(x,3) x.floor_divide(2)
    x.pow(2) x.pow(x) x.pow(torch.tensor(2.)) torch.pow(2,x) torch.pow(x,3)
    torch.maximum(x,x.flip(0)) torch.minimum(x,-x) torch.max(x,-x) torch.maximum(x,x)
    torch.where(x>0,x,-x) torch.where(x>0,x,0.) torch.where(x>0,1.,x) torch.where(x>0,1,0)
    torch.where(x>0,x.sqrt(),0*x) torch.where(x>0,1.,0.) torch.isclose(x,x)
    x*torch.tensor(2.,dtype=torch.float64) x+torch.tensor(2) x*torch.ones(2,1,1)
    x+torch.ones(3,dtype=torch.float64) x*torch.tensor([True])
"""
REDUCTIONS = """
    x.sum() x.mean() x.prod() x.max() x.min() x.amax() x.amin() x.argmax() x.argmin() x.all()
    x.any() x.sum(0) x.sum(-1) x.sum(1) x.sum(-1,keepdim=True) x.sum((0,1)) x.sum([-1,0],True)
    x.sum(()) x.sum(dim=0) x.mean(0) x.mean(-1,keepdim=True) x.mean((0,1)) x.mean(dim=())
    x.sum(dtype=torch.float64) x.mean(dtype=torch.float64) x.prod(0) x.prod(-1,keepdim=True)
    x.max(0).values x.max(0).indices x.max(-1,keepdim=True).values x.min(1).values
    x.min(0).indices torch.max(x,0)[0] torch.max(x,0)[1] x.amax(0) x.amax((0,1)) x.amax(())
    x.amin(-1,keepdim=True) x.argmax(0) x.argmax(-1,keepdim=True) x.argmin(1) x.all(0) x.any(-1)
    torch.sum(x) torch.sum(x,0) torch.mean(x,dim=0,keepdim=True) torch.argmax(x) torch.prod(x)
"""
SHAPES = """
    x.reshape(-1) x.reshape(3,-1) x.reshape((2,-1)) x.reshape([-1,1]) x.view(-1) x.view(-1,1)
    x.view(3,2) x.view_as(x) x.flatten() x.flatten(1) x.flatten(0,1) x.flatten(start_dim=-2)
    x.ravel() x.permute(1,0) x.permute((1,0)) x.permute(2,0,1) x.permute(-1,0,1) x.t() x.T x.mT
    x.transpose(0,1) x.transpose(-1,0) x.squeeze() x.squeeze(0) x.squeeze(-1) x.unsqueeze(0)
    x.unsqueeze(-1) x.unsqueeze(1) x.expand(2,3) x.expand(4,-1,-1) x.expand(2,*x.shape)
    x.expand_as(x) x.repeat(2) x.repeat(2,1) x.repeat(2,1,2) x.repeat(1,2,1,1) x.flip(0)
    x.flip(0,1) x.flip([-1]) x.select(0,1) x.select(-1,0) x.narrow(0,1,1) x.narrow(1,0,2)
    torch.cat([x,x]) torch.cat([x,x*2],-1) torch.cat((x,x),dim=1) torch.stack([x,x])
    torch.stack([x,2*x],-1) torch.stack([x,x],dim=1) torch.concat([x,x]) torch.squeeze(x)
    torch.t(x) torch.flip(x,[0]) torch.flip(x,(0,)) torch.reshape(x,(-1,)) torch.permute(x,(1,0))
    torch.transpose(x,0,1) torch.unsqueeze(x,0) torch.flatten(x) torch.ravel(x)
    x.view(1,-1).view(-1) x.t().reshape(-1) x.expand(2,*x.shape).reshape(-1)
"""
INDEXING = """
    x[0] x[-1] x[0,1] x[:,0] x[1:] x[:-1] x[::2] x[:,::2] x[None] x[:,None] x[...] x[...,0]
    x[...,None] x[0,...,1] x[:] x[:,:] x[1:1] x[0:2,1:3] x[-1:] x[...,1:] x[None,0,None] x[0][1]
    x[()] x[5:] x[[0,1]] x[[1,0,1]] x[torch.tensor([1,0])] x[torch.tensor([[0,1],[1,0]])]
    x[torch.tensor(1)] x[[0],None] x[range(2)] x[[]] x[:,[0,1]] x[[0,1],[1,0]] x[[0,1],:,[1,0]]
    x[:,[1,0],1] x[torch.tensor([0,1]),torch.tensor([[1],[2]])] x[x>0] x[x>100] x[x[:,0]>0]
    x[[True,False]] x[True] x[False] x[~(x>0)] x[x[0]>0] list(x)[0] x[-1,-1] x[:,-1:]
"""
PRODUCTS = """
    x@x x@x.t() x.t()@x x@x.T x@x[0] x@x.transpose(-1,-2) x[0]@x[0].T x@x[0].T
    x.reshape(-1)@x.reshape(-1) x.dot(x) torch.dot(x,x) torch.mm(x,x.t()) torch.mv(x,x[0])
    torch.matmul(x,x) torch.bmm(x,x.transpose(1,2)) x.matmul(x) x.mm(x) torch.outer(x,x)
    torch.mm(x,x.T) x.transpose(-1,-2)@x x@torch.ones(3,2) torch.ones(2,2)@x
"""
FACTS = """
    x.shape x.size() x.size(0) x.dim() x.ndim x.numel() x.nelement() x.dtype x.element_size()
    x.itemsize x.nbytes x.tolist() len(x) x.is_contiguous() x.is_floating_point() x.is_leaf
    x.requires_grad torch.numel(x) torch.is_tensor(x) torch.equal(x,x) torch.allclose(x,x)
    x.T.is_contiguous() x.reshape(-1).shape x.device x.output_nr x.type() x.sum().ndim
    (x.clone().t()).is_contiguous() x.t().clone().is_contiguous() x.stride() x.t().stride()
    torch.is_floating_point(x)
"""
GROUPS = (ELEMENTWISE, ARITHMETIC, REDUCTIONS, SHAPES, INDEXING, PRODUCTS, FACTS)
EXPRESSIONS = [expression for group in GROUPS for expression in group.split()]

# Where the kit gives another answer, and why that is meant.
SHARED_BY_NAN = "with nan among the elements nobody is the largest, and the gradient is nan"
DIFFERENT = {
    **dict.fromkeys(
        [("x.max()", "nan"), ("x.min()", "nan"), ("x-x.min()", "nan")],
        SHARED_BY_NAN,
    ),
    ("torch.maximum(x,x.flip(0))", "nan"): "nan is not larger: its gradient is 0",
    ("torch.maximum(x,x)", "nan"): "nan is not larger: its gradient is 0",
    ("0**x", "nan"): "0 ** nan has the gradient 0",
    ("x**0.5", "singular"): "(-inf) ** -0.5 is 0 as in C, not nan",
    ("x**0.5", "minus zero"): "(-0.) ** -0.5 is inf as in C, not -inf",
    ("x.expand(2,3)", "cube"): "PyTorch has another name for bool tensors in this message only",
    ("x.expand(4,-1,-1)", "0-d"): "PyTorch stumbles over the product of the sizes",
    **{
        (name, place): "the product of the others is not the product divided by one"
        for name in ("x.prod()", "torch.prod(x)", "x.prod(0)", "x.prod(-1,keepdim=True)")
        for place in ("singular", "large", "nan", "tiny")
    },
}


def evaluate(package: Any, expression: str, array: Any, dtype: str) -> dict[str, Any]:
    """Return what an expression gives: an error, or values, graph, gradients, gradients of them."""
    kind = getattr(package, dtype)
    x = package.tensor(array.T.tolist(), dtype=kind).t() if array.ndim == 2 else None
    if x is None or array.flags.c_contiguous:
        x = package.tensor(array.tolist(), dtype=kind).reshape(array.shape)
    x.requires_grad_(x.is_floating_point())
    try:
        y = eval(expression, {"torch": package, "x": x})
    except Exception as error:
        return {"error": (type(error).__name__, str(error).split("\n")[0])}
    if not isinstance(y, package.Tensor):
        return {"value": repr(y)}
    found = {"values": values(y), "dtype": str(y.dtype), "shape": tuple(y.shape)}
    found |= {"graph": tree(y.grad_fn), "is_leaf": y.is_leaf}
    if not y.requires_grad:
        return found
    weights = package.arange(1.0, y.numel() + 1, dtype=y.dtype).reshape(y.shape) / 3
    try:
        x.grad = None
        eval(expression, {"torch": package, "x": x}).backward(weights)
        (g,) = package.autograd.grad(y, x, weights, create_graph=True, materialize_grads=True)
    except Exception as error:
        return found | {"error": (type(error).__name__, str(error).split("\n")[0])}
    if x.grad is not None:
        found |= {"grad": values(x.grad), "grad dtype": str(x.grad.dtype)}
    found |= {"gradient": values(g), "gradient dtype": str(g.dtype)}
    # A gradient that is constant has no second one in one package and zeros in the other.
    found["second gradient"] = np.zeros(array.shape)
    if g.requires_grad:
        weights = package.arange(1.0, g.numel() + 1, dtype=g.dtype).reshape(g.shape) / 7 + 1
        (h,) = package.autograd.grad(g, x, weights, materialize_grads=True)
        found["second gradient"] = values(h)
    return found


def differences(expected: dict[str, Any], found: dict[str, Any], precise: bool) -> list[str]:
    tolerance = {"rtol": 1e-12, "atol": 1e-14} if precise else {"rtol": 1e-5, "atol": 1e-6}
    said = []
    for key in sorted(expected.keys() | found.keys()):
        a, b = expected.get(key), found.get(key)
        if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
            same = a.shape == b.shape and np.allclose(a, b, equal_nan=True, **tolerance)
        else:
            same = type(a) is type(b) and a == b
        if not same:
            said.append(f"{key}: PyTorch {a}, here {b}")
    return said


@pytest.mark.parametrize("expression", EXPRESSIONS)
@pytest.mark.filterwarnings("ignore:The use of `x.T`", "ignore:Tensor.m?T is deprecated")
def test_the_kit_gives_what_pytorch_gives(expression: str) -> None:
    failures = []
    for name, array in INPUTS.items():
        if (expression, name) in DIFFERENT:
            continue
        for dtype in DTYPES[: 2 if name in FLOATS_ONLY else 4]:
            given = array if dtype.startswith("float") else array.astype(dtype)
            expected = evaluate(torch, expression, given, dtype)

            found = evaluate(autodiff_kit, expression, given, dtype)

            precise = dtype == "float64" and "float" not in expression and "half" not in expression
            failures += [
                f"{name} {dtype}: {text}" for text in differences(expected, found, precise)
            ]
    assert failures == []


@pytest.mark.parametrize(("expression", "name"), DIFFERENT)
def test_where_the_kit_is_said_to_differ_it_does(expression: str, name: str) -> None:
    found = []
    for dtype in DTYPES[: 2 if name in FLOATS_ONLY else 4]:
        array = INPUTS[name] if dtype.startswith("float") else INPUTS[name].astype(dtype)
        both = (evaluate(package, expression, array, dtype) for package in (torch, autodiff_kit))
        found += differences(*both, precise=dtype == "float64")

    assert found
