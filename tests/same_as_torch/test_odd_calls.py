"""Odd calls: other names of functions, results that are written elsewhere, misfits."""

import pytest

from tests.same_as_torch.outcomes import run_as_pytorch

GIVEN = """
F, nn = torch.nn.functional, torch.nn
a = torch.tensor([1.0, 2.0], requires_grad=True)
x = torch.arange(6.).reshape(2, 3)
i = torch.tensor([1, 0])
b = torch.tensor([True, False])
c = torch.ones(2, 3, 4)
z = torch.tensor(1.0)
"""

OTHER_NAMES = """
torch.arctan2(a)
torch.arctan2(1, a)
a.arctan2('a')
a.detach().arctan2_('a')
torch.arccos('a')
a.arccos(1)
torch.arcsin(1)
torch.arcsinh(1)
torch.arctan(1)
torch.arctanh(1)
x.fix_(1)
torch.fix(1)
torch.moveaxis(x)
x.moveaxis(0)
torch.row_stack(1)
torch.concat(1)
torch.concat([x, x], dim='a')
torch.concatenate(1)
torch.concat([a, a], out=torch.ones(4))
torch.row_stack([a, a], out=torch.ones(4))
torch.arccos(a, out=torch.ones(2))
torch.divide(a, a, out=torch.ones(2))
torch.inverse(a.outer(a), out=torch.ones(2, 2))
torch.multiply(x)
torch.multiply(1, 'a')
x.multiply_('a')
x.subtract()
torch.subtract(x, x, x)
torch.divide(x, 'a')
x.divide(x, rounding_mode=1)
x.true_divide_('a')
torch.copysign(x)
x.copysign_('a')
torch.special.expit(1)
torch.special.expit(x, 1)
torch.special.erf(1)
torch.special.softmax(x)
torch.special.round(1)
torch.special.psi(1)
torch.special.polygamma(1, 1)
torch.special.xlogy(1, 1)
torch.special.xlog1py(1)
torch.special.entr(1)
torch.special.ndtr(x, 1)
"""
ACCEPTED = """
print(torch.arccos.__name__, torch.concat.__name__, torch.special.erf.__name__)
print(torch.multiply(2, a), torch.multiply(a, 2), torch.multiply(2, 3))
print(torch.subtract(2, a), torch.subtract(a, 2, alpha=2), torch.subtract(2, 3))
print(torch.divide(2, a), torch.divide(a, 2, rounding_mode='floor'), torch.divide(2, 3))
print(torch.special.expit(input=a), torch.special.psi(a), torch.special.gammaln(a))
print(torch.special.log_softmax(i, 0, dtype=torch.float32), torch.special.logit(a, eps=0.1))
print(torch.concat([x, x], axis=0), torch.concat([x, x], 1, out=torch.ones(0)))
print(torch.special.xlog1py(1, x), torch.special.xlog1py(x, 1))
print(torch.randint(3, (2,)).shape, torch.randint(0, 3, (2,)).shape)
print(torch.rsub(x, 2), torch.rsub(x, x, alpha=2), torch.rsub(x, 2, 3), x.round(decimals=1))
print(torch.floor_divide(5, x + 1), torch.floor_divide(x, 2), x.floor_divide(2))
print(torch.randint(low=0, high=3, size=(2,)).shape)
print(torch.randint(high=3, size=(2,)).shape, torch.randint(1, high=3, size=[2]).shape)
"""


@pytest.mark.parametrize("call", OTHER_NAMES.strip().split("\n"))
def test_a_wrong_call_is_refused_under_the_name_that_was_called(call: str) -> None:
    assert run_as_pytorch(GIVEN + call).raised is not None


@pytest.mark.parametrize("call", ACCEPTED.strip().split("\n"))
def test_an_odd_call_gives_what_it_gives_in_pytorch(call: str) -> None:
    assert run_as_pytorch(GIVEN + call).raised is None


