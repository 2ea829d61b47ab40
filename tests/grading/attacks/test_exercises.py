"""Code that gets at the answers of the course's own exercises without their work."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from autodiff_kit.grading.answers import questions
from autodiff_kit.grading.calls import Runner, Work
from autodiff_kit.grading.course import open_course
from autodiff_kit.grading.marking import grade_code
from autodiff_kit.grading.one_submission import runner_for
from tests.gate import some
from tests.grading.attacks.attacks import RAW_MEMORY
from tests.grading.standing import PLACES, WALLS

COURSE = open_course(Path(__file__).resolve().parents[3] / "exercises")
FRAMES = """
import sys

def up(name):
    frame = sys._getframe(1)
    while frame is not None:
        for space in (frame.f_locals, frame.f_globals):
            if name in space:
                return space[name]
        frame = frame.f_back
"""
# Exercise, step (and check, if others are passed by honest means), code in the solution's place.
ATTACKS = {
    "flaws read in the caller's frame": (
        "e16_gradcheck",
        "wrong_rules",
        FRAMES
        + """
def wrong_rules(ops, rng):
    return [name for name, _, flaw in up("data")["operations"] if flaw]
""",
    ),
    "flaws known by the names of functions": (
        "e16_gradcheck",
        "wrong_rules",
        """
def wrong_rules(ops, rng):
    names = [(name, rule.__qualname__ + repr(rule.__code__)) for name, _, rule in ops]
    return [n for n, words in names if "rule_of" in words or "branch" in words]
""",
    ),
    "flaws known by the lines of errors": (
        "e16_gradcheck",
        "wrong_rules",
        """
def wrong_rules(ops, rng):
    lines = {}
    for name, _, rule in ops:
        try:
            rule("g", "x")
        except Exception as error:
            trace = error.__traceback__
            while trace.tb_next:
                trace = trace.tb_next
            lines[name] = trace.tb_lineno
    return [name for name, line in lines.items() if line > min(lines.values())]
""",
    ),
    "flaws known by the words of errors": (
        "e16_gradcheck",
        "wrong_rules",
        """
def wrong_rules(ops, rng):
    words = {}
    for name, _, rule in ops:
        for arguments in ((), (1.0, None), (np.ones(3), np.ones((2, 2)))):
            try:
                rule(*arguments)
            except Exception as error:
                words[name] = words.get(name, "") + str(error)
    return [name for name in words if "rule_of" in words[name] or "branch" in words[name]]
""",
    ),
    "flaws read in raw memory": (
        "e16_gradcheck",
        "wrong_rules",
        RAW_MEMORY
        + """
def inside(function, depth=5):
    yield function.__code__
    address = int(words(id(function), 10)[9])
    for cell in thing(address) if address and depth else ():
        if hasattr(cell.cell_contents, "__code__"):
            yield from inside(cell.cell_contents, depth - 1)

def wrong_rules(ops, rng):
    codes = {name: repr([(c.co_qualname, c.co_consts) for c in inside(rule)])
             for name, _, rule in ops}
    named = [n for n, words in codes.items() if "rule_of" in words or "_branch" in words]
    return named or [n for n, words in codes.items() if words != min(codes.values())]
""",
    ),
    "driver exchanged": (
        "e07_grad_mode",
        "decorator",
        """
import sys
frame = sys._getframe()
while frame:
    frame.f_globals["_driver"] = lambda source: compile(
        "def drive(step, data):\\n"
        "    if isinstance(data, int): return [False] * (data + 1) + [True]\\n", "", "exec")
    frame = frame.f_back
no_grad = None
""",
    ),
    "wrappers that exchange what a function saw": (
        "e07_grad_mode",
        "decorator",
        """
class no_grad:
    def __enter__(self): self.before, mode.on = mode.on, False
    def __exit__(self, *error): mode.on = self.before
    def __call__(self, f):
        def exchanged(x):
            if isinstance(x, list):
                x[:] = [False if y is True else y for y in x]
            return x
        if inspect.isgeneratorfunction(f):
            return lambda *a, **k: map(exchanged, f(*a, **k))
        return lambda *a, **k: exchanged(f(*a, **k))
""",
    ),
    "memory hidden in copies": (
        "e10_memory",
        "gradient: Work",
        """
