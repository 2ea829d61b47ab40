"""Calls: which names arguments may have, and what is said of a call that is wrong."""

import warnings

import pytest

import autodiff_kit
from tests.parity import torch_if_there
from tests.same_as_torch.outcomes import run_as_pytorch

GIVEN = """
import torch.nn.functional as F
import numpy as np
x = torch.arange(6.).reshape(2, 3)
i = torch.zeros(1, 1).long()
def twice(y):
    torch.autograd.grad(y.sum(), x, create_graph=True)[0].sum().backward()
""".replace("import torch.nn.functional as F", "F = torch.nn.functional")

_WITH_NUMPYS_NAMES = """
x.sum(axis=1,keepdims=True) x.mean(axis=0) x.max(axis=0,keepdims=True) torch.max(x,axis=0)
x.argmax(axis=0,keepdims=True) torch.argmax(x,axis=0) x.softmax(axis=0) torch.softmax(x,axis=0)
x.cumsum(axis=0) x.squeeze(axis=0) x.unsqueeze(axis=0) x.std(axis=0) x.all(axis=0)
x.sort(axis=0) x.topk(1,axis=0) x.chunk(2,axis=0) x.unbind(axis=0) x.gather(axis=0,index=i)
torch.sum(x,axis=0) x.narrow(axis=0,start=0,length=1) x.sum(dim=0,keepdims=True)
torch.cat([x,x],axis=0) torch.stack([x,x],axis=0) x.prod(axis=1) x.logsumexp(axis=0)
x.var(axis=0,keepdims=True) torch.sum(input=x,dim=0) torch.exp(input=x)
torch.add(input=x,other=x) torch.add(x1=x,x2=x) torch.matmul(x1=x,x2=x.t())
torch.maximum(x,x2=x) torch.div(x1=x,x2=x) x.broadcast_to(1,2,3) torch.tile(x,dims=(2,2))
"""
WITH_NUMPYS_NAMES = _WITH_NUMPYS_NAMES.split()
_WITH_A_DTYPE = """
x.sum(dtype=torch.float64) x.sum((0,1),dtype=torch.float64) x.mean(0,dtype=torch.float64)
i.mean(dtype=torch.float32) i.sum(dtype=torch.float32) x.sum(dtype=torch.int32)
x.sum(dtype=None) x.prod(dtype=torch.float64) x.prod(0,dtype=torch.float64)
x.cumsum(0,dtype=torch.float64) x.softmax(0,dtype=torch.float64)
i.softmax(0,dtype=torch.float32) x.norm(dtype=torch.float64)
x.log_softmax(0,dtype=torch.float64) torch.softmax(i,0,dtype=torch.float32)
torch.sum(x,0,keepdim=True,dtype=torch.float64)
"""
WITH_A_DTYPE = _WITH_A_DTYPE.split()
_WITH_SIZES = """
torch.zeros(size=(2,3)) torch.ones(size=(2,3)) torch.empty(size=(2,)).shape
torch.randn(size=(2,3)) torch.rand(size=(2,3)) torch.full(size=(2,),fill_value=1)
torch.randint(0,3,size=(2,)) torch.randint(3,size=(2,)) torch.arange(end=3)
torch.arange(start=1,end=3) x.stride(0) x.stride(-1)
"""
_WITHOUT_OUT = """
torch.exp(x,out=None) torch.mul(x,x,out=None) torch.add(x,x,alpha=2,out=None)
torch.pow(x,2,out=None) torch.sum(x,0,out=None) torch.cat([x,x],out=None)
torch.matmul(x,x.t(),out=None) torch.where(x>2,x,x,out=None) torch.zeros(3,out=None)
torch.max(x,0,out=None) torch.clamp(x,0,1,out=None)
"""
WITHOUT_OUT = _WITHOUT_OUT.split()
WITH_SIZES = _WITH_SIZES.split()
WRONG = """
x.sum(dimx=1)
x.sum(0, 1, 2)
x.sum('a')
x.sum(0, foo=1)
x.sum(0, False, None, 3)
x.sum(1.5)
x.mean(foo=1)
x.prod((0, 1))
x.max((0, 1))
x.max(foo=1)
x.amax('a')
x.argmax((0, 1))
x.std(foo=1)
x.cumsum()
x.cumsum(foo=1)
x.cumsum('a')
x.softmax()
x.logsumexp()
x.sort(foo=1)
x.topk()
x.topk('a')
x.topk(1, foo=1)
x.reshape()
x.reshape('a')
x.reshape(1.5)
x.view()
x.view('a')
x.permute()
x.transpose()
x.transpose(0)
x.transpose(0, 1, 2)
x.transpose(0, 'a')
x.unsqueeze()
x.unsqueeze(0, 1)
x.expand()
x.flip()
x.narrow(0, 0)
x.chunk('a')
x.flatten('a')
torch.sum()
torch.sum(1)
torch.sum(x, foo=1)
torch.exp([1.])
torch.gather([1.], 0)
torch.max()
x.add(x, x)
x.mul()
x.pow()
torch.randn(2, foo=1)
torch.randn()
torch.full((2,))
torch.arange()
torch.arange('a')
torch.linspace(0, 1)
torch.eye()
torch.eye('a')
torch.zeros_like(x, foo=1)
torch.zeros_like()
torch.cat()
x.split()
x.register_hook()
x.flip(axis=0)
x.sum(1, 2)
x.sum(1, keepdim=None)
x.mean(1, 2)
x.prod(1, 2)
x.max(1, 2)
x.amin(1, 2)
x.argmax(1, 2)
x.all(1, 2)
x.std(1, 2)
x.var(1, keepdim=1)
x.logsumexp(1, 2)
x.norm(2, 1, 2)
x.sort(1, 2)
x.topk(1, 1, 2)
x.median(1, 2)
x.nansum(1, 2)
x.nansum(1, np.bool_(True))
torch.sum(x, 1, 2)
torch.tensor(1., requires_grad=1)
torch.ones(2, requires_grad=1)
torch.zeros_like(x, requires_grad=1)
torch.randn(2, requires_grad=1)
x.requires_grad_(1)
x.requires_grad_('a')
x.requires_grad = 1
x.fill_diagonal_(torch.ones(2))
torch.unique(x.requires_grad_() * 1).sum().backward()
torch.unique(x.requires_grad_() * 1, dim=0).sum().backward()
torch.unique_consecutive(x.requires_grad_()).sum().backward()
torch.vander(x[0].requires_grad_()).sum().backward()
x.exp(2)
x.exp_(2)
x.sqrt(1, 2)
x.relu(True)
x.isnan(1)
x.item(0)
x.item(foo=1)
x.tolist(1)
x.detach(1)
x.clone(1)
x.numel(0)
x.dim(0)
x.zero_(1)
x.float(1)
x.numpy(1)
x.contiguous(1)
x.size('a')
x.size(0, 1)
x.stride(0, 1)
x.type_as()
x.fill_()
x.fill_('a')
x.where(x > 1)
x.requires_grad_(True, 1)
x.reshape(2.0, 3)
x.to(dtype='float32')
x.to(np.float32)
torch.zeros((2, 3), 4)
torch.polygamma(x, 1)
torch.linalg.norm(x, 'a')
torch.nn.ModuleList(torch.nn.ReLU())
twice(torch.cdist(x.requires_grad_(), x + 1))
twice(F.hardsigmoid(x.requires_grad_()))
torch.tile(x, 2, 3)
torch.broadcast_to(x, 1, 2, 3)
torch.permute(x, 1, 0)
torch.reshape(x, 3, 2)
torch.flip(x, 0, 1)
torch.squeeze(x, 0, 1)
x.broadcast_to()
torch.add(x, x, x)
torch.add(x, x, beta=2)
torch.matmul(x, tensor2=x)
torch.where(x > 0, x)
torch.where()
torch.where(x > 0, 'a', x)
torch.sum(x, out=torch.tensor(1))
torch.reshape(x, 6)
torch.flip(x, 0)
torch.permute(x[0], 0)
torch.tile(x, 2)
torch.broadcast_to(x, 2)
torch.zeros(torch.tensor(2.))
torch.zeros(x)
torch.randn(torch.tensor([2, 3]))
x.reshape(torch.tensor([2, 3]))
x.view(torch.tensor([2, 3]))
np.sum(x)
np.mean(x, axis=0)
x.sum(foo=1, axis=0)
torch.optim.SGD([x], lr='a')
torch.optim.SGD([x], lr=None)
torch.optim.Adam([x], lr='a')
torch.nn.Dropout('a')
F.dropout(x, 'a')
torch.nn.LSTM(3)
torch.nn.GRU(3, 2, nonlinearity='relu')
torch.nn.RNN()
torch.nn.RNNCell(3, 2, nonlinearity='a')(x)
torch.nn.CrossEntropyLoss(label_smoothing=2.)(x, torch.tensor([0, 1]))
torch.nn.utils.clip_grad_norm_(torch.nn.Linear(2, 2), 1.)
torch.nn.utils.rnn.pack_padded_sequence(x, [1, 2])
torch.randint(0, 5, 3)
torch.randint(5.5, (2,))
torch.randint(high=5, size=3)
torch.randint(5, size=(2, 'a'))
torch.normal(0, 1, 3)
torch.linspace('a', 1, 2)
torch.clamp(x, min=[1])
x.clamp([0], 1)
torch.pow(x)
torch.pow()
torch.pow(x, 'a')
torch.pow(x, x, x)
x.pow('a')
torch.set_default_dtype('float')
torch.load(1)
torch.save(x, 1)
x.max(0).value
torch.topk(x, 1).argmax
x.view(1, (2, 3))
x.view((1, (2, 3)))
x.view((2., 3))
x.view(True, 6)
x.reshape(3, 2.)
x.reshape((True, 6))
x.reshape(True)
x.expand(2, None)
x.expand(1, torch.tensor([2, 3]))
x.repeat(1, torch.tensor(1.))
torch.permute(x, (0., 1))
x.flip(0, (1,))
torch.tile(x, (True, 2))
x.new_zeros(1, (2,))
x.new_ones((2.,))
x.new_empty(None)
torch.zeros((2., 3))
torch.full((True, 3), 1.)
x.sum((1.,))
x.requires_grad_().exp_(dim=1)
"""


