"""Does the network compute what it should, and does it learn?"""

import numpy as np

from autodiff_kit.grading.checks import check, same
from autodiff_kit.grading.rules import exact, inexact
from autodiff_kit.lessons.datasets import digits

X_TRAIN, Y_TRAIN, X_TEST, Y_TEST = digits()


def tensors(step, data):
    return [step.Node(array.copy(), requires_grad=True) for array in data["parameters"]]


def task(rng, images=5, pixels=4, hidden=6, classes=3):
    """Return a small random network with a few random images.

    The second bias makes the logits of each class 0 on average: some are positive, some negative.
    """
    w1, b1 = rng.normal(size=(pixels, hidden)), rng.normal(size=hidden)
    w2, x = rng.normal(size=(hidden, classes)), rng.normal(size=(images, pixels))
    b2 = -(np.maximum(x @ w1 + b1, 0.0) @ w2).mean(axis=0)
    return {"parameters": [w1, b1, w2, b2], "x": x, "y": rng.integers(0, classes, images)}


def loss_and_slopes(parameters, x, y):
    """Work the loss and its gradient out by hand, in plain arrays."""
    w1, b1, w2, b2 = parameters
    before = x @ w1 + b1
    hidden = before * (before > 0)
    logits = hidden @ w2 + b2
    logits = logits - logits.max(axis=1, keepdims=True)
    probability = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    rows = np.arange(len(y))
    loss = -np.log(probability[rows, y]).mean()
    probability[rows, y] -= 1.0
    to_logits = probability / len(y)
    to_before = (to_logits @ w2.T) * (before > 0)
    slopes = [x.T @ to_before, to_before.sum(axis=0), hidden.T @ to_logits, to_logits.sum(axis=0)]
    return loss, slopes


def first_move(step, data):
    """Return the parameters after one step, and the slopes of the learner's own loss before it."""
    parameters, moved = tensors(step, data), tensors(step, data)
    loss = step.loss_of(parameters, data["x"], data["y"])
    for parameter in parameters:
        parameter.grad = None
    step.backward(loss)
    step.train_step(moved, data["x"], data["y"], data["rate"])
    return [[p.value for p in moved], [p.grad for p in parameters]]


def right_move(data):
    """Return what `first_move` should."""
    _, slopes = loss_and_slopes(data["parameters"], data["x"], data["y"])
    return [after_steps({**data, "steps": 1}), slopes]


def is_down(data, move):
    """Tell whether a step goes down the slope: it may have another length, but no way of its own.

    Whether the loss is right, and how far the steps go, are other checks' questions.
    """
    after, slopes = move
    shapes = [array.shape for array in data["parameters"]]
    if any([np.shape(array) for array in arrays] != shapes for arrays in move):
        return False
    down = np.concatenate(
        [np.ravel(old - new) for old, new in zip(data["parameters"], after, strict=True)]
    )
    slope = np.concatenate([np.ravel(array) for array in slopes])
    return bool(down @ slope > 0.3 * np.linalg.norm(down) * np.linalg.norm(slope))


def after_steps(data):
    """Return the parameters after some steps down the slope, in plain arrays."""
    parameters = [array.copy() for array in data["parameters"]]
    for _ in range(data["steps"]):
        _, slopes = loss_and_slopes(parameters, data["x"], data["y"])
        parameters = [p - data["rate"] * s for p, s in zip(parameters, slopes, strict=True)]
    return parameters


SMALL = {
    "parameters": [
        np.array([[1.0, -1.0], [2.0, 1.0]]),
        np.array([0.5, 0.0]),
        np.array([[1.0, 0.0], [0.0, 1.0]]),
        np.array([0.0, 1.0]),
    ],
    "x": np.array([[1.0, 2.0], [-1.0, -0.5]]),
    "y": np.array([1, 0]),
}


def kits_parts(step):
    """Return which parts of an engine are the kit's: they are worth nothing here."""
    try:
        parts = step.KITS_PARTS
    except AttributeError:
        parts = ()
    return [str(part) for part in parts]


