"""Does a gradient found by moving the input come out right, and does it find the wrong rules?"""

from functools import cache

import numpy as np

from autodiff_kit.grading.array_pictures import first_difference
from autodiff_kit.grading.checks import check, same
from autodiff_kit.grading.rules import inexact


def signs(rng, shape, low=0.5, high=2.0):
    """Return numbers of both signs that stay away from 0."""
    return rng.uniform(low, high, shape) * rng.choice([-1.0, 1.0], shape)


# Step 1


def bowl(data):
    """Make a function that is strongly curved, and whose slope changes quickly, too."""
    c, a, k = data["c"], data["a"], data["k"]
    return lambda x: c * (x - a) ** 2 + np.sin(k * x)


def a_bowl(rng):
    shape = tuple(int(n) for n in rng.integers(2, 4, size=2))
    a = rng.normal(size=shape)
    return {
        "c": float(rng.uniform(300.0, 600.0)),
        "a": a,
        "k": float(rng.uniform(2.5, 3.5)),
        "x": a + signs(rng, shape, 0.01, 0.03),  # near the bottom: a small slope, a large curve
        "g": signs(rng, shape),
    }


def slope_of_bowl(data):
    c, a, k, x = (data[name] for name in ("c", "a", "k", "x"))
    return data["g"] * (2 * c * (x - a) + k * np.cos(k * x))


def near(value, expected, part):
    """Tell whether an array is right but for a part of its largest number."""
    return same(value, expected, rtol=0.0, atol=part * float(np.abs(expected).max()))


def what_kind_of_error(data, value, expected):
    """Tell by the error itself which formula, or which h, has made it."""
    error = value - expected
    size = float(np.abs(error).max())
    if value.shape != expected.shape or size > 0.1 * float(np.abs(expected).max()):
        return ""
    c, k, x, g = (data[name] for name in ("c", "k", "x", "g"))
    curve = g * (2 * c - k**2 * np.sin(k * x))
    change_of_curve = g * -(k**3) * np.cos(k * x)
    left = {"h_too_small": 0.05 * size}  # noise has no shape of its own
    for shape, message in ((curve, "one_sided"), (change_of_curve, "h_too_large")):
        times = float(np.sum(error * shape) / np.sum(shape * shape))
        left[message] = float(np.abs(error - times * shape).max())
    return min(left, key=left.__getitem__)


@check(step="numerical", points=1, concept="central differences", using=[bowl])
class Curved:
    caption = (
        "f(x) = 500 * (x - [[0, 1]])**2 + sin(3 * x) at x = [[0.01, 0.98]], with g = [[1, -2]] "
        "(not all of the seven digits are shown)"
    )
    example = {
        "c": 500.0,
        "a": np.array([[0.0, 1.0]]),
        "k": 3.0,
        "x": np.array([[0.01, 0.98]]),
        "g": np.array([[1.0, -2.0]]),
    }
    generate, expected, diagnose = a_bowl, slope_of_bowl, what_kind_of_error

    def drive(step, data):
        return step.numerical(bowl(data), data["x"], data["g"])

    def compare(data, value, expected):
        return near(value, expected, 5e-8)


def mixing(part):
    """Make a function whose result may have another shape than its input."""
    kind, w = part["kind"], part["w"]
    return {
        "product": lambda x: w @ x,
        "layer": lambda x: np.tanh(x @ w),
        "columns": lambda x: (w * x * x).sum(axis=0),
        "total": lambda x: (w * x**3).sum(),
        "spread": lambda x: np.sin(x) * w,
        "running": lambda x: w * np.cumsum(x, axis=1),
    }[kind]


def gradient_of_mixing(part):
    kind, w, x, g = (part[name] for name in ("kind", "w", "x", "g"))
    if kind == "product":
        return w.T @ g
    if kind == "layer":
        return (g * (1 - np.tanh(x @ w) ** 2)) @ w.T
    if kind == "columns":
        return 2 * w * x * g
    if kind == "total":
        return 3 * w * x**2 * g
    if kind == "spread":
        return np.array(np.sum(g * w) * np.cos(x))
    return w * np.cumsum(g[:, ::-1], axis=1)[:, ::-1]


