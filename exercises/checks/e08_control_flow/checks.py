"""Do programs that decide for themselves have the right values and the right slopes?"""

from autodiff_kit.grading.checks import check


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


def with_slope(f, x, h=1e-5):
    """Return the value and the slope of a function of plain numbers: no graph is involved."""
    return [f(x), (f(x + h) - f(x - h)) / (2 * h)]


def times(answer, g):
    """Return a value, and its gradient if g times the value is the root."""
    return [answer[0], g * answer[1]]


def gradient(step, root, leaf, g):
    """Return the gradient: a number that was set along the way, at whatever time, is none."""
    leaf.grad = 0.0
    step.backward(root * g)
    return leaf.grad


def a_weight(rng):
    return round(float(rng.uniform(2.0, 5.0) * rng.choice([-1.0, 1.0])), 3)


def a_tree(rng, depth):
    if depth == 0:
        return round(float(rng.uniform(0.5, 4.0)), 3)
    depths = [depth - 1, int(rng.integers(0, depth))]
    return [a_tree(rng, depths[i]) for i in rng.permutation(2)]


@check(step="power", points=2, concept="a loop", cases=4, using=[gradient])
class Power:
    shown = "power(x, 3) at x = 2 (value, then gradient)"
    example = {"x": 2.0, "n": 3, "g": 1.0}

    def generate(rng):
        x, n = float(rng.uniform(0.6, 1.8)), int(rng.integers(2, 6))
        return {"x": x, "n": n, "g": a_weight(rng)}

    def drive(step, data):
        x = step.Node(data["x"])
        y = step.power(x, data["n"])
        return [y.value, gradient(step, y, x, data["g"])]

    def expected(data):
        return times(with_slope(lambda x: power(x, data["n"]), data["x"]), data["g"])


@check(step="power", points=1, concept="a loop of no rounds", cases=1)
class NoRounds:
    shown = (
        "power(x, 0) at x = 2 (value and gradient), and then power(x, 0) * c at c = 5 (value, then "
        "the gradients of x and c)"
    )
    example = {"x": 2.0, "c": 5.0}

    def generate(rng):
        return {"x": float(rng.uniform(0.6, 1.8)), "c": float(rng.uniform(2.0, 9.0))}

    def drive(step, data):
        x, c = step.Node(data["x"]), step.Node(data["c"])
        y = step.power(x, 0)
        x.grad = 0.0
        step.backward(y)
        first = [y.value, x.grad]
        z = step.power(x, 0) * c
        step.backward(z)
        return [*first, z.value, x.grad, c.grad]

    def expected(data):
        return [1.0, 0.0, data["c"], 0.0, 1.0]


@check(step="rounds", points=4, concept="a branch in every round", cases=5, using=[gradient])
class Rounds:
    shown = "rounds(x, 2) at x = 1.5 (value, then gradient)"
    example = {"x": 1.5, "n": 2, "g": 1.0}

    def generate(rng):
        while True:
            x, n = float(rng.uniform(0.7, 3.0)), int(rng.integers(3, 7))
            ways = [rounds(x + h, n) for h in (-1e-3, 0.0, 1e-3)]
            # Not at a corner, where one side would take another way and there is no slope.
            if abs(ways[0] + ways[2] - 2 * ways[1]) < 1e-3:
                return {"x": x, "n": n, "g": a_weight(rng)}

    def drive(step, data):
        x = step.Node(data["x"])
        y = step.rounds(x, data["n"])
        return [y.value, gradient(step, y, x, data["g"])]

    def expected(data):
        return times(with_slope(lambda x: rounds(x, data["n"]), data["x"]), data["g"])


@check(step="tree", points=3, concept="a recursion", using=[gradient])
class Tree:
    shown = "the tree ((1, 2), 3) at w = 2 (value, then gradient)"
    example = {"w": 2.0, "tree": [[1.0, 2.0], 3.0], "g": 1.0}

    def generate(rng):
        w, tree = float(rng.uniform(0.6, 1.6)), a_tree(rng, int(rng.integers(2, 5)))
        return {"w": w, "tree": tree, "g": a_weight(rng)}

    def drive(step, data):
        def pairs(tree):
            return tuple(pairs(part) for part in tree) if isinstance(tree, list) else tree

        w = step.Node(data["w"])
        z = step.tree_value(pairs(data["tree"]), w)
        return [z.value, gradient(step, z, w, data["g"])]

    def expected(data):
        return times(with_slope(lambda w: tree_value(data["tree"], w), data["w"]), data["g"])
