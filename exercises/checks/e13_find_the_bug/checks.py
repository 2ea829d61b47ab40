"""Are the five broken snippets fixed: right where they were wrong, and still right elsewhere?"""

import math

import numpy as np

from autodiff_kit.grading.checks import check, show
from autodiff_kit.grading.pictures import beside, graph
from autodiff_kit.grading.rules import exact, inexact


def gradients(root, leaves, g):
    """Return each leaf's gradient if that of the root is g; None where nothing arrives."""
    ids, nodes, waiting = set(), [], [(root, False)]
    while waiting:
        node, inputs_are_done = waiting.pop()
        if inputs_are_done:
            nodes.append(node)
        elif id(node) not in ids:
            ids.add(id(node))
            waiting.append((node, True))
            waiting.extend((x, False) for x in node.inputs)
    arrived = {id(root): g}
    for node in reversed(nodes):
        for x, rule in zip(node.inputs, node.rules, strict=True):
            arrived[id(x)] = arrived.get(id(x), 0.0) + rule(arrived[id(node)])
    return [arrived.get(id(leaf)) for leaf in leaves]


def build(step, data):
    """Make nodes: leaves first, then [inputs, slopes] of each operation; None hands g on."""
    nodes = [step.Node(value) for value in data["leaves"]]
    for inputs, slopes in data["operations"]:
        used = tuple(nodes[i] for i in inputs)
        rules = tuple((lambda g, s=s: g if s is None else g * s) for s in slopes)
        nodes.append(step.Node(sum(x.value for x in used), used, rules))
    return nodes


def slopes_of(data, leaf, root):
    """Return d root / d leaf: a change of the leaf, followed forward through the operations."""
    change = [float(i == leaf) for i in range(len(data["leaves"]))]
    for inputs, slopes in data["operations"]:
        pairs = zip(inputs, slopes, strict=True)
        change.append(sum(change[i] * (1.0 if s is None else s) for i, s in pairs))
    return change[root] * np.ones_like(data["leaves"][leaf])


def number(rng):
    """Return a number far enough from 0 and 1 to be told apart from them."""
    return round(float(rng.uniform(1.2, 4.0) * rng.choice([-1.0, 1.0])), 3)


@check(step="dot", points=2, concept="each rule has a weight of its own", using=[gradients])
class Weights:
    caption = "dot([x, y], [2, 5]) at x = 3 and y = 4 (value, then the gradients of x and y)"
    example = {"xs": [3.0, 4.0], "ws": [2.0, 5.0], "g": 1.0}
    in_words = ("value", "gradient of x", "gradient of y")

    def generate(rng):
        count = int(rng.integers(3, 6))
        xs, ws = ([number(rng) for _ in range(count)] for _ in range(2))
        return {"xs": xs, "ws": ws, "g": number(rng)}

    def drive(step, data):
        xs = [step.Node(value) for value in data["xs"]]
        z = step.dot(xs, data["ws"])
        return [z.value, *gradients(z, xs, data["g"])]

    def expected(data):
        pairs = zip(data["xs"], data["ws"], strict=True)
        return [sum(x * w for x, w in pairs), *(data["g"] * w for w in data["ws"])]

    compare, diagnose = exact, inexact


@check(step="multiply", points=2, concept="values of the forward pass", using=[gradients])
class Updated:
    caption = (
        "multiply(x, y) at x = 3 and y = 4; then x becomes 30 and y becomes 40, and then comes the "
        "backward pass (value of the product, then the gradients of x and y)"
    )
    # The values of x and y at each product, and afterwards.
    example = {"values": [[3.0, 4.0]], "after": [30.0, 40.0], "g": [1.0]}
    in_words = ("value", "gradient of x", "gradient of y")

    def generate(rng):
        count = int(rng.integers(2, 4))
        values = [[number(rng), number(rng)] for _ in range(count)]
        after = [10.0 * number(rng), 10.0 * number(rng)]
        return {"values": values, "after": after, "g": [number(rng) for _ in range(count)]}

    def drive(step, data):
        x, y = step.Node(0.0), step.Node(0.0)
        products = []
        for x.value, y.value in data["values"]:
            products.append(step.multiply(x, y))
        x.value, y.value = data["after"]
        answer = []
        for z, g in zip(products, data["g"], strict=True):
            answer += [z.value, *gradients(z, [x, y], g)]
        return answer

    def expected(data):
        answer = []
        for (x, y), g in zip(data["values"], data["g"], strict=True):
            answer += [x * y, g * y, g * x]
        return answer

    compare, diagnose = exact, inexact


@check(step="layers", points=2, concept="one path to the first layer", using=[gradients])
class Path:
    caption = (
        "layers(x, [b1, b2]) at x = 0, b1 = 0.5 and b2 = -0.2 (value, then the gradients of x, b1 "
        "and b2)"
    )
    example = {"x": 0.0, "bs": [0.5, -0.2], "g": 1.0}
    in_words = ("value", "gradient of x", "of b1", "of b2")

    def generate(rng):
        bs = [round(float(b), 3) for b in rng.uniform(-1.0, 1.0, int(rng.integers(2, 5)))]
        return {"x": round(float(rng.uniform(0.2, 1.0)), 3), "bs": bs, "g": number(rng)}

    def drive(step, data):
        x, bs = step.Node(data["x"]), [step.Node(value) for value in data["bs"]]
        out = step.layers(x, bs)
        return [out.value, *gradients(out, [x, *bs], data["g"])]

    def expected(data):
        values = [data["x"]]
        for b in data["bs"]:
            values.append(math.tanh(values[-1] + b))
        slopes = [data["g"]]
        for h in reversed(values[1:]):
            slopes.insert(0, slopes[0] * (1.0 - h * h))
        return [values[-1], slopes[0], *slopes[:-1]]

    compare, diagnose = exact, inexact

    def picture(data, value, expected):
        """Draw the two layers with the gradients of the leaves; mark the first that is wrong."""
        labels = ["x", "b1", "x + b1", "tanh", "b2", "h + b2", "tanh"]
        inputs = [[], [], [0, 1], [2], [], [3, 4], [5]]
        sides, notes = [], []
        for answer in (value, expected):
            x, b1, b2 = (f"grad {show(g)}" for g in answer[1:])
            sides.append([x, b1, b2])
            notes.append([x, b1, "", "", b2, "", show(answer[0])])
        leaves = [0, 1, 4]
        wrong = [i for i, a, b in zip(leaves, *sides, strict=True) if a != b]
        marked = max(
            wrong, default=6
        )  # the backward pass meets it first; 6: only the value is wrong
        words = f"{labels[marked]}: {notes[0][marked]}, right is {notes[1][marked]}"
        yours = graph(labels, inputs, notes[0], marked)
        return beside(yours, graph(labels, inputs, notes[1]), words)


