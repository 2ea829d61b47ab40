"""Is every change of a storage counted, and noticed by what has saved it, and by nothing else?"""

import re

import numpy as np

from autodiff_kit.grading.checks import check
from autodiff_kit.grading.pictures import beside, graph
from autodiff_kit.grading.rules import exact, inexact


def play(step, data):
    """Carry out a program, a list of [number of the array, method, arguments], and read a lot."""
    arrays = [step.Array(np.array(data["numbers"]))]
    for which, method, arguments in data["program"]:
        result = getattr(arrays[which], method)(*arguments)
        if method in ("view", "detach", "copy"):
            arrays.append(result)
        for array in arrays:
            _ = array.data.sum(), array.version  # reading counts nothing
    return {
        "versions": [array.version for array in arrays],
        "numbers": [array.data.tolist() for array in arrays],
    }


def refusal(function, *arguments):
    """Return the text of the RuntimeError that a call stops with, or None."""
    try:
        function(*arguments)
    except NotImplementedError:  # is a RuntimeError, too: not attempted yet
        raise
    except RuntimeError as error:
        return str(error)
    return None


def played(data):
    """Return what `play` has to bring back: NumPy's slices, and one count for each memory."""
    counts = [0]
    arrays = [(np.array(data["numbers"]), 0)]
    for which, method, arguments in data["program"]:
        numbers, memory = arrays[which]
        if method == "view":
            arrays.append((numbers[slice(*arguments)], memory))
        elif method == "detach":
            arrays.append((numbers, memory))
        elif method == "copy":
            counts.append(0)
            arrays.append((numbers.copy(), len(counts) - 1))
        else:
            counts[memory] += 1
            numbers[:] = numbers + arguments[0] if method == "add_" else numbers * arguments[0]
    return {
        "versions": [counts[memory] for _, memory in arrays],
        "numbers": [numbers.tolist() for numbers, _ in arrays],
    }


def number(rng):
    """Return a number in quarters, so that adding and subtracting leaves no rounding error."""
    return float(rng.integers(5, 13)) / 4 * float(rng.choice([-1.0, 1.0]))


def numbers(rng, count):
    return np.array([number(rng) for _ in range(count)])


def a_change(rng, which):
    return [which, "add_", [number(rng)]]  # whether mul_ counts is asked once, by Counts


def some_changes(rng, which):
    return [a_change(rng, which) for _ in range(int(rng.integers(1, 4)))]


def version_of_each(labels, inputs):
    """Return a function that draws the arrays with their versions, the first wrong one marked."""

    def draw(data, value, expected):
        mine, best = value["versions"], expected["versions"]
        differ = [i for i, (a, b) in enumerate(zip(mine, best, strict=True)) if a != b]
        if not differ:  # then it is the numbers that are wrong, and they are in the text
            return ""
        notes = [[f"version {v}" for v in versions] for versions in (mine, best)]
        first = differ[0]
        words = f"{labels[first]}: {notes[0][first]}, right is {notes[1][first]}"
        yours = graph(labels, inputs, notes[0], first)
        return beside(yours, graph(labels, inputs, notes[1]), words)

    return draw


@check(step="array", points=1, concept="each change counts one", cases=4)
class Counts:
    caption = (
        "a = Array([1, 2, 3]), then a.add_(1), a.mul_(2), a.add_(3), with much reading in between "
        "(memory: the NumPy array that was a.data at the beginning; another: the version of a "
        "second Array, made at the end)"
    )
    example = {
        "numbers": np.array([1.0, 2.0, 3.0]),
        "program": [[0, "add_", [1.0]], [0, "mul_", [2.0]], [0, "add_", [3.0]]],
    }

    def generate(rng):
        more = rng.choice(["add_", "mul_"], int(rng.integers(0, 4)))
        methods = rng.permutation(["add_", "mul_", *more])
        return {
            "numbers": numbers(rng, int(rng.integers(2, 5))),
            "program": [[0, str(method), [number(rng)]] for method in methods],
        }

    def drive(step, data):
        array = step.Array(np.array(data["numbers"]))
        memory = array.data
        for _, method, arguments in data["program"]:
            getattr(array, method)(*arguments)
            _ = array.data.sum(), array.version  # reading counts nothing
        another = step.Array(np.array(data["numbers"])).version
        return {
            "version": array.version,
            "data": array.data.tolist(),
            "memory": memory.tolist(),
            "another": another,
        }

    def expected(data):
        right = played(data)
        after = right["numbers"][0]
        return {"version": right["versions"][0], "data": after, "memory": after, "another": 0}

    def diagnose(data, value, expected):
        return "one_counter_for_all" if value["another"] > 0 else ""


