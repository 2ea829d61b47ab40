"""Ten backward rules of operations that models are made of: is each one the VJP?

The right answers are made in another way than the solution: place by place, or with the whole
Jacobian.
"""

import numpy as np

from autodiff_kit.grading.array_pictures import first_difference
from autodiff_kit.grading.checks import check
from autodiff_kit.grading.rules import (
    contributions,
    mistake,
    right_to_twelve_digits,
    with_complex,
)


def sizes(rng, count):
    """Return different sizes, so that no axis can stand for another."""
    return [int(size) for size in rng.permutation([2, 3, 4, 5])[:count]]


def huge(rng, shapes):
    """Return inputs whose product overflows, though no contribution does; and complex ones.

    One number of g is infinite: so is what is multiplied with it, and nothing else.
    """
    arrays = {name: rng.normal(size=shape) for name, shape in shapes.items()}
    data = with_complex(rng, arrays, [*shapes])
    for name in shapes:
        data[name] *= 1e-120 if name == "g" else 1e160
    data["g"][tuple(int(rng.integers(n)) for n in data["g"].shape)] = np.inf
    return data


def complex_rows(rng, n, m):
    """Return complex rows of ordinary size."""
    return rng.normal(size=(n, m)) + 1j * rng.normal(size=(n, m))


def parts_of(**arrays):
    """Return complex inputs as `contributions` reads them."""
    return {name: [array.real.copy(), array.imag.copy()] for name, array in arrays.items()}


def exponentials(x):
    """Return the logarithm of the sum of exponentials of each row, and their shares of it."""
    shift = x.real.max(axis=1, keepdims=True)
    powers = np.exp(x - shift)
    total = powers.sum(axis=1, keepdims=True)
    return (np.log(total) + shift)[:, 0], powers / total


def normalized(x):
    """Return each row with mean 0 and variance 1, and its standard deviation."""
    moved = x - x.mean(axis=1, keepdims=True)
    std = np.sqrt((moved * moved).mean(axis=1, keepdims=True))
    return moved / std, std


def by_jacobian(g, jacobians):
    """Return g times the Jacobian, for each row."""
    return np.array([np.einsum("i,ij->j", *pair) for pair in zip(g, jacobians, strict=True)])


class Rule:
    compare, diagnose = right_to_twelve_digits, mistake


@check(step="columns", points=1, concept="rule of the columns, one after the other")
class Columns(Rule):
    caption = "g = [1, 2, 3, 4, 5, 6] and x of shape (2, 3)"
    example = {"g": np.arange(1.0, 7.0), "shape": [2, 3]}
    picture = first_difference("x")

    def generate(rng):
        shape = sizes(rng, 2)
        return {"g": rng.normal(size=shape[0] * shape[1]), "shape": shape}

    def drive(step, data):
        return step.columns_rule(data["g"], tuple(data["shape"]))

    def expected(data):
        n, m = data["shape"]
        return np.array([[data["g"][column * n + row] for column in range(m)] for row in range(n)])


@check(step="scale", points=1, concept="rule of a factor for each row", using=[contributions])
class Scale(Rule):
    caption = "g = [[1, 2], [3, 4]], x = [[5, 6], [7, 8]], s = [[10], [100]]"
    example = {
        "g": np.array([[1.0, 2.0], [3.0, 4.0]]),
        "x": np.array([[5.0, 6.0], [7.0, 8.0]]),
        "s": np.array([[10.0], [100.0]]),
    }
    in_words = ("contribution to x:", "contribution to s:")
    picture = first_difference("x", "s")

    def generate(rng):
        n, m = sizes(rng, 2)
        return huge(rng, {"g": (n, m), "x": (n, m), "s": (n, 1)})

    def drive(step, data):
        return contributions(step.scale_rule, data, "gxs", 2)

    def expected(data):
        def rule(g, x, s):
            to_s = [[np.einsum("j,j", *rows)] for rows in zip(g, x, strict=True)]
            return np.array([row * f for row, (f,) in zip(g, s, strict=True)]), np.array(to_s)

        return contributions(rule, data, "gxs", 2)