@pytest.mark.parametrize("call", [*WITH_NUMPYS_NAMES, *WITH_A_DTYPE, *WITH_SIZES, *WITHOUT_OUT])
def test_a_call_takes_the_names_that_pytorch_takes(call: str) -> None:
    assert run_as_pytorch(f"{GIVEN}torch.manual_seed(0)\nprint({call})").raised is None


@pytest.mark.parametrize("call", WRONG.strip().split("\n"))
def test_a_wrong_call_is_refused_in_pytorchs_words(call: str) -> None:
    assert run_as_pytorch(f"{GIVEN}{call}").raised is not None


@pytest.mark.parametrize("name", ["max", "min"])
@pytest.mark.parametrize(
    "arguments",
    [
        "dim=d",
        "axis=d",
        "dim=d, keepdim=True",
        "d, True",
        "d, False",
        "d",
        "other=d",
        "dim=x",
        "dim=d.float()",
        "dim=d.reshape(1)",
        "dim=d > 0",
        "dim=True",
        "True",
        "dim=(0,)",
    ],
)
def test_a_tensor_is_the_dimension_only_where_it_is_called_so(name: str, arguments: str) -> None:
    program = f"{GIVEN}d = torch.tensor(1)\nx = x.sin()\n"
    run_as_pytorch(f"{program}print(x.{name}({arguments}))")
    run_as_pytorch(f"{program}print(torch.{name}(x, {arguments}))")


