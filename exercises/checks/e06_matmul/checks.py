"""Are g and the other factor multiplied in the right way, for one matrix and for many?"""

import numpy as np

from autodiff_kit.grading.array_pictures import first_difference
from autodiff_kit.grading.checks import check
from autodiff_kit.grading.rules import (
    contributions,
    mistake,
    right_to_twelve_digits,
    with_complex,
)
from autodiff_kit.grading.untouched import untouched


def sizes(rng):
    """Return different sizes, so that a wrong product mostly does not even fit."""
    return [int(size) for size in rng.permutation([2, 3, 4, 5])[:3]]


def drawn(rng, shapes):
    """Return real matrices so large that a @ b is infinite, though no contribution is; and others.

    The others are complex, and of ordinary size. One number of g is infinite: so is what is
    multiplied with it, and nothing else.
    """
    matrices = {name: rng.normal(size=shape) for name, shape in shapes.items()}
    data = with_complex(rng, matrices, "gab")
    for name, size in (("g", 1e-120), ("a", 1e160), ("b", 1e160)):
        data[name] *= size
    data["g"][tuple(int(rng.integers(n)) for n in data["g"].shape)] = np.inf
    return data


def sums(g, a, b):
    """Sum over the indices themselves: a[i, k] moves z[i, j] with the slope b[k, j]."""
    whole_b = np.broadcast_to(b, (*g.shape[:-2], *b.shape[-2:]))
    whole_a = np.broadcast_to(a, (*g.shape[:-2], *a.shape[-2:]))
    to_a = np.einsum("...ij,...kj->...ik", g, whole_b)
    to_b = np.einsum("...ij,...ik->...kj", g, whole_a)
    return (
        to_a.sum(axis=0) if to_a.ndim > a.ndim else to_a,
        to_b.sum(axis=0) if to_b.ndim > b.ndim else to_b,
    )


def by_indices(data):
    return contributions(sums, data, "gab", 2)


@check(step="matmul", points=3.5, concept="two matrices", using=[contributions])
class Matrices:
    in_words = ("contribution to a:", "contribution to b:")
    picture = first_difference("a", "b")
    caption = "g = [[1, 2], [3, 4]], a = [[1, 0], [2, 1]], b = [[5, 6], [7, 9]]"
    example = {
        "g": np.array([[1.0, 2.0], [3.0, 4.0]]),
        "a": np.array([[1.0, 0.0], [2.0, 1.0]]),
        "b": np.array([[5.0, 6.0], [7.0, 9.0]]),
    }

    def generate(rng):
        n, k, m = sizes(rng)
        shapes = {"g": (n, m), "a": (n, k), "b": (k, m)}
        return drawn(rng, shapes)

    def drive(step, data):
        return contributions(step.matmul_rule, data, "gab", 2)

    expected, compare, diagnose = by_indices, right_to_twelve_digits, mistake


@check(step="batches", points=3, concept="a batch of pairs", using=[contributions])
class Batches:
    in_words = ("contribution to a:", "contribution to b:")
    picture = first_difference("a", "b")
    caption = (
        "batches of two 2 x 2 matrices (a is 1, 2, ... 8, b is 2, 4, ... 16, g is 1, -1, 1, ...)"
    )
    example = {
        "g": np.array([[[1.0, -1.0], [1.0, -1.0]], [[1.0, -1.0], [1.0, -1.0]]]),
        "a": np.arange(1.0, 9.0).reshape(2, 2, 2),
        "b": np.arange(2.0, 18.0, 2.0).reshape(2, 2, 2),
    }

    def generate(rng):
        n, k, m = sizes(rng)
        shapes = {"g": (6, n, m), "a": (6, n, k), "b": (6, k, m)}
        return drawn(rng, shapes)

    def drive(step, data):
        return contributions(step.batch_rule, data, "gab", 2)

    expected, compare, diagnose = by_indices, right_to_twelve_digits, mistake


@check(step="batches", points=2.5, concept="one matrix for the whole batch", using=[contributions])
class Shared:
    in_words = ("contribution to a:", "contribution to b:")
    picture = first_difference("a", "b")
    caption = (
        "a batch of two 1 x 1 matrices, 1 and 2, times one matrix [[3, 4]], with g full of ones"
    )
    example = {
        "g": np.ones((2, 1, 2)),
        "a": np.array([[[1.0]], [[2.0]]]),
        "b": np.array([[3.0, 4.0]]),
    }

    kinds = ("a", "b")  # which of the two is one matrix

    def generate(rng, kind):
        n, k, m = sizes(rng)
        shapes = {"g": (6, n, m), "a": (6, n, k), "b": (6, k, m)}
        return drawn(rng, {**shapes, kind: shapes[kind][1:]})

    def drive(step, data):
        return contributions(step.batch_rule, data, "gab", 2)

    expected, compare, diagnose = by_indices, right_to_twelve_digits, mistake


matmul_inputs = untouched(Matrices, name="MatmulInputs", points=0.5)
batch_inputs = untouched(
    Batches,
    Shared,
    name="BatchInputs",
    points=0.5,
    caption="the examples above, one after the other",
)
