"""Functions as learners write them, good and odd; the labs are tried with all of them.

Each takes one number, most of them a tensor. They stand in a file of their own, so that the labs
can read their source.
"""

from __future__ import annotations

import collections
import functools
import math
import random
import threading
import warnings
from typing import Any

import numpy as np

import autodiff_kit as torch

count = 0
log: list[float] = []
w = torch.tensor(3.0, requires_grad=True)


def square(x):
    return x * x


def recursive(x, n=3):
    return x if n == 0 else x * recursive(x, n - 1)


def closed_over(k):
    def inner(x):
        return x * k

    return inner


def with_default(x=2.0, scale=3.0):
    return x * scale


def keyword_only(x, *, scale=3.0):
    return x * scale


def positional_only(x, /):
    return x * x * x


def with_more(x, *more, scale=2.0, **rest):
    return x * scale


def in_place(x):
    y = x.clone()
    y.mul_(3)
    y += 1
    return y


def best_so_far(x):
    w = x * torch.ones(2)
    with torch.no_grad():
        best = w[0]
    return (w * w - 0 * best).sum()


def kink(x):
    return x if x > 0 else -x * 3


def jump(x):
    return x * x if x > 1 else 3 * x + 5


def doubling(x):
    for _ in range(20):
        if x.abs() >= 100:
            break
        x = x * 2
    return x


def catching(x):
    try:
        return x * undefined
    except NameError:
        return x * 2


def warning(x):
    warnings.warn("careful", stacklevel=1)
    return x * 2


def importing(x):
    import math as m

    return x * m.pi


def with_tuple(x, factors=(1.0, 2.0)):
    return sum(x * factor for factor in factors)


def outside_weight(x):
    return x * w


def detached(x):
    return x.detach() * x


def half_detached(x):
    return x * x + x.detach() * 2


def hooked(x):
    x.register_hook(lambda g: g * 10)
    return x * 2


def seeded(x):
    torch.manual_seed(0)
    return x * torch.rand(())


def gradient_inside(x):
    return torch.autograd.grad(x * x * x, x, create_graph=True)[0]


def one_element(x):
    return (x * 2).reshape(1)


def view(x):
    return (x * torch.ones(3))[1:2]


def of_many(x):
    return (x * torch.ones(300, 300)).mean()


def of_nothing(x):
    return (x * torch.ones(0)).sum()


def decorator(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return function(*args, **kwargs) * 2

    return wrapper


@decorator
def decorated(x):
    return x * x


class Called:
    def __call__(self, x):
        return x * 2


class Methods:
    scale = 2.0

    def method(self, x):
        return x * self.scale

    @staticmethod
    def static(x):
        return x * 2

    @classmethod
    def of_class(cls, x):
        return x * cls.scale


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.tensor(2.0))

    def forward(self, x):
        return self.weight * x


SMOOTH: dict[str, Any] = {
    f.__name__: f
    for f in (
        *(square, recursive, with_default, keyword_only, positional_only, with_more, in_place),
        *(kink, jump, doubling, catching, warning, importing, with_tuple, outside_weight),
        *(detached, half_detached, hooked, seeded, gradient_inside, one_element, view, of_many),
        *(of_nothing, decorated, best_so_far),
    )
} | {
    "closure": closed_over(2.0),
    "lambda": lambda x: x * x - 1,
    "partial": functools.partial(with_default, scale=5.0),
    "object": Called(),
    "method": Methods().method,
    "static method": Methods.static,
    "class method": Methods.of_class,
    "module": Net(),
    "builtin": abs,
}


# -- without a tensor as a result, or without any end ---------


def none(x):
    x * 2


def an_int(x):
    return 3


def a_float(x):
    return (x * x).item()


def a_bool(x):
    return bool(x > 0)


def a_text(x):
    return "hello"


def a_tuple(x):
    return x, x * 2


def a_list(x):
    return [x * 2]