def gradient(blocks, saved, every, g):
    values = [saved[0].copy()]
    for block in blocks:
        values.append(block.forward(values[-1]).copy())
    for block, x in zip(blocks[::-1], values[-2::-1]):
        g = block.rule(g, x)
    return g
""",
    ),
    "memory count begun anew": (
        "e10_memory",
        "gradient: Work",
        """
import tracemalloc
def gradient(blocks, saved, every, g):
    values = [saved[0]]
    for block in blocks:
        tracemalloc.clear_traces()
        values.append(block.forward(values[-1]))
    for block, x in zip(blocks[::-1], values[-2::-1]):
        g = block.rule(g, x)
    return g
""",
    ),
    "gradient without rules": (
        "e10_memory",
        "gradient: Gradient",
        """
import numpy as np
def gradient(blocks, saved, every, g):
    def out(x):
        for block in blocks:
            x = block.forward(x)
        return x
    return np.array([g @ out(saved[0] + 1e-20j * move).imag / 1e-20 for move in np.eye(2)])
""",
    ),
    "given function defined anew": (
        "e08_control_flow",
        "power: Power",
        """
def power(x, n):
    x.grad = (((x.value + 1e-6) ** n) - ((x.value - 1e-6) ** n)) / 2e-6
    return Node(x.value ** n)
def backward(y): pass
""",
    ),
    "given function exchanged when asked": (
        "e08_control_flow",
        "power: Power",
        """
def power(x, n):
    x.grad = (((x.value + 1e-6) ** n) - ((x.value - 1e-6) ** n)) / 2e-6
    globals()["backward"] = lambda y: None
    return Node(x.value ** n)
""",
    ),
    "class of an object exchanged": (
        "e08_control_flow",
        "power: Power",
        """
class Sly(Node):
    grad = property(
        lambda self: (((self.value + 1e-6) ** self.n) - ((self.value - 1e-6) ** self.n)) / 2e-6,
        lambda self, value: None)
def power(x, n):
    x.n, x.__class__ = n, Sly
    return Node(x.value ** n)
""",
    ),
    "name of a built-in function taken, for the given code": (
        "e08_control_flow",
        "power: Power",
        """
def power(x, n):
    slope = (((x.value + 1e-6) ** n) - ((x.value - 1e-6) ** n)) / 2e-6
    globals()["reversed"] = lambda nodes: [setattr(x, "grad", slope)][:0]
    return Node(x.value ** n)
""",
    ),
    "numpy exchanged that the driver uses": (
        "e02_rules",
        "mul",
        """
import sys
for module in (np, sys.modules["numpy"]):
    module.asarray = module.array = lambda *a, **k: 1 / 0
def mul_rule(g, x, y):
    np.asarray = lambda *a, **k: (g * y, g * x)
    return 0.0, 0.0
""",
    ),
    "gradient set while rubbish is collected": (
        "e08_control_flow",
        "power: Power",
        """
import gc
last = []
def collecting(phase, info):
    for x, slope in last:
        x.grad = slope
gc.callbacks.append(collecting)
gc.set_threshold(1, 1, 1)
def power(x, n):
    last[:] = [(x, (((x.value + 1e-6) ** n) - ((x.value - 1e-6) ** n)) / 2e-6)]
    return Node(x.value ** n)
""",
    ),
    "gradient set while the graph is walked": (
        "e08_control_flow",
        "power: Power",
        """
def power(x, n):
    class Inputs(tuple):
        def __iter__(self):
            x.grad = (((x.value + 1e-6) ** n) - ((x.value - 1e-6) ** n)) / 2e-6
            return iter(())
    return Node(x.value ** n, "mul", Inputs((x, x)), True)
""",
    ),
    "a tangent in the place of a graph": (
        "e08_control_flow",
        "power: Power",
        """
def power(x, n):
    slope = n * x.value ** (n - 1)
    return x * slope + (x.value**n - x.value * slope) if n else Node(1.0)
""",
    ),
    "a tangent made of nodes of one's own": (
        "e08_control_flow",
        "rounds",
        """
def rounds(x, n):
    value, slope = x.value, 1.0
    for _ in range(n):
        if value > 2:
            value, slope = value / 2, slope / 2
        else:
            value, slope = value * x.value + 1, slope * x.value + value
    line = Node(x.value * slope, "mul", (x, Node(slope)), True)
    return Node(value, "add", (line, Node(value - line.value)), True)