def part_of_the_kit(data, value, expected):
    return "parts_of_the_kit" if value["kit"] else ""


def calculate(numbers, steps, exp, relu, power):
    """Run a program of numbers, or of nodes: each step makes one more of two before it."""
    values = list(numbers)
    for op, i, j in steps:
        x, y = values[i], values[j]
        if op == "exp":
            values.append(exp(x * 0.125))
        elif op == "relu":
            values.append(relu(x) + relu(x * -0.5))
        else:
            values.append({"add": x + y, "sub": x - y, "mul": x * y, "pow": x**2}[op])
    return values[-1] / values[0] + 2.0 * values[-1] + power(values[0], 3)


class Forward:
    """A number with its slopes in some directions, carried forward: no graph is involved."""

    def __init__(self, value, slopes=0.0):
        self.value, self.slopes = value, slopes

    def __add__(self, other):
        return Forward(self.value + other.value, self.slopes + other.slopes)

    def __sub__(self, other):
        return Forward(self.value - other.value, self.slopes - other.slopes)

    def __mul__(self, other):
        other = other if isinstance(other, Forward) else Forward(other)
        return Forward(
            self.value * other.value, self.slopes * other.value + self.value * other.slopes
        )

    __rmul__ = __mul__

    def __truediv__(self, other):
        slopes = (self.slopes * other.value - self.value * other.slopes) / other.value**2
        return Forward(self.value / other.value, slopes)

    def __pow__(self, n):
        return Forward(self.value**n, n * self.value ** (n - 1) * self.slopes)

    def exp(self):
        return Forward(np.exp(self.value), np.exp(self.value) * self.slopes)

    def relu(self):
        return Forward(max(self.value, 0.0), self.slopes * (self.value > 0))


@check(step="engine", points=1, concept="sums, products, functions", using=[kits_parts, calculate])
class Scalars:
    caption = (
        "z = (x * y + x) / x + 2 * (x * y + x) + power(x, 3) at x = 2 and y = 5 (which parts are "
        "the kit's; the value, and the gradients of x and y)"
    )
    example = {"leaves": [2.0, 5.0], "steps": [["mul", 0, 1], ["add", 2, 0]]}

    def generate(rng):
        steps = []
        for op in rng.permutation(["mul", "add", "sub", "exp", "relu", "mul", "pow"]):
            newest = len(steps) + 2
            other = int(rng.integers(0, newest - 1))
            # Each uses the newest, so that all of them matter.
            steps.append([str(op), newest - 1, other])
        leaves = [float(x) for x in rng.uniform(0.5, 1.5, 3) * [1, -1, 1]]
        return {"leaves": leaves, "steps": [[op, i + 1, j] for op, i, j in steps]}

    def drive(step, data):
        leaves = [step.Node(x, requires_grad=True) for x in data["leaves"]]
        root = calculate(leaves, data["steps"], step.exp, step.relu, step.power)
        step.backward(root)
        gradients = [0.0 if x.grad is None else float(x.grad) for x in leaves]
        return {"kit": kits_parts(step), "value": float(root.value), "gradients": gradients}

    def expected(data):
        directions = np.eye(len(data["leaves"]))
        leaves = [Forward(x, e) for x, e in zip(data["leaves"], directions, strict=True)]
        root = calculate(leaves, data["steps"], Forward.exp, Forward.relu, Forward.__pow__)
        gradients = [float(slope) for slope in root.slopes]
        return {"kit": [], "value": float(root.value), "gradients": gradients}

    diagnose = part_of_the_kit


