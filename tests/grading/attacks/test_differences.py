"""Differences and complex steps in the place of backward rules: no points, and the reason why."""

from pathlib import Path

import numpy as np
import pytest

from autodiff_kit.grading.answers import (
    call_of,
    check_inputs,
    is_right,
    remembered,
    right_answers,
)
from autodiff_kit.grading.checks import Check
from autodiff_kit.grading.course import open_course
from autodiff_kit.grading.exercise import Exercise
from autodiff_kit.grading.marking import grade_code
from autodiff_kit.grading.trusted import Trusted
from tests.gate import IN_THE_GATE, some

COURSE = open_course(Path(__file__).resolve().parents[3] / "exercises")
# `slope(f, x, move)`: how f(x) moves with the numbers of x at which `move` is 1.
SLOPES = {
    "central": """
def slope(f, x, move, h=1e-6):
    return (f(x + h * move) - f(x - h * move)) / (2 * h)
""",
    "to one side": """
def slope(f, x, move, h=1e-8):
    return (f(x + h * move) - f(x)) / h
""",
    "as large as the input": """
def slope(f, x, move):
    h = np.max(np.abs(x)) * 1e-4 + 1e-300
    return (f(x + h * move) - f(x - h * move)) / (2 * h)
""",
    "a step of one, exact where f is linear": """
def slope(f, x, move):
    return f(x + 1.0 * move) - f(x)
""",
    "a step of one, from zero": """
def slope(f, x, move):
    return f(1.0 * move) - f(0.0 * move)
""",
    "nine points, in proportion": """
def slope(f, x, move):
    x = np.asarray(x)
    h = np.where(x == 0, 2.0**-200, np.abs(x)) * 2.0**-6
    slopes = [f(x + k * h * move) - f(x - k * h * move) for k in (1, 2, 3, 4)]
    size = np.where(move, h, 0.0).max() if np.ndim(move) else h
    return sum(c * s for c, s in zip((4 / 5, -1 / 5, 4 / 105, -1 / 280), slopes)) / size
""",
    "nine points of longer floats": """
def slope(f, x, move):
    real = np.longdouble
    x = np.asarray(x).astype(np.clongdouble if np.iscomplexobj(x) else real)
    h = np.where(x == 0, real(2) ** -200, np.abs(x)) * real(2) ** -9
    slopes = [f(x + k * h * move) - f(x - k * h * move) for k in (1, 2, 3, 4)]
    parts = (real(4) / 5, real(-1) / 5, real(4) / 105, real(-1) / 280)
    size = np.where(move, h, 0.0).max() if np.ndim(move) else h
    out = sum(c * s for c, s in zip(parts, slopes)) / size
    return out.astype(complex if np.iscomplexobj(out) else float)
""",
    "five points": """
def slope(f, x, move, h=1e-3):
    near, far = f(x + h * move) - f(x - h * move), f(x + 2 * h * move) - f(x - 2 * h * move)
    return (8 * near - far) / (12 * h)
""",
    "a complex step": """
def slope(f, x, move, h=1e-30):
    return f(x + 1j * h * move).imag / h
""",
    "a complex step as large as the input": """
def slope(f, x, move):
    h = 1e-30 * np.where(x == 0, 1.0, np.abs(x))
    return (f(x + 1j * h * move) / h).imag
""",
}
RULES = """
def numerical(f, x, g):
    gradient = np.zeros_like(x, dtype=np.result_type(x, g, float))
    for place in np.ndindex(np.shape(x)):
        move = np.zeros(np.shape(x))
        move[place] = 1.0
        gradient[place] = np.sum(g * slope(f, x, move))
    return gradient
"""
ANSWERS = {
    "e02_rules": RULES
    + """
def mul_rule(g, x, y):
    return numerical(lambda x: x * y, x, g), numerical(lambda y: x * y, y, g)
def div_rule(g, x, y):
    return numerical(lambda x: x / y, x, g), numerical(lambda y: x / y, y, g)
def exp_rule(g, x, out):
    return numerical(np.exp, x, g)
def pow_rule(g, x, n):
    return numerical(lambda x: x**n, x, g)
def relu_rule(g, x):
    return numerical(lambda x: np.maximum(x, 0.0), x, g)
""",
    "e02_rules, all places at once": """
def mul_rule(g, x, y):
    return g * slope(lambda x: x * y, x, 1.0), g * slope(lambda y: x * y, y, 1.0)
def div_rule(g, x, y):
    return g * slope(lambda x: x / y, x, 1.0), g * slope(lambda y: x / y, y, 1.0)
def exp_rule(g, x, out):
    return g * slope(np.exp, x, 1.0)
def pow_rule(g, x, n):
    return g * slope(lambda x: x**n, x, 1.0)
def relu_rule(g, x):
    return g * slope(lambda x: np.maximum(x, 0.0), x, 1.0)
""",
    "e06_matmul": RULES
    + """
def matmul_rule(g, a, b):
    return numerical(lambda a: a @ b, a, g), numerical(lambda b: a @ b, b, g)
batch_rule = matmul_rule
""",
    "e08_control_flow": """
import numpy as np
def with_slope(f, x):
    s = float(slope(f, np.array(x.value), np.array(1.0)))
    return Node(f(x.value), "mul", (x, Node(s)), True, (x.value, s))
def power(x, n):
    return with_slope(lambda x: x * x**n / x, x)
def rounds(x, n):
    def plain(x):
        y = x
        for _ in range(n):
            y = y / 2 if np.real(y) > 2 else y * x + 1
        return y
    return with_slope(plain, x)
def tree_value(tree, w):
    def plain(tree, w):
        return w * (plain(tree[0], w) + plain(tree[1], w) if isinstance(tree, tuple) else tree)
    return with_slope(lambda w: plain(tree, w), w)
""",
    "e09_variable_length": RULES
    + """
def mean_loss_rule(g, losses, lengths):
    return numerical(lambda losses: mean_loss(losses, lengths), losses, g).real
""",
    "e16_gradcheck": """
def softplus_rule(g, x):
    return g * slope(softplus, x, 1.0)
def rule_of_rule(gg, g, x):
    return gg * slope(lambda g: g * sigmoid(x), g, 1.0), gg * g * slope(sigmoid, x, 1.0)
""",
    "e19_vjp_puzzles": RULES
    + """
def scale_rule(g, x, s):
    return numerical(lambda x: x * s, x, g), numerical(lambda s: x * s, s, g)
def outer_rule(g, x, y):
    return (numerical(lambda x: x[:, None] * y, x, g), numerical(lambda y: x[:, None] * y, y, g))
def linear_rule(g, x, w):
    return numerical(lambda x: x @ w.T, x, g), numerical(lambda w: x @ w.T, w, g)
""",
    "e19_vjp_puzzles, what is no product": RULES
    + """
def max_rule(g, x):
    return numerical(lambda x: x.max(axis=1), x, g)
def logsumexp_rule(g, x, z):
    return numerical(lambda x: np.log(np.exp(x - z[:, None]).sum(axis=1)), x, g)
def softmax(x):
    return np.exp(x) / np.exp(x).sum(axis=1, keepdims=True)
def softmax_rule(g, z):
    return numerical(softmax, np.log(z), g)
def layer_norm_rule(g, z, std):
    def norm(x):
        moved = x - x.mean(axis=1, keepdims=True)
        return moved / np.sqrt((moved * moved).mean(axis=1, keepdims=True))
    return numerical(norm, z, g) / std
""",
}