@check(step="outer", points=1, concept="rule of the outer product", using=[contributions])
class Outer(Rule):
    caption = "g = [[1, 2, 3], [4, 5, 6]], x = [1, -1], y = [1, 0, 2]"
    example = {
        "g": np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]),
        "x": np.array([1.0, -1.0]),
        "y": np.array([1.0, 0.0, 2.0]),
    }
    in_words = ("contribution to x:", "contribution to y:")
    picture = first_difference("x", "y")

    def generate(rng):
        n, m = sizes(rng, 2)
        return huge(rng, {"g": (n, m), "x": (n,), "y": (m,)})

    def drive(step, data):
        return contributions(step.outer_rule, data, "gxy", 2)

    def expected(data):
        def rule(g, x, y):
            return np.einsum("ij,j->i", g, y), np.einsum("ij,i->j", g, x)

        return contributions(rule, data, "gxy", 2)


@check(step="linear", points=1, concept="rule of a linear layer", using=[contributions])
class Linear(Rule):
    caption = "g = [[1, 2]], x = [[3, 4, 5]], w = [[1, 0, 2], [0, 1, -1]]"
    example = {
        "g": np.array([[1.0, 2.0]]),
        "x": np.array([[3.0, 4.0, 5.0]]),
        "w": np.array([[1.0, 0.0, 2.0], [0.0, 1.0, -1.0]]),
    }
    in_words = ("contribution to x:", "contribution to w:")
    picture = first_difference("x", "w")

    def generate(rng):
        n, k, m = sizes(rng, 3)
        return huge(rng, {"g": (n, m), "x": (n, k), "w": (m, k)})

    def drive(step, data):
        return contributions(step.linear_rule, data, "gxw", 2)

    def expected(data):
        def rule(g, x, w):
            return np.einsum("im,mk->ik", g, w), np.einsum("im,ik->mk", g, x)

        return contributions(rule, data, "gxw", 2)


@check(step="gather", points=1, concept="rule of rows that are looked up")
class Gather(Rule):
    caption = "g = [[1, 2], [3, 4], [5, 6]], rows = [2, 0, 2], a table of shape (4, 2)"
    example = {
        "g": np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]),
        "rows": np.array([2, 0, 2]),
        "shape": [4, 2],
    }
    picture = first_difference("table")

    kinds = ("a row twice", "a row three times", "the last row")

    def generate(rng, kind):
        height, width = int(rng.integers(5, 8)), int(rng.integers(2, 4))
        rows = [int(row) for row in rng.permutation(height - 2)[:3] + 1]  # neither first nor last
        if kind == "the last row":
            rows.append(height - 1)
        rows = rng.permutation([*rows, *rows[:1] * (2 if "three" in kind else 1)])
        g = rng.uniform(1.5, 3.0, (len(rows), width)) * rng.choice([-1.0, 1.0], (len(rows), width))
        return {"g": g, "rows": rows, "shape": [height, width]}

    def drive(step, data):
        return step.gather_rule(data["g"], data["rows"], tuple(data["shape"]))

    def expected(data):
        total = np.zeros(data["shape"])
        for row, part in zip(data["rows"], data["g"], strict=True):
            total[row] += part
        return total


@check(step="cumsum", points=1, concept="rule of sums so far")
class Cumsum(Rule):
    caption = "g = [[1, 2, 4], [10, 20, 40]]"
    example = {"g": np.array([[1.0, 2.0, 4.0], [10.0, 20.0, 40.0]])}
    picture = first_difference("x")

    def generate(rng):
        return {"g": rng.normal(size=sizes(rng, 2))}

    def drive(step, data):
        return step.cumsum_rule(data["g"])

    def expected(data):
        m = data["g"].shape[1]
        return np.array([[sum(row[j:]) for j in range(m)] for row in data["g"]])


@check(step="max", points=1, concept="rule of the maximum")
class Max(Rule):
    caption = "g = [10, 20], x = [[1, 5, 2], [3, 0, 3]]"
    example = {"g": np.array([10.0, 20.0]), "x": np.array([[1.0, 5.0, 2.0], [3.0, 0.0, 3.0]])}
    picture = first_difference("x")

    kinds = ("equal ones", "nearly equal ones", "negative ones")

    def generate(rng, kind):
        n, m = int(rng.integers(2, 4)), int(rng.integers(4, 6))
        x = rng.uniform(0.5, 3.0, (n, m)) * rng.choice([-1.0, 1.0], (n, m))
        if kind == "negative ones":
            x = -np.abs(x)
        for row in x if kind != "negative ones" else ():
            one, other = sorted(rng.permutation(m)[:2])
            row[one] = row[other] = 4.0
            if kind == "nearly equal ones":
                row[one] -= 2.0**-45  # any step of a difference is larger
        return {"g": rng.uniform(1.5, 3.0, n) * rng.choice([-1.0, 1.0], n), "x": x}

    def drive(step, data):
        return step.max_rule(data["g"], data["x"])

    def expected(data):
        total = np.zeros(data["x"].shape)
        for to_row, g, row in zip(total, data["g"], data["x"].tolist(), strict=True):
            to_row[row.index(max(row))] = g
        return total


