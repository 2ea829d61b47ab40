"""Is the graph kept, with its decisions, and does it hold for other inputs?"""

from autodiff_kit.grading.checks import check


def run(program, x, greater=lambda a, b: a > b):
    """Run a program on numbers or nodes, and return what each step makes.

    The steps are [op, left, right]; a guard is `left > right`.
    """
    results = []

    def find(ref):
        kind, what = ref
        if kind == "frozen":  # the number in an input, taken out of the graph
            return x[what].value
        return {"input": x, "result": results}[kind][what] if kind != "constant" else what

    for op, left, right in program:
        a, b = find(left), right if op == "guard" else find(right)
        if op == "guard":
            results.append(greater(a, b))
        else:
            results.append(a + b if op == "add" else a * b)
    return results


def described(root, inputs):
    """Return a graph as nested lists: ["input", 0], ["constant", 2.0], ["add", left, right]."""
    for number, x in enumerate(inputs):
        if root is x:
            return ["input", number]
    if not root.inputs:
        return ["constant", float(root.value)]
    return [root.op, *(described(x, inputs) for x in root.inputs)]


def formula(graph):
    """Return what `described` does in words: `x0 * (x1 + 2)`."""
    op, *parts = graph
    if op == "input":
        return "xyzuvw"[parts[0]]
    if op == "constant":
        return f"{parts[0]:g}"
    left, right = (formula(part) for part in parts)
    return f"({left} {'+' if op == 'add' else '*'} {right})"


def number(rng):
    return round(float(rng.uniform(1.2, 2.4)), 3)


def program(rng, inputs):
    """Return a random program of sums and products; each step uses the one before it."""
    steps = []
    for place in range(int(rng.integers(3, 6))):
        names = [["input", i] for i in range(inputs)] + [["result", i] for i in range(place)]
        left = ["result", place - 1] if place else ["input", 0]
        right = names[int(rng.integers(len(names)))]
        pair = [left, ["constant", number(rng)] if rng.random() < 0.3 else right]
        order = [int(i) for i in rng.permutation(2)]
        steps.append([str(rng.choice(["add", "mul"])), pair[order[0]], pair[order[1]]])
    return [*steps, ["mul", ["result", len(steps) - 1], ["input", inputs - 1]]]


def shape_of(program, place):
    """Return the graph behind a step of a program, as `described` does."""

    def part(ref):
        return shape_of(program, ref[1]) if ref[0] == "result" else ref

    op, left, right = program[place]
    return [op, part(left), part(right)]


def slopes_of(program, values, place):
    """Return the value of a step and its slope for each input, carried forward.

    Numbers that are frozen are those of `values["frozen"]`.
    """
    results = []

    def find(ref):
        kind, what = ref
        count = len(values["inputs"])
        if kind == "constant":
            return what, [0.0] * count
        if kind == "frozen":
            return values["frozen"][what], [0.0] * count
        if kind == "input":
            return values["inputs"][what], [float(i == what) for i in range(count)]
        return results[what]

    for op, left, right in program:
        (a, da), (b, db) = find(left), find(right)
        if op == "add":
            results.append((a + b, [s + t for s, t in zip(da, db, strict=True)]))
        else:
            results.append((a * b, [s * b + a * t for s, t in zip(da, db, strict=True)]))
    return results[place]