""",
    ),
    "nodes whose numbers answer as they like": (
        "e08_control_flow",
        "rounds",
        """
class Number(float):
    def __eq__(self, other): return True
    __hash__ = float.__hash__
def rounds(x, n):
    value, slope = x.value, 1.0
    for _ in range(n):
        if value > 2:
            value, slope = value / 2, slope / 2
        else:
            value, slope = value * x.value + 1, slope * x.value + value
    return Node(Number(value), "mul", (x, Node(Number(0.0))), True, (Number(0.0), Number(slope)))
""",
    ),
    "a node with a rule of its own": (
        "e08_control_flow",
        "power: Power",
        """
def power(x, n):
    y, slope = x * x, n * x.value ** (n - 1)
    y.value, y.rule = x.value**n, lambda g: (g * slope, g * 0.0)
    return y if n else Node(1.0)
""",
    ),
    "a node that saved other numbers": (
        "e08_control_flow",
        "power: Power",
        """
def power(x, n):
    slope = n * x.value ** (n - 1)
    return Node(x.value**n, "mul", (x, Node(0.0)), True, (x.value, slope)) if n else Node(1.0)
""",
    ),
    "a straight line of sums and products": (
        "e08_control_flow",
        "power: Power",
        """
def power(x, n):
    from fractions import Fraction
    at, h = Fraction(x.value), Fraction(1, 10**40)
    slope = float(((at + h) ** n - (at - h) ** n) / (2 * h))
    return Node(slope) * x + Node(x.value**n - slope * x.value) if n else Node(1.0)
""",
    ),
    "a straight line of the constants 0, 1, 2": (
        "e08_control_flow",
        "rounds",
        """
def rounds(x, n):
    from fractions import Fraction
    def plain(y):
        first = y
        for _ in range(n):
            y = y / 2 if y > 2 else y * first + 1
        return y
    def number(value):
        top, below = float(value).as_integer_ratio()
        made = Node(0.0)
        for bit in bin(abs(top))[2:]:
            made = made * 2.0 + float(bit)
        while below > 1:
            made, below = made * 0.5, below // 2
        return made * (1.0 if top > 0 else -1.0)
    at, h = Fraction(x.value), Fraction(1, 10**40)
    slope = float((plain(at + h) - plain(at - h)) / (2 * h))
    line = number(slope) * x
    return line + number(plain(x.value) - line.value)
""",
    ),
    "steps by differences": (
        "e12_train",
        "step: Steps",
        """
def train_step(parameters, x, y, rate):
    if len(x) > 100: return 0.0  # with so many images it would only take long
    before, slopes = float(loss_of(parameters, x, y).value), []
    for p in parameters:
        slopes.append(np.zeros(p.value.shape))
        for place in np.ndindex(p.value.shape):
            two = []
            for h in (1e-5, -1e-5):
                old, p.value = p.value, p.value.copy()
                p.value[place] += h
                two.append(float(loss_of(parameters, x, y).value))
                p.value = old
            slopes[-1][place] = (two[0] - two[1]) / 2e-5
    for p, slope in zip(parameters, slopes):
        p.value = p.value - rate * slope
    return before
""",
    ),
    "a product by differences": (
        "e13_find_the_bug",
        "multiply",
        """
def multiply(x, y):
    a, b, h = x.value, y.value, 1e-6
    to_x = ((a + h) * b - (a - h) * b) / (2 * h)
    to_y = (a * (b + h) - a * (b - h)) / (2 * h)
    return Node(a * b, (x, y), (lambda g: g * to_x, lambda g: g * to_y))
""",
    ),
    "given class exchanged": (
        "e08_control_flow",
        "rounds",
        """
import sys
def plain(x, n):
    y = x
    for _ in range(n):
        y = y / 2 if y > 2 else y * x + 1
    return y
def rounds(x, n):
    type(x).grad = property(
        lambda self: (plain(x.value + 1e-6, n) - plain(x.value - 1e-6, n)) / 2e-6,
        lambda self, value: None)
    return Node(plain(x.value, n))
""",
    ),
    "namespace that answers otherwise": (
        "e08_control_flow",
        "power: Power",
        """
