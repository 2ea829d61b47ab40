"""Do programs that decide for themselves have the right values and the right slopes?"""

import numpy as np

from autodiff_kit.grading.checks import check
from autodiff_kit.grading.rules import exact, inexact

NEARBY = ("value:", "gradient:", "other operations:", "value nearby:", "gradient nearby:")


def power(x, n):
    return x**n


def rounds(x, n):
    y = x
    for _ in range(n):
        y = y / 2 if y > 2 else y * x + 1
    return y


def tree_value(tree, w):
    if isinstance(tree, list):
        return w * tree_value(tree[0], w) + w * tree_value(tree[1], w)
    return tree * w


class Dual:
    """A number and its slope, carried forward together: no graph is involved."""

    def __init__(self, value, slope=0.0):
        self.value, self.slope = value, slope

    def __add__(self, other):
        other = other if isinstance(other, Dual) else Dual(other)
        return Dual(self.value + other.value, self.slope + other.slope)

    def __mul__(self, other):
        other = other if isinstance(other, Dual) else Dual(other)
        slope = self.slope * other.value + self.value * other.slope
        return Dual(self.value * other.value, slope)

    __rmul__ = __mul__

    def __truediv__(self, number):
        return Dual(self.value / number, self.slope / number)

    def __pow__(self, n):
        return Dual(self.value**n, n * self.value ** (n - 1) * self.slope)

    def __gt__(self, number):
        return self.value > number


def with_slope(f, x):
    """Return the value and the slope of a function of plain numbers."""
    dual = f(Dual(x, 1.0))
    return [dual.value, dual.slope]


NEAR = 5e-4  # how far away `drive` runs the program once more: the source of `read` travels alone


def wanted_of(f, x, g, near=NEAR):
    """Return what `read` makes of the right program: f of plain numbers."""
    first, near = with_slope(f, x), with_slope(f, x + near)
    return [first[0], g * first[1], 0, near[0], g * near[1]]


def read(step, program, x, g, near):
    """Return value, gradient and how many nodes are no operation; and the first two close by.

    A gradient that was set along the way, at whatever time, is none. And a node whose value does
    not follow from its inputs was not made by +, * or /, and one with values or a rule of its own
    has its slopes from elsewhere; as does a number in the graph that is another one close by, where
    the program takes the same branches.
    """
    plain = (int, float, np.float64)

    def once(x):
        leaf = step.Node(x, requires_grad=True)
        root = program(leaf)
        others, constants, ids, waiting = 0, [], {id(root)}, [root]
        while waiting:
            node = waiting.pop()
            inputs = tuple(node.inputs)
            value, *numbers = node.value, *(x.value for x in inputs)
            is_known = type(node) is step.Node and type(node.rule) is type(node.__add__)
            is_known = is_known and node.rule.__func__ is step.Node.rule
            is_known = is_known and node.rule.__self__ is node and not node.saved
            is_known = is_known and all(type(n) in plain for n in (value, *numbers))
            if is_known and len(inputs) == 2:
                x, y = numbers
                is_known = (node.op, value) in (("add", x + y), ("mul", x * y))
                if node.op == "div" and y:
                    is_known = value == x / y
            elif node is not leaf:
                is_known = is_known and not inputs
                constants.append(value)
            constants.append(len(inputs))
            others += not is_known
            for x in inputs:
                if id(x) not in ids:
                    ids.add(id(x))
                    waiting.append(x)
        leaf.grad = None
        step.backward(root * g)
        gradient = 0.0 if leaf.grad is None else float(leaf.grad)
        return [root.value, gradient], others, constants

    first, others, constants = once(x)
    close_by, _, the_same = once(x + near)
    return [*first, others or int(constants != the_same), *close_by]


def what_is_no_graph(data, value, expected):
    return "differences" if value[2] else inexact(data, value, expected)


def a_weight(rng):
    return round(float(rng.uniform(2.0, 5.0) * rng.choice([-1.0, 1.0])), 3)


def a_tree(rng, depth):
    if depth == 0:
        return round(float(rng.uniform(0.5, 4.0)), 3)
    depths = [depth - 1, int(rng.integers(0, depth))]
    return [a_tree(rng, depths[i]) for i in rng.permutation(2)]


