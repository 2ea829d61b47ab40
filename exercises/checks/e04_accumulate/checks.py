"""Does backward(root) add up contributions, and leave everything else alone?"""

import numpy as np

from autodiff_kit.grading.checks import check, same, show
from autodiff_kit.grading.pictures import beside, graph


def build(step, data):
    """Make nodes of the learner's kind: leaves first, then (inputs, slopes) of each operation."""
    nodes = [
        step.Node(value, requires_grad=needs)
        for value, needs in zip(data["leaves"], data["needs"], strict=True)
    ]
    for inputs, slopes in data["operations"]:

        def rule(g, slopes=slopes):
            return tuple(g if slope is None else g * slope for slope in slopes)

        used = tuple(nodes[i] for i in inputs)
        nodes.append(step.Node(2.0, "op", used, any(node.requires_grad for node in used)))
        nodes[-1].rule = rule
    return nodes


def slopes_of(data, leaf, root):
    """Return d root / d leaf: a change of the leaf, followed forward through the operations."""
    change = [1.0 if i == leaf else 0.0 for i in range(len(data["leaves"]))]
    for inputs, slopes in data["operations"]:
        pairs = zip(inputs, slopes, strict=True)
        change.append(sum(change[i] * (1.0 if s is None else s) for i, s in pairs))
    return change[root]


def gradients(labels):
    """Return a function that draws the example with .grad in its nodes, the first wrong marked."""

    def draw(data, value, expected):
        inputs = [[] for _ in data["leaves"]] + [used for used, _ in data["operations"]]
        sides = []
        for answer in (value, expected):
            answer = answer if isinstance(answer, list) else [answer]
            sides.append([f"grad {show(g)}" for g in answer])
        differ = [i for i, (a, b) in enumerate(zip(*sides, strict=True)) if a != b]
        full = [side + [""] * (len(labels) - len(side)) for side in sides]
        yours = graph(labels, inputs, full[0], differ[0])
        right = graph(labels, inputs, full[1])
        words = f"{labels[differ[0]]}: {sides[0][differ[0]]}, right is {sides[1][differ[0]]}"
        return beside(yours, right, words)

    return draw


def in_proportion(values, expected):
    """Tell whether gradients are right but for one factor: the check `Start` asks for that one."""
    if [value is None for value in values] != [best is None for best in expected]:
        return False
    pairs = [(v, w) for v, w in zip(values, expected, strict=True) if w is not None]
    factor = float(np.ravel(pairs[0][0])[0] / np.ravel(pairs[0][1])[0])
    return 0.1 < abs(factor) < 10 and all(same(v, w * factor) for v, w in pairs)


def summed(passes):
    """Return the sum of what several passes have left in the .grad of each leaf."""
    return [sum(grad for grad in grads if grad is not None) for grads in zip(*passes, strict=True)]


def slope(rng):
    """Return a number far enough from 0 and 1 to be told apart from them."""
    return round(float(rng.uniform(1.2, 3.0) * rng.choice([-1.0, 1.0])), 3)


@check(step="backward", points=1, concept="begins with 1 at the root", using=[build])
class Start:
    caption = "backward(x), where x and y are leaves (.grad of x and of y)"
    in_words = ("x.grad", "y.grad")
    example = {"leaves": [5.0, 7.0], "needs": [True, True], "operations": [], "roots": [0]}

    picture = gradients(["x", "y"])

    def generate(rng):
        # Some of the leaves are roots, each once: the others have nothing to do with it.
        leaves = [slope(rng) for _ in range(8)]
        roots = [i for i in range(8) if rng.random() < 0.5]
        return {"leaves": leaves, "needs": [True] * 8, "operations": [], "roots": roots}

    def drive(step, data):
        nodes = build(step, data)
        for root in data["roots"]:
            step.backward(nodes[root])
        return [node.grad for node in nodes]

    def expected(data):
        return [1.0 if i in data["roots"] else None for i in range(len(data["leaves"]))]