def tables(data, value, expected):
    """Draw the gradient of the example, and mark the first number that is wrong in it."""
    return first_difference("x")(data["parts"][0], value[0], expected[0])


@check(step="numerical", points=1, concept="every shape, every number", cases=2, using=[mixing])
class Mixed:
    caption = "f(x) = w @ x with w = [[2, -3]], at x = [[1, 2], [3, 4]], with g = [[1, 10]]"
    example = {
        "parts": [
            {
                "kind": "product",
                "w": np.array([[2.0, -3.0]]),
                "x": np.array([[1.0, 2.0], [3.0, 4.0]]),
                "g": np.array([[1.0, 10.0]]),
            }
        ]
    }
    picture = tables

    def generate(rng):
        n, m, k = (int(size) for size in rng.permutation([2, 3, 4]))
        shapes = {  # of x, of w, and of what comes out
            "product": ((n,), (m, n), (m,)),
            "layer": ((k, n), (n, m), (k, m)),
            "columns": ((n, m), (n, m), (m,)),
            "total": ((n,), (n,), ()),
            "spread": ((), (m,), (m,)),
            "running": ((2, n, 2), (2, n, 2), (2, n, 2)),
        }
        parts = []
        for number in rng.permutation(len(shapes)):
            kind, (of_x, of_w, of_g) = list(shapes.items())[number]
            w = signs(rng, () if kind == "running" else of_w)
            x, g = rng.uniform(-1.5, 1.5, of_x), signs(rng, of_g)
            parts.append({"kind": kind, "w": np.array(w), "x": np.array(x), "g": np.array(g)})
        return {"parts": parts}

    def drive(step, data):
        return [step.numerical(mixing(part), part["x"], part["g"]) for part in data["parts"]]

    def expected(data):
        return [gradient_of_mixing(part) for part in data["parts"]]

    def compare(data, value, expected):
        # How exact the numbers are is the other check's business.
        return len(value) == len(expected) and all(
            same(v, w, rtol=1e-3, atol=1e-3) for v, w in zip(value, expected, strict=True)
        )


@check(step="numerical", points=1, concept="x stays as it was", using=[bowl])
class Untouched:
    in_words = ("gradient:", "x afterwards:", "numbers of it that changed:")
    caption = (
        "f(x) = 500 * (x - [[0, 1]])**2 + sin(3 * x) at x = [[0.01, 0.98]], with g = [[1, -2]] "
        "(the gradient, x afterwards, and how many of its numbers are others now)"
    )
    example = Curved.example
    generate = a_bowl

    def drive(step, data):
        x = data["x"].copy()
        gradient = step.numerical(bowl(data), x, data["g"])
        return [gradient, x, int(np.count_nonzero(x != data["x"]))]

    def expected(data):
        return [slope_of_bowl(data), data["x"], 0]

    def compare(data, value, expected):
        gradient, after, others = value
        is_same = others == 0 and np.array_equal(after, data["x"])
        return near(gradient, expected[0], 1e-2) and is_same


# Step 2


def asked(step, pairs):
    """Ask about each pair; what is neither True nor False is named by its type."""
    answers = []
    for ours, numeric in pairs:
        answer = step.agrees(ours, numeric)
        is_bool = isinstance(answer, (bool, np.bool_))
        answers.append(bool(answer) if is_bool else type(answer).__name__)
    return answers


def agree(data):
    """Return the right answers: the rule of the exercise, number by number."""
    return [
        ours.shape == numeric.shape
        and all(
            bool(abs(a - b) <= 1e-5 + 1e-3 * abs(b))
            for a, b in zip(ours.ravel(), numeric.ravel(), strict=True)
        )
        for ours, numeric in data["pairs"]
    ]