_DIM_OF = """
sum mean prod amax amin argmax argmin softmax log_softmax cumsum cumprod sort argsort median
nanmedian unsqueeze squeeze std var all any logsumexp mode nansum nanmean unbind cummax
logcumsumexp count_nonzero std_mean var_mean
"""
DIM = "d dim=d True dim=True dim=d.float() dim=torch.tensor([1]) dim=torch.tensor(True) dim=(d,)"
DIM += " dim=(True,) dim=(0,True) dim=(0,d) dim=np.int64(1) dim=np.bool_(True)"


@pytest.mark.parametrize("name", _DIM_OF.split())
def test_a_dimension_may_be_in_a_tensor_and_is_no_bool(name: str) -> None:
    program = f"{GIVEN}d = torch.tensor(1)\nx = x.sin()\n"
    for arguments in DIM.split():
        if hasattr(autodiff_kit.Tensor, name):
            run_as_pytorch(f"{program}print(x.{name}({arguments}))")
        run_as_pytorch(f"{program}print(torch.{name}(x, {arguments}))")


_INTS = """
x.topk(1,d) x.topk(d) x.topk(True) x.chunk(d,0) x.chunk(True) x.split(2,d) x.split(d)
x.narrow(d,0,d) x.narrow(0,True,1) x.narrow(0,0,True) x.narrow(True,0,1) x.transpose(d,0)
x.transpose(True,0)
x.permute(d,0) x.flatten(d) x.flatten(False) x.gather(d,i) x.gather(True,i) x.size(d) x.size(True)
x.stride(d) x.stride(True) x.select(0,d) x.select(0,True) x.unflatten(d,(3,1)) x.roll(1,d)
x.unflatten(True,(3,1)) x.roll((1,),(d,)) x.roll(1,True) x.roll((1,),(True,)) x.movedim(d,0)
x.movedim(True,0) x.diagonal(0,d,0) x.diagonal(0,True,0) torch.rot90(x,1,(0,d)) x.unfold(d,1,1)
x.unfold(True,1,1) x.kthvalue(d) x.kthvalue(True) x.index_fill(True,d,1.) torch.triu(x,d)
torch.triu(x,True) torch.tril(x,diagonal=True) torch.diag(x,d) torch.diag(x,True) x.diag_embed(d)
torch.hsplit(x,True) torch.cat([x,x],d) torch.cat([x,x],True) torch.stack([x,x],d)
torch.stack([x,x],dim=True) F.softmax(x,d) F.softmax(x,True) F.softmin(x,True) F.log_softmax(x,d)
F.one_hot(i,d) F.one_hot(i,True) torch.linspace(0,1,d) torch.linspace(0,1,True)
torch.matrix_power(x[:,:2],d) torch.matrix_power(x[:,:2],True) torch.round(x,decimals=d)
torch.round(x,decimals=True) torch.histc(x,d) torch.histc(x,True) torch.vander(x[0],d)
torch.vander(x[0],True) x.norm(d) x.norm(2,d) x.norm(2,dim=(d,)) x.norm(dim=d) x.dist(x+1,d)
torch.diff(x,1,d) torch.diff(x,dim=True) x.split((True,2),1) x.split((d,2),1)
x.sort(0,stable=True) torch.sort(x,0,stable=True) x.sort(dim=0,stable=True) x.sort(stable=True)
x.sort(0,descending=True) x.argsort(0,stable=True) torch.argsort(x,dim=1,descending=True)
x.std(True) x.std(True,True) x.std(True,keepdim=True) x.std(dim=None,unbiased=False)
torch.std_mean(x,True) torch.std_mean(x,True,True) torch.var_mean(x,False)
x.new_ones(size=2) x.new_zeros(3,size=(2,)) x.new_full(2,1.) x.new_full(size=2,fill_value=1.)
x.new_full((2,),1.) x.reshape(3,2,shape=(6,)) x.reshape((3,2),shape=(6,)) x.reshape(shape=6)
x.view(3,2,size=(6,)) x.view(size=6) x.expand(2,2,3,size=(2,3)) x.expand(size=6) x.permute(dims=0)
x.permute(1,0,dims=(0,1)) x.repeat(1,2,repeats=(1,2)) x.repeat(repeats=2) x.flip(0,dims=(1,))
x.flip(dims=1) x.tile(2,dims=(2,)) x.tile(dims=2) x.broadcast_to(2,3,size=(2,3))
x.broadcast_to(size=2) torch.tile(x,dims=2) torch.reshape(x,shape=6) torch.flip(x,dims=1)
x[:0,0].max((-1,0)) x.squeeze(torch.tensor([1])) x.squeeze(dim=torch.tensor([1])) x.squeeze(d)
"""