def a_dict(x):
    return {"loss": x * 2}


def an_array(x):
    return (x * 2).detach().numpy()


def a_function(x):
    return lambda: x * 2


def a_generator(x):
    yield x * 2


async def a_coroutine(x):
    return x * 2


async def an_async_generator(x):
    yield x * 2


def by_math(x):
    return math.sin(x)


NO_TENSOR = [
    *(none, an_int, a_float, a_bool, a_text, a_tuple, a_list, a_dict, an_array, a_function),
    *(a_generator, a_coroutine, an_async_generator, by_math),
]


def raising(x):
    raise ValueError("nothing good")


def misspelt(x):
    return x * undefinde  # noqa: F821


def missing_key(x):
    return {}["a"]


def wrong_shape(x):
    return x.reshape(3, 3)


def wrong_type(x):
    return x + "a"


def in_place_on_a_leaf(x):
    return x.mul_(2)


def by_numpy(x):
    return np.sin(x)


def asserting(x):
    assert x.item() == 99
    return x


def leaving(x):
    raise SystemExit(1)


def asking(x):
    return x * float(input("number? "))


RAISING = {
    raising: "ValueError: nothing good",
    misspelt: "NameError: name 'undefinde' is not defined",
    missing_key: "KeyError: 'a'",
    wrong_shape: "RuntimeError: shape '[3, 3]' is invalid for input of size 1",
    wrong_type: "TypeError: unsupported operand type(s) for +: 'Tensor' and 'str'",
    in_place_on_a_leaf: "RuntimeError: a leaf Variable that requires grad is being used in an",
    by_numpy: "RuntimeError: Can't call numpy() on Tensor that requires grad.",
    asserting: "AssertionError",
    leaving: "SystemExit: 1",
}


def endless(x):
    while True:
        pass


def endless_operations(x):
    while True:
        x = x * 1.0


def endless_recursion(x):
    return endless_recursion(x * 1.0)


ENDLESS = [endless, endless_operations]


# -- another answer each time ---------


def counting(x):
    global count
    count += 1
    return x * count


def growing(x):
    log.append(1.0)
    return x * len(log)


def by_random(x):
    return x * random.random()


def by_rand(x):
    return x * torch.rand(())


def by_dropout(x):
    return torch.nn.functional.dropout(x * torch.ones(50), 0.5).sum()


def by_branch(x):
    return x * 2 if random.random() < 0.5 else x * x


class Stateful:
    def __init__(self):
        self.calls = 0

    def __call__(self, x):
        self.calls += 1
        return x * self.calls


VARYING: dict[str, Any] = {
    f.__name__: f for f in (counting, growing, by_random, by_rand, by_dropout, by_branch)
} | {"object": Stateful(), "lambda": lambda x: x * random.random()}


# -- what is told in a sentence of its own --------------------------------------------------------

Out = collections.namedtuple("Out", "loss accuracy")
cache: dict[float, Any] = {}


def as_it_is(x):
    return x


def constant(x):
    return torch.tensor(3.0)


def in_a_thread(x):
    results = []
    thread = threading.Thread(target=lambda: results.append(x * 2))
    thread.start()
    thread.join()
    return results[0]


def changes_what_was_saved(x):
    y = x.exp()
    y += 1
    return y


def runs_backward(x):
    y = x * x
    y.backward()
    return y


own_generator = torch.Generator().manual_seed(0)


def draws_by_default(x, g=own_generator):
    return x * torch.rand((), generator=g)


def list_by_default(x, factors=[2.0, 3.0]):  # noqa: B006 - as a learner writes it
    return x * factors[0] + x * factors[1]


def caching(x):
    key = round(x.item(), 6)
    if key not in cache:
        cache[key] = x * 2
    return cache[key]


def counts_and_goes_on(x):
    global count
    count += 1
    while True:
        w * 1.0


def named(x):
    return Out(x * x, x)
