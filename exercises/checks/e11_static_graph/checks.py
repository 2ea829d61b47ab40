"""Is everything noted, and does the tape know when it is not valid?"""

from autodiff_kit.grading.checks import check


def run(program, x):
    """Run a program on numbers or tracers: steps are [op, left, right], the last is the result."""
    results = []

    def find(ref):
        kind, what = ref
        return {"input": x, "result": results}[kind][what] if kind != "constant" else what

    for op, left, right, *_ in program:
        a, b = find(left), right if op == "guard" else find(right)
        if op == "guard":
            results.append(a > b)
        else:
            results.append(a + b if op == "add" else a * b)
    return results


def tuples(tape):
    """Make of plain lists what the learner's functions expect."""
    return [tuple(tuple(x) if isinstance(x, list) else x for x in step) for step in tape]


def number(rng):
    return round(float(rng.uniform(1.2, 2.4)), 3)


def program(rng, inputs, guards=0):
    """Return a random program; the guards are noted with no answer yet."""
    steps = []
    kinds = ["op"] * int(rng.integers(3, 6)) + ["guard"] * guards
    for kind in [kinds[i] for i in rng.permutation(len(kinds))]:
        places = [i for i, step in enumerate(steps) if step[0] != "guard"]
        names = [["input", i] for i in range(inputs)] + [["result", i] for i in places]
        left, right = (names[int(rng.integers(len(names)))] for _ in range(2))
        if kind == "guard":
            steps.append(["guard", left, number(rng)])
            continue
        left = ["result", places[-1]] if places else left
        pair = [left, ["constant", number(rng)] if rng.random() < 0.3 else right]
        order = [int(i) for i in rng.permutation(2)]
        steps.append([str(rng.choice(["add", "mul"])), pair[order[0]], pair[order[1]]])
    newest = max(i for i, step in enumerate(steps) if step[0] != "guard")
    return [*steps, ["mul", ["result", newest], ["input", 0]]]


def answered(steps, values):
    """Note the answers that the guards have for these values."""
    results = run(steps, values)
    return [
        [*step, bool(answer)] if step[0] == "guard" else step
        for step, answer in zip(steps, results, strict=True)
    ]


def both_answers(steps, values):
    """Put the guards' numbers close to what they compare, by turns below and above it."""
    results, by = run(steps, values), -0.1
    changed = []
    for op, left, right, *rest in steps:
        if op == "guard":
            kind, what = left
            right, by = (values if kind == "input" else results)[what] + by, -by
        changed.append([op, left, right, *rest])
    return answered(changed, values)


def rounded(number):
    """Return a number with two digits, as a format of few bits would save it."""
    return float(f"{number:.1e}")


def forward(tape, values, results, number):
    """Return the slope of the last result: a change of one input, carried forward.

    The rules read `results` as they were saved.
    """
    change = []

    def look(ref):
        kind, what = ref
        if kind == "constant":
            return what, 0.0
        if kind == "input":
            return values[what], float(what == number)
        return results[what], change[what]

    for op, left, right in tape:
        (a, da), (b, db) = look(left), look(right)
        change.append(da + db if op == "add" else da * b + a * db)
    return change[-1]


@check(step="trace", points=3, concept="everything is noted", using=[run])
class Tape:
    caption = "2 * x + y at x = y = 5 (the tape, and what names the result)"
    example = {
        "program": [
            ["mul", ["constant", 2.0], ["input", 0]],
            ["add", ["result", 0], ["input", 1]],
        ],
        "values": [5.0, 5.0],
        "result": ["result", 1],
    }

    kinds = ("the last", "an earlier one", "an input")  # which result the function returns

    def generate(rng, kind):
        same, steps = number(rng), program(rng, 3)
        last = len(steps) - 1
        place = last if kind == "the last" else int(rng.integers(0, last))
        result = ["input", int(rng.integers(3))] if kind == "an input" else ["result", place]
        return {"program": steps, "values": [same, number(rng), same], "result": result}

    def drive(step, data):
        kind, place = data["result"]

        def function(*x):
            results = run(data["program"], x)
            return (x if kind == "input" else results)[place]

        return list(step.trace(function, data["values"]))

    def expected(data):
        return [data["program"], data["result"]]