@pytest.mark.parametrize("call", _INTS.split())
def test_a_number_may_be_in_a_tensor_and_sizes_are_given_once(call: str) -> None:
    run_as_pytorch(f"{GIVEN}d = torch.tensor(1)\nprint({call})")


_NORMS = """
x.norm(dtype=torch.int64) x.norm(2,0,dtype=torch.int64) x.long().norm(dtype=torch.float32)
x.norm(dtype=torch.bool) x.double().norm(dtype=torch.float32) x.norm(dtype=torch.float64)
torch.linalg.vector_norm(x.long(),dtype=torch.float32) torch.linalg.norm(x,dtype=torch.int64)
torch.linalg.vector_norm(x,dtype=torch.int64) torch.linalg.matrix_norm(x,dtype=torch.int64)
torch.linalg.matrix_norm(x.long(),dtype=torch.float32) torch.linalg.norm(x,dtype=torch.float64)
torch.linalg.matrix_norm(x.double(),1,dtype=torch.float32) F.cosine_similarity(x.long(),x)
torch.linalg.matrix_norm(x,'nuc',dtype=torch.int64) F.cosine_similarity(x,x.bool())
F.cosine_similarity(x.long(),x.double()) F.cosine_similarity(x.long(),x.long())
F.cosine_similarity(x.bool(),x.long()) F.cosine_similarity(x.long(),x[0]+1)
"""


