"""Optimizers beside PyTorch's: the same steps, the same texts, the same words when they fail."""

import inspect
from copy import deepcopy
from typing import Any

import numpy as np
import pytest

import autodiff_kit
from tests.parity import torch_if_there
from tests.same_as_torch.outcomes import run, run_as_pytorch

torch = torch_if_there()

OPTIONS: dict[str, list[dict[str, Any]]] = {
    "ASGD": [{}, {"t0": 20, "lambd": 0.01, "weight_decay": 0.1}, {"alpha": 0.5, "maximize": True}],
    "Rprop": [{}, {"etas": (0.3, 1.5), "step_sizes": (1e-3, 0.02)}, {"maximize": True}],
    "SGD": [
        {}, {"momentum": 0.9}, {"momentum": 0.9, "dampening": 0.3}, {"weight_decay": 0.1},
        {"momentum": 0.9, "nesterov": True}, {"maximize": True, "momentum": 0.5},
        {"momentum": 0.9, "nesterov": True, "weight_decay": 0.1, "maximize": True},
    ],
    "Adam": [
        {}, {"amsgrad": True}, {"weight_decay": 0.1}, {"betas": (0.5, 0.6), "eps": 1e-3},
        {"maximize": True}, {"decoupled_weight_decay": True, "weight_decay": 0.1},
        {"amsgrad": True, "weight_decay": 0.3, "maximize": True},
    ],
    "Adamax": [{}, {"weight_decay": 0.1, "maximize": True}, {"betas": (0.5, 0.6), "eps": 1e-3}],
    "NAdam": [
        {}, {"weight_decay": 0.1, "maximize": True}, {"betas": (0.5, 0.6), "momentum_decay": 0.1},
        {"decoupled_weight_decay": True, "weight_decay": 0.1},
    ],
    "RAdam": [
        {}, {"weight_decay": 0.1, "maximize": True}, {"betas": (0.5, 0.6), "eps": 1e-3},
        {"decoupled_weight_decay": True, "weight_decay": 0.1},
    ],
    "AdamW": [{}, {"amsgrad": True, "maximize": True}, {"weight_decay": 0.5}, {"weight_decay": 0}],
    "RMSprop": [
        {}, {"centered": True}, {"momentum": 0.9}, {"maximize": True}, {"alpha": 0.5, "eps": 0.1},
        {"momentum": 0.9, "centered": True, "weight_decay": 0.1, "alpha": 0.7},
    ],
    "Adadelta": [{}, {"rho": 0.7, "eps": 1e-3}, {"weight_decay": 0.1, "maximize": True}],
    "Adagrad": [
        {}, {"lr_decay": 0.1}, {"weight_decay": 0.2, "initial_accumulator_value": 0.3},
        {"maximize": True, "eps": 0.1},
    ],
}  # fmt: skip
CASES = [(name, options) for name, each in OPTIONS.items() for options in each]


def trained(package: Any, name: str, options: dict[str, Any]) -> tuple[list[Any], str, str]:
    """Return all values on the way, what the optimizer prints, and its state."""
    draw = np.random.default_rng(0).normal
    w = package.tensor(draw(size=(3, 2)), requires_grad=True)
    b = package.tensor(0.5, dtype=package.float64, requires_grad=True)
    unused = package.tensor([1.0], requires_grad=True)
    x, y = package.tensor(draw(size=(5, 3))), package.tensor(draw(size=(5, 2)))
    groups = [{"params": [w, unused]}, {"params": b, "lr": 0.02}]
    optimizer = getattr(package.optim, name)(groups, lr=0.05, **options)
    scheduler = package.optim.lr_scheduler.StepLR(optimizer, 20, 0.5)
    path = []
    for _ in range(50):
        optimizer.zero_grad()
        (((x @ w + b).tanh() - y) ** 2).sum().backward()
        optimizer.step()
        scheduler.step()
        path.append([*w.detach().flatten().tolist(), b.item()])
    assert unused.item() == 1 and unused._version == 0
    return path, repr(optimizer), str(sorted(optimizer.state_dict()["state"].items()))


