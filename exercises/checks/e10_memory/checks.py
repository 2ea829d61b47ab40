"""Is enough saved and no more, and are the missing values computed again, once?"""

import numpy as np

from autodiff_kit.grading.checks import check, same

READS = {
    "add": ("", ""),
    "mul": ("y", "x"),
    "exp": ("out", ""),
    "tanh": ("out", ""),
    "sin": ("x", ""),
}


def chain(matrices, factors):
    """Make blocks whose rules read their input: x -> tanh(w @ x), for x of two numbers.

    A rule may have a factor of its own: the gradient is what the rules say, and cannot be had by
    moving the inputs a little.
    """

    class Block:
        def __init__(self, w, factor):
            self.w, self.factor = w, factor

        def forward(self, x):
            return np.tanh(self.w @ x)

        def rule(self, g, x):
            return self.factor * (self.w.T @ (g / np.cosh(self.w @ x) ** 2))

    return [Block(w, factor) for w, factor in zip(matrices, factors, strict=True)]


def inputs_of(data):
    """Return the input of each block, and the result."""
    values = [data["x"]]
    for w in data["blocks"]:
        values.append(np.tanh(w @ values[-1]))
    return values


def a_chain(rng, count):
    """Return matrices of which no two can change places."""
    return [rng.uniform(0.5, 1.0, (2, 2)) * [[1.0, -1.0], [1.0, 1.0]] for _ in range(count)]


def a_run(rng, every, count):
    return {
        "blocks": a_chain(rng, count),
        "factors": rng.uniform(1.1, 1.4, count),
        "x": rng.uniform(0.5, 1.5, 2),
        "every": every,
        "g": rng.uniform(1.5, 3.0, 2),
    }


def slope(data):
    """Return the gradient by moving each number of the input a little."""
    result = []
    for move in np.eye(2) * 1e-5:
        up = inputs_of({**data, "x": data["x"] + move})[-1]
        down = inputs_of({**data, "x": data["x"] - move})[-1]
        result.append(float(data["g"] @ (up - down)) / 2e-5)
    return np.array(result) * np.prod(data["factors"])


TURN = np.array([[0.8, -0.6], [0.6, 0.8]])
GROW = np.array([[1.0, 0.5], [0.0, 1.0]])
FIVE = {
    "blocks": [TURN, GROW, TURN, GROW, TURN],
    "factors": np.ones(5),
    "x": np.array([1.0, 0.5]),
    "every": 2,
    "g": np.array([1.0, 0.0]),
}


@check(step="save", points=2, concept="what each rule reads", cases=4)
class Reads:
    in_words = ("mul saves", "exp saves", "add saves")
    caption = "mul, exp and add, all inputs requiring a gradient"
    example = ["mul", "exp", "add"]

    def generate(rng):
        return [str(op) for op in rng.permutation(list(READS))]

    def drive(step, data):
        two = ("add", "mul")
        return [sorted(step.to_save(op, True, op in two)) for op in data]

    def expected(data):
        return [sorted(name for name in READS[op] if name) for op in data]


@check(step="save", points=2, concept="rules that are never asked", cases=4)
class Unasked:
    in_words = ("only x requires one:", "only y does:", "none does:")
    caption = "x * y where only x, only y, or none of them requires a gradient"
    example = [["mul", True, False], ["mul", False, True], ["mul", False, False]]

    def generate(rng):
        cases = [["mul", True, False], ["mul", False, True], ["mul", False, False]]
        cases += [["add", True, False], *([op, False, False] for op in ("exp", "tanh", "sin"))]
        return [cases[i] for i in rng.permutation(len(cases))]

    def drive(step, data):
        return [sorted(step.to_save(op, x, y)) for op, x, y in data]

    def expected(data):
        saved = []
        for op, x, y in data:
            for_x, for_y = READS[op]
            saved.append(sorted({for_x if x else "", for_y if y else ""} - {""}))
        return saved


@check(step="run", points=2, concept="every so many inputs", using=[chain])
class Checkpoints:
    in_words = ("result:", "saved:")
    caption = "3 blocks with every = 2 (the result, then pairs of block number and saved input)"
    example = {**FIVE, "blocks": [TURN, GROW, TURN], "factors": np.ones(3)}

    kinds = ((2, 4), (3, 7), (3, 6), (4, 11))

    def generate(rng, kind):
        return a_run(rng, *kind)

    def drive(step, data):
        out, saved = step.run(chain(data["blocks"], data["factors"]), data["x"], data["every"])
        return [out, [[number, saved[number]] for number in sorted(saved)]]

    def expected(data):
        *inputs, out = inputs_of(data)
        return [out, [[i, inputs[i]] for i in range(0, len(inputs), data["every"])]]