def where_it_is_wrong(data, value, expected):
    wrong = [
        ours
        for (ours, _), mine, best in zip(data["pairs"], value, expected, strict=True)
        if mine is not best
    ]
    return "mean_error" if all(ours.size > 40 for ours in wrong) else ""


def in_any_order(rng, pairs):
    pairs = [[np.array(ours), np.array(numeric)] for ours, numeric in pairs]
    return {"pairs": [pairs[number] for number in rng.permutation(len(pairs))]}


def one_changed(rng, values, change):
    """Return a copy in which one number is another one."""
    values = np.array(values)
    place = tuple(int(rng.integers(size)) for size in values.shape)
    values[place] = change(values[place])
    return values


@check(step="agrees", points=1, concept="an absolute and a relative tolerance", using=[asked])
class Close:
    caption = (
        "agrees([1000.1], [1000]), agrees([0.000002], [0]), agrees([0.0003], [0.0001]), "
        "agrees([2, 3.1], [2, 3]), agrees([-2], [-2])"
    )
    example = {
        "pairs": [
            [np.array([1000.1]), np.array([1000.0])],
            [np.array([0.000002]), np.array([0.0])],
            [np.array([0.0003]), np.array([0.0001])],
            [np.array([2.0, 3.1]), np.array([2.0, 3.0])],
            [np.array([-2.0]), np.array([-2.0])],
        ]
    }

    def generate(rng):
        def shape(least=0):
            return tuple(int(n) for n in rng.integers(2, 5, size=int(rng.integers(least, 3))))

        def off(values, part):
            return values * (1 + part * rng.uniform(-1, 1, np.shape(values)))

        plain, other, many = signs(rng, shape()), signs(rng, shape(1)), signs(rng, (6, 8))
        huge, more = signs(rng, shape(1), 1e4, 1e7), signs(rng, shape(1), 1e4, 1e7)
        small, tiny = signs(rng, shape(1), 1e-4, 2e-4), signs(rng, shape(1), 1e-8, 1e-7)
        negative = -rng.uniform(0.5, 2.0, shape(1))
        zeros = np.zeros(shape(1))
        holes = one_changed(rng, signs(rng, (2, 3)), lambda number: 0.0)
        apart = signs(rng, (4,)) + 3.0
        sizes = np.append(signs(rng, 2, 1e4, 1e5), signs(rng, 3))
        # Both parts of the tolerance are about equal here, and their sum counts.
        middle = signs(rng, 3, 7e-3, 1.4e-2)
        limit = (1e-5 + 1e-3 * np.abs(middle)) * signs(rng, 3, 1.0, 1.0)
        return in_any_order(
            rng,
            [
                (off(plain, 3e-4), plain),
                (off(negative, 3e-4), negative),
                (off(huge, 3e-4), huge),
                (-tiny, tiny),
                (holes + rng.uniform(-3e-6, 3e-6, holes.shape), holes),
                (zeros, zeros),
                (one_changed(rng, more, lambda number: 1.01 * number), more),
                (one_changed(rng, many, lambda number: 1.004 * number), many),
                (one_changed(rng, small, lambda number: 2 * number), small),
                (other - rng.uniform(0.1, 0.9), other),
                (-plain, plain),
                (sizes * np.array([1.0, 1.0, 1.02, 1.0, 1.0]), sizes),
                (apart + np.array([0.1, -0.1, 0.2, -0.2]), apart),
                (middle + 0.9 * limit, middle),
                (middle + np.array([0.9, 0.9, 1.1]) * limit, middle),
            ],
        )

    def drive(step, data):
        return asked(step, data["pairs"])

    expected, diagnose = agree, where_it_is_wrong