@check(step="backward", points=2, concept="contributions add up", cases=5, using=[build])
class FanOut:
    caption = "y = x * x + x at x = 3 (.grad of x)"
    example = {
        "leaves": [3.0],
        "needs": [True],
        "operations": [[[0, 0], [3.0, 3.0]], [[1, 0], [1.0, 1.0]]],
    }

    picture = gradients(["x", "x * x", "x * x + x"])

    def generate(rng):
        # A chain of operations, and each one uses the one before it and one or two older nodes.
        # The last uses one that others in between use, too: who counts steps from the root comes
        # to it too early.
        operations = []
        count = int(rng.integers(4, 7))
        for newest in range(count):  # one leaf, so that the last node made has this number
            older = [int(rng.integers(0, newest + 1)) for _ in range(int(rng.integers(1, 3)))]
            if newest == count - 1:
                older[0] = int(rng.integers(1, newest - 1))
            inputs = [newest, *older]
            operations.append([inputs, [slope(rng) for _ in inputs]])
        return {"leaves": [slope(rng)], "needs": [True], "operations": operations}

    def drive(step, data):
        nodes = build(step, data)
        step.backward(nodes[-1])
        return nodes[0].grad

    def expected(data):
        return slopes_of(data, 0, len(data["operations"]))


@check(step="backward", points=1, concept="each rule is called once")
class Once:
    caption = (
        "a sum of x and w, doubled three times: y = y + y (.grad of x and w, and how often each "
        "rule was called)"
    )
    example = {"slopes": [2.0, 3.0], "doublings": 3}

    def generate(rng):
        return {"slopes": [slope(rng), slope(rng)], "doublings": int(rng.integers(5, 10))}

    def drive(step, data):
        x, w = step.Node(2.0, requires_grad=True), step.Node(5.0, requires_grad=True)
        calls = [0] * (1 + data["doublings"])

        def rule_of(number, slopes):
            def rule(g):
                calls[number] += 1
                return tuple(g * slope for slope in slopes)

            return rule

        y = step.Node(2.0, "op", (x, w), True)
        y.rule = rule_of(0, data["slopes"])
        for number in range(1, len(calls)):
            y = step.Node(2.0, "op", (y, y), True)
            y.rule = rule_of(number, [1.0, 1.0])
        step.backward(y)
        return {"grads": [x.grad, w.grad], "calls": calls}

    def expected(data):
        grads = [slope * 2.0 ** data["doublings"] for slope in data["slopes"]]
        return {"grads": grads, "calls": [1] * (1 + data["doublings"])}

    def compare(data, value, expected):
        # How large the gradients are is another check's question; here, that they came this way.
        first, second = value["grads"]
        in_step = same(first * data["slopes"][1], second * data["slopes"][0])
        return value["calls"] == expected["calls"] and in_step and bool(first)


@check(step="backward", points=2, concept="a second pass adds to .grad", using=[build])
class Again:
    caption = (
        "backward(x * w) and backward(x + w), at x = 2 and w = 5: .grad of x and w after each of "
        "them alone, and after one and then the other"
    )
    example = {
        "leaves": [2.0, 5.0],
        "needs": [True, True],
        "operations": [[[0, 1], [5.0, 2.0]], [[0, 1], [1.0, 1.0]]],
        "roots": [2, 3],
    }

    def picture(data, value, expected):
        draw = gradients(["x", "w", "x * w", "x + w"])
        return draw(data, value["together"], expected["together"])

    def generate(rng):
        # Arrays, with which `if node.grad:` stops: the example has single numbers. And x is a root,
        # too, after another one: its 1 is added to what is there.
        def slopes():
            return [np.array([slope(rng), slope(rng)]) for _ in range(2)]

        operations = [[[0, 1], slopes()] for _ in range(int(rng.integers(2, 5)))]
        roots = [int(root) for root in rng.permutation(range(2, 2 + len(operations)))]
        roots.insert(int(rng.integers(1, 1 + len(roots))), 0)
        return {
            "leaves": [np.ones(2), np.ones(2)],
            "needs": [True, True],
            "operations": operations,
            "roots": roots,
        }

    def drive(step, data):
        def gradients(roots):
            nodes = build(step, data)
            for root in roots:
                step.backward(nodes[root])
            return [nodes[0].grad, nodes[1].grad]

        alone = [gradients([root]) for root in data["roots"]]
        return {"alone": alone, "together": gradients(data["roots"])}

    def expected(data):
        alone = [
            [1.0, None] if root == 0 else [slopes_of(data, leaf, root) for leaf in (0, 1)]
            for root in data["roots"]
        ]
        return {"alone": alone, "together": summed(alone)}

    def compare(data, value, expected):
        # What a leaf as root gets is asked above: here, whether it is added to what is there.
        passes = [i for i, root in enumerate(data["roots"]) if root]
        alone, best = ([grad for i in passes for grad in v["alone"][i]] for v in (value, expected))
        return in_proportion(alone, best) and same(value["together"], summed(value["alone"]))