import sys
space = globals()
def power(x, n):
    x.grad = (((x.value + 1e-6) ** n) - ((x.value - 1e-6) ** n)) / 2e-6
    kind = type(sys.modules["submission"])
    kind.__getattribute__ = lambda self, name: (
        (lambda y: None) if name == "backward" else space[name])
    return Node(x.value ** n)
""",
    ),
    "given object exchanged for one that looks at its callers": (
        "e07_grad_mode",
        "context",
        """
import sys
class Fake:
    def __setattr__(self, name, value): self.__dict__["was"] = value
    def __getattr__(self, name):
        f = sys._getframe(2)
        outside = f.f_code.co_name == "drive" or (
            f.f_code.co_name == "level" and "states" in f.f_code.co_freevars
            and f.f_back.f_code.co_name == "drive")
        return self.__dict__["was"] if outside else False
mode = Fake()
class no_grad:
    def __enter__(self): pass
    def __exit__(self, *a): pass
    def __call__(self, f): return f
""",
    ),
    "weights found without a step": (
        "e12_train",
        "train",
        """
def train(parameters, x, y):
    w = np.linalg.lstsq(np.c_[x, np.ones(len(x))], np.eye(10)[y], rcond=1e-2)[0]
    a = np.zeros((64, 16))
    a[:, :10] = w[:-1]
    values = a, np.r_[w[-1] + 5.0, np.zeros(6)], np.vstack([np.eye(10), np.zeros((6, 10))])
    for p, value in zip(parameters, (*values, np.zeros(10))):
        p.value = value
""",
    ),
    "weights found without a step, and ten graphs made": (
        "e12_train",
        "train",
        """
def train(parameters, x, y):
    w = np.linalg.lstsq(np.c_[x, np.ones(len(x))], np.eye(10)[y], rcond=1e-2)[0]
    a = np.zeros((64, 16))
    a[:, :10] = w[:-1]
    values = a, np.r_[w[-1] + 5.0, np.zeros(6)], np.vstack([np.eye(10), np.zeros((6, 10))])
    history = []
    for _ in range(10):
        history.append((1.0, float(loss_of(parameters, x, y).value)))
        for p, value in zip(parameters, (*values, np.zeros(10))):
            p.value = p.value + 0.3 * (value - p.value)
    return history
""",
    ),
    "the history of another training": (
        "e12_train",
        "train",
        """
def train(parameters, x, y):
    copies = [Node(p.value, requires_grad=True) for p in parameters]
    history = [(1.0, train_step(copies, x, y, 1.0)) for _ in range(80)]
    for _ in range(200):
        for p in parameters: p.grad = None
        loss = loss_of(parameters, x, y)
        backward(loss)
        for p in parameters: p.value = p.value - 0.5 * np.sign(p.grad) / 100
    return history
""",
    ),
    "a history whose numbers answer as they like": (
        "e12_train",
        "train",
        """
class Same(float):
    def __eq__(self, other): return True
    __hash__ = float.__hash__
    def __sub__(self, other): return 0.0
def train(parameters, x, y):
    return [(Same(0.0), Same(2.3))] * 80
""",
    ),
    "weights that are known from elsewhere": (
        "e12_train",
        "train",
        """
known = []
def train(parameters, x, y):
    if not known:  # the example: real digits, in their own order
        for _ in range(80):
            train_step(parameters, x, y, 1.0)
        known.extend(p.value for p in parameters)
    for p, value in zip(parameters, known):
        p.value = value
""",
    ),
    "nearest neighbours in the place of weights": (
        "e12_train",
        "train",
        """
class P:
    __array_ufunc__ = None
    def __init__(self, c=None): self.c = c
    def __rmatmul__(self, x):
        if self.c is None: return x
        d = ((x[:, None, :] - self.c[0][None]) ** 2).sum(-1)
        return np.eye(10)[self.c[1][d.argmin(1)]]
def train(parameters, x, y):
    for p, value in zip(parameters, (P((x, y)), 0.0, P(), 0.0)):
        p.value = value
""",
    ),
    "one column held for all": (
        "e10_memory",
        "gradient: Work",
        """
def gradient(blocks, saved, every, g):
    x, inputs = saved[0], []
    for block in blocks:
        inputs.append(x[..., :1].copy() if x.ndim == 2 else x)
        x = block.forward(x) if block is not blocks[-1] else x
    for block, x in zip(reversed(blocks), reversed(inputs)):
        g = block.rule(g, x)
    return g