@check(step="engine", points=1, concept="arrays: broadcasting and `@`", using=[kits_parts])
class Arrays:
    caption = (
        "the mean over real numbers of relu(x @ w + b) * c, and (stack @ w) * c (which parts are "
        "the kit's; the gradients of w, b and c, and those of stack and w)"
    )
    example = {
        "x": np.array([[1.0, 2.0], [3.0, 4.0]]),
        "w": np.array([[1.0, 0.5, -1.0], [1.0, -0.5, 2.0]]),
        "b": np.array([0.5, 0.0, 1.0]),
        "c": np.array([[2.0], [3.0]]),
        "lengths": np.array([3, 1]),
        "stack": np.array([[[1.0, 2.0]], [[3.0, 4.0]]]),
    }

    def generate(rng):
        rows, inner, columns = (int(n) for n in rng.integers(2, 5, 3))
        return {
            "x": rng.normal(size=(rows, inner)),
            "w": rng.normal(size=(inner, columns)),
            "b": rng.normal(size=columns),
            "c": rng.uniform(1.0, 2.0, size=(rows, 1)),
            "lengths": rng.integers(1, columns + 1, rows),
            "stack": rng.normal(size=(2, 3, inner)),
        }

    def drive(step, data):
        w, b, c = (step.Node(data[name].copy(), requires_grad=True) for name in "wbc")
        step.backward(
            step.mean_over_real(step.relu(step.Node(data["x"]) @ w + b) * c, data["lengths"])
        )
        first = [w.grad, b.grad, c.grad]
        stack = step.Node(data["stack"].copy(), requires_grad=True)
        w.grad = None
        step.backward(stack @ w * data["c"][0, 0])
        return {"kit": kits_parts(step), "gradients": [*first, stack.grad, w.grad]}

    def expected(data):
        x, w, b, c = (data[name] for name in "xwbc")
        hidden = x @ w + b
        real = np.arange(w.shape[1]) < data["lengths"][:, None]
        g = real / data["lengths"].sum()
        to_hidden = g * c * (hidden > 0)
        to_c = (g * np.maximum(hidden, 0.0)).sum(axis=1, keepdims=True)
        first = [x.T @ to_hidden, to_hidden.sum(axis=0), to_c]
        ones = np.full((*data["stack"].shape[:2], w.shape[1]), c[0, 0])
        to_w = np.einsum("bij,bik->jk", data["stack"], ones)
        return {"kit": [], "gradients": [*first, ones @ w.T, to_w]}

    diagnose = part_of_the_kit


@check(step="engine", points=1, concept="modes, checkpoints, replays", using=[kits_parts])
class Modes:
    caption = (
        "x * x inside of no_grad, a checkpointed chain, and the traced graph of x * y + 2 * x "
        "(which parts are the kit's; how many inputs the product has; the chain's value and "
        "gradient; what a replay gives for other numbers, and its gradients)"
    )
    example = {"x": 0.5, "every": 2, "blocks": 3, "inputs": [3.0, 5.0], "others": [4.0, 6.0]}

    def generate(rng):
        pairs = [[float(x) for x in rng.integers(2, 30, 2)] for _ in range(2)]
        return {
            "x": float(rng.uniform(0.2, 0.6)),
            "every": int(rng.integers(2, 4)),
            "blocks": int(rng.integers(4, 7)),
            "inputs": pairs[0],
            "others": pairs[1],
        }

    def drive(step, data):
        x = step.Node(data["x"], requires_grad=True)
        with step.no_grad():
            inputs = len((x * x).inputs)
        blocks = [lambda h: step.exp(h * -0.5) * h + h * 0.5] * data["blocks"]
        y = step.checkpoint(blocks, x, data["every"])
        step.backward(y)
        graph = step.trace(lambda x, y: x * y + 2.0 * x, data["inputs"])
        root = step.replay(graph, data["others"])
        step.backward(root)
        slopes = [float(leaf.grad) for leaf in graph[0]]
        chain, replay = [float(y.value), float(x.grad)], [float(root.value), *slopes]
        return {"kit": kits_parts(step), "inputs": inputs, "chain": chain, "replay": replay}

    def expected(data):
        h = Forward(data["x"], 1.0)
        for _ in range(data["blocks"]):
            h = Forward.exp(h * -0.5) * h + h * 0.5
        x, y = data["others"]
        chain = [float(h.value), float(h.slopes)]
        return {"kit": [], "inputs": 0, "chain": chain, "replay": [x * y + 2 * x, y + 2, x]}

    diagnose = part_of_the_kit


