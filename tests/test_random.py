"""Random numbers: for one seed, PyTorch's."""

from __future__ import annotations

import numpy as np
import pytest

import autodiff_kit as ak
from tests.parity import require_torch

SEEDS = (0, 1, 42, 2**40 + 7)


def _draws(lib, seed):
    """A program that draws in many ways, one after the other, from one stream."""
    lib.manual_seed(seed)
    return [
        lib.randn(3),
        lib.rand(2, 3),
        lib.randn(2, dtype=lib.float64),
        lib.rand(3, dtype=lib.float64),
        lib.randn(1),
        lib.randn(4, 4),
        lib.randn(5, 7, dtype=lib.float64),
        lib.randint(10, (6,)),
        lib.randint(-3, 4, (2, 2)),
        lib.randint(2**30, (3,)),
        lib.randperm(9),
        lib.randperm(1),
        lib.randperm(300, dtype=lib.float32),
        lib.rand_like(lib.zeros(3)),
        lib.randn(1000),
    ]


@pytest.mark.parity
@pytest.mark.parametrize("seed", SEEDS)
def test_one_seed_draws_the_numbers_of_pytorch(seed):
    torch = require_torch()

    ours, theirs = _draws(ak, seed), _draws(torch, seed)

    for a, b in zip(ours, theirs, strict=True):
        a, b = a.numpy(), b.numpy()
        assert a.dtype == b.dtype
        # Blocks of 16 and more go through vector logarithms there: last bits may differ.
        np.testing.assert_allclose(a, b, rtol=3e-6, atol=3e-7)


@pytest.mark.parity
def test_a_generator_of_its_own_leaves_the_default_stream_alone():
    torch = require_torch()

    def program(lib):
        lib.manual_seed(3)
        own = lib.Generator().manual_seed(7)
        return [lib.rand(2, generator=own), lib.rand(2), lib.rand(2, generator=own)]

    for a, b in zip(program(ak), program(torch), strict=True):
        assert a.tolist() == b.tolist()


@pytest.mark.parity
@pytest.mark.filterwarnings("ignore:Initializing zero-element tensors")
def test_what_is_of_no_use_has_been_drawn_all_the_same():
    torch = require_torch()

    def program(lib):
        lib.manual_seed(0)
        lib.nn.Linear(0, 2)  # its bias is drawn from 0 to 0
        after_linear = lib.rand(2)
        with pytest.raises(RuntimeError, match="result type Float can't be cast"):
            lib.nn.functional.dropout(lib.ones(5).long())
        return [after_linear, lib.rand(2)]

    for a, b in zip(program(ak), program(torch), strict=True):
        assert a.tolist() == b.tolist()


def test_the_same_seed_gives_the_same_numbers_again():
    ak.manual_seed(5)
    first = ak.randn(20).tolist()

    ak.manual_seed(5)

    assert ak.randn(20).tolist() == first


def test_random_numbers_of_numpy_are_left_alone():
    np.random.seed(1)
    expected = np.random.random()

    np.random.seed(1)
    ak.manual_seed(9)
    ak.rand(3)

    assert np.random.random() == expected


def test_randint_without_a_number_to_draw_is_refused():
    with pytest.raises(RuntimeError, match="expects 'from' to be less than 'to'"):
        ak.randint(3, 3, (1,))