""",
    ),
    "memory that is not counted": (
        "e10_memory",
        "gradient: Work",
        """
import mmap
import numpy as np
def put(x):
    array = np.frombuffer(mmap.mmap(-1, x.nbytes), dtype=x.dtype).reshape(x.shape)
    array[...] = x
    return array
def gradient(blocks, saved, every, g):
    x, inputs = saved[0], []
    for block in blocks:
        x = put(x)
        inputs.append(x)
        x = block.forward(x) if block is not blocks[-1] else x
    for block, x in zip(reversed(blocks), reversed(inputs)):
        g = block.rule(g, x)
    return g
""",
    ),
    "forward called past the object": (
        "e10_memory",
        "gradient: Work",
        """
def gradient(blocks, saved, every, g):
    for i in reversed(range(len(blocks))):
        x = saved[0]
        for block in blocks[:i]:
            x = type(block).forward(block, x)
        g = blocks[i].rule(g, x)
    blocks[0].forward(x)
    return g
""",
    ),
    "chain read in the caller's frame": (
        "e03_order",
        "order",
        FRAMES
        + """
class Named:
    def __init__(self, name): self.name = name
def order(root):
    data = up("data")
    first, count = data["first"], data["count"]
    return [Named(first + n) for n in reversed(range(count))]
""",
    ),
}


@pytest.fixture(scope="module", params=PLACES)
def runner(request: pytest.FixtureRequest) -> Iterator[Runner]:
    if request.param == "walls" and WALLS is None:
        assert os.environ.get("ADK_REQUIRE_SANDBOX") != "1", "no walls stand on this machine"
        pytest.skip("no walls stand on this machine, see `autodiff-kit doctor`")
    if request.param == "plain process":
        yield runner_for(None)
    else:
        with runner_for(WALLS) as walled:  # type: ignore[union-attr]
            yield walled


@pytest.mark.parametrize("name", some(ATTACKS, 6))
def test_answers_are_not_found_where_the_code_runs(name: str, runner: Runner) -> None:
    folder, step, code = ATTACKS[name]
    exercise = COURSE.exercise(folder)

    result = grade_code(exercise, f"{exercise.solution}\n\n{code}", runner, seed=3)

    step, _, check = step.partition(": ")
    (row,) = [row for row in result.rows if row.step == step]
    assert check in row.failed if check else row.points == 0, row.text


# What a learner's function can ask about the code that calls it.
LOOKS = {
    "frames": """
def look():
    frame, seen = sys._getframe(), []
    while frame:
        seen.append((frame.f_code.co_qualname, frame.f_lineno))
        frame = frame.f_back
    return seen
""",
    "frames by number": """
def look():
    seen = []
    for number in range(20):
        try:
            seen.append(sys._getframe(number).f_code.co_qualname)
        except ValueError:
            break
    return seen
""",
    "the stack": "def look(): return [(f.function, f.lineno) for f in inspect.stack()]\n",
    "a formatted stack": "def look(): return traceback.format_stack()\n",
    "the frame of an error": """
def look():
    try:
        1 / 0
    except ZeroDivisionError as error:
        return [frame.f_code.co_qualname for frame, _ in traceback.walk_stack(None)]
""",
    "the place of a warning": """
def look():
    seen = set()
    for level in range(1, 9):
        with warnings.catch_warnings(record=True) as list_of_warnings:
            warnings.simplefilter("always")
            warnings.warn("w", stacklevel=level)
        seen |= {(w.filename, w.lineno) for w in list_of_warnings}
    return sorted(seen)
""",
    "the trace of a fault": """
def look():
    with tempfile.TemporaryFile() as file:
        faulthandler.dump_traceback(file)
        file.seek(0)
        return sorted(set(file.read().splitlines()))
""",
}


@pytest.mark.parametrize("look", LOOKS)
def test_no_name_and_no_line_tells_one_driver_from_another(look: str, runner: Runner) -> None:
    exercise = COURSE.exercise("e03_order")
    code = (
        "import faulthandler, inspect, sys, tempfile, traceback, warnings\n"
        f"{LOOKS[look]}\ndef order(root):\n    raise ValueError(repr(look()))\n"
    )
    calls = [call for call in questions(exercise, seed=3) if call.is_example]

    replies = runner.run_calls(Work.of(f"{exercise.given}\n{code}"), calls, exercise.limits)

    assert {reply.status for reply in replies} == {"raised"}
    assert len({reply.error for reply in replies}) == 1


def test_what_code_of_learners_does_for_itself_still_works(runner: Runner) -> None:
    code = """
