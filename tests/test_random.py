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
