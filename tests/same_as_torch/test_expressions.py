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
    x.tanh() x.sigmoid() x.relu() x.abs() x.neg() x.sign() x.floor() x.ceil() x.round() x.isnan()
    x.square() x.clone() x.contiguous() x.clamp(0,1) x.clamp(min=-1.) x.clamp(max=0.5) x.clamp(1,0)
    x.clamp_min(0.) x.clamp_max(0) x.clamp(x*0,x*0+1) x.clamp(min=torch.tensor(0.))
    x.clamp(max=x.flip(0)) x.double() x.float() x.half() x.long() x.int() x.bool()
    x.to(torch.float64) x.to(float) x.type(torch.float64) x.type_as(x.double()) x.detach()
    torch.relu(x) torch.exp(x) torch.abs(x) torch.sign(x) torch.square(x) torch.clamp(x,0,1)
    torch.clamp(x,min=0) torch.neg(x) torch.rsqrt(x) torch.reciprocal(x) torch.clone(x)
    x.clamp_min(x.flip(0)) x.clamp_max(x.flip(0)) x.clamp_min(x*0)
    torch.clamp_max(x,torch.tensor(.5)) torch.clamp_min(x,min=0.5) x.clamp_max(max=1)
"""
ARITHMETIC = """
    x+1 1+x x-1 1-x x*2 2*x x/2 2/x x+True x*1.5 -x +x abs(x) x//2 x//0.3 x%2 x%-2. 5%x 2//x x**2
    x**3 x**0 x**1 x**0.5 x**-1 x**-2 x**-0.5 x**2.5 x**2. 2**x 2.5**x 0**x (-2)**x 1**x x**x x+x
    x-x x*x x/x x%x x//x x*x.sum() x+x.mean() x/x.max() x-x.min() x*x[0] x+x[:1] x*x.t() x==1 x!=1
    x<1 x<=1 x>0 x>=0 1<x 1==x x==x (x>0)&(x<1) (x>0)|(x<1) (x>0)^(x<1) ~(x>0)
    torch.add(x,x,alpha=2) torch.sub(x,x,alpha=.5) x.add(2,alpha=3) x.sub(1,alpha=2) x.sub(x)
    x.div(2) x.div(x) x.mul(x) x.div(2,rounding_mode='floor') x.div(x,rounding_mode='trunc')
    torch.div(x,2) torch.mul(x,x) x.remainder(2) torch.remainder(x,3) x.floor_divide(2) x.pow(2)
    x.pow(x) x.pow(torch.tensor(2.)) torch.pow(2,x) torch.pow(x,3) torch.maximum(x,x.flip(0))
    torch.minimum(x,-x) torch.max(x,-x) torch.maximum(x,x) torch.where(x>0,x,-x)
    torch.where(x>0,x,0.) torch.where(x>0,1.,x) torch.where(x>0,1,0) torch.where(x>0,x.sqrt(),0*x)
    torch.where(x>0,1.,0.) x+torch.tensor(2) x*torch.ones(2,1,1)
    x*torch.tensor(2.,dtype=torch.float64) x+torch.ones(3,dtype=torch.float64)
    x*torch.tensor([True])
    torch.remainder(5,x) torch.floor_divide(2,x) torch.add(1,2) torch.mul(2,x.sum())
    x.detach().pow(False)
    torch.add(1,x) torch.mul(2.5,x) torch.sub(1,x) torch.div(1,x) torch.mul(x,other=x)
