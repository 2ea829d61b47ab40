"""Is each rule the cotangent times the operation's own slope?"""

import numpy as np

from autodiff_kit.grading.checks import check


def numbers(rng, low=0.5, high=3.0):
    """Return a few numbers of both signs, far enough from 0."""
    size = int(rng.integers(2, 5))
    return rng.uniform(low, high, size) * rng.choice([-1.0, 1.0], size)


def slope(f, x, h=1e-5):
    """Return the slope of f at each number: by moving it a little up and down."""
    return (f(x + h) - f(x - h)) / (2 * h)


def pair(rng):
    x = numbers(rng)
    y = rng.uniform(1.2, 2.5, x.shape) * rng.choice([-1.0, 1.0], x.shape)
    return {"g": rng.uniform(1.5, 3.0, x.shape), "x": x, "y": y}


@check(step="mul", points=2, concept="rule of x * y")
class Mul:
    shown = "g = 10, x = 3, y = 5"
    example = {"g": np.array([10.0]), "x": np.array([3.0]), "y": np.array([5.0])}

    def generate(rng):
        return pair(rng)

    def drive(step, data):
        return step.mul_rule(data["g"], data["x"], data["y"])

    def expected(data):
        g, x, y = data["g"], data["x"], data["y"]
        return (g * slope(lambda x: x * y, x), g * slope(lambda y: x * y, y))


@check(step="div", points=2, concept="rule of x / y")
class Div:
    shown = "g = 10, x = 3, y = 2"
    example = {"g": np.array([10.0]), "x": np.array([3.0]), "y": np.array([2.0])}

    def generate(rng):
        return pair(rng)

    def drive(step, data):
        return step.div_rule(data["g"], data["x"], data["y"])

    def expected(data):
        g, x, y = data["g"], data["x"], data["y"]
        return (g * slope(lambda x: x / y, x), g * slope(lambda y: x / y, y))


@check(step="exp", points=2, concept="rule of exp(x)")
class Exp:
    shown = "g = 10, x = 2, out = exp(2) = 7.389"
    example = {"g": np.array([10.0]), "x": np.array([2.0])}

    def generate(rng):
        x = rng.uniform(0.2, 2.0, 3) * rng.choice([-1.0, 1.0], 3)
        return {"g": rng.uniform(1.5, 3.0, 3), "x": x}

    def drive(step, data):
        return step.exp_rule(data["g"], data["x"], np.exp(data["x"]))

    def expected(data):
        return data["g"] * slope(np.exp, data["x"])


@check(step="pow", points=2, concept="rule of x ** n", cases=4)
class Pow:
    shown = "g = 10, x = [2, 0], n = 3"
    example = {"g": np.array([10.0, 10.0]), "x": np.array([2.0, 0.0]), "n": 3}

    def generate(rng):
        x = np.append(numbers(rng), 0.0)
        n = int(rng.integers(1, 5))
        return {"g": rng.uniform(1.5, 3.0, x.shape), "x": x, "n": n}

    def drive(step, data):
        return step.pow_rule(data["g"], data["x"], data["n"])

    def expected(data):
        return data["g"] * slope(lambda x: x ** data["n"], data["x"])


@check(step="relu", points=2, concept="rule of max(x, 0)")
class Relu:
    shown = "g = [10, 20, -30], x = [-1, 0, 4]"
    example = {"g": np.array([10.0, 20.0, -30.0]), "x": np.array([-1.0, 0.0, 4.0])}

    def generate(rng):
        x = rng.permutation(np.append(numbers(rng), [0.0, 1.3, -1.7]))
        return {"g": rng.uniform(1.5, 3.0, x.shape) * rng.choice([-1.0, 1.0], x.shape), "x": x}

    def drive(step, data):
        return step.relu_rule(data["g"], data["x"])

    def expected(data):
        return np.array([g if x > 0 else 0.0 for g, x in zip(data["g"], data["x"], strict=True)])