@check(step="array", points=2, concept="a view shares the count", cases=4, using=[play])
class Views:
    caption = (
        "a = Array([1, 2, 3, 4, 5]), a.add_(1), b = a.view(1, 4), b.add_(2), c = b.view(1, 3), "
        "c.add_(3), a.add_(4) (then versions and numbers of a, b and c)"
    )
    example = {
        "numbers": np.array([1.0, 2.0, 3.0, 4.0, 5.0]),
        "program": [
            [0, "add_", [1.0]],
            [0, "view", [1, 4]],
            [1, "add_", [2.0]],
            [1, "view", [1, 3]],
            [2, "add_", [3.0]],
            [0, "add_", [4.0]],
        ],
    }

    picture = version_of_each(["a", "b = a.view", "c = b.view"], [[], [0], [1]])

    def generate(rng):
        size = int(rng.integers(7, 10))
        start = int(rng.integers(1, 3))
        stop = start + int(rng.integers(4, 6))
        first = int(rng.integers(1, 3))
        last = first + int(rng.integers(1, stop - start - first + 1))
        program = [*some_changes(rng, 0), [0, "view", [start, stop]]]
        program += [*some_changes(rng, 1), [1, "view", [first, last]]]
        later = [a_change(rng, which) for which in (0, 1, 2, int(rng.integers(0, 3)))]
        program += [later[i] for i in rng.permutation(len(later))]
        return {"numbers": numbers(rng, size), "program": program}

    def drive(step, data):
        return play(step, data)

    expected = played


@check(step="array", points=1, concept="detach shares, copy does not", cases=4, using=[play])
class Copies:
    caption = (
        "a = Array([1, 2]), a.add_(1), b = a.detach(), c = a.copy(), b.add_(2), c.add_(3), "
        "a.add_(4) (then versions and numbers of a, b and c)"
    )
    example = {
        "numbers": np.array([1.0, 2.0]),
        "program": [
            [0, "add_", [1.0]],
            [0, "detach", []],
            [0, "copy", []],
            [1, "add_", [2.0]],
            [2, "add_", [3.0]],
            [0, "add_", [4.0]],
        ],
    }

    picture = version_of_each(["a", "a.detach()", "a.copy()"], [[], [0], [0]])

    def generate(rng):
        program = [*some_changes(rng, 0), [0, "detach", []], [0, "copy", []]]
        later = [change for which in (0, 1, 2) for change in some_changes(rng, which)]
        program += [later[i] for i in rng.permutation(len(later))]
        return {"numbers": numbers(rng, int(rng.integers(2, 4))), "program": program}

    def drive(step, data):
        return play(step, data)

    expected = played


@check(step="saved", points=1, concept="keeps the array itself")
class Kept:
    in_words = ("got:", "got after the change:")
    caption = (
        "a = Array([1, 2, 3]), a.add_(1), saved = Saved(a), got = saved.get() (got as it is then, "
        "and got after a.data[1] = 50, which writes into the memory of a)"
    )
    example = {"numbers": np.array([1.0, 2.0, 3.0]), "before": [1.0], "place": 1, "new": 50.0}

    def generate(rng):
        count = int(rng.integers(2, 5))
        return {
            "numbers": numbers(rng, count),
            "before": [number(rng) for _ in range(int(rng.integers(0, 4)))],
            "place": int(rng.integers(0, count)),
            "new": float(rng.integers(40, 90)),
        }

    def drive(step, data):
        array = step.Array(np.array(data["numbers"]))
        for change in data["before"]:
            array.add_(change)
        array_of_saved = step.Saved(array).get()
        first = array_of_saved.tolist()
        array.data[data["place"]] = data["new"]
        return [first, array_of_saved.tolist()]

    def expected(data):
        first = (data["numbers"] + sum(data["before"])).tolist()
        place = data["place"]
        return [first, [*first[:place], data["new"], *first[place + 1 :]]]