OUTPUTS = """
torch.clamp(x, torch.zeros(3), out=torch.ones(2, 3).int())
torch.clamp(x, torch.zeros(3), out=torch.ones(2, 3).double())
torch.clamp_min(x, 0, out=torch.ones(2, 3).double())
torch.clamp_max(x, x, out=torch.ones(2, 3).double())
torch.lerp(x, x, 0.5, out=torch.ones(2, 3).double())
torch.lerp(x, x, x, out=torch.ones(2, 3).double())
torch.median(x, 0, out=(torch.ones(3).double(), torch.ones(3).long()))
torch.median(x, 0, out=(torch.ones(3), torch.ones(3)))
torch.nanmedian(x, 0, out=(torch.ones(3).double(), torch.ones(3).long()))
torch.searchsorted(x[0], x[1], out=torch.ones(3).int())
torch.searchsorted(x[0], x[1], out_int32=True, out=torch.ones(3).long())
torch.bucketize(x[0], x[1], out=torch.ones(3))
torch.sort(x, out=(torch.ones(2, 3), torch.ones(2, 3).int()))
torch.sort(x, out=(torch.ones(2, 3),))
torch.max(x, 0, out=(torch.ones(3),))
torch.topk(x, 1, out=(torch.ones(2, 1).double(), torch.ones(2, 1).long()))
torch.kthvalue(x, 1, out=(torch.ones(2), torch.ones(2)))
torch.mode(x, out=(torch.ones(2).double(), torch.ones(2).long()))
torch.aminmax(x, dim=0, out=(torch.ones(3).double(), torch.ones(3)))
torch.cummax(x, 0, out=(torch.ones(2, 3), torch.ones(2, 3)))
torch.sort(a, out=(z, i[0]))
torch.exp(x, out=1)
torch.exp(x, out=(x,))
torch.zeros(2, out=1)
torch.all(x, out=torch.ones(()))
torch.nan_to_num(x, out=torch.ones(2, 3).int())
torch.heaviside(x, x, out=torch.ones(2, 3).double())
torch.quantile(x, 0.5, out=torch.ones(()).double())
print(torch.sort(x, out=[torch.ones(2, 3), torch.ones(2, 3).long()]))
print(torch.topk(x, 1, out=(torch.ones(2, 1), torch.ones(2, 1).long())))
print(torch.aminmax(x, dim=0, out=(torch.ones(3), torch.ones(3))))
print(torch.any(x, 0, out=torch.ones(3).byte()))
import pickle; print(pickle.loads(pickle.dumps(x.max(0))))
"""


@pytest.mark.parametrize("call", OUTPUTS.strip().split("\n"))
def test_results_are_written_elsewhere_as_in_pytorch(call: str) -> None:
    run_as_pytorch(GIVEN + call)


OLDER_SIGNATURES = """
torch.add(x)
torch.add()
x.add()
x.add_()
torch.sub(x)
torch.addmm(x)
x.addmm(x)
x.addcmul(x)
x.addcmul_(x)
torch.addcdiv(x, x)
torch.addmv(x)
x.baddbmm_(c)
torch.baddbmm(x)
torch.mm(x)
torch.bmm(c)
x.addbmm(foo=1)
"""
PLACES_OF_ARGUMENTS = """
x.floor_divide()
torch.floor_divide(x, 'a')
torch.floor_divide(x, x, x)
torch.multiply(x, x, x)
torch.rsub(1, x)
x.round(1)
x.round(foo=1)
torch.round(x, 1)
x.div_(True, x)
torch.eq('a', x)
torch.trapz()
torch.abs_(i, [x, x])
torch.ceil_()
torch.clamp_max_(1)
torch.sin_(c, out=x)
b.erfc('sum', input=None)
x.softmax(torch.Size([2, 3]))
torch.equal(x.shape, x)
torch.randint(low=2, size=(2,))
torch.randint(size=(2,))
x.gather(index=i)
x.transpose(dim1=0)
torch.linalg.inv(1)
torch.linalg.inv(x, 1)
torch.linalg.cholesky(1, 2)
torch.linalg.cond()
torch.linalg.norm(x, 2, 'b')
torch.linalg.matrix_norm(1)
torch.linalg.vector_norm(x, 2, 'a')
torch.linalg.matmul(x)
torch.linalg.vecdot(1, 2)
torch.linalg.cross(x)
torch.linalg.solve_triangular(x, x, True)
torch.linalg.qr(x, 1)
torch.linalg.multi_dot([x, 1])
torch.linalg.multi_dot([x])
"""


@pytest.mark.parametrize("call", OLDER_SIGNATURES.strip().split("\n"))
def test_a_signature_that_is_not_shown_counts_for_the_words(call: str) -> None:
    assert run_as_pytorch(GIVEN + call).raised is not None


@pytest.mark.parametrize("call", PLACES_OF_ARGUMENTS.strip().split("\n"))
def test_arguments_are_counted_as_in_pytorch(call: str) -> None:
    assert run_as_pytorch(GIVEN + call).raised is not None


IN_PLACE = """
y = x[:1].expand(2, 3); y.tril_(); print(y, x)
y = x[:1].expand(2, 3); y.triu_(); print(y, x)
y = x[:1].expand(2, 3); y.index_put_((i,), z); print(y, x)
y = x[:1].expand(2, 3); y[i] = 1; print(y, x)
x[0, :2].ldexp_(x[0, 1:]); print(x)
x.addr_(x[0], x[0])
torch.ones(3).addr_(x[:, 0], x[0])
print(torch.ones(2, 3).addr_(x[:, 0], x[0]))
torch.ones(3).baddbmm_(c, c.mT)
torch.ones(1, 3, 3).baddbmm_(c, c.mT)
torch.ones(1).addmv_(x, x[0])
y = a.double().detach().requires_grad_(); torch.autograd.gradcheck(torch.exp, y, fast_mode=True)
"""


@pytest.mark.parametrize("call", IN_PLACE.strip().split("\n"))
def test_a_change_in_place_is_done_or_refused_as_in_pytorch(call: str) -> None:
    run_as_pytorch(GIVEN + call)