@check(step="agrees", points=1, concept="other shapes and NaN never agree", using=[asked])
class Refused:
    caption = (
        "agrees([2, 2], [[2], [2]]), agrees([2, nan], [2, 3]), agrees([2, nan], [2, nan]), "
        "agrees([[2], [2]], [[2], [2]])"
    )
    example = {
        "pairs": [
            [np.array([2.0, 2.0]), np.array([[2.0], [2.0]])],
            [np.array([2.0, np.nan]), np.array([2.0, 3.0])],
            [np.array([2.0, np.nan]), np.array([2.0, np.nan])],
            [np.array([[2.0], [2.0]]), np.array([[2.0], [2.0]])],
        ]
    }

    def generate(rng):
        n, m = (int(size) for size in rng.permutation([2, 3, 4])[:2])
        number, row, table = signs(rng, ()), signs(rng, n), signs(rng, (m, n))
        flat = np.full(n, number)
        hole = one_changed(rng, table, lambda number: np.nan)
        return in_any_order(
            rng,
            [
                (table, table),
                (row, row),
                (flat[:, None], flat[:, None]),
                (number, number),
                (flat, flat[:, None]),
                (row[None], row),
                (number, np.full(1, number)),
                (np.broadcast_to(row, (m, n)), row),
                (np.full(m, number), flat),
                (hole, table),
                (table, hole),
                (hole, hole),
            ],
        )

    def drive(step, data):
        return asked(step, data["pairs"])

    expected = agree


# Step 3


@cache
def operation(kind, flaw):
    """Make the forward function and the rule; `flaw` says what is wrong with it, if anything."""

    # For each column its own branch. Where they meet, sin and sinh are equal, and so are their
    # first and second slopes; the third is the first again: differences of any size see no corner.
    def first_branch(g, x):
        return g * np.cos(np.sum(x, axis=0)) * np.ones(x.shape)

    def second_branch(g, x):
        return g * np.cosh(np.sum(x, axis=0)) * np.ones(x.shape)

    def by_column(x, first, second):
        return np.where(np.sum(x, axis=0) > 0, first, second)

    def right(kind):
        by_number = {
            "square": (lambda x: x * x, lambda x: 2 * x),
            "tanh": (np.tanh, lambda x: 1 - np.tanh(x) ** 2),
            "sine": (np.sin, np.cos),
            "absolute": (np.abs, np.sign),
            "bell": (lambda x: np.exp(-x * x), lambda x: -2 * x * np.exp(-x * x)),
        }
        if kind in by_number:
            forward, slope = by_number[kind]
            return forward, lambda g, x: g * slope(x)
        return {
            "total": (lambda x: np.sum(x), lambda g, x: g * np.ones(x.shape)),
            "running": (
                lambda x: np.cumsum(x, axis=-1),
                lambda g, x: np.cumsum(g[..., ::-1], axis=-1)[..., ::-1],
            ),
            "branch": (
                lambda x: by_column(x, np.sin(np.sum(x, axis=0)), np.sinh(np.sum(x, axis=0))),
                lambda g, x: by_column(x, first_branch(g, x), second_branch(g, x)),
            ),
        }[kind]

    def rule_of(flaw, rule):
        def ones(g):
            return np.ones(np.shape(g))

        return {
            "": rule,
            "no g": lambda g, x: rule(ones(g), x),
            "mean of g": lambda g, x: rule(ones(g) * np.mean(g), x),
            "g twice": lambda g, x: rule(g * g, x),
            "twice": lambda g, x: 2 * rule(g, x),
            "two percent": lambda g, x: 1.02 * rule(g, x),
            "negative": lambda g, x: rule(g, x) * np.where(x < 0, 1.5, 1.0),
            "mean slope": lambda g, x: g * np.mean(rule(ones(g), x)),
            "own place": lambda g, x: g * 1.0,
            "first branch": first_branch,
            "second branch": second_branch,
            "one number": lambda g, x: np.array(g),
            "one more axis": lambda g, x: rule(g, x)[None],
        }[flaw]

    forward, rule = right(kind)
    return {"forward": forward, "rule": rule_of(flaw, rule)}


def names_and_seed(data):
    """Return what the driver gets: which rules are wrong, and how, is not in it."""
    return {"names": [name for name, _, _ in data["operations"]], "seed": data["seed"]}