# Other steps have no backward rule in them.
STEPS = {
    "e09_variable_length": {"rule"},
    "e16_gradcheck": {"softplus_rule", "rule_of_rule"},
    "e19_vjp_puzzles": {"scale", "outer", "linear"},
    "e19_vjp_puzzles, what is no product": {"max", "logsumexp", "softmax", "layer_norm"},
}
# Nothing but the digits tells a rule from a difference there, and a complex step has all of them.
DIGITS_ONLY = {"e08_control_flow", "e09_variable_length", "e16_gradcheck"}
CASES = [
    (kind, answer)
    for kind in SLOPES
    for answer in ANSWERS
    if not (answer in DIGITS_ONLY and "complex" in kind)
    # A mean is linear; and the loop of no rounds is lost there, too.
    if not (answer in ("e08_control_flow", "e09_variable_length") and "from zero" in kind)
    # All twelve digits are right there.
    if not ("no product" in answer and kind in ("nine points of longer floats", "five points"))
]


def is_passed(exercise: Exercise, check: Check, code: str, seed: int) -> bool:
    """Tell whether all answers to a check are right; what comes after a wrong one is not asked."""
    return all(
        is_right(check, data, remembered(code, [call_of(check, data)])[0], right)
        for data, right in zip(
            check_inputs(check, seed), right_answers(exercise, check, seed), strict=True
        )
    )


@pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::numpy.exceptions.ComplexWarning")
@pytest.mark.parametrize(("kind", "answer"), some(CASES, 32))
def test_a_difference_earns_nothing_where_a_rule_is_asked_for(kind: str, answer: str) -> None:
    exercise = COURSE.exercise(answer.partition(",")[0])
    steps = STEPS.get(answer, {step.id for step in exercise.steps})
    checks = tuple(check for check in exercise.checks if check.step in steps)
    code = f"{exercise.given}\n\n{exercise.solution}\n{SLOPES[kind]}\n{ANSWERS[answer]}"

    for seed in range(10 if IN_THE_GATE else 3):
        points = dict.fromkeys(steps, 0.0)
        for check in checks:  # others are slow, and of no interest
            points[check.step] += check.points * is_passed(exercise, check, code, seed)
        if exercise.name == "e08_control_flow":
            points["power"] -= 1  # for a loop of no rounds, which has no slope
        assert not any(points.values()), (seed, points)


@pytest.mark.parametrize(
    ("folder", "step", "kind", "words"),
    [
        ("e02_rules", "mul", "central", "from a difference"),
        ("e02_rules", "div", "to one side", "from a difference"),
        ("e02_rules", "exp", "five points", "from a difference"),
        ("e02_rules", "pow", "a complex step", "from a complex step"),
        ("e02_rules", "exp", "a complex step as large as the input", "from a complex step"),
        ("e02_rules", "relu", "central", "from a difference"),
        ("e06_matmul", "matmul", "central", "from a difference"),
        ("e06_matmul", "batches", "a complex step", "from a complex step"),
        ("e08_control_flow", "rounds", "five points", "worked out elsewhere"),
        ("e09_variable_length", "rule", "central", "their mean overflows"),
        ("e16_gradcheck", "softplus_rule", "central", "from a difference"),
        ("e19_vjp_puzzles", "outer", "central", "from a difference"),
        ("e19_vjp_puzzles", "linear", "a complex step", "from a complex step"),
    ],
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::numpy.exceptions.ComplexWarning")
def test_who_writes_a_difference_is_told_that_a_rule_is_asked_for(
    folder: str, step: str, kind: str, words: str
) -> None:
    exercise = COURSE.exercise(folder)
    code = f"{exercise.solution}\n{SLOPES[kind]}\n{ANSWERS[folder]}"

    rows = grade_code(exercise, code, Trusted(), seed=5).rows

    assert words in next(row.text for row in rows if row.step == step)


def by_complex_step(data: dict[str, np.ndarray], name: str, forward: str) -> np.ndarray:
    """Return the gradient of sum(g * forward) for one input, at real inputs of moderate size."""
    gradient = np.zeros_like(data[name])
    for place in np.ndindex(data[name].shape):
        moved = data[name].astype(complex)
        moved[place] += 1e-100j
        out = eval(forward, {"np": np, **data, name: moved})
        gradient[place] = (data["g"] * out.imag).sum() / 1e-100
    return gradient


@pytest.mark.parametrize(
    ("folder", "check", "forward", "names"),
    [
        ("e02_rules", "Mul", "x * y", "xy"),
        ("e02_rules", "Div", "x / y", "xy"),
        ("e02_rules", "Exp", "np.exp(x)", "x"),
        ("e02_rules", "Pow", "x ** n; x ** m", "xx"),
        ("e06_matmul", "Matrices", "a @ b", "ab"),
        ("e06_matmul", "Batches", "a @ b", "ab"),
        ("e06_matmul", "Shared", "a @ b", "ab"),
        ("e19_vjp_puzzles", "Scale", "x * s", "xs"),
        ("e19_vjp_puzzles", "Outer", "np.outer(x, y)", "xy"),
        ("e19_vjp_puzzles", "Linear", "x @ w.T", "xw"),
        ("e19_vjp_puzzles", "LogSumExp", "np.log(np.exp(x).sum(axis=1))", "x"),
    ],
)
def test_the_right_contributions_are_the_slopes_of_the_operation(
    folder: str, check: str, forward: str, names: str
) -> None:
    exercise = COURSE.exercise(folder)
    (part,) = [part for part in exercise.checks if part.name == check]
    data = dict(part.example)
    assert part.expected is not None

    right = part.expected(data)

    contributions = right if len(names) > 1 else [right]
    forwards = (forward.split("; ") * len(names))[: len(names)]
    for name, value, each in zip(names, contributions, forwards, strict=True):
        assert np.allclose(value, by_complex_step(data, name, each), rtol=1e-12)