@pytest.mark.parity
@pytest.mark.parametrize(("name", "options"), CASES)
def test_fifty_steps_lead_where_pytorchs_lead(name: str, options: dict[str, Any]) -> None:
    path, text, state = trained(autodiff_kit, name, options)

    expected, expected_text, expected_state = trained(torch, name, options)
    np.testing.assert_allclose(path, expected, rtol=1e-12, atol=1e-12)
    assert (text, state) == (expected_text, expected_state)


@pytest.mark.parity
@pytest.mark.parametrize("name", OPTIONS)
def test_constructors_take_what_pytorchs_take(name: str) -> None:
    def arguments(package: Any) -> list[tuple[Any, ...]]:
        signature = inspect.signature(getattr(package.optim, name))
        return [(p.name, p.kind, p.default) for p in signature.parameters.values()]

    own, expected = arguments(autodiff_kit), arguments(torch)

    assert sorted(own) == sorted(expected)  # whatever is given by name only, in any order
    assert [a for a in own if a[1] != 3] == [a for a in expected if a[1] != 3]


@pytest.mark.parity
@pytest.mark.parametrize("name", OPTIONS)
def test_training_goes_on_from_a_loaded_state_as_if_nothing_had_happened(name: str) -> None:
    def resumed(package: Any, copy: Any) -> tuple[Any, Any]:
        w = package.tensor([1.0, 2.0], dtype=package.float64, requires_grad=True)
        optimizer = getattr(package.optim, name)([w], lr=0.1)
        steps(optimizer, w, 3)
        other = w.detach().clone().requires_grad_()
        another = getattr(package.optim, name)([other], lr=0.7)
        another.load_state_dict(copy(optimizer.state_dict()))
        steps(optimizer, w, 3)
        steps(another, other, 3)
        return w.tolist(), other.tolist()

    def steps(optimizer: Any, w: Any, count: int) -> None:
        for _ in range(count):
            optimizer.zero_grad()
            (w**2).sum().backward()
            optimizer.step()

    for copy in (deepcopy, dict):  # the state of a state_dict is the optimizer's own
        own, expected = resumed(autodiff_kit, copy), resumed(torch, copy)

        assert own == (pytest.approx(expected[0], rel=1e-12), pytest.approx(expected[1], rel=1e-12))
        if copy is deepcopy:
            assert (own[0] == own[1]) == (name != "NAdam")  # which remembers a float32, too


GIVEN = """
O, nn, step_lr = torch.optim, torch.nn, torch.optim.lr_scheduler.StepLR
a = torch.tensor([1.0, 2.0], requires_grad=True)
b = torch.ones(1, requires_grad=True)
a.grad = torch.tensor([1.0, -2.0])
opt = O.SGD([a], lr=0.1, momentum=0.9)
"""