@check(step="greater", points=2, concept="decisions are noted", cases=4, using=[run])
class Decisions:
    caption = "x > 2 and x * x > 20, at x = 3 (the answers, and the notes)"
    example = {
        "program": [
            ["guard", ["input", 0], 2.0],
            ["mul", ["input", 0], ["input", 0]],
            ["guard", ["result", 1], 20.0],
        ],
        "values": [3.0],
    }

    def generate(rng):
        # Two guards close to each result: an answer with another value differs at one. And one that
        # is exactly there: it is not larger.
        x, y = number(rng), number(rng)
        product, total = x * y, x * y + x
        steps = [["mul", ["input", 0], ["input", 1]]]
        steps += [["guard", ["result", 0], product + by] for by in (-0.05, 0.05)]
        steps += [["add", ["result", 0], ["input", 0]]]
        steps += [["guard", ["result", 3], total + by] for by in (0.05, 0.0, -0.05)]
        steps += [["guard", ["input", 1], number(rng)], ["mul", ["result", 3], ["result", 0]]]
        return {"program": steps, "values": [x, y]}

    def drive(step, data):
        inputs = [step.Node(value, requires_grad=True) for value in data["values"]]
        step.guards.clear()
        results = run(data["program"], inputs, step.is_greater)
        nodes = [*inputs, *results]
        steps = zip(results, data["program"], strict=True)
        answers = [bool(x) for x, (op, *_) in steps if op == "guard"]
        notes = [
            [next((i for i, n in enumerate(nodes) if n is x), -1), float(limit), bool(answer)]
            for x, limit, answer in step.guards
        ]
        return [answers, notes]

    def expected(data):
        results = run(data["program"], data["values"])
        answers, notes = [], []
        for place, (op, (kind, what), limit) in enumerate(data["program"]):
            if op == "guard":
                where = what if kind == "input" else len(data["values"]) + what
                answers.append(bool(results[place]))
                notes.append([where, limit, bool(results[place])])
        return [answers, notes]

    def in_words(value):
        answers, notes = value
        names = {0: "x", 2: "x * x"}
        phrases = [f"{names.get(i, 'a new node')} > {n:g} was {answer}" for i, n, answer in notes]
        words = " and ".join(map(str, answers))
        return f"answered {words}; noted: {', '.join(phrases) or 'nothing'}"


@check(step="trace", points=1, concept="the graph that one run leaves", using=[run, described])
class Graph:
    caption = "trace of 2 * x + y, at x = y = 5"
    example = {
        "program": [
            ["mul", ["constant", 2.0], ["input", 0]],
            ["add", ["result", 0], ["input", 1]],
        ],
        "values": [5.0, 5.0],
        "place": 1,
    }
    in_words = (
        "the values of the inputs:",
        "which of them require a gradient:",
        "calls of the function:",
        "the graph:",
    )

    kinds = ("the last", "an earlier one", "an input")  # which result the function returns

    def generate(rng, kind):
        same, steps = number(rng), program(rng, 3)
        place = {"the last": len(steps) - 1, "an earlier one": 1, "an input": -1}[kind]
        return {"program": steps, "values": [same, number(rng), same], "place": place}

    def drive(step, data):
        calls = []

        def function(*x):
            calls.append(len(x))
            results = run(data["program"], x)
            return x[-1] if data["place"] < 0 else results[data["place"]]

        inputs, root, _ = step.trace(function, data["values"])
        values = [float(x.value) for x in inputs]
        required = [i for i, x in enumerate(inputs) if x.requires_grad]
        return [values, required, len(calls), described(root, inputs)]

    def expected(data):
        count, place = len(data["values"]), data["place"]
        graph = ["input", count - 1] if place < 0 else shape_of(data["program"], place)
        return [data["values"], list(range(count)), 1, graph]


@check(step="trace", points=1, concept="the decisions of this run", cases=4)
class Runs:
    caption = "a function with one decision, traced twice (the guards of each graph)"
    example = {"counts": [1, 1]}

    def generate(rng):
        return {"counts": [int(n) for n in rng.choice([1, 2, 3, 4], 3, replace=False)]}

    def drive(step, data):
        def decides(count):
            def function(x):
                for number in range(count):  # what `is_greater` does
                    step.guards.append((x, float(number), False))
                return x + x

            return function

        step.guards.clear()
        graphs = [step.trace(decides(count), [1.0]) for count in data["counts"]]
        return [
            [len(guards), sum(guard[0] is inputs[0] for guard in guards)]
            for inputs, _, guards in graphs
        ]

    def expected(data):
        return [[count, count] for count in data["counts"]]

    def in_words(value):
        return ", then ".join(f"{count}, {own} of its own run" for count, own in value)