def walks(data):
    """Return, for each root, the numbers of the nodes behind it: inputs were made before."""
    answer = []
    for root in data["roots"]:
        reachable = {root}
        for node in range(root, -1, -1):
            if node in reachable:
                reachable.update(data["inputs"][node])
        answer.append([data["values"][node] for node in sorted(reachable)])
    return answer


def are_walks(data, value, expected):
    """Tell whether each list holds the right nodes once, each behind its inputs."""
    if not isinstance(value, list) or len(value) != len(expected):
        return False
    for mine, best in zip(value, expected, strict=True):
        if not isinstance(mine, list) or not all(isinstance(v, float) for v in mine):
            return False
        if sorted(mine) != sorted(best):
            return False
        for v in mine:
            node = data["values"].index(v)
            if any(mine.index(data["values"][x]) > mine.index(v) for x in data["inputs"][node]):
                return False
    return True


@check(step="visit", points=2, concept="each walk begins anew")
class Walks:
    in_words = ("visit(z):", "visit(z) again:", "visit(y):")
    caption = "y = x * x and z = y * x at x = 3: visit(z), then visit(z) again, then visit(y)"
    example = {"values": [3.0, 9.0, 27.0], "inputs": [[], [0, 0], [1, 0]], "roots": [2, 2, 1]}
    many = True

    def generate(rng):
        inputs = [[], [], [0, 1]]
        for newest in range(2, 2 + int(rng.integers(2, 5))):
            older = int(rng.integers(0, newest))
            inputs.append([int(i) for i in rng.permutation([newest, older])])
        last = len(inputs) - 1
        values = [float(value) for value in rng.permutation(90)[: last + 1] + 10]
        roots = [last, int(rng.integers(2, last)), last]
        return {"values": values, "inputs": inputs, "roots": roots}

    def drive(step, data):
        nodes = []
        for value, inputs in zip(data["values"], data["inputs"], strict=True):
            nodes.append(step.Node(value, tuple(nodes[i] for i in inputs)))
        return [[node.value for node in step.visit(nodes[root])] for root in data["roots"]]

    expected, compare = walks, are_walks


@check(step="add_gradients", points=1, concept="no shared array within a pass", using=[build])
class OnePass:
    caption = "add_gradients(x + x + x) (the gradient of x)"
    example = {
        "leaves": [np.array([1.0, 2.0])],
        "operations": [[[0, 0], [None, None]], [[1, 0], [None, None]]],
    }

    def generate(rng):
        # (x + y) + p * x + q * y, and more of the kind: x and y begin with the same array.
        size = int(rng.integers(2, 5))
        operations = [[[0, 1], [None, None]]]
        for leaf in [*rng.permutation(2), *rng.integers(0, 2, int(rng.integers(0, 3)))]:
            newest = 1 + len(operations)
            operations.append([[int(leaf)], [rng.uniform(1.5, 3.0, size)]])
            operations.append([[newest, newest + 1], [None, None]])
        return {"leaves": [rng.normal(size=size) for _ in range(2)], "operations": operations}

    def drive(step, data):
        nodes = build(step, data)
        step.add_gradients(nodes[-1])
        return [node.grad for node in nodes[: len(data["leaves"])]]

    def expected(data):
        root = len(data["leaves"]) + len(data["operations"]) - 1
        return [slopes_of(data, leaf, root) for leaf in range(len(data["leaves"]))]


@check(step="add_gradients", points=1, concept="no shared array between passes", using=[build])
class NextPass:
    caption = "add_gradients(x + y), and then add_gradients(x + x) (the gradients of x and y)"
    example = {
        "leaves": [np.array([1.0, 2.0]), np.array([3.0, 4.0])],
        "operations": [[[0, 1], [None, None]], [[0, 0], [None, None]]],
        "roots": [2, 3],
    }

    def generate(rng):
        size = int(rng.integers(2, 5))
        operations = [[[0, 1], [None, None]]]
        for leaf in [0, *rng.integers(0, 2, int(rng.integers(0, 3)))]:
            operations.append([[int(leaf)], [rng.uniform(1.5, 3.0, size)]])
        return {
            "leaves": [rng.normal(size=size) for _ in range(2)],
            "operations": operations,
            "roots": [2 + int(i) for i in [0, *(1 + rng.permutation(len(operations) - 1))]],
        }

    def drive(step, data):
        nodes = build(step, data)
        for root in data["roots"]:
            step.add_gradients(nodes[root])
        return [nodes[0].grad, nodes[1].grad]

    def expected(data):
        return [sum(slopes_of(data, leaf, root) for root in data["roots"]) for leaf in (0, 1)]