@pytest.mark.parametrize("call", _NORMS.split())
def test_a_norm_is_computed_in_floats_that_lose_nothing(call: str) -> None:
    run_as_pytorch(f"{GIVEN}x.requires_grad_()\nprint({call})")


ROWS = """
[[],'ab'] [[],1] [[],True] [[],None] [[],torch.ones(2).double()] [[],1.,'ab'] [[],[1]] [(),[[]]]
[[],[['a']]] [[1],[]] [torch.ones(0),1.] [[1,2],[torch.tensor(1),torch.ones(2)]] [[[],[]],[1]]
[[1.],torch.tensor(1)] [[1.],np.float64(2)] [torch.float32] [[1.],[torch.ones(1)]] [[1.],[[1.]]]
[torch.tensor(1.),torch.ones(1)] [torch.tensor(1.),torch.ones(2)] [torch.ones(2),[]]
"""


@pytest.mark.parametrize("rows", ROWS.split())
def test_rows_of_different_lengths_are_refused_unless_the_first_is_empty(rows: str) -> None:
    run_as_pytorch(f"{GIVEN}t = torch.tensor({rows})\nprint(t, t.dtype, t.shape)")


_WITH_ARRAYS = """
x+a x-a x*a x/a x//a x%a x**a x@b a/x x==a a==x np.sqrt(x) np.add(x,x) np.add(x,a) np.isnan(x)
np.equal(x,x) np.maximum(x,0) np.abs(x) np.clip(x,0,1) np.concatenate([x,x]) np.argmax(x)
np.sqrt(torch.tensor(4.)) np.sqrt(torch.tensor([4])) np.float64(2)-x
torch.tensor(deque([1.,2.])) torch.tensor([torch.ones(1),torch.ones(1,1)])
torch.tensor([[torch.ones(1)],[torch.tensor(3)]]) torch.tensor([[1.,2.],torch.ones(2)])
operator.iadd(x.double(),a) operator.isub(x.double(),b) operator.itruediv(x.double(),a)
operator.ifloordiv(x.double(),a) operator.imod(x.double(),a) operator.imul(x.double(),a)
operator.ipow(x.double(),a) (x>1)&(a>1) (x>1)|(a>1) (x>1)^(a>1)
torch.tensor(UserList([1,2])) torch.tensor(array('f',[1,2])) torch.tensor(bytearray(b'ab'))
x.sum(dim=np.int64(0)) x.count_nonzero(np.int64(0)) x.argmax(np.int64(0)) x.mean(np.int64(0))
torch.std_mean(x,np.int64(0)) torch.var_mean(x,np.int64(0))
torch.tensor([memoryview(b'ab'),range(2)]) torch.tensor([Row(),Row()])
"""
WITH_ARRAYS = _WITH_ARRAYS.split()