def computed(data, question):
    """Return what an operation, or its rule, makes of some arguments."""
    number, part, arguments = question
    arrays = [np.array(argument) for argument in arguments]
    if any(array.size > 1000 for array in arrays):
        raise ValueError("arrays too large to be computed for anyone who asks")
    _, kind, flaw = data["operations"][number]
    return operation(kind, flaw)[part](*arrays)


def asking(names, points=None):
    """Make (name, forward, rule) of each operation: functions that ask the grader for values.

    In `points` they note, for each name, at which x its rule was tried.
    """

    def operation(number, name):
        def forward(x):
            return ask([number, "forward", [np.array(x)]])

        def rule(g, x):
            if points is not None:
                points.setdefault(name, set()).add(np.array(x).tobytes())
            return ask([number, "rule", [np.array(g), np.array(x)]])

        return name, forward, rule

    return [operation(number, name) for number, name in enumerate(names)]


BY_NUMBER = ["square", "tanh", "sine", "absolute", "bell"]
ALL = [*BY_NUMBER, "total", "running", "branch"]


def some_operations(rng, flawed):
    """Draw right rules as well, and an order and names that say nothing."""
    pairs = [(str(rng.choice(kinds)), flaw) for kinds, flaw in flawed]
    # One whose result has another shape than x is always among them: there g has to have it, too.
    # A right rule of a function with a corner would look wrong at a point that is too near to it.
    summing = str(rng.choice(["total", "branch"]))
    others = [kind for kind in rng.permutation(ALL) if kind not in ("absolute", summing)]
    right = [summing, *others[: int(rng.integers(1, 3))]]
    pairs += [(str(kind), "") for kind in right]
    names = [f"op{number}" for number in rng.permutation(len(pairs))]
    order = rng.permutation(len(pairs))
    lines = [[name, *pairs[i]] for name, i in zip(names, order, strict=True)]
    return {"operations": lines, "seed": int(rng.integers(1000))}


def flawed_names(data):
    return [name for name, _, flaw in data["operations"] if flaw]


def what_was_missed(data, value, expected):
    flaws = {name: flaw for name, _, flaw in data["operations"]}
    if len(set(value)) < len(value):
        return "named_at_every_point"
    if sorted(value) == sorted(expected):
        return "in_another_order"
    flaws_left = {flaws[name] for name in expected if name not in value}
    if set(value) < set(expected):
        if flaws_left <= {"first branch", "second branch"}:
            return "one_point"
        if flaws_left <= {"no g", "g twice", "mean of g"}:
            return "g_all_ones"
    return ""


@check(
    step="wrong_rules",
    points=1,
    concept="what a rule does with g",
    cases=2,
    slow=True,
    using=[asking],
)
class UsesOfG:
    caption = (
        'a right rule of tanh ("tanh"), one of x * x that forgets g ("square"), and a right one '
        'of the sum of all numbers ("total")'
    )
    example = {
        "operations": [["tanh", "tanh", ""], ["square", "square", "no g"], ["total", "total", ""]],
        "seed": 1,
    }
    expected, diagnose = flawed_names, what_was_missed
    public, reply = names_and_seed, computed

    def generate(rng):
        # Each is right wherever all numbers of g are 1.
        return some_operations(rng, [(BY_NUMBER, "mean of g"), (ALL, "g twice"), (ALL, "no g")])

    def drive(step, data):
        return step.wrong_rules(asking(data["names"]), np.random.default_rng(data["seed"]))