@check(step="loss", points=2, concept="two layers and their gradient", using=[tensors])
class Loss:
    caption = "a network of 2 pixels, 2 hidden numbers and 2 classes (loss, gradient of the biases)"
    example = SMALL

    def generate(rng):
        return task(rng)

    def drive(step, data):
        parameters = tensors(step, data)
        loss = step.loss_of(parameters, data["x"], data["y"])
        for parameter in parameters:
            parameter.grad = None  # only this pass counts
        step.backward(loss)
        return [float(loss.value), parameters[1].grad, parameters[3].grad, parameters[0].grad]

    def expected(data):
        loss, slopes = loss_and_slopes(data["parameters"], data["x"], data["y"])
        return [float(loss), slopes[1], slopes[3], slopes[0]]

    compare, diagnose = exact, inexact


@check(step="step", points=2, concept="three steps, each with its own gradient", using=[tensors])
class Steps:
    caption = "a small network, three steps with rate 0.1 (all parameters afterwards)"
    example = {**SMALL, "rate": 0.1, "steps": 3}
    in_words = ("w1:", "b1:", "w2:", "b2:")

    def generate(rng):
        return {**task(rng), "rate": float(rng.uniform(0.05, 0.2)), "steps": 3}

    def drive(step, data):
        parameters = tensors(step, data)
        for _ in range(data["steps"]):
            step.train_step(parameters, data["x"], data["y"], data["rate"])
        return [p.value for p in parameters]

    def expected(data):
        return after_steps(data)

    compare, diagnose = exact, inexact


@check(step="step", points=1, concept="no graph is kept", cases=2, using=[tensors, first_move])
class Alive:
    in_words = ("difference of losses:", "other nodes alive:", "parameters:", "slopes:")
    caption = (
        "two steps (the loss that the first returned, less the one before it; whether other "
        "nodes than the parameters are still alive; the parameters after one step, and the "
        "slopes of your loss before it)"
    )
    example = {**SMALL, "rate": 0.1, "steps": 2}

    def generate(rng):
        return {**task(rng), "rate": 0.1, "steps": int(rng.integers(2, 5))}

    def drive(step, data):
        import gc
        import weakref

        move = first_move(step, data)
        references, begin = [], step.Node.__init__

        def watched(self, *arguments, **named):
            begin(self, *arguments, **named)
            references.append(weakref.ref(self))

        parameters = tensors(step, data)
        before = float(step.loss_of(parameters, data["x"], data["y"]).value)
        step.Node.__init__ = watched
        try:
            losses = [
                step.train_step(parameters, data["x"], data["y"], data["rate"])
                for _ in range(data["steps"])
            ]
        finally:
            step.Node.__init__ = begin
        if sum(tensor() is not None for tensor in references) > 4:
            gc.collect()  # a circle of references is no leak
        waiting, ids = list(parameters), set()
        while waiting:
            node = waiting.pop()
            if id(node) not in ids:
                ids.add(id(node))
                waiting += node.inputs
        alive = [tensor() for tensor in references]
        leaks = sum(node is not None and id(node) not in ids for node in alive) > 4
        return [losses[0] - before, leaks, *move]

    def expected(data):
        return [0.0, False, *right_move(data)]

    def compare(data, value, expected):
        return same(value[:2], expected[:2]) and is_down(data, value[2:])


def drawn_start(rng):
    """Return parameters as `new_parameters` draws them, for digits of 64 pixels."""
    return [
        rng.normal(size=(64, 16)) / 8.0,
        np.zeros(16),
        rng.normal(size=(16, 10)) / 4.0,
        np.zeros(10),
    ]