@check(step="saved", points=1, concept="refuses what was changed", cases=6, using=[refusal])
class Changed:
    in_words = ("left alone:", "after one change:", "after two:")
    caption = (
        "an Array that is saved, and then: left alone; a.add_(1); a.add_(1) and a.add_(-1) "
        "(for each of the three: does get() refuse?)"
    )
    example = {"numbers": np.array([1.0, 2.0]), "changes": [[], [1.0], [1.0, -1.0]]}

    def generate(rng):
        n = number(rng)
        changes = [[], [n], [n, -n], [n, number(rng)], [n] * int(rng.integers(2, 5))]
        order = rng.permutation(len(changes))[: int(rng.integers(3, 6))]
        return {"numbers": numbers(rng, 3), "changes": [changes[i] for i in order]}

    def drive(step, data):
        answers = []
        for changes in data["changes"]:
            array = step.Array(np.array(data["numbers"]))
            saved = step.Saved(array)
            for change in changes:
                array.add_(change)
            answers.append(refusal(saved.get) is not None)
        return answers

    def expected(data):
        return [bool(changes) for changes in data["changes"]]


@check(step="saved", points=1, concept="the error names both versions", using=[refusal])
class Words:
    caption = (
        "an Array that is saved at version 1 and changed 2 times after that (the error's text)"
    )
    example = {"before": 1, "after": 2}
    many = True

    def generate(rng):
        return {"before": int(rng.integers(0, 60)), "after": int(rng.integers(1, 40))}

    def drive(step, data):
        array = step.Array(np.array([1.0, 2.0]))
        for _ in range(data["before"]):
            array.add_(1.0)
        saved = step.Saved(array)
        for _ in range(data["after"]):
            array.add_(1.0)
        return refusal(saved.get)

    def expected(data):
        saved = data["before"]
        return f"saved at version {saved}, now at version {saved + data['after']}"

    def compare(data, value, expected):
        """Whatever the words are, and other numbers among them: both versions are named."""
        numbers, right = (re.findall(r"\d+", text) for text in (value, expected))
        # But not by naming all that there could be.
        return len(numbers) <= 8 and set(right) <= set(numbers)


@check(step="rules", points=1, concept="results and contributions")
class Slopes:
    caption = (
        "x = [-1, 2], y = [3, 4] and g = [1, 10] (for square(x), exp(x) and add(x, y), made one "
        "after the other: the result, then what the rule gives)"
    )
    example = {
        "x": np.array([-1.0, 2.0]),
        "y": np.array([3.0, 4.0]),
        "g": np.array([1.0, 10.0]),
    }

    def generate(rng):
        count = int(rng.integers(2, 4))
        return {
            name: rng.uniform(1.2, 2.5, count) * rng.choice([-1.0, 1.0], count) for name in "xyg"
        }

    def drive(step, data):
        x, y = step.Array(np.array(data["x"])), step.Array(np.array(data["y"]))
        pairs = [step.square(x), step.exp(x), step.add(x, y)]
        # Only now, so that a result that was written into x or y is noticed.
        return [[out.data.tolist(), np.array(rule(data["g"])).tolist()] for out, rule in pairs]

    def expected(data):
        x, y, g = data["x"], data["y"], data["g"]
        pairs = [[x * x, 2 * x * g], [np.exp(x), np.exp(x) * g], [x + y, np.stack([g, g])]]
        return [[out.tolist(), back.tolist()] for out, back in pairs]

    compare, diagnose = exact, inexact


@check(step="rules", points=2, concept="who saves what", cases=10, using=[refusal])
class Refused:
    caption = (
        "square, exp and add (for each: does its rule refuse after its inputs were changed in "
        "place, and does it after its result was?)"
    )
    example = {
        "x": np.array([1.0, 2.0]),
        "before": 0,
        "square": [1, 1],
        "exp": [1, 1],
        "add": [1, 1],
    }

    def generate(rng):
        times = [0, 0, 1, 2]
        changes = {op: [int(n) for n in rng.choice(times, 2)] for op in ("square", "exp", "add")}
        return {"x": rng.uniform(0.5, 2.0, 2), "before": int(rng.integers(0, 3)), **changes}

    def drive(step, data):
        answers = {}
        for op, arity in (("square", 1), ("exp", 1), ("add", 2)):
            answers[op] = []
            for place, times in enumerate(data[op]):
                inputs = [step.Array(np.array(data["x"])) for _ in range(arity)]
                for array in inputs * data["before"]:
                    array.add_(0.5)
                out, rule = getattr(step, op)(*inputs)
                for array in (inputs, [out])[place] * times:
                    array.add_(0.5)
                answers[op].append(refusal(rule, np.ones(2)) is not None)
        return answers

    def expected(data):
        return {
            "square": [data["square"][0] > 0, False],
            "exp": [False, data["exp"][1] > 0],
            "add": [False, False],
        }