@check(
    step="wrong_rules",
    points=1,
    concept="every place",
    cases=2,
    slow=True,
    using=[asking],
)
class Places:
    caption = (
        'a rule of the absolute value that is right for positive x ("absolute"), a right one of '
        'sin ("sine"), and one of the sum of all numbers that returns g as it is ("total"); and at '
        "how many points each of the others was tried, counted up to 20"
    )
    example = {
        "operations": [
            ["absolute", "absolute", "negative"],
            ["sine", "sine", ""],
            ["total", "total", "one number"],
        ],
        "seed": 1,
    }
    public, reply = names_and_seed, computed

    def generate(rng):
        # All of them each time: a mistake that misses one loses the point, whatever is drawn.
        flawed = [
            (BY_NUMBER, "negative"),
            (["branch"], "first branch"),
            (["branch"], "second branch"),
            (["square", "tanh", "sine", "bell"], "mean slope"),
            (["running"], "own place"),
            (["total"], "one number"),
            (BY_NUMBER, "one more axis"),
            (ALL, str(rng.choice(["twice", "two percent"]))),
        ]
        return some_operations(rng, flawed)

    def drive(step, data):
        # With few points, which of the rules are found would be a matter of luck.
        points = {}
        ops = asking(data["names"], points)
        names = step.wrong_rules(ops, np.random.default_rng(data["seed"]))
        wrong = names if isinstance(names, (list, tuple)) else []
        others = [len(points.get(name, ())) for name in data["names"] if name not in wrong]
        return [names, min([*others, 20])]

    def expected(data):
        return [flawed_names(data), 20]

    def diagnose(data, value, expected):
        if value[0] == expected[0]:
            return "one_point"
        return what_was_missed(data, value[0], expected[0])


# Step 4


def ordinary_and_huge(rng):
    """Return numbers from -4 to 4, and a few that are far too large for exp."""
    x = np.append(rng.uniform(-4, 4, int(rng.integers(3, 6))), signs(rng, 3, 720, 2000))
    x[-1] = abs(x[-1])
    return rng.permutation(x)


@check(step="softplus", points=1, concept="a forward that does not overflow")
class Forward:
    caption = "softplus(x) for x = [0, 1, 1000, -1000]"
    example = {"x": np.array([0.0, 1.0, 1000.0, -1000.0])}

    def generate(rng):
        return {"x": ordinary_and_huge(rng)}

    def drive(step, data):
        return step.softplus(data["x"])

    def expected(data):
        return np.array([max(x, 0.0) + np.log1p(np.exp(-abs(x))) for x in data["x"]])


def to_the_last_digits(data, value, expected):
    """Tell whether gradients, none of them larger than 4, are as near as a formula comes."""
    return same(value, expected, rtol=0.0, atol=1e-14)


def a_slope(x):
    return 1 / (1 + np.exp(-min(max(x, -600.0), 600.0)))


@check(step="softplus_rule", points=1, concept="its rule")
class Rule:
    caption = "softplus_rule(g, x) for g = [1, -2, 3], x = [0, 1, -1000]"
    example = {"g": np.array([1.0, -2.0, 3.0]), "x": np.array([0.0, 1.0, -1000.0])}

    def generate(rng):
        x = ordinary_and_huge(rng)
        return {"g": signs(rng, x.shape), "x": x}

    def drive(step, data):
        return step.softplus_rule(data["g"], data["x"])

    def expected(data):
        return np.array([g * a_slope(x) for g, x in zip(data["g"], data["x"], strict=True)])

    compare, diagnose = to_the_last_digits, inexact


@check(step="rule_of_rule", points=1, concept="the rule of the rule")
class Second:
    in_words = ("for g:", "for x:")
    caption = "rule_of_rule(gg, g, x) for gg = [10], g = [3], x = [0] (for g, then for x)"
    example = {"gg": np.array([10.0]), "g": np.array([3.0]), "x": np.array([0.0])}

    def generate(rng):
        shape = (2, int(rng.integers(2, 5)))
        return {"gg": signs(rng, shape), "g": signs(rng, shape), "x": rng.uniform(-3, 3, shape)}

    def drive(step, data):
        return step.rule_of_rule(data["gg"], data["g"], data["x"])

    def expected(data):
        # By mathematics: the slope of 1 / (1 + exp(-x)) is 1 / (2 * cosh(x / 2))**2.
        curve = 1 / (2 * np.cosh(data["x"] / 2)) ** 2
        slope = 1 / (1 + np.exp(-data["x"]))
        return data["gg"] * slope, data["gg"] * data["g"] * curve

    compare, diagnose = to_the_last_digits, inexact