def descended(data, rates, change=0.0):
    """Return the losses and the parameters of steps with these rates, each over all images.

    The start is another one by this share of each number.
    """
    parameters, losses = [p * (1.0 + change) for p in data["parameters"]], []
    x = data["x"].astype(float)
    for rate in rates:
        loss, slopes = loss_and_slopes(parameters, x, data["y"])
        losses.append(float(loss))
        parameters = [p - rate * s for p, s in zip(parameters, slopes, strict=True)]
    return losses, parameters


def noted(history):
    """Return the rates and the losses of a history; None if it is no list of such pairs."""
    pairs = np.array(history, dtype=float)
    is_history = isinstance(history, list) and pairs.ndim == 2 and pairs.shape[1] == 2
    return pairs.T if is_history and len(pairs) <= MOST_STEPS and np.isfinite(pairs).all() else None


def reached(data, value):
    """Return the parameters that the steps of a history lead to; None if an answer has others."""
    history, arrays = value
    rates, losses = noted(history)
    right_losses, right_arrays = descended(data, rates)
    # Large steps make differences grow. What a change far larger than any round-off becomes, on the
    # way, is how near two right computations in other orders come.
    near_losses, near_arrays = descended(data, rates, 1e-13)
    of_losses = float(np.abs(np.subtract(near_losses, right_losses)).max())
    of_arrays = max(np.abs(a - b).max() for a, b in zip(near_arrays, right_arrays, strict=True))
    # How exact a loss is, is another check's question.
    is_descent = same(losses, np.array(right_losses), atol=0.06 + 10 * of_losses) and same(
        arrays, right_arrays, atol=1e-8 + 10 * float(of_arrays)
    )
    return right_arrays if is_descent else None


MOST_STEPS = 300


@check(
    step="train",
    points=2,
    concept="a network that reads digits",
    cases=1,
    slow=True,
    using=[tensors],
)
class Accuracy:
    caption = "300 real digits to learn from (the history, and the parameters at the end)"
    example = {
        "parameters": drawn_start(np.random.default_rng(0)),
        "x": X_TRAIN[:300],
        "y": Y_TRAIN[:300],
        "unseen": X_TEST[:300],
        "right": Y_TEST[:300],
    }
    many = True

    def generate(rng):
        # Pixels and digits change places, so that no weights but those learned from x and y fit.
        pixels, digit = rng.permutation(64), rng.permutation(10)
        rows = rng.permutation(len(X_TRAIN))[:300]
        others = rng.permutation(len(X_TEST))[:300]
        return {
            "parameters": drawn_start(rng),
            "x": X_TRAIN[rows][:, pixels],
            "y": digit[Y_TRAIN[rows]],
            "unseen": X_TEST[others][:, pixels],
            "right": digit[Y_TEST[others]],
        }

    def public(data):
        return {name: data[name] for name in ("parameters", "x", "y")}

    def drive(step, data):
        parameters = tensors(step, data)
        history = step.train(parameters, data["x"].astype(float), data["y"])
        return [history, [p.value for p in parameters]]

    def expected(data):
        losses, parameters = descended(data, [1.0] * 80)
        return [[(1.0, loss) for loss in losses], parameters]

    def compare(data, value, expected):
        parameters = reached(data, value)
        if parameters is None:
            return False
        # What the network reads there is computed here.
        w1, b1, w2, b2 = parameters
        read = (np.maximum(data["unseen"] @ w1 + b1, 0.0) @ w2 + b2).argmax(axis=1)
        # 75 in 100 are asked for. Of other digits it may be a few less: that is the draw's doing.
        return bool(np.mean(read == data["right"]) >= 0.7)

    def diagnose(data, value, expected):
        try:
            pairs = noted(value[0])
        except (TypeError, ValueError):
            pairs = None
        if pairs is None:
            return "no_history"
        return "" if reached(data, value) else "not_by_these_steps"