"""
REDUCTIONS = """
    x.sum() x.mean() x.prod() x.max() x.min() x.amax() x.amin() x.argmax() x.argmin() x.all()
    x.any() x.sum(0) x.sum(-1) x.sum(1) x.sum(-1,keepdim=True) x.sum((0,1)) x.sum([-1,0],True)
    x.sum(()) x.sum(dim=0) x.mean(0) x.mean(-1,keepdim=True) x.mean((0,1)) x.mean(dim=()) x.prod(0)
    x.prod(-1,keepdim=True) x.max(0).values x.max(0).indices x.max(-1,keepdim=True).values
    x.min(1).values x.min(0).indices torch.max(x,0)[0] torch.max(x,0)[1] x.amax(0) x.amax((0,1))
    x.amax(()) x.amin(-1,keepdim=True) x.argmax(0) x.argmax(-1,keepdim=True) x.argmin(1) x.all(0)
    x.any(-1) torch.sum(x) torch.sum(x,0) torch.mean(x,dim=0,keepdim=True) torch.argmax(x)
    torch.prod(x) x.max(dim=0,keepdim=True)[0] torch.max(x,other=x.flip(0)) x.argmax(keepdim=True)
    x.all(()) x.any([0]) x.all(keepdim=True) x.any((0,1),True) x.to(torch.uint8).all()
    x.amax(keepdim=True) x.var() x.var(0) x.var(0,True) x.var(False)
    x.var(-1,correction=0,keepdim=True) x.var((0,1)) x.var(unbiased=False) x.std() x.std(0)
    x.std(1,False) x.std(correction=2) x.std(dim=-1,unbiased=False,keepdim=True) torch.var(x,0)
    torch.std(x,dim=0,correction=0) x.logsumexp(0) x.logsumexp(-1,True) x.logsumexp((0,1))
    torch.logsumexp(x,dim=0) x.softmax(0) x.softmax(dim=-1) torch.softmax(x,1) x.log_softmax(0)
    x.log_softmax(-1) x.norm() x.norm(1) x.norm(2,0) x.norm('fro',dim=(0,1)) x.norm(3)
    x.norm(float('inf')) x.norm(-float('inf'),-1) x.detach().norm(0) x.norm(1.5,0) x.norm(0.5)
    x.norm(p=2,dim=-1,keepdim=True) x.norm(keepdim=True) x.norm(None) torch.norm(x,dim=0)
    torch.norm(x,2.5,(0,1),True) x.cumsum(0) x.cumsum(-1) torch.cumsum(x,1)
"""
ORDER = """
    x.sort().values x.sort()[1] x.sort(0)[0] x.sort(0,descending=True)[0] x.sort(-1,True).indices
    torch.sort(x)[0] torch.sort(x,dim=0,descending=True).values x.topk(1)[0] x.topk(2,0).values
    x.topk(2,dim=-1)[0] x.topk(2,0,False)[0] x.topk(k=1,largest=False,dim=0)[1]
    torch.topk(x,2).values x.topk(0)[0] x.max(0) torch.min(x,-1) x.sort(-1) x.topk(1,0)
"""
SHAPES = """
    x.reshape(-1) x.reshape(3,-1) x.reshape((2,-1)) x.reshape([-1,1]) x.view(-1) x.view(-1,1)
    x.view(3,2) x.flatten() x.flatten(1) x.flatten(0,1) x.flatten(start_dim=-2) x.permute(1,0)
    x.permute((1,0)) x.permute(2,0,1) x.permute(-1,0,1) x.t() x.T x.transpose(0,1) x.transpose(-1,0)
    x.squeeze() x.squeeze(0) x.squeeze(-1) x[None].squeeze((0,1)) x[None].squeeze(0,-1)
    x.unsqueeze(0) x.unsqueeze(-1) x.unsqueeze(1)
    x.expand(2,3) x.expand(4,-1,-1) x.expand(2,*x.shape) x.repeat(2) x.repeat(2,1) x.repeat(2,1,2)
    x.repeat(1,2,1,1) x.flip(0) x.flip(0,1) x.flip([-1]) x.narrow(0,1,1) x.narrow(1,0,2)
    torch.cat([x,x]) torch.cat([x,x*2],-1) torch.cat((x,x),dim=1) torch.stack([x,x])
    torch.stack([x,2*x],-1) torch.stack([x,x],dim=1) torch.squeeze(x) torch.t(x) torch.flip(x,[0])
    torch.flip(x,(0,)) torch.reshape(x,(-1,)) torch.permute(x,(1,0)) torch.transpose(x,0,1)
    torch.unsqueeze(x,0) torch.flatten(x) x.reshape(shape=(3,-1)) x.view(size=(-1,))
    x.permute(dims=(1,0)) x.flip(dims=(0,)) x.expand(size=(2,2,3)) x.repeat(repeats=(2,1))
    x.split(1)[0] x.split(2,-1)[0] x.split(2,dim=1)[-1] x.split([1,2],-1)[1] x.split((1,1))[0]
    x.split(split_size=5) x.chunk(2)[0] x.chunk(2,-1)[-1] x.chunk(3,dim=0)[0] x.chunk(9,1)[1]
    torch.split(x,[1,1],dim=0)[1] torch.split(x,split_size_or_sections=2)[0] torch.chunk(x,2,1)[0]
    torch.cat([x,torch.ones(0)]) x.unbind()[0] x.unbind(-1)[-1] torch.unbind(x,1)[1]
    x.view(1,-1).view(-1) x.t().reshape(-1) x.expand(2,*x.shape).reshape(-1)