@check(step="logsumexp", points=1, concept="rule of log-sum-exp", using=[contributions])
class LogSumExp(Rule):
    caption = "g = [10, 20], x = [[0, 0], [0, log(3)]], z = [log(2), log(4)]"
    example = {
        "g": np.array([10.0, 20.0]),
        "x": np.log([[1.0, 1.0], [1.0, 3.0]]),
        "z": np.log([2.0, 4.0]),
    }
    picture = first_difference("x")

    def generate(rng):
        m = int(rng.choice([2, 4, 5]))
        x = rng.normal(size=(3, m)) + rng.permutation([-800.0, 0.0, 800.0])[:, None]
        turned, g = complex_rows(rng, 3, m), complex_rows(rng, 1, 3)[0]
        return {
            "g": rng.uniform(1.5, 3.0, 3),
            "x": x,
            "z": exponentials(x)[0],
            "complex": parts_of(g=g, x=turned, z=exponentials(turned)[0]),
        }

    def drive(step, data):
        return contributions(step.logsumexp_rule, data, "gxz", 1)

    def expected(data):
        def rule(g, x, z):
            return np.array([f * row for f, row in zip(g, exponentials(x)[1], strict=True)])

        return contributions(rule, data, "gxz", 1)


@check(step="softmax", points=1, concept="rule of softmax", using=[contributions])
class Softmax(Rule):
    caption = "g = [[10, 20], [4, 8]], z = [[0.5, 0.5], [0.25, 0.75]]"
    example = {
        "g": np.array([[10.0, 20.0], [4.0, 8.0]]),
        "z": np.array([[0.5, 0.5], [0.25, 0.75]]),
    }
    picture = first_difference("x")

    def generate(rng):
        n, m = sizes(rng, 2)
        turned = exponentials(complex_rows(rng, n, m))[1]
        return {
            "g": rng.normal(size=(n, m)),
            "z": exponentials(rng.normal(size=(n, m)))[1],
            "complex": parts_of(g=complex_rows(rng, n, m), z=turned),
        }

    def drive(step, data):
        return contributions(step.softmax_rule, data, "gz", 1)

    def expected(data):
        def rule(g, z):
            return by_jacobian(g, [np.diag(row) - np.outer(row, row) for row in z])

        return contributions(rule, data, "gz", 1)


@check(step="layer_norm", points=1, concept="rule of layer norm", using=[contributions])
class LayerNorm(Rule):
    caption = "g = [[6, 0, 0, 2]], z = [[1, 1, -1, -1]], std = [[2]]"
    example = {
        "g": np.array([[6.0, 0.0, 0.0, 2.0]]),
        "z": np.array([[1.0, 1.0, -1.0, -1.0]]),
        "std": np.array([[2.0]]),
    }
    picture = first_difference("x")

    def generate(rng):
        n, m = (int(size) for size in rng.permutation([3, 4, 5])[:2])
        data = {"g": rng.normal(size=(n, m))}
        data["z"], data["std"] = normalized(rng.normal(size=(n, m)) * rng.uniform(1.5, 4.0))
        z, std = normalized(complex_rows(rng, n, m))
        return {**data, "complex": parts_of(g=complex_rows(rng, n, m), z=z, std=std)}

    def drive(step, data):
        return contributions(step.layer_norm_rule, data, ["g", "z", "std"], 1)

    def expected(data):
        def rule(g, z, std):
            m = z.shape[1]
            pairs = zip(z, std, strict=True)
            return by_jacobian(g, [(np.eye(m) - (1 + np.outer(r, r)) / m) / s for r, s in pairs])

        return contributions(rule, data, ["g", "z", "std"], 1)
