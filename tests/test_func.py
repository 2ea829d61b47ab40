"""``torch.func`` beside PyTorch's: the same numbers, in the same nests of tuples and dicts."""

import pytest

import autodiff_kit
from tests.parity import require_torch
from tests.same_as_torch.outcomes import run

torch = require_torch()
pytestmark = pytest.mark.parity

GIVEN = """
from torch.func import functional_call, grad, grad_and_value, hessian, jacfwd, jacrev, jvp
from torch.func import linearize, stack_module_state, vjp, vmap
x, w, b = torch.tensor([1.0, 2.0, 3.0]), torch.tensor([1.0, 2.0, -1.0]), torch.tensor(0.5)
A = torch.arange(6.0).reshape(3, 2)
f = lambda w, b, x: ((w * x + b) ** 2).sum()
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Tanh(), torch.nn.Linear(3, 1))
"""

PROGRAMS = {
    "gradients of gradients": """
print(grad(torch.sin)(b), grad(grad(torch.sin))(b), grad(lambda x: grad(lambda y: x * y**2)(x))(b))
""",
    "by which argument": """
print(grad(f)(w, b, x), grad(f, argnums=(0, 1))(w, b, x), grad(f, argnums=-1)(w, b, x))
print(grad_and_value(f)(w, b, x), grad(f)(w, b, x).requires_grad)
print(grad(lambda p, x: f(p["w"], p["b"], x))({"w": w, "b": b}, x))
print(grad(lambda x: (x.sum(), x * 2), has_aux=True)(x))
""",
    "what is captured keeps its graph": """
v = torch.tensor(3.0, requires_grad=True)
g = grad(lambda x: (x * v) ** 2)(b)
print(g, g.requires_grad)
g.backward()
print(v.grad)
with torch.no_grad():
    print(grad(lambda x: x**2)(b))
y = grad(lambda x: x**3)(v)
y.backward()
print(y, v.grad)
""",
    "products with the Jacobian": """
out, pull = vjp(torch.sin, x)
print(out, pull(torch.ones(3)), pull(torch.ones(3) * 2))
out, pull = vjp(lambda a, b: (a * b, a + b), x, x * 2)
print(out, pull((torch.ones(3), torch.ones(3))))
print(jvp(torch.sin, (x,), (torch.ones(3),)))
print(jvp(lambda a, b: a * b, (x, x + 1), (torch.ones(3), torch.zeros(3))))
out, along = linearize(torch.sin, x)
print(out, along(torch.ones(3)))
""",
    "Jacobians": """
print(jacrev(torch.sin)(x), jacfwd(lambda x: x.sum() * x)(x), hessian(lambda x: (x**3).sum())(x))
print(jacrev(lambda a, b: a * b.sum(), argnums=(0, 1))(x, x))
print(jacrev(lambda x: {"a": x * 2, "b": x.sum()})(x))
""",
    "batches": """
print(vmap(torch.dot, in_dims=(0, None))(A, A[1]), vmap(torch.dot)(A, A))
print(torch.vmap(lambda a: a * 2, in_dims=1, out_dims=1)(A), vmap(lambda d: d["a"].sum())({"a": A}))
loss = lambda w, x, y: ((w * x).sum() - y) ** 2
print(vmap(grad(loss), in_dims=(None, 0, 0))(A[1], A, torch.ones(3)))
print(vmap(vmap(lambda x: x + 1))(A), vmap(lambda x: (x, x.sum()))(A))
""",
    "modules as functions": """
params = {k: v.detach() * 2 for k, v in model.named_parameters()}
print(functional_call(model, params, A), model(A), functional_call(model, (params, {}), (A,)))
def loss(params, x, y):
    return ((functional_call(model, params, (x.unsqueeze(0),)) - y) ** 2).mean()
per_sample = vmap(grad(loss), in_dims=(None, 0, 0))(params, A, torch.zeros(3, 1))
print({k: v.shape for k, v in per_sample.items()}, per_sample["0.weight"][1])
models = [torch.nn.Linear(2, 1) for _ in range(3)]
params, buffers = stack_module_state(models)
print(params["weight"].shape, params["weight"].requires_grad, buffers)
call = lambda p, b, x: functional_call(models[0], (p, b), (x,))
print(vmap(call, in_dims=(0, 0, None))(params, buffers, A).detach())
""",
    "random numbers in batches": """
zeros = torch.zeros(3)
torch.manual_seed(0)
print(vmap(lambda t: t + torch.rand(()), randomness="same")(zeros), torch.rand(1))
print(vmap(lambda t: torch.rand(2) + torch.randn(3)[0], randomness="same")(zeros))
print(vmap(lambda t: t + torch.rand(()), randomness="different")(zeros))
print(vmap(lambda t: torch.nn.functional.dropout(t, training=False))(zeros))
""",
    "random numbers in a batch": "vmap(lambda t: t + torch.rand(()))(x)",
    "in place": "vmap(lambda t: t.clone().uniform_())(x)",
    "one of normal numbers": "torch.randn(3); vmap(lambda t: torch.randn(()))(x)",
    "dropout": "vmap(lambda t: torch.nn.functional.dropout(t))(x)",
    "random numbers of a batch in a batch": """
vmap(lambda t: vmap(lambda u: u + torch.rand(()), randomness="different")(t))(A)
""",
    "random numbers in a Jacobian": "jacfwd(lambda t: t + torch.rand(()))(x)",
    "no such randomness": "vmap(lambda t: t, randomness='foo')(x)",
    "a batch along no dimension": "vmap(torch.sin, in_dims=2)(A)",
    "sizes in the order of the arguments": "vmap(torch.add)(torch.ones(3), torch.ones(2))",
    "fewer directions": "jvp(torch.sin, (x,), ())",
    "directions in a list": "jvp(torch.sin, (x,), [x])",
    "arguments that are no tuple": "jvp(torch.sin, x, (x,))",
    "directions of other names": "jvp(lambda a: a['u'], ({'u': x},), ({'v': x},))",
    "a direction that is a number": "jvp(torch.sin, (x,), (1.0,))",
    "a number and a direction": "jvp(torch.sin, (1.0,), (x,))",
    "a direction of integers": "jvp(torch.sin, (x,), (torch.ones(2).long(),))",
    "the sine of integers": "jvp(torch.sin, (torch.ones(2).long(),), (x,))",
    "a direction of another size": "jvp(lambda a, b: a, (x, x), (x, A))",
    "no arguments": "jvp(lambda: x, (), ())",
    "no number": "grad(lambda x: x * 2)(x)",
    "no tensor": "grad(lambda x: 3)(x)",
    "no such argument": "grad(f, argnums=5)(w, b, x)",
    "two batches of different sizes": "vmap(torch.add)(torch.ones(2), torch.ones(3))",
    "no batch": "vmap(torch.add, in_dims=(None, None))(x, x)",
    "names that do not fit": "functional_call(model[0], {'x': x}, A, strict=True)",
}


@pytest.mark.filterwarnings("ignore")  # PyTorch's own use of what it has deprecated
@pytest.mark.parametrize("name", PROGRAMS)
def test_functions_of_functions_give_what_pytorchs_give(name: str) -> None:
    expected = run(torch, GIVEN + PROGRAMS[name])

    outcome = run(autodiff_kit, GIVEN.replace("from torch", "from autodiff_kit") + PROGRAMS[name])

    assert (outcome.printed, outcome.raised) == (expected.printed, expected.raised)
    assert expected.raised is None or outcome.advice.startswith("-> ") or "\t" in outcome.advice