"""
INDEXING = """
    x[0] x[-1] x[0,1] x[:,0] x[1:] x[:-1] x[::2] x[:,::2] x[None] x[:,None] x[...] x[...,0]
    x[...,None] x[0,...,1] x[:] x[:,:] x[1:1] x[0:2,1:3] x[-1:] x[...,1:] x[None,0,None] x[0][1]
    x[()] x[5:] x[[0,1]] x[[1,0,1]] x[torch.tensor([1,0])] x[torch.tensor([[0,1],[1,0]])]
    x[torch.tensor(1)] x[[0],None] x[range(2)] x[[]] x[:,[0,1]] x[[0,1],[1,0]] x[[0,1],:,[1,0]]
    x[:,[1,0],1] x[torch.tensor([0,1]),torch.tensor([[1],[2]])] x[x>0] x[x>100] x[x[:,0]>0]
    x.gather(0,(x>0).long()) x.gather(-1,(x>0).long()) x.gather(-1,(x[:1]>0).long())
    torch.gather(x,0,torch.tensor([[0,0,1],[1,1,1]])) x.scatter(0,(x>0).long(),2.)
    x.scatter(-1,(x>0).int(),0) x.scatter(0,(x>0).long()*0,value=1)
    x.scatter(-1,torch.tensor([[2,1,0]]),src=x.detach()) x.scatter(0,(x>0).long(),x*2)
    torch.scatter(x,1,torch.tensor([[0,2,1],[1,0,2]]),x) x.scatter(1,torch.tensor([[0]]),True)
    x.index_select(0,torch.tensor([1,0,1])) x.index_select(-1,torch.tensor([0]))
    torch.index_select(x,0,torch.tensor(0))
    x.index_select(dim=1,index=torch.tensor([2,2],dtype=torch.int))
    x.index_add(0,torch.tensor([1,0]),x) x.index_add(-1,torch.tensor([1,0,1]),x,alpha=2)
    x.index_add(0,torch.tensor([1,1]),x.flip(0)) torch.index_add(x,0,torch.tensor([0]),x[:1])
    x.masked_fill(x>0,0) x.masked_fill(x>0,2.5) x.masked_fill(x>0,float('-inf'))
    x.masked_fill(torch.tensor([True,False,True]),-1) x.masked_fill(x>0,x.sum())
    x.masked_fill(x>0,torch.tensor(3.)) torch.masked_fill(x,mask=x<0,value=1)
    x.sum().masked_fill(x>0,2) x.masked_select(x>0) x.masked_select(torch.tensor([True,False,True]))
    torch.masked_select(x,x<0) x[0].masked_select(x>0) x[[True,False]] x[True] x[False] x[~(x>0)]
    x[x[0]>0] list(x)[0] x[-1,-1] x[:,-1:] x[[1.]] x[1:5,0:] x[-9:,:]
