"""Is a gradient summed over just those axes that were stretched?"""

import numpy as np

from autodiff_kit.grading.array_pictures import first_difference
from autodiff_kit.grading.checks import check
from autodiff_kit.grading.untouched import untouched


def summed(g, shape):
    """Send each number of g back to the place that it was copied from, one by one."""
    place = np.arange(int(np.prod(shape))).reshape(shape)
    total = np.zeros(place.size)
    np.add.at(total, np.broadcast_to(place, g.shape).ravel(), g.ravel())
    return total.reshape(shape)


def sizes(rng, count):
    """Return different sizes, so that no axis can stand for another."""
    return [int(size) for size in rng.permutation([2, 3, 4, 5])[:count]]


class ToShape:
    """What is asked of a gradient and a shape, whatever is to be summed."""

    def drive(step, data):
        return step.unbroadcast(data["g"], tuple(data["shape"]))

    def expected(data):
        return summed(data["g"], tuple(data["shape"]))


@check(step="unbroadcast", points=2, concept="new axes in front")
class Leading(ToShape):
    picture = first_difference("the input")
    caption = "g of shape (2, 3, 4), full of ones, and shape (4,)"
    example = {"g": np.ones((2, 3, 4)), "shape": [4]}

    kinds = ("one axis left", "two axes left", "equal sizes")

    def generate(rng, kind):
        a, b, c, d = sizes(rng, 4)
        if kind == "equal sizes":
            b = c = d = 2
        return {"g": rng.normal(size=(a, b, c, d)), "shape": [c, d] if "two" in kind else [d]}


@check(step="unbroadcast", points=2, concept="axes of size 1")
class Ones(ToShape):
    picture = first_difference("the input")
    caption = "g = [[1, 2], [3, 4]] and shape (1, 1)"
    example = {"g": np.array([[1.0, 2.0], [3.0, 4.0]]), "shape": [1, 1]}

    kinds = (0, 1, 2)  # the axis that was not stretched

    def generate(rng, kind):
        g = rng.normal(size=sizes(rng, 3))
        return {"g": g, "shape": [n if axis == kind else 1 for axis, n in enumerate(g.shape)]}


@check(step="unbroadcast", points=2, concept="new axes and axes of size 1 together")
class Both(ToShape):
    picture = first_difference("the input")
    caption = "g of shape (2, 3, 4), full of ones, and shape (3, 1)"
    example = {"g": np.ones((2, 3, 4)), "shape": [3, 1]}

    kinds = ("last", "first", "equal sizes")

    def generate(rng, kind):
        a, b, c = sizes(rng, 3)
        if kind == "equal sizes":
            a = b
        return {"g": rng.normal(size=(a, b, c)), "shape": [1, c] if kind == "first" else [b, 1]}


@check(step="unbroadcast", points=1.5, concept="a single number, stretched")
class Scalar:
    picture = first_difference("the input")
    caption = "g = [1, 2, 3] and shape ()"
    example = {"g": np.array([1.0, 2.0, 3.0])}

    def generate(rng):
        return {"g": rng.normal(size=int(rng.integers(2, 6)))}

    def drive(step, data):
        return step.unbroadcast(data["g"], ())

    def expected(data):
        return summed(data["g"], ())


@check(step="multiply", points=1.5, concept="first multiply, then sum")
class Multiply:
    in_words = ("contribution to x:", "contribution to y:")
    picture = first_difference("x", "y")
    caption = "g = [[1, 1], [10, 10]], x = [1, 2], y = [[3, 4], [5, 6]]"
    example = {
        "g": np.array([[1.0, 1.0], [10.0, 10.0]]),
        "x": np.array([1.0, 2.0]),
        "y": np.array([[3.0, 4.0], [5.0, 6.0]]),
    }

    kinds = ("x is stretched", "y is stretched")

    def generate(rng, kind):
        a, b = sizes(rng, 2)
        x, y = rng.normal(size=b), rng.normal(size=(a, b))
        if kind == "y is stretched":
            x, y = y, x
        return {"g": rng.normal(size=(a, b)), "x": x, "y": y}

    def drive(step, data):
        return step.multiply_rule(data["g"], data["x"], data["y"])

    def expected(data):
        g, x, y = data["g"], data["x"], data["y"]
        return (summed(g * y, x.shape), summed(g * x, y.shape))


unbroadcast_inputs = untouched(
    Leading,
    Ones,
    Both,
    Scalar,
    name="UnbroadcastInputs",
    points=0.5,
    caption="the examples above, one after the other",
)
multiply_inputs = untouched(Multiply, name="MultiplyInputs", points=0.5)