@pytest.mark.parametrize("call", WITH_ARRAYS)
def test_numpy_and_tensors_compute_together(call: str) -> None:
    setup = """
import warnings
import operator
from array import array
from collections import UserList, deque
class Row:
    def __len__(self): return 2
    def __getitem__(self, i): return [0.5, 1.5][i]
warnings.simplefilter("ignore", DeprecationWarning)  # NumPy's, of how PyTorch declares a method
a, b = np.ones((2, 3)) * 2, np.ones(3)
"""
    assert run_as_pytorch(f"{GIVEN}{setup}print({call})").raised is None


@pytest.mark.parametrize("call", ["a - x", "a * w", "a @ x", "w + a", "np.exp(w)"])
def test_what_numpy_cannot_do_with_tensors_is_refused(call: str) -> None:
    setup = "a = np.ones((2, 3))\nw = torch.ones(2, 3, requires_grad=True)\n"
    assert run_as_pytorch(f"{GIVEN}{setup}print({call})").raised is not None


@pytest.fixture(scope="module")
def forward_mode() -> None:
    """Let PyTorch load its forward mode, which warns of its own use of ``torch.jit`` once."""
    torch = torch_if_there()
    if torch is None:
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        one = torch.ones(1)
        torch.func.jvp(torch.exp, (one,), (one,))


@pytest.mark.usefixtures("forward_mode")
@pytest.mark.parametrize(
    "program",
    [
        "w = torch.ones(2, requires_grad=True)\nwith torch.no_grad(): print(w.numpy())",
        "x = torch.rand(3); v = x.expand(2, 3)\nv[0] = 2.\nprint(x, v)",
        "print(torch.nn.functional.mse_loss(torch.tensor([1, 2]), torch.tensor([1., 3.])))",
        "x = torch.ones(1)\nprint(hash(x) == id(x))",
        "x = torch.tensor([1., 2.], requires_grad=True)\nx.norm(0).backward()\nprint(x.grad)",
        *(
            f"with torch.inference_mode():\n    x = torch.tensor([1., 2.])\nprint({call})"
            for call in (
                "torch.func.grad(lambda y: (y * x).sum())(x)",
                "torch.func.grad(lambda y, z: (y * z).sum())(torch.ones(2), x)",
                "torch.func.hessian(lambda y: (y**3 * x).sum())(x)",
                "torch.func.jacfwd(lambda y: y.exp() * x)(x)",
                "torch.func.jvp(lambda y: y * x, (x,), (x,))",
            )
        ),
    ],
)
def test_what_pytorch_does_the_kit_does(program: str) -> None:
    assert run_as_pytorch(program).raised is None


@pytest.mark.parametrize("x", [0.0, 0.3, 1.0, 1e-13])
@pytest.mark.parametrize("y", [0.0, 0.3, 1.0])
def test_the_cross_entropy_bends_as_in_pytorch_where_log_is_limited(x: float, y: float) -> None:
    program = f"""
x = torch.tensor({x}, dtype=torch.float64, requires_grad=True)
y = torch.tensor({y}, dtype=torch.float64, requires_grad=True)
loss = torch.nn.functional.binary_cross_entropy(x, y)
g, = torch.autograd.grad(loss, x, create_graph=True)
print(g, torch.autograd.grad(g, [x, y]))
"""
    assert run_as_pytorch(program).raised is None