"""
PRODUCTS = """
    x@x x@x.t() x.t()@x x@x.T x@x[0] x@x.transpose(-1,-2) x[0]@x[0].T x@x[0].T
    x.reshape(-1)@x.reshape(-1) x.dot(x) torch.dot(x,x) torch.mm(x,x.t()) torch.mv(x,x[0])
    torch.matmul(x,x) torch.bmm(x,x.transpose(1,2)) x.matmul(x) x.mm(x) torch.outer(x,x)
    x.addmm(x,x.T) torch.addmm(x[0],x,x.T@x) torch.addmm(x,x,x.T@x,beta=2,alpha=.5)
    torch.addmm(x.max(),x,x.T,alpha=3) torch.mm(x,mat2=x.T) x.bmm(mat2=x.transpose(1,2))
    torch.mv(x,vec=x[0]) x.mm(mat2=x.T)
    x.mv(vec=x[0]) x.dot(tensor=x) x.matmul(other=x.T) torch.einsum('ij->ji',x)
    torch.einsum('ij->',x) torch.einsum('ij->i',x) torch.einsum('i,i',x,x)
    torch.einsum('ij,kj->ik',x,x) torch.einsum('ij,kj',x,x) torch.einsum('i,j->ij',x,x)
    torch.einsum('ij,ij->j',x,x) torch.einsum('ij,j->i',x,x[0]) torch.einsum('ijk,ilk->ijl',x,x)
    torch.einsum('ij,kl->',x,x) torch.einsum('ij,kj,k->i',x,x,x[:,0])
    torch.true_divide(1,x) torch.true_divide(x,2)
    torch.einsum('aij,bij->abij',x,x) torch.einsum('...ij,...jk->...ik',x,x.T)
    torch.einsum('...j,j->...',x,x[0]) torch.einsum('...ij->...ji',x) torch.einsum('...,...',x,x)
    torch.einsum('i...->...',x) torch.einsum('...i->i',x) torch.einsum('ij,kj->ki',x,x).stride()
    torch.einsum('ii',x[:,:2]) torch.einsum('ii->i',x[:,:2]) torch.einsum('ii,i->i',x[:,:2],x[:2,0])
    torch.mm(x,x.T) x.outer(x) x.transpose(-1,-2)@x x@torch.ones(3,2)
    torch.ones(2,2)@x torch.ones(2)@x torch.ones(3)@x torch.ones(5,3)@x
    x.transpose(-1,-2)@torch.ones(3)
    x[:1]@torch.ones(2,4,1) torch.ones(2,1,3)@x[:1] x.T@torch.ones(2)
"""
FACTS = """
    x.shape x.size() x.size(0) x.dim() x.ndim x.numel() x.nelement() x.dtype x.element_size()
    x.itemsize x.nbytes x.tolist() len(x) x.is_contiguous() x.is_floating_point() x.is_leaf
    x.requires_grad torch.numel(x) torch.is_tensor(x) torch.equal(x,x) torch.allclose(x,x)
    x.T.is_contiguous() x.reshape(-1).shape x.device x.output_nr x.type() x.sum().ndim
    (x.clone().t()).is_contiguous() x.t().clone().is_contiguous() x.stride() x.t().stride()
    torch.is_floating_point(x) x[:,[0,1]].stride() x.T[[0,1]].stride() x[...,[0,1]].stride()
    x.transpose(0,-1)[:,[0,1]].stride() x.T[...,[0,1]].stride()
"""
IN_PLACE = """
    x.clone().exp_() x.clone().log_() x.clone().log1p_() x.clone().expm1_() x.clone().sqrt_()
    x.clone().rsqrt_() x.clone().reciprocal_() x.clone().sin_() x.clone().cos_() x.clone().tan_()
    x.clone().tanh_() x.clone().sigmoid_() x.clone().relu_() x.clone().abs_() x.clone().neg_()
    x.clone().sign_() x.clone().floor_() x.clone().ceil_() x.clone().round_() x.clone().square_()
    x.clone().add_(1) x.clone().sub_(x) x.clone().mul_(x) x.clone().div_(2)
    x.clone().add_(x,alpha=2) x.clone().pow_(2) x.clone().remainder_(2)
    x.clone().masked_fill_(x>0,2) x.clone().masked_fill_(x>0,x.sum()) x.clone().addmm_(x,x.T@x)
    x.clone().scatter_(0,(x>0).long(),2) x.clone().scatter_(-1,(x<0).long(),x*2)
    x.clone().index_add_(0,torch.tensor([0]),x[:1]) torch.exp_(x.clone()) torch.relu_(x.clone())