@check(step="power", points=2, concept="a loop", cases=4, using=[read])
class Power:
    in_words = NEARBY
    caption = (
        "power(x, 3) at x = 2 (value, gradient, how many nodes are no sum or product; "
        "and value and gradient at x = 2.0005)"
    )
    example = {"x": 2.0, "n": 3, "g": 1.0}

    def generate(rng):
        x, n = float(rng.uniform(0.6, 1.8)), int(rng.integers(2, 6))
        return {"x": x, "n": n, "g": a_weight(rng)}

    def drive(step, data):
        return read(step, lambda x: step.power(x, data["n"]), data["x"], data["g"], 5e-4)

    def expected(data):
        return wanted_of(lambda x: power(x, data["n"]), data["x"], data["g"])

    compare, diagnose = exact, what_is_no_graph


@check(step="power", points=1, concept="a loop of no rounds", cases=1)
class NoRounds:
    in_words = ("value:", "gradient:", "of the product: value", "gradient of x:", "of c:")
    caption = (
        "power(x, 0) at x = 2 (value and gradient), and then power(x, 0) * c at c = 5 (value, then "
        "the gradients of x and c)"
    )
    example = {"x": 2.0, "c": 5.0}

    def generate(rng):
        return {"x": float(rng.uniform(0.6, 1.8)), "c": float(rng.uniform(2.0, 9.0))}

    def drive(step, data):
        x = step.Node(data["x"], requires_grad=True)
        c = step.Node(data["c"], requires_grad=True)
        y = step.power(x, 0)
        x.grad = None
        step.backward(y)
        first = [y.value, x.grad or 0.0]
        z = step.power(x, 0) * c
        step.backward(z)
        return [*first, z.value, x.grad or 0.0, c.grad]

    def expected(data):
        return [1.0, 0.0, data["c"], 0.0, 1.0]


@check(step="rounds", points=3, concept="a branch in every round", cases=5, using=[read])
class Rounds:
    in_words = NEARBY
    caption = (
        "rounds(x, 2) at x = 1.5 (value, gradient, how many nodes are no sum or product; "
        "and value and gradient at x = 1.5005)"
    )
    example = {"x": 1.5, "n": 2, "g": 1.0}

    def generate(rng):
        while True:
            x, n = float(rng.uniform(0.7, 3.0)), int(rng.integers(3, 7))
            ways = [rounds(x + h, n) for h in (-1e-3, 0.0, 1e-3)]
            # Not at a corner, where one side would take another way and there is no slope.
            if abs(ways[0] + ways[2] - 2 * ways[1]) < 1e-3:
                return {"x": x, "n": n, "g": a_weight(rng)}

    def drive(step, data):
        return read(step, lambda x: step.rounds(x, data["n"]), data["x"], data["g"], 5e-4)

    def expected(data):
        return wanted_of(lambda x: rounds(x, data["n"]), data["x"], data["g"])

    compare, diagnose = exact, what_is_no_graph


@check(step="rounds", points=1, concept="exactly 2 is not larger than 2", using=[read])
class Edge:
    in_words = NEARBY
    caption = (
        "rounds(x, 1) at x = 2 (value, gradient, how many nodes are no sum or product; "
        "and value and gradient at x = 1.9995)"
    )
    example = {"g": 1.0}

    def generate(rng):
        return {"g": a_weight(rng)}

    def drive(step, data):
        # A little below 2 it takes the same way.
        return read(step, lambda x: step.rounds(x, 1), 2.0, data["g"], -5e-4)

    def expected(data):
        return wanted_of(lambda x: rounds(x, 1), 2.0, data["g"], -NEAR)

    compare, diagnose = exact, what_is_no_graph


@check(step="tree", points=3, concept="a recursion", using=[read])
class Tree:
    in_words = NEARBY
    caption = (
        "the tree ((1, 2), 3) at w = 2 (value, gradient, how many nodes are no sum or "
        "product; and value and gradient at w = 2.0005)"
    )
    example = {"w": 2.0, "tree": [[1.0, 2.0], 3.0], "g": 1.0}

    def generate(rng):
        w, tree = float(rng.uniform(0.6, 1.6)), a_tree(rng, int(rng.integers(2, 5)))
        return {"w": w, "tree": tree, "g": a_weight(rng)}

    def drive(step, data):
        def pairs(tree):
            return tuple(pairs(part) for part in tree) if isinstance(tree, list) else tree

        tree = pairs(data["tree"])
        return read(step, lambda w: step.tree_value(tree, w), data["w"], data["g"], 5e-4)

    def expected(data):
        return wanted_of(lambda w: tree_value(data["tree"], w), data["w"], data["g"])

    compare, diagnose = exact, what_is_no_graph