@check(step="recompute", points=2, concept="every node again, inputs first", using=[run])
class Recompute:
    caption = "x * y + x, built at x = 2 and y = 5; then x.value = 3, and recompute"
    example = {
        "program": [
            ["mul", ["input", 0], ["input", 1]],
            ["add", ["result", 0], ["input", 0]],
        ],
        "values": [2.0, 5.0],
        "others": [3.0, 5.0],
    }

    def generate(rng):
        steps = program(rng, 2)
        values = {name: [number(rng), number(rng)] for name in ("values", "others")}
        return {"program": steps, **values}

    def drive(step, data):
        inputs = [step.Node(value, requires_grad=True) for value in data["values"]]
        results = run(data["program"], inputs)
        for x, value in zip(inputs, data["others"], strict=True):
            x.value = value
        step.recompute(results[-1])
        return [float(node.value) for node in [*inputs, *results]]

    def expected(data):
        # Each step uses the one before it, so that all of them are behind the last.
        return [*data["others"], *run(data["program"], data["others"])]

    def in_words(value):
        names = ["x", "y", "x * y", "x * y + x"]
        return ", ".join(f"{name} is {x:g}" for name, x in zip(names, value, strict=True))


@check(step="replay", points=3, concept="new inputs", cases=4, using=[run])
class Replay:
    caption = "the graph of x * y + x, built at x = 2 and y = 5, replayed at x = 3 and y = 4"
    example = {
        "program": [
            ["mul", ["input", 0], ["input", 1]],
            ["add", ["result", 0], ["input", 0]],
        ],
        "values": [2.0, 5.0],
        "others": [[3.0, 4.0]],
        "limits": [],
    }

    def generate(rng):
        steps = program(rng, 2)
        values = [number(rng), number(rng)]
        # A number that was taken out of the graph is frozen.
        steps += [["mul", ["result", len(steps) - 1], ["frozen", 0]]]
        # One decision that was true, and one that was not; they hold for other inputs, too.
        limits = [[0, 0.5, True], [1, 100.0, False]]
        others = [[number(rng), number(rng)] for _ in range(2)]
        return {"program": steps, "values": values, "others": others, "limits": limits}

    def drive(step, data):
        inputs = [step.Node(value, requires_grad=True) for value in data["values"]]
        results = run(data["program"], inputs)
        guards = [(inputs[i], limit, answer) for i, limit, answer in data["limits"]]
        answers = []
        for values in data["others"]:
            root = step.replay((inputs, results[-1], guards), values)
            for x in inputs:
                x.grad = None
            step.backward(root)
            gradients = [None if x.grad is None else float(x.grad) for x in inputs]
            answers.append([float(root.value), gradients])
        return answers

    def expected(data):
        answers = []
        for values in data["others"]:
            frozen = {"inputs": values, "frozen": data["values"]}
            value, slopes = slopes_of(data["program"], frozen, -1)
            answers.append([value, slopes])
        return answers

    def in_words(value):
        ((root, gradients),) = value
        return f"{root:g}, and the gradients of x and y from there are {gradients}"


@check(step="replay", points=1, concept="a branch that would change", cases=4)
class Branch:
    caption = "the graph of x * x, after x + x > 4 was True, replayed at x = 1 and at x = 3"
    example = {"limit": 4.0, "answers": [True], "values": [1.0, 3.0]}

    def generate(rng):
        middle = number(rng)
        # On both sides of the number and on it, for both answers that the trace may have had.
        values = [float(v) for v in rng.permutation([middle - 0.5, middle, middle + 0.5])]
        answers = [bool(answer) for answer in rng.permutation([True, False])]
        return {"limit": 2 * middle, "answers": answers, "values": values}

    def drive(step, data):
        results = []
        for answer in data["answers"]:
            x = step.Node(data["limit"], requires_grad=True)
            double, root = x + x, x * x  # what is compared is not behind the result
            for value in data["values"]:
                try:
                    graph = [x], root, [(double, data["limit"], answer)]
                    results.append(float(step.replay(graph, [value]).value))
                except step.BranchChanged:
                    results.append("BranchChanged")
        return results

    def expected(data):
        return [
            x * x if (x + x > data["limit"]) == answer else "BranchChanged"
            for answer in data["answers"]
            for x in data["values"]
        ]

    in_words = ("at x = 1:", "at x = 3:")