"""
GROUPS = (ELEMENTWISE, ARITHMETIC, REDUCTIONS, ORDER, IN_PLACE, SHAPES, INDEXING, PRODUCTS, FACTS)
EXPRESSIONS = [expression for group in GROUPS for expression in group.split()]

# Where the kit gives another answer, and why that is meant.
DIFFERENT = {
    ("x.norm(1.5,0)", "tiny"): "large numbers that nearly cancel",
    ("x.var()", "one element"): "one element has no variance: its second gradient is nan, too",
    **{
        (name, "singular"): "beside a zero, PyTorch's product of the others is one of cumprods"
        for name in ("x.prod()", "torch.prod(x)", "x.prod(0)", "x.prod(-1,keepdim=True)")
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
    facts = {"values": values(y), "dtype": str(y.dtype), "shape": tuple(y.shape)}
    facts |= {"graph": tree(y.grad_fn), "is_leaf": y.is_leaf}
    if not y.requires_grad:
        return facts
    weights = package.arange(1.0, y.numel() + 1, dtype=y.dtype).reshape(y.shape) / 3
    try:
        x.grad = None
        eval(expression, {"torch": package, "x": x}).backward(weights)
        (g,) = package.autograd.grad(y, x, weights, create_graph=True, materialize_grads=True)
    except Exception as error:
        return facts | {"error": (type(error).__name__, str(error).split("\n")[0])}
    if x.grad is not None:
        facts |= {"grad": values(x.grad), "grad dtype": str(x.grad.dtype)}
    facts |= {"gradient": values(g), "gradient dtype": str(g.dtype)}
    # A gradient that is constant has no second one in one package and zeros in the other.
    facts["second gradient"] = np.zeros(array.shape)
    if g.requires_grad:
        weights = package.arange(1.0, g.numel() + 1, dtype=g.dtype).reshape(g.shape) / 7 + 1
        (h,) = package.autograd.grad(g, x, weights, materialize_grads=True)
        facts["second gradient"] = values(h)
    return facts


def differences(expected: dict[str, Any], actual: dict[str, Any], precise: bool) -> list[str]:
    tolerance = {"rtol": 1e-12, "atol": 1e-14} if precise else {"rtol": 1e-5, "atol": 1e-6}
    lines = []
    for key in sorted(expected.keys() | actual.keys()):
        a, b = expected.get(key), actual.get(key)
        if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
            same = a.shape == b.shape and np.allclose(a, b, equal_nan=True, **tolerance)
        else:
            same = type(a) is type(b) and a == b
        if not same:
            lines.append(f"{key}: PyTorch {a}, here {b}")
    return lines


@pytest.mark.parametrize("expression", EXPRESSIONS)
@pytest.mark.filterwarnings("ignore:.*degrees of freedom")
@pytest.mark.filterwarnings("ignore:The use of `x.T`", "ignore:Tensor.m?T is deprecated")
def test_the_kit_gives_what_pytorch_gives(expression: str) -> None:
    failures = []
    for name, array in INPUTS.items():
        if (expression, name) in DIFFERENT or (name == "empty" and expression in IN_PLACE):
            continue
        for dtype in DTYPES[: 2 if name in FLOATS_ONLY else 4]:
            data = array if dtype.startswith("float") else array.astype(dtype)
            expected = evaluate(torch, expression, data, dtype)

            actual = evaluate(autodiff_kit, expression, data, dtype)

            precise = dtype == "float64" and "float" not in expression and "half" not in expression
            failures += [
                f"{name} {dtype}: {text}" for text in differences(expected, actual, precise)
            ]
    assert failures == []


@pytest.mark.filterwarnings("ignore:.*degrees of freedom")
@pytest.mark.parametrize(("expression", "name"), DIFFERENT)
def test_where_the_kit_is_said_to_differ_it_does(expression: str, name: str) -> None:
    actual = []
    for dtype in DTYPES[: 2 if name in FLOATS_ONLY else 4]:
        array = INPUTS[name] if dtype.startswith("float") else INPUTS[name].astype(dtype)
        both = (evaluate(package, expression, array, dtype) for package in (torch, autodiff_kit))
        actual += differences(*both, precise=dtype == "float64")

    assert actual