@check(step="trace", points=2, concept="decisions are noted", cases=4, using=[run])
class Guards:
    caption = "x > 2, and then x * x, at x = 3 (the tape)"
    example = {
        "program": [["guard", ["input", 0], 2.0], ["mul", ["input", 0], ["input", 0]]],
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
        tape, _ = step.trace(lambda *x: run(data["program"], x)[-1], data["values"])
        return tape

    def expected(data):
        return answered(data["program"], data["values"])


@check(step="replay", points=2, concept="new inputs", cases=4, using=[tuples])
class Replay:
    caption = "the tape of x > 2 (it was), and then x * y, at x = 4 and y = 10"
    example = {
        "tape": [["guard", ["input", 0], 2.0, True], ["mul", ["input", 0], ["input", 1]]],
        "result": ["result", 1],
        "values": [4.0, 10.0],
    }

    def generate(rng):
        values = [number(rng), number(rng)]
        tape = both_answers(program(rng, 2, guards=2), values)
        steps = [i for i, step in enumerate(tape[:-1]) if step[0] != "guard"]
        place = steps[int(rng.integers(0, len(steps)))]
        return {"tape": tape, "result": ["result", place], "values": values}

    def drive(step, data):
        return step.replay(tuples(data["tape"]), tuple(data["result"]), data["values"])

    def expected(data):
        return run(data["tape"], data["values"])[data["result"][1]]


@check(step="replay", points=1, concept="a branch that would change", cases=4)
class Branch:
    caption = "the tape of x > 2 (it was), and then x * x, at x = 1 and at x = 4"
    example = {"number": 2.0, "answers": [True], "values": [1.0, 4.0]}

    def generate(rng):
        middle = number(rng)
        # On both sides of the number and on it, for both answers that the trace may have had.
        values = [float(v) for v in rng.permutation([middle - 0.5, middle, middle + 0.5])]
        answers = [bool(answer) for answer in rng.permutation([True, False])]
        return {"number": middle, "answers": answers, "values": values}

    def drive(step, data):
        results = []
        for answer in data["answers"]:
            guard = ("guard", ("input", 0), data["number"], answer)
            tape = [guard, ("mul", ("input", 0), ("input", 0))]
            for value in data["values"]:
                try:
                    results.append(step.replay(list(tape), ("result", 1), [value]))
                except step.BranchChanged:
                    results.append("BranchChanged")
        return results

    def expected(data):
        return [
            x * x if (x > data["number"]) == answer else "BranchChanged"
            for answer in data["answers"]
            for x in data["values"]
        ]


@check(step="gradients", points=2, concept="backwards through the tape", cases=4, using=[tuples])
class Slopes:
    caption = "the tape of (x * x) * y at x = 3 and y = 5"
    example = {
        "tape": [["mul", ["input", 0], ["input", 0]], ["mul", ["result", 0], ["input", 1]]],
        "values": [3.0, 5.0],
        "results": [9.0, 45.0],
    }

    def generate(rng):
        values = [number(rng) for _ in range(3)]
        steps = program(rng, 2)
        used = ["result", len(steps) - 1]
        steps += [["mul", used, used], ["add", ["result", len(steps)], used]]
        last = ["result", len(steps) - 1]
        # The result of one operation is not used by any other, and its input nowhere else.
        steps += [["mul", last, ["input", 2]], ["mul", ["constant", number(rng)], last]]
        steps += [["mul", ["input", 1], ["result", len(steps) - 1]]]
        results = [rounded(result) for result in run(steps, values)]
        return {"tape": steps, "values": values, "results": results}

    def drive(step, data):
        return step.gradients(tuples(data["tape"]), data["values"], data["results"])

    def expected(data):
        run = data["tape"], data["values"], data["results"]
        return [forward(*run, number) for number in range(len(data["values"]))]