_DRAWN = """
lib.normal(0.0,1.0,(3,)) lib.normal(1,2,(4,5)) lib.normal(mean=0.,std=1.,size=(2,))
lib.normal(lib.arange(3.),0.5) lib.normal(lib.arange(20.),lib.ones(20)) lib.normal(2.,lib.ones(3))
lib.bernoulli(lib.full((30,),.3)) lib.bernoulli(lib.full((9,),.3).double()) lib.bernoulli(x,.7)
lib.multinomial(p,1,replacement=True) lib.multinomial(p,50,replacement=True) lib.multinomial(p,4)
lib.multinomial(m,3) lib.multinomial(m,3,True) lib.multinomial(m,1) lib.multinomial(p.double(),3)
lib.randn_like(x) lib.randn_like(x.t()) lib.randint_like(x,5) lib.randint_like(x,2,9)
lib.randint_like(x,low=1,high=4) lib.randint(5,(3,)) lib.randint(low=0,high=5,size=(2,2))
lib.randint(0,2**40,(4,)) lib.randint(2**29,(4,)) lib.randint(5,(3,),dtype=lib.float32)
lib.rand(size=(2,3)) lib.randn(size=(2,)) lib.empty(3).normal_(2,3) lib.empty(5,4).normal_(2,3)
lib.empty(3).uniform_(-1,2) lib.empty(20).bernoulli_(.2) lib.empty(3,3).bernoulli_(x/9)
lib.empty(5).exponential_() lib.empty(20).exponential_(2.5) lib.empty(4,dtype=lib.int64).random_()
lib.empty(4).random_() lib.empty(4,dtype=lib.uint8).random_() lib.empty(4).random_(7)
lib.empty(4).random_(-2,7) lib.empty(4,dtype=lib.bool).random_() lib.empty(6).geometric_(.3)
lib.empty(4).cauchy_() lib.empty(4).log_normal_() lib.empty(3,2).t().normal_()
lib.rand_like(x,dtype=lib.float64) lib.normal(0.,1.,(2,),dtype=lib.float64) x.clone().uniform_()
"""


@pytest.mark.parity
@pytest.mark.parametrize("call", _DRAWN.split())
def test_a_draw_is_pytorchs(call: str) -> None:
    torch = require_torch()

    def drawn(lib):
        lib.manual_seed(2147483647)
        own = lib.Generator().manual_seed(5)
        x = lib.arange(9.0).reshape(3, 3)
        names = {"lib": lib, "x": x, "p": (x + 1).reshape(-1) / 45, "m": x + 0.5}
        result = eval(call, names)
        name = call.split("(")[0]
        takes = name in ("lib.normal", "lib.multinomial", "lib.rand") or "_(" in call
        again = (
            eval(call[:-1] + ",generator=own)".replace("(,", "("), {**names, "own": own})
            if (takes and not call.endswith("_()"))
            else result
        )
        return result, again, lib.rand(2)  # afterwards, the stream is where PyTorch's is

    for ours, theirs in zip(drawn(ak), drawn(torch), strict=True):
        assert str(ours.dtype) == str(theirs.dtype)
        assert ours.stride() == theirs.stride()
        np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=3e-6, atol=3e-7)


@pytest.mark.parity
def test_nothing_flows_back_through_a_draw() -> None:
    torch = require_torch()

    def program(lib):
        draws = []
        for draw in ("bernoulli(x)", "normal(x, 1.0)", "normal(1.0, x)", "normal(x, x)"):
            x = lib.full((3,), 0.5, requires_grad=True)
            z = eval(f"lib.{draw}", {"lib": lib, "x": x})
            z.sum().backward()
            draws.append((z.grad_fn.name(), x.grad.tolist()))
        for draw in ("normal_()", "uniform_()", "exponential_()", "bernoulli_(0.5)"):
            x = lib.full((3,), 0.5, requires_grad=True)
            y = x * 2
            eval(f"y.{draw}", {"y": y})
            y.sum().backward()
            draws.append((y.grad_fn.name(), x.grad.tolist()))
        return draws

    assert program(ak) == program(torch)


def test_a_state_is_taken_and_put_back() -> None:
    ak.manual_seed(3)
    ak.randn(1)  # the second one of a pair is kept
    state = ak.get_rng_state()
    expected = ak.randn(3).tolist()

    ak.set_rng_state(state)
    assert ak.randn(3).tolist() == expected

    ak.set_rng_state(state)
    with ak.random.fork_rng():
        ak.rand(5)
    assert ak.randn(3).tolist() == expected


def test_a_new_seed_is_told() -> None:
    seed = ak.seed()

    assert ak.initial_seed() == seed == ak.random.default_generator.initial_seed()