PROGRAMS = {
    "defaults and texts": """
        for name in ("SGD", "Adam", "AdamW", "RMSprop", "Adagrad", "Adadelta", "NAdam", "RAdam"):
            o = getattr(O, name)([a])
            print(o, o.defaults, list(o.param_groups[0]), len(o.param_groups), o.state)
            before = a._version
            o.step()
            print(a, a._version - before if name != "AdamW" else "", a.grad)
            print(sorted(o.state_dict()["state"][0]) if o.state else None)
        print(opt.state_dict(), isinstance(O.AdamW([a]), O.Adam), isinstance(opt, O.Optimizer))
    """,
    "groups have options of their own": """
        o = O.SGD([{"params": [a], "lr": 0.5}, {"params": b, "note": "mine"}], lr=0.1)
        o.add_param_group({"params": torch.ones(1, requires_grad=True), "momentum": 0.3})
        print(o, o.state_dict())
        for group in o.param_groups:
            group["lr"] /= 10
        o.step()
        print(a, b)
    """,
    "names of parameters": """
        o = O.SGD(nn.Linear(1, 1).named_parameters())
        print(o, o.state_dict()["param_groups"][0]["param_names"])
    """,
    "steps are not recorded but counted": """
        y = (a * a).sum()
        opt.step()
        print(a, a._version, a.is_leaf, a.grad_fn, a.grad)
        try:
            y.backward()
        except RuntimeError as error:
            print(str(error)[:60])
    """,
    "gradients are forgotten or set to zeros": """
        kept = a.grad
        opt.zero_grad(set_to_none=False)
        print(a.grad, kept, a.grad is kept)
        opt.zero_grad()
        print(a.grad, kept)
        opt.step()
        print(a, a._version)
        import warnings
        warnings.simplefilter("ignore")
        (a ** 3).sum().backward(create_graph=True)
        opt.zero_grad(set_to_none=False)
        print(a.grad)
    """,
    "a closure computes the loss anew": """
        def closure():
            opt.zero_grad()
            loss = (a ** 2).sum()
            loss.backward()
            return loss
        with torch.no_grad():
            print(opt.step(closure), a)
        print(opt.step(lambda: 7.0), opt.step())
    """,
    "tensors as learning rates": """
        o = O.SGD([a], lr=torch.tensor(0.5))
        o.step()
        print(a)
    """,
    "no dimensions, no elements, other types": """
        for value in (torch.tensor(2.0), torch.zeros(0), torch.ones(2).double()):
            for name in ("SGD", "Adam", "RMSprop", "Adagrad"):
                p = value.clone().requires_grad_()
                o = getattr(O, name)([p], lr=0.1)
                for _ in range(3):
                    p.sum().backward()
                    o.step()
                print(p, p._version, p.grad)
    """,
    "a step as soon as a gradient is there": """
        a.grad = None
        o = O.SGD([a], lr=0.1)
        def step_at_once(p):
            o.step()
            o.zero_grad()
        a.register_post_accumulate_grad_hook(step_at_once)
        (a * a).sum().backward()
        print(a, a.grad)
    """,
    "own optimizers": """
        class Sign(O.Optimizer):
            def __init__(self, params, lr):
                super().__init__(params, {"lr": lr})
            @torch.no_grad()
            def step(self, closure=None):
                for group in self.param_groups:
                    for p in group["params"]:
                        self.state[p]["count"] = self.state[p].get("count", 0) + 1
                        p -= group["lr"] * p.grad.sign()
        o = Sign([a], 0.5)
        s = step_lr(o, 1)
        o.step()
        s.step()
        print(a, o, o.state_dict())
    """,
    "state is loaded in the type of its parameter": """
        opt.step()
        state = opt.state_dict()
        c = torch.ones(2, dtype=torch.float64, requires_grad=True)
        o = O.SGD([c])
        o.load_state_dict(state)
        print(o, o.state[c], state["state"][0]["momentum_buffer"])
        o.param_groups[0]["lr"] = 9
        print(opt.param_groups[0]["lr"])
        m = O.Adam([a])
        m.step()
        n = O.Adam([c])
        n.load_state_dict(m.state_dict())
        print(n.state_dict()["state"])
        opt.load_state_dict({"state": {}, "param_groups": state["param_groups"]})
        print(opt.state)
    """,
    "duplicates warn": """
        print(O.SGD([b, b]))
    """,
    "StepLR": """
        s = step_lr(opt, 2, gamma=0.5)
        print(s.get_last_lr(), opt.param_groups[0]["initial_lr"], s.base_lrs, s.last_epoch)
        for _ in range(5):
            opt.step()
            s.step()
            print(s.get_last_lr(), opt.param_groups[0]["lr"], s.last_epoch)
        state = s.state_dict()
        print({k: state[k] for k in ("step_size", "gamma", "base_lrs", "last_epoch", "_last_lr")})
        again = step_lr(opt, 7)
        again.load_state_dict(state)
        print(again.step_size, again.last_epoch, again.get_last_lr(), opt)
        print(step_lr(opt, 2, last_epoch=5).get_last_lr())
    """,
    "a scheduler before its optimizer warns": """
        s = step_lr(opt, 2)
        s.step()
        s.step()
        print(s.get_last_lr())
    """,
    "optimizers are copied and pickled": """
        import copy, pickle
        opt.step()
        twin = copy.deepcopy(opt)
        again = pickle.loads(pickle.dumps(opt))
        print(twin.state_dict(), again.state_dict(), twin.param_groups[0]["params"][0] is a)
    """,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_both_print_the_same(name: str) -> None:
    program = GIVEN + inspect.cleandoc(PROGRAMS[name])
    assert run_as_pytorch(program).raised is None


ERRORS = """
O.SGD()
O.SGD([a], learning_rate=0.1)
O.Adam([a], momentum=0.1)
O.SGD([])
O.SGD(x for x in [])
O.SGD(a)
O.SGD([a * 2])
O.SGD([3])
O.SGD(["w"])
O.SGD([{"params": [a]}, 3])
O.SGD([{"params": {a}}])
O.SGD([("a", a), b])
O.SGD([{"params": [a]}, {"params": [b, a]}])
O.SGD([a], lr=-1)
O.Adam([a], lr=float("nan"))
O.SGD([a], lr=torch.tensor([1.0, 2.0]))
O.SGD([a], momentum=-1)
O.SGD([a], weight_decay=-1)
O.SGD([a], nesterov=True)
O.SGD([a], momentum=0.9, nesterov=True, dampening=0.1)
O.Adam([a], lr=-1)
O.Adam([a], eps=-1)
O.Adam([a], betas=(1, 0.9))
O.Adam([a], betas=(0.9, 1.0))
O.Adam([a], weight_decay=-0.5)
O.AdamW([a], lr=-1)
O.RMSprop([a], lr=-1)
O.RMSprop([a], eps=-1)
O.RMSprop([a], momentum=-1)
O.RMSprop([a], weight_decay=-1)
O.RMSprop([a], alpha=-1)
O.Adagrad([a], lr=-1)
O.Adagrad([a], lr_decay=-1)
O.Adagrad([a], weight_decay=-1)
O.Adagrad([a], initial_accumulator_value=-1)
O.Adagrad([a], eps=-1)
opt.add_param_group([3])
opt.add_param_group({"params": a})
opt.load_state_dict({"state": {}, "param_groups": []})
opt.load_state_dict({"state": {}, "param_groups": [{"params": []}]})
step_lr(3, 2)
step_lr(opt, 2, last_epoch=3)
""".strip().split("\n")


@pytest.mark.parity
@pytest.mark.parametrize("line", ERRORS)
def test_the_kit_fails_as_pytorch_does_and_says_what_to_do(line: str) -> None:
    expected = run(torch, GIVEN + line)

    outcome = run(autodiff_kit, GIVEN + line)

    assert expected.raised is not None, "PyTorch does not fail here"
    assert outcome.raised is not None
    assert outcome.raised[0] == expected.raised[0]
    if "__init__()" in expected.raised[1]:  # Python's own words
        assert outcome.raised == expected.raised
        return
    if "KeyError" in expected.raised:  # shown as a repr: in one line
        assert outcome.raised[1][:60] == expected.raised[1][:60]
        return
    assert outcome.raised == expected.raised
    assert outcome.advice.split("\n")[-1].startswith("-> ")


AVERAGES = """
swa, nn = torch.optim.swa_utils, torch.nn
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Tanh(), nn.Linear(4, 1)).double()
batches = [(torch.arange(15.0).double() + k).sin().view(5, 3) for k in range(3)]
averages = swa.AveragedModel(model, OPTIONS)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
schedule = swa.SWALR(optimizer, 0.05, anneal_epochs=3, anneal_strategy="linear")
for epoch in range(5):
    for batch in batches:
        optimizer.zero_grad()
        (model(batch) ** 2).mean().backward()
        optimizer.step()
    averages.update_parameters(model)
    schedule.step()
    print([round(rate, 9) for rate in schedule.get_last_lr()])
swa.update_bn([(batch, 0) for batch in batches], averages)
print(averages, sorted(schedule.state_dict()))
for name, value in averages.state_dict().items():
    print(name, value)
"""


@pytest.mark.parametrize(
    "options",
    [
        "",
        "use_buffers=True",
        "avg_fn=swa.get_ema_avg_fn(0.9)",
        "avg_fn=swa.get_swa_avg_fn()",
        "multi_avg_fn=swa.get_ema_multi_avg_fn(0.9)",
    ],
)
def test_averages_of_a_model_are_pytorchs(options: str) -> None:
    assert run_as_pytorch(AVERAGES.replace("OPTIONS", options)).raised is None


STATES = """
import pickle
S = torch.optim.lr_scheduler
w = torch.nn.Parameter(torch.tensor([1.0, -2.0, 3.0]))
for make in (
    lambda o: S.CyclicLR(o, 0.01, 0.1), lambda o: S.CyclicLR(o, 0.01, 0.1, mode="exp_range"),
    lambda o: S.OneCycleLR(o, 0.1, total_steps=10), lambda o: S.OneCycleLR(
        o, 0.1, total_steps=10, three_phase=True), lambda o: S.ReduceLROnPlateau(o, "max"),
    lambda o: S.ReduceLROnPlateau(o, min_lr=[1e-3]),
):
    optimizer = torch.optim.SGD([w], lr=0.1, momentum=0.9)
    schedule = make(optimizer)
    for _ in range(4):
        optimizer.step()
        schedule.step(*([1.0] if isinstance(schedule, S.ReduceLROnPlateau) else []))
    print(schedule.state_dict())
    twin = make(torch.optim.SGD([w], lr=0.1, momentum=0.9))
    twin.load_state_dict(schedule.state_dict())
    print(twin.state_dict() == schedule.state_dict(), optimizer.param_groups[0]["lr"])
for options in ({}, {"lambd": 0.0}):
    optimizer = torch.optim.ASGD([w], lr=0.1, **options)
    for _ in range(2):
        w.grad = torch.ones(3)
        optimizer.step()
        print(w._version)
for foreach in (None, False, True):
    w.grad = torch.tensor([5.0, -5.0, 0.5])
    torch.nn.utils.clip_grad_value_(w, 1.0, foreach=foreach)
    print(w.grad, w.grad._version)
torch.manual_seed(0)
print(torch.nn.init.sparse_(m := torch.empty(4, 3), 0.5)._version)
x = torch.arange(24.0).reshape(2, 3, 4)
views = x, x[0].t(), x[:, 1:, ::2], x[1, 2], x.permute(2, 0, 1), x[:1].expand(5, 3, 4)
for view in (*views, x[0, 0, 0]):
    copy = pickle.loads(pickle.dumps(view))
    print(copy, copy.stride(), copy.storage_offset(), copy.is_contiguous(), copy._version)
"""


def test_states_and_versions_are_pytorchs() -> None:
    assert run_as_pytorch(STATES).raised is None


HOOKS = """
w = torch.ones(2, requires_grad=True)
optimizer = torch.optim.SGD([w], lr=1.0)
before = optimizer.register_step_pre_hook(lambda o, args, kwargs: print(len(args), kwargs))
after = optimizer.register_step_post_hook(lambda o, args, kwargs: print("after", o is optimizer))
w.sum().backward()
optimizer.step(closure=None)
before.remove()
optimizer.step()
after.remove()
optimizer.step()
optimizer.register_step_pre_hook(lambda o, args, kwargs: (args, {"closure": lambda: 7}))
print(optimizer.step())

class Own(torch.optim.Optimizer):
    def step(self):
        print("step")

own = Own([w], {})
own.register_step_post_hook(lambda *args: print("after"))
own.step()
"""
REFUSED = """
torch.optim.ASGD([w], lr=-1)
torch.optim.ASGD([w], weight_decay=-1)
torch.optim.Rprop([w], lr=-1)
torch.optim.Rprop([w], etas=(2, 3))
torch.optim.Adam([w], lr=None)
torch.optim.Adagrad([w], lr=[1])
torch.optim.RMSprop([w], eps='a')
torch.optim.swa_utils.get_ema_avg_fn(2)
torch.optim.swa_utils.SWALR(torch.optim.SGD([w]), 0.1, anneal_strategy="x")
torch.optim.swa_utils.SWALR(torch.optim.SGD([w]), 0.1, anneal_epochs=-1)
torch.optim.swa_utils.SWALR(torch.optim.SGD([w]), [0.1, 0.2])
torch.optim.swa_utils.AveragedModel(torch.nn.ReLU(), avg_fn=print, multi_avg_fn=print)
"""


def test_hooks_of_a_step_run_as_pytorchs() -> None:
    assert run_as_pytorch(HOOKS).raised is None


@pytest.mark.parametrize("call", REFUSED.strip().split("\n"))
def test_options_are_refused_in_pytorchs_words(call: str) -> None:
    assert run_as_pytorch(f"w = torch.ones(1, requires_grad=True)\n{call}").raised is not None


def test_a_schedule_made_after_a_step_warns_of_the_next_one_that_comes_too_early() -> None:
    program = """
w = torch.ones(1, requires_grad=True)
optimizer = torch.optim.SGD([w], lr=1.0)
optimizer.step()
schedule = torch.optim.lr_scheduler.StepLR(optimizer, 1)
schedule.step()
"""
    assert len(run_as_pytorch(program).warned) == 1
