"""Does every operation note what it was made of, and can the graph be read again?"""

from collections import Counter

from autodiff_kit.grading.checks import check
from autodiff_kit.grading.pictures import beside, edge_graph


def run(tree, leaves):
    """Compute an expression: a leaf's number, or [op, left, right]."""
    if isinstance(tree, int):
        return leaves[tree]
    op, left, right = tree
    left, right = run(left, leaves), run(right, leaves)
    return left + right if op == "add" else left * right


def nodes_of(data):
    """Make nodes that have all attributes of a Node, whatever the learner's class does."""

    class Plain:
        def __init__(self, number, value, op, inputs, requires_grad):
            self.number, self.value, self.op = number, value, op
            self.inputs, self.requires_grad = inputs, requires_grad

    nodes = []
    for inputs, needs in data:
        used = tuple(nodes[i] for i in inputs)
        nodes.append(Plain(len(nodes), 1.0, "add" if used else "leaf", used, needs))
    return nodes


def graph(rng):
    """Return a random graph: leaves, some of them constants, and operations on older nodes."""
    leaves = [[[], bool(need)] for need in rng.permutation([True] * 4 + [False] * 4)]
    nodes = list(leaves)
    for _ in range(int(rng.integers(3, 6))):
        nodes.append([[len(nodes) - 1, int(rng.integers(0, len(nodes)))], True])
    nodes.append([[0, 1], True])
    nodes.append([[len(nodes) - 1, len(nodes) - 1], True])  # used twice
    nodes.append([[len(nodes) - 1, 2], True])
    nodes.append([[len(nodes) - 1, len(nodes) - 4], True])  # and a node with two users
    return nodes


def reached(data):
    """Return the numbers of the nodes behind the last one."""
    reachable = {len(data) - 1}
    for number in reversed(range(len(data))):
        if number in reachable:
            reachable.update(data[number][0])
    return reachable


@check(step="node", points=1.5, concept="value and name of the operation", using=[run])
class Values:
    caption = "z = x * y + x at x = 2 and y = 5 (value and op of z, then op of its first input)"
    example = {"leaves": [2.0, 5.0], "tree": ["add", ["mul", 0, 1], 0]}
    in_words = ("value", "op", "op of its first input")

    def generate(rng):
        tree = 0
        for number in rng.permutation([1, 2, 3]):
            tree = [str(rng.choice(["add", "mul"])), tree, int(number)]
        tree = ["add", ["mul", tree, 1], 2] if rng.random() < 0.5 else ["mul", ["add", tree, 1], 2]
        return {"leaves": [float(x) for x in rng.integers(2, 9, 4)], "tree": tree}

    def drive(step, data):
        z = run(data["tree"], [step.Node(value) for value in data["leaves"]])
        return [float(z.value), z.op, z.inputs[0].op]

    def expected(data):
        return [float(run(data["tree"], data["leaves"])), data["tree"][0], data["tree"][1][0]]


@check(step="node", points=2, concept="one input for each use")
class Inputs:
    caption = "x * x and x * y (their inputs)"
    example = [["mul", 0, 0], ["mul", 0, 1]]

    def in_words(value):
        names = {0: "x", 1: "y", 2: "another leaf", -1: "another node"}
        inputs = [" and ".join(names[i] for i in numbers) or "no inputs" for numbers in value]
        return f"{inputs[0]} for x * x; {inputs[1]} for x * y"

    def generate(rng):
        pairs = [[0, 0], [0, 1], [1, 0], [2, 1], [2, 2]]
        return [[str(rng.choice(["add", "mul"])), *pairs[i]] for i in rng.permutation(5)]

    def drive(step, data):
        leaves = [step.Node(float(i + 2)) for i in range(3)]
        answers = []
        for op, left, right in data:
            z = leaves[left] + leaves[right] if op == "add" else leaves[left] * leaves[right]
            numbers = [[i for i, leaf in enumerate(leaves) if x is leaf] for x in z.inputs]
            answers.append([matches[0] if matches else -1 for matches in numbers])
        return answers

    def expected(data):
        return [[left, right] for _, left, right in data]


