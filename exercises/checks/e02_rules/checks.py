"""Is each rule the gradient times the operation's own slope, to the last digits?"""

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


def numbers(rng, low=0.5, high=3.0):
    """Return a few numbers of both signs, far enough from 0."""
    size = int(rng.integers(2, 5))
    return rng.uniform(low, high, size) * rng.choice([-1.0, 1.0], size)


def with_infinity(data, names):
    """Add a place to the real inputs for each of some names: the input of that name is infinite."""
    for name in names:
        for other in {"g", "x", "y"} & {*data}:
            data[other] = np.append(data[other], np.inf if other == name else 1.5)
    return data


def pair(rng):
    x = numbers(rng)
    y = rng.uniform(1.2, 2.5, x.shape) * rng.choice([-1.0, 1.0], x.shape)
    return {"g": rng.uniform(1.5, 3.0, x.shape), "x": x, "y": y}


@check(step="mul", points=1.5, concept="rule of x * y", using=[contributions])
class Mul:
    caption = "g = 10, x = 3, y = 5"
    example = {"g": np.array([10.0]), "x": np.array([3.0]), "y": np.array([5.0])}
    in_words = ("contribution to x:", "contribution to y:")
    picture = first_difference("x", "y")

    def generate(rng):
        data = with_complex(rng, pair(rng), "gxy")
        # At one place x * y is infinite, and the contributions are not.
        place = int(rng.integers(data["x"].size))
        for name, power in (("g", -120.0), ("x", 180.0), ("y", 180.0)):
            data[name][place] *= 10.0**power
        return with_infinity(data, "xy")

    def drive(step, data):
        return contributions(step.mul_rule, data, "gxy", 2)

    def expected(data):
        return contributions(lambda g, x, y: (g * y, g * x), data, "gxy", 2)

    compare, diagnose = right_to_twelve_digits, mistake


@check(step="div", points=1.5, concept="rule of x / y", using=[contributions])
class Div:
    caption = "g = 10, x = 3, y = 2"
    example = {"g": np.array([10.0]), "x": np.array([3.0]), "y": np.array([2.0])}
    in_words = ("contribution to x:", "contribution to y:")
    picture = first_difference("x", "y")

    def generate(rng):
        data = pair(rng)
        # No step fits all places: the denominators differ by many orders of magnitude.
        data["y"] *= 10.0 ** rng.permutation([-9.0, 0.0, 9.0, 18.0])[: data["y"].size]
        return with_infinity(with_complex(rng, data, "gxy"), "x")

    def drive(step, data):
        return contributions(step.div_rule, data, "gxy", 2)

    def expected(data):
        return contributions(lambda g, x, y: (g / y, -(g / y) * (x / y)), data, "gxy", 2)

    compare, diagnose = right_to_twelve_digits, mistake


@check(step="exp", points=1.5, concept="rule of exp(x)", using=[contributions])
class Exp:
    caption = "g = 10, x = 2, out = exp(2) = 7.389"
    example = {"g": np.array([10.0]), "x": np.array([2.0]), "out": np.exp([2.0])}
    picture = first_difference("x")

    def generate(rng):
        x = rng.uniform(0.2, 2.0, 4) * rng.choice([-1.0, 1.0], 4)
        x[int(rng.integers(4))] *= 100.0
        data = with_complex(rng, {"g": rng.uniform(1.5, 3.0, 4), "x": x}, "gx")
        real, imaginary = data["complex"]["x"]
        turned = np.exp(real + 1j * imaginary)
        data["complex"]["out"] = [turned.real.copy(), turned.imag.copy()]
        with_infinity(data, "x")
        return {**data, "out": np.exp(data["x"])}

    def drive(step, data):
        return contributions(step.exp_rule, data, ["g", "x", "out"], 1)

    def expected(data):
        return contributions(lambda g, x: g * np.exp(x), data, "gx", 1)

    compare, diagnose = right_to_twelve_digits, mistake


@check(step="pow", points=1.5, concept="rule of x ** n", using=[contributions])
class Pow:
    caption = "g = 10, x = [2, 0], n = 3; and the same with n = 2"
    example = {"g": np.array([10.0, 10.0]), "x": np.array([2.0, 0.0]), "n": 3, "m": 2}
    in_words = ("contribution for n = 3:", "for n = 2:")
    picture = first_difference("x, for n = 3", "x, for n = 2")

    kinds = (2, 3, 4)

    def generate(rng, n):
        m = 1  # with it it makes no difference what x is
        # One is negative each time.
        x = np.append(numbers(rng), [-rng.uniform(0.5, 3.0), 0.0, rng.uniform(1.5, 3.0)])
        data = with_complex(
            rng, {"g": rng.uniform(1.5, 3.0, x.shape), "x": x, "n": n, "m": m}, "gx"
        )
        # At the last place x ** n is infinite, and the contribution is not.
        data["x"][-1] *= 10.0 ** (309 // n)
        return with_infinity(data, "x")

    def drive(step, data):
        def both(g, x, n, m):
            copies = g.copy(), x.copy()  # whether the rule changes its inputs is asked elsewhere
            return step.pow_rule(g, x, n), step.pow_rule(*copies, m)

        return contributions(both, data, "gxnm", 2)

    def expected(data):
        def both(g, x, n, m):
            return g * n * x ** (n - 1), g * m * x ** (m - 1)

        return contributions(both, data, "gxnm", 2)

    compare, diagnose = right_to_twelve_digits, mistake


@check(step="relu", points=1.5, concept="rule of max(x, 0)")
class Relu:
    caption = "g = [10, 20, -30], x = [-1, 0, 4]"
    example = {"g": np.array([10.0, 20.0, -30.0]), "x": np.array([-1.0, 0.0, 4.0])}
    picture = first_difference("x")

    def generate(rng):
        # A difference moves some of them over the corner, and others not at all.
        near = 10.0 ** -rng.uniform(20.0, 300.0, 4) * [1.0, 1.0, -1.0, -1.0]
        far = [0.0, 1.3e150, -1.7e150, np.inf]
        x = rng.permutation(np.concatenate([numbers(rng), near, far]))
        return {"g": rng.uniform(1.5, 3.0, x.shape) * rng.choice([-1.0, 1.0], x.shape), "x": x}

    def drive(step, data):
        return step.relu_rule(data["g"], data["x"])

    def expected(data):
        return np.array([g if x > 0 else 0.0 for g, x in zip(data["g"], data["x"], strict=True)])

    def diagnose(data, value, expected):
        # On the corner itself a central difference has half of g.
        half = np.where(data["x"] == 0, data["g"] / 2, expected)
        return "relu_differences" if np.allclose(value, half) else mistake(data, value, expected)

    compare = right_to_twelve_digits


mul_inputs = untouched(Mul, name="MulInputs", points=0.5)
div_inputs = untouched(Div, name="DivInputs", points=0.5)
exp_inputs = untouched(Exp, name="ExpInputs", points=0.5)
pow_inputs = untouched(Pow, name="PowInputs", points=0.5)
relu_inputs = untouched(Relu, name="ReluInputs", points=0.5)