@check(step="gradient", points=2, concept="the right gradient", cases=3, using=[chain])
class Gradient:
    caption = "5 blocks with every = 2, so that the last segment has one block"
    example = {**FIVE, "saved": inputs_of(FIVE)[:-1][::2]}

    def generate(rng):
        every = int(rng.integers(2, 5))
        count = every * int(rng.integers(1, 3)) + int(rng.integers(1, every))
        data = a_run(rng, every, count)
        return {**data, "saved": inputs_of(data)[:-1][::every]}

    def drive(step, data):
        saved = {number * data["every"]: x for number, x in enumerate(data["saved"])}
        return step.gradient(
            chain(data["blocks"], data["factors"]), saved, data["every"], data["g"]
        )

    def expected(data):
        return slope(data)


@check(step="gradient", points=2, concept="little work, little memory", cases=2, using=[chain])
class Work:
    in_words = ("gradient of the first and the last:", "calls:", "values held:", "inputs waiting:")
    caption = (
        "9 blocks with every = 3, for 10,000 columns (gradient of the first and the last, calls of "
        "each block's forward, most values held at a time, most inputs waiting for their rule)"
    )
    example = {**FIVE, "blocks": [TURN, GROW, TURN] * 3, "factors": np.ones(9), "every": 3}
    many = True
    kinds = (3, 4)

    def generate(rng, every):
        return a_run(rng, every, 4 * every)

    def drive(step, data):
        import tracemalloc

        columns = 10_000  # beside such values, the memory of lists and frames is nothing

        def wide(x):  # no two columns are equal: one does not stand for all
            return x[:, None] * np.linspace(1.0, 0.9, columns)

        most, before, events = 0, 0, []

        def watched(block, number):
            class Watched:  # what it computes with is hidden: there is no way around forward
                def forward(self, x):
                    nonlocal most
                    events.append(["forward", number])
                    value = block.forward(x)
                    # Copies count as well, and lists: whatever memory is taken at this moment.
                    extra = tracemalloc.get_traced_memory()[0] - before
                    is_reset = extra + before < ballast.nbytes
                    most = max(most, 10**6 if is_reset else round(extra / value.nbytes))
                    return value

                def rule(self, g, x):
                    events.append(["rule", number])
                    return block.rule(g, x)

            return Watched()

        blocks = chain(data["blocks"], data["factors"])
        saved, x = {}, wide(data["x"])
        for number, block in enumerate(blocks):
            if number % data["every"] == 0:
                saved[number] = x
            x = block.forward(x)
        g = np.repeat(data["g"][:, None], columns, axis=1)
        arguments = [watched(b, number) for number, b in enumerate(blocks)], saved, data["every"], g
        is_running = tracemalloc.is_tracing()
        tracemalloc.start()
        try:
            ballast = np.empty(10**6)  # the count cannot begin anew unseen
            before = tracemalloc.get_traced_memory()[0]
            g = step.gradient(*arguments)
        finally:
            if not is_running:
                tracemalloc.stop()
        # Wherever an input is put: it is held from when it was computed until its rule is asked.
        computed, spans = {}, []
        for time, (what, number) in enumerate(events):
            if what == "forward":
                computed[number + 1] = time
            elif number in computed:
                spans.append([computed.pop(number), time])
        counts = [sum(a <= time < b for a, b in spans) for time in range(len(events))]
        calls = [events.count(["forward", number]) for number in range(len(blocks))]
        return [g[:, [0, -1]], calls, max([most, *counts]), max([0, *counts])]

    def expected(data):
        count, every = len(data["blocks"]), data["every"]
        slopes = [slope({**data, "x": data["x"] * part}) for part in (1.0, 0.9)]
        # One segment's inputs, and g.
        calls = [int(number % every < every - 1) for number in range(count)]
        return [np.stack(slopes, axis=1), calls, every, every - 1]

    def compare(data, value, expected):
        if not isinstance(value, list) or len(value) != 4 or not same(value[0], expected[0]):
            return False
        _, calls, most, blocks = value
        every = data["every"]
        return sum(calls) > 0 and max(calls) <= 1 and 0 < most <= every + 3 and blocks <= every

    def diagnose(data, value, expected):
        calls = value[1]
        if not same(value[0], expected[0]):
            return ""
        if not any(calls):
            return "nothing_computed_again"
        return "computed_too_often" if max(calls) > 1 else "everything_held"
