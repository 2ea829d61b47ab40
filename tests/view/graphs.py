"""Graphs the layout tests draw: the shapes a learner's programs make.

Each builder gives ``(nodes, edges, labels)``: box sizes, edges in the order of the
arguments, and a word per node for pictures. Box widths follow the labels, as in the view.
"""

from __future__ import annotations

from collections.abc import Callable

Nodes = list[tuple[float, float]]
Edges = list[tuple[int, int]]
Graph = tuple[Nodes, Edges, list[str]]


class Sketch:
    """Notes nodes and edges in creation order, as a recorder would."""

    def __init__(self) -> None:
        self.nodes: Nodes = []
        self.edges: Edges = []
        self.labels: list[str] = []

    def leaf(self, label: str) -> int:
        return self._add(label, 46.0)

    def op(self, label: str, *inputs: int) -> int:
        node = self._add(label, 58.0)
        self.edges += [(source, node) for source in inputs]
        return node

    def _add(self, label: str, height: float) -> int:
        self.nodes.append((min(170.0, 52.0 + 8.0 * len(label)), height))
        self.labels.append(label)
        return len(self.nodes) - 1

    @property
    def graph(self) -> Graph:
        return self.nodes, self.edges, self.labels


def empty() -> Graph:
    return Sketch().graph


def single() -> Graph:
    s = Sketch()
    s.leaf("x")
    return s.graph


def isolated(count: int = 5) -> Graph:
    s = Sketch()
    for i in range(count):
        s.leaf(f"x{i}")
    return s.graph


def line() -> Graph:
    """y = 2 * x + 3, the numbers drawn as leaves."""
    s = Sketch()
    two, x = s.leaf("2"), s.leaf("x")
    product = s.op("mul", two, x)
    s.op("y = add", product, s.leaf("3"))
    return s.graph


def square() -> Graph:
    """x * x: two edges between the same two nodes."""
    s = Sketch()
    x = s.leaf("x")
    s.op("mul", x, x)
    return s.graph


def diamond() -> Graph:
    """One value used on two ways that meet again."""
    s = Sketch()
    x = s.leaf("x")
    a = s.op("exp", x)
    s.op("mul", s.op("sin", a), s.op("cos", a))
    return s.graph


def neuron() -> Graph:
    """tanh(x * w + b)."""
    s = Sketch()
    x, w = s.leaf("x"), s.leaf("w")
    product = s.op("mul", x, w)
    s.op("tanh", s.op("add", product, s.leaf("b")))
    return s.graph


def skip() -> Graph:
    """x + f(f(f(x))): one edge passes beside a chain."""
    s = Sketch()
    x = s.leaf("x")
    h = x
    for _ in range(3):
        h = s.op("tanh", h)
    s.op("add", x, h)
    return s.graph


def far_pair() -> Graph:
    """Two parallel edges that span several rows: e = x * x taken late."""
    s = Sketch()
    x = s.leaf("x")
    h = s.op("tanh", s.op("exp", s.op("sin", x)))
    s.op("where", x, h, x)
    return s.graph


def chain(steps: int) -> Graph:
    """h = tanh(h) again and again."""
    s = Sketch()
    h = s.leaf("x")
    for _ in range(steps):
        h = s.op("tanh", h)
    return s.graph


def scale_chain(steps: int) -> Graph:
    """h = h * w, one shared w: the first loop of every lesson."""
    s = Sketch()
    h, w = s.leaf("x"), s.leaf("w")
    for _ in range(steps):
        h = s.op("h = mul", h, w)
    return s.graph


def mlp(*sizes: int) -> Graph:
    """Scalar multilayer perceptron, every product and sum a node of its own."""
    s = Sketch()
    values = [s.leaf(f"x{i}") for i in range(sizes[0])]
    for width in sizes[1:]:
        outputs = []
        for _ in range(width):
            weights = [s.leaf("w") for _ in values]
            total = s.leaf("b")
            for w, value in zip(weights, values, strict=True):
                total = s.op("add", total, s.op("mul", w, value))
            outputs.append(s.op("tanh", total))
        values = outputs
    return s.graph


def rnn(steps: int) -> Graph:
    """h = tanh(x_t @ W + h @ U + b), unrolled; W, U, b shared by all steps."""
    s = Sketch()
    w, u, b, h = s.leaf("W"), s.leaf("U"), s.leaf("b"), s.leaf("h0")
    for t in range(steps):
        x = s.leaf(f"x{t}")
        drive = s.op("matmul", x, w)
        memory = s.op("matmul", h, u)
        h = s.op(f"h{t} = tanh", s.op("add", s.op("add", drive, memory), b))
    return s.graph


def resnet(blocks: int) -> Graph:
    """x = x + relu(x @ W), each block with its own W and an edge around it."""
    s = Sketch()
    x = s.leaf("x")
    for i in range(blocks):
        x = s.op(f"x{i} = add", x, s.op("relu", s.op("matmul", x, s.leaf(f"W{i}"))))
    return s.graph


def shared_resnet(blocks: int) -> Graph:
    """x = x + relu(x @ W + b), all blocks with the same W and b."""
    s = Sketch()
    x, w, b = s.leaf("x"), s.leaf("W"), s.leaf("b")
    for i in range(blocks):
        x = s.op(f"x{i} = add", x, s.op("relu", s.op("add", s.op("matmul", x, w), b)))
    return s.graph


def lstm(steps: int) -> Graph:
    """Long short-term memory, unrolled: two states and four shared weights."""
    s = Sketch()
    h, c = s.leaf("h0"), s.leaf("c0")
    weights = [s.leaf(f"W{gate}") for gate in "ifog"]
    for t in range(1, steps + 1):
        z = s.op("cat", h, s.leaf(f"x{t}"))
        i, f, o = (s.op("sigmoid", s.op("matmul", z, w)) for w in weights[:3])
        g = s.op("tanh", s.op("matmul", z, weights[3]))
        c = s.op(f"c{t} = add", s.op("mul", f, c), s.op("mul", i, g))
        h = s.op(f"h{t} = mul", o, s.op("tanh", c))
    return s.graph


def stack(count: int) -> Graph:
    """One box with many arguments."""
    s = Sketch()
    s.op("stack", *(s.leaf(f"x{i}") for i in range(count)))
    return s.graph


def two_parts() -> Graph:
    """Two expressions that share nothing, and a value nobody uses."""
    s = Sketch()
    x, w = s.leaf("x"), s.leaf("w")
    s.op("mul", x, w)
    s.leaf("unused")
    s.op("tanh", s.op("exp", s.leaf("y")))
    return s.graph


LESSONS: dict[str, Callable[[], Graph]] = {
    "empty": empty,
    "single": single,
    "isolated": isolated,
    "line": line,
    "square": square,
    "diamond": diamond,
    "neuron": neuron,
    "skip": skip,
    "far_pair": far_pair,
    "loop": lambda: scale_chain(5),
}