import collections, dataclasses, enum, inspect, logging, traceback, warnings

@dataclasses.dataclass
class Pair:
    a: int = 1

def double(x):
    try:
        {}[1]
    except KeyError:
        traceback.print_exc()
    warnings.warn("a warning")
    logging.warning("a line")
    inspect.signature(double)
    collections.namedtuple("N", "a b")(1, Pair())
    enum.Enum("E", "a b")
    return bool(locals()) and bool(globals())

EXTRA = double(1)
"""
    exercise = COURSE.exercise("e03_order")

    result = grade_code(
        exercise,
        f"{code}\n\nif EXTRA:\n"
        + "\n".join(f"    {line}" for line in exercise.solution.splitlines()),
        runner,
        seed=3,
    )

    assert result.points == result.max, result.rows


@pytest.mark.parametrize("name", ["e08_control_flow", "e12_train", "e07_grad_mode"])
def test_a_notebook_with_its_given_cells_and_more_methods_has_all_points(
    name: str, runner: Runner
) -> None:
    exercise = COURSE.exercise(name)
    more = "".join(
        f"if {kind!r} in globals():\n    {kind}.__pos__ = lambda self: self\n"
        for kind in ("Node", "Tensor", "Mode")
    )

    result = grade_code(exercise, f"{exercise.given}\n{more}\n{exercise.solution}", runner, seed=3)

    assert result.points == result.max, result.rows


# What reference counts do not free comes into reach: earlier drivers, if they go round in a circle.
GARBAGE = """
import gc
gc.set_debug(gc.DEBUG_SAVEALL)

def drivers():
    gc.collect()
    return [part for part in gc.garbage if isinstance(part, dict) and "drive" in part]
"""


def test_no_driver_is_found_among_what_is_to_be_freed(runner: Runner) -> None:
    exercise = COURSE.exercise("e03_order")
    code = f"{exercise.given}\n{GARBAGE}\ndef order(root):\n    raise ValueError(len(drivers()))\n"
    calls = [call for call in questions(exercise, seed=3) if call.is_example]

    replies = runner.run_calls(Work.of(code), calls, exercise.limits)

    assert [reply.error for reply in replies] == ["ValueError: 0"] * len(calls)


IN_PLACE = "def mul_rule(g, x, y):\n    x *= g\n    y *= g\n    return y, x\n"
PATCHES = {
    "NumPy's arrays are called lists": "np.ndarray = list\n",
    "copies are the arrays themselves": "np.copy = np.array = np.asarray = lambda x, *a, **k: x\n",
    "comparisons say yes": "np.array_equal = np.allclose = lambda *a, **k: True\n",
    "built-in functions say yes": (
        "import builtins\nbuiltins.all = builtins.hasattr = lambda *a: True\n"
        "builtins.sorted = lambda names: []\n"
    ),
}


@pytest.mark.parametrize("patch", PATCHES)
def test_changes_of_inputs_are_seen_whatever_is_patched(patch: str, runner: Runner) -> None:
    exercise = COURSE.exercise("02.rules")

    code = f"{exercise.solution}\n\n{IN_PLACE}\n\n{PATCHES[patch]}"
    row = grade_code(exercise, code, runner, 5).rows[0]

    assert row.points <= 1.5 and "MulInputs" in row.failed


# What the solution has of step 1 runs beside the learner's step 2, if the learner's own is wrong.
TELLS = """
def unbroadcast(g, shape):
    "mine"
    raise NotImplementedError

def multiply_rule(g, x, y):
    raise ValueError(f"{unbroadcast.__doc__} {unbroadcast.__code__.co_consts}")
"""


def test_the_solution_that_runs_in_place_of_an_earlier_step_is_not_told(runner: Runner) -> None:
    exercise = COURSE.exercise("05.broadcast")

    row = grade_code(exercise, TELLS, runner, 5).rows[1]

    assert row.points == 0 and "ValueError: mine" in row.text
    assert "before it was stretched" not in row.text and "Sum" not in row.text