@check(step="backward", points=1, concept="nothing stays in the inner nodes", using=[build])
class Inner:
    caption = (
        "backward twice through z = (x * w) * 3 at x = 2 and w = 5, with .grad of x and w set back "
        "to None in between (.grad of x and w; the second time, also of the two products)"
    )
    example = {
        "leaves": [2.0, 5.0],
        "needs": [True, True],
        "operations": [[[0, 1], [5.0, 2.0]], [[2], [3.0]]],
    }

    def picture(data, value, expected):
        draw = gradients(["x", "w", "x * w", "(x * w) * 3"])
        return draw(data, value["second"], expected["second"])

    def generate(rng):
        operations = [[[0, 1], [slope(rng), slope(rng)]]]
        operations += [[[2 + i], [slope(rng)]] for i in range(int(rng.integers(1, 4)))]
        return {"leaves": [1.0, 2.0], "needs": [True, True], "operations": operations}

    def drive(step, data):
        nodes = build(step, data)
        step.backward(nodes[-1])
        first = [nodes[0].grad, nodes[1].grad]
        nodes[0].grad = nodes[1].grad = None
        step.backward(nodes[-1])
        return {"first": first, "second": [node.grad for node in nodes]}

    def expected(data):
        root = 1 + len(data["operations"])
        inner = [None] * len(data["operations"])
        first = [slopes_of(data, leaf, root) for leaf in (0, 1)]
        return {"first": first, "second": [*first, *inner]}

    def compare(data, value, expected):
        answers = ([*answer["first"], *answer["second"]] for answer in (value, expected))
        return in_proportion(*answers)


@check(step="backward", points=1, concept="constants get no gradient", using=[build])
class Constants:
    in_words = ("grad of 2:", "x.grad:", "w.grad:")
    caption = "y = 2 * x * w at x = 3 and w = 5, where 2 requires no gradient"
    example = {
        "leaves": [2.0, 3.0, 5.0],
        "needs": [False, True, True],
        "operations": [[[0, 1], [3.0, 2.0]], [[3, 2], [5.0, 6.0]]],
    }

    picture = gradients(["2", "x", "w", "2 * x", "2 * x * w"])

    def generate(rng):
        return {
            "leaves": [1.0, 2.0, 3.0],
            "needs": [bool(need) for need in rng.permutation([True, True, False])],
            "operations": [
                [[0, 1], [slope(rng), slope(rng)]],
                [[3, 2], [slope(rng), slope(rng)]],
            ],
        }

    def drive(step, data):
        nodes = build(step, data)
        step.backward(nodes[-1])
        return [node.grad for node in nodes[:3]]

    def expected(data):
        return [slopes_of(data, leaf, 4) if data["needs"][leaf] else None for leaf in range(3)]

    def compare(data, value, expected):
        return in_proportion(value, expected)


@check(step="backward", points=2, concept="shared arrays are not changed", using=[build])
class Arrays:
    in_words = ("x.grad:", "y.grad:", "the other x.grad:")
    caption = (
        "z = ((x + y) + x) * c at c = [10, 20]; a sum hands the same array to both inputs (.grad "
        "of x and y; and, elsewhere, .grad of x after backward((x + y) * c) and backward(y * 2))"
    )
    example = {
        "leaves": [np.array([1.0, 2.0]), np.array([3.0, 4.0])],
        "needs": [True, True],
        "operations": [
            [[0, 1], [None, None]],
            [[2, 0], [None, None]],
            [[3], [np.array([10.0, 20.0])]],
            [[0, 1], [None, None]],
            [[5], [np.array([10.0, 20.0])]],
            [[1], [2.0]],
        ],
        "other": 0,
    }

    def generate(rng):
        n = int(rng.integers(2, 5))
        other = int(rng.integers(0, 2))
        sums = [[[0, 1], [None, None]], [[2, int(rng.integers(0, 2))], [None, None]]]
        again = [[[0, 1], [None, None]], [[5], [rng.uniform(1.5, 3.0, n)]]]
        return {
            "leaves": [rng.normal(size=n), rng.normal(size=n)],
            "needs": [True, True],
            "operations": [
                *sums,
                [[3], [rng.uniform(1.5, 3.0, n)]],
                *again,
                [[1 - other], [slope(rng)]],
            ],
            "other": other,
        }

    def drive(step, data):
        nodes, others = build(step, data), build(step, data)
        step.backward(nodes[4])
        # A second pass adds to the .grad of one leaf, and leaves that of the other as it is.
        step.backward(others[6])
        step.backward(others[7])
        return [nodes[0].grad, nodes[1].grad, others[data["other"]].grad]

    def expected(data):
        grads = [slopes_of(data, leaf, 4) for leaf in (0, 1)]
        return [*grads, slopes_of(data, data["other"], 6)]