@check(step="node", points=1, concept="plain numbers become constants")
class Numbers:
    caption = "2 * x and x + 3 at x = 5 (op, value and requires_grad of each input)"
    example = [["mul", True, 2.0], ["add", False, 3.0]]

    def in_words(value):
        both = []
        for inputs in value:
            needs = ["a gradient" if needed else "no gradient" for _, _, needed in inputs]
            parts = zip(inputs, needs, strict=True)
            both.append(
                " and ".join(f"{op} {number:g} ({need})" for (op, number, _), need in parts)
            )
        return f"{both[0]} for 2 * x; {both[1]} for x + 3"

    def generate(rng):
        kinds = [["mul", True], ["mul", False], ["add", True], ["add", False]]
        return [[*kinds[i], float(rng.integers(6, 20))] for i in rng.permutation(4)]

    def drive(step, data):
        x = step.Node(5.0)
        answers = []
        for op, number_comes_first, number in data:
            if op == "mul":
                z = number * x if number_comes_first else x * number
            else:
                z = number + x if number_comes_first else x + number
            answers.append([[i.op, float(i.value), bool(i.requires_grad)] for i in z.inputs])
        return answers

    def expected(data):
        x = ["leaf", 5.0, False]
        pairs = [([["leaf", number, False], x], first) for _, first, number in data]
        return [pair if first else pair[::-1] for pair, first in pairs]


@check(step="node", points=1, concept="requires_grad spreads")
class Requires:
    caption = "x * c and c + c, where only x requires a gradient"
    example = {"needs": [True, False], "made": [["mul", 0, 1], ["add", 1, 1]]}

    def in_words(value):
        return f"{value[0]} for x * c, {value[1]} for c + c"

    def generate(rng):
        pairs = [[0, 0], [0, 1], [1, 0], [1, 1]]
        operations = [[op, *pairs[i]] for op in ("add", "mul") for i in rng.permutation(4)]
        return {"needs": [bool(n) for n in rng.permutation([True, False])], "made": operations}

    def drive(step, data):
        leaves = [step.Node(2.0, requires_grad=needs) for needs in data["needs"]]
        results = [
            leaves[left] + leaves[right] if op == "add" else leaves[left] * leaves[right]
            for op, left, right in data["made"]
        ]
        return [bool(z.requires_grad) for z in results]

    def expected(data):
        return [data["needs"][left] or data["needs"][right] for _, left, right in data["made"]]


@check(step="node", points=0.5, concept="what `__init__` brings along", cases=1)
class Kept:
    caption = (
        "z = x * x with `mode.on = False` (op, number of inputs and requires_grad of z; whether a "
        "leaf made then still requires a gradient; what a node with saved=(7.0,) saves then), and "
        "with `mode.on = True` (what it saves, .grad)"
    )
    example = 7.0
    in_words = (
        *("op", "inputs", "requires_grad", "requires_grad of the leaf", "saved"),
        *("saved with `mode.on = True`", ".grad"),
    )

    def generate(rng):
        return float(rng.uniform(2, 90))

    def drive(step, data):
        step.mode.on = False
        try:
            x = step.Node(2.0, requires_grad=True)
            z = x * x
            none = step.Node(4.0, "op", (x, x), True, (data,))
        finally:
            step.mode.on = True
        node = step.Node(4.0, "op", (x, x), True, (data,))
        off = [z.op, len(z.inputs), z.requires_grad, x.requires_grad, list(none.saved)]
        return [*off, list(node.saved), node.grad]

    def expected(data):
        return ["leaf", 0, False, True, [], [data], None]


@check(step="edges", points=2, concept="one edge for each use", using=[nodes_of])
class Edges:
    caption = "square = x * x and double = square + square, with root double: pairs (node, input)"
    example = [[[], True], [[0, 0], True], [[1, 1], True]]

    def in_words(value):
        names = ["x", "square", "double"]
        return ", ".join(f"({names[node]}, {names[x]})" for node, x in value) or "no pairs"

    def generate(rng):
        return graph(rng)

    def drive(step, data):
        pairs = step.edges(nodes_of(data)[-1])
        return sorted([node.number, x.number] for node, x in pairs)

    def expected(data):
        return sorted([number, x] for number in reached(data) for x in data[number][0])

    def picture(data, value, expected):
        labels, rows = ["x", "square", "double"], [0, 1, 2]
        both = [Counter((x, node) for node, x in pairs) for pairs in (value, expected)]
        graphs = [edge_graph(labels, edges, rows) for edges in both]
        return beside(*graphs, f"your {len(value)} edges beside the right {len(expected)}")


@check(step="leaves", points=2, concept="leaves that require a gradient", using=[nodes_of])
class Leaves:
    caption = "2 * x + x, where x requires a gradient (the leaves)"
    example = [[[], False], [[], True], [[0, 1], True], [[2, 1], True]]

    def in_words(value):
        names = ["2", "x", "2 * x", "2 * x + x"]
        return " and ".join(names[number] for number in value) or "no leaves"

    def generate(rng):
        return graph(rng)

    def drive(step, data):
        return sorted(leaf.number for leaf in step.leaves(nodes_of(data)[-1]))

    def expected(data):
        return [i for i in sorted(reached(data)) if not data[i][0] and data[i][1]]
