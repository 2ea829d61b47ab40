"""Right answers that are written in unusual ways: each has all points."""

from pathlib import Path

import pytest

from autodiff_kit.grading.course import open_course
from autodiff_kit.grading.marking import grade_code
from autodiff_kit.grading.one_submission import runner_for
from autodiff_kit.grading.trusted import Trusted

COURSE = open_course(Path(__file__).resolve().parents[3] / "exercises")
# By exercise and what is unusual: code behind the solution.
ANSWERS = {
    ("e02_rules", "loops, lists, objects, prints"): """
def mul_rule(g, x, y):
    return [a*b for a,b in zip(g,y)], [a*b for a,b in zip(g,x)]
class Div:
    def __call__(self, g, x, y):
        inv = 1/y
        return g*inv, -(g*x)*inv*inv
div_rule = Div()
exp_rule = lambda g, x, out: np.multiply(g, np.exp(x))
def pow_rule(g, x, n):
    if n == 1: return g
    p = x
    for _ in range(n-2): p = p*x
    return g*n*p
def relu_rule(g, x):
    größe = (x > 0)
    print("größe:", größe)
    return g*größe
""",
    ("e03_order", "a generator, and names of other languages"): """
def order(root):
    def нисходящий():
        état, pile = {}, [root]
        while pile:
            nœud = pile[-1]
            if état.get(nœud) is None:
                état[nœud] = 1
                pile.extend(x for x in nœud.inputs if x not in état)
            else:
                pile.pop()
                if état[nœud] == 1:
                    état[nœud] = 2
                    yield nœud
    return [*нисходящий()][::-1]
""",
    ("e05_broadcast", "einsum"): """
def unbroadcast(g, shape):
    g = np.asarray(g)
    ahead = g.ndim - len(shape)
    kept = [i for i in range(g.ndim) if i >= ahead and shape[i - ahead] == g.shape[i]]
    return np.einsum(g, [*range(g.ndim)], kept).reshape(shape)
""",
    ("e04_accumulate", "helpers and a counter of uses"): """
import collections
def backward(root):
    uses, seen, waiting = collections.Counter(), {root}, [root]
    while waiting:
        for x in waiting.pop().inputs:
            uses[x] += 1
            if x not in seen:
                seen.add(x)
                waiting.append(x)
    arrived, ready = {root: np.ones_like(root.value) if np.ndim(root.value) else 1.0}, [root]
    while ready:
        node = ready.pop()
        g = arrived.pop(node, None)
        if not node.inputs and node.requires_grad and g is not None:
            node.grad = g if node.grad is None else node.grad + g
        parts = node.rule(g) if node.inputs and g is not None else [None] * len(node.inputs)
        for x, part in zip(node.inputs, parts):
            uses[x] -= 1
            if part is not None:
                arrived[x] = part if arrived.get(x) is None else arrived[x] + part
            if not uses[x]:
                ready.append(x)
""",
    ("e06_matmul", "loops"): """
def matmul_rule(g, a, b):
    ga, gb = np.zeros_like(a), np.zeros_like(b)
    for i in range(a.shape[0]):
        for k in range(a.shape[1]):
            for j in range(b.shape[1]):
                ga[i,k] += g[i,j]*b[k,j]
                gb[k,j] += g[i,j]*a[i,k]
    return ga, gb
turned = lambda x: x.swapaxes(-1, -2)
batch_rule = lambda g, a, b: tuple(
    unbroadcast(z, x.shape)
    for z, x in zip((np.matmul(g, turned(b)), np.matmul(turned(a), g)), (a, b)))
""",
    ("e06_matmul", "tensordot, lists"): """
def matmul_rule(g, a, b):
    return np.tensordot(g, b, axes=(1,1)).tolist(), np.tensordot(a, g, axes=(0,0)).tolist()
""",
    ("e08_control_flow", "more methods"): """
Node.__neg__ = lambda self: self*-1.0
def power(x, n):
    y = 1.0
    for _ in range(n): y = y*x
    return y if n else Node(1)
def rounds(x, n):
    y = x
    while n:
        y, n = (-y/-2 if y.value > 2 else y*x - -1), n-1
    return y
tree_value = lambda t, w: w*sum(tree_value(p, w) for p in t) if isinstance(t, tuple) else w*t
""",
    ("e11_static_graph", "values by name"): """
def is_greater(x, number, *, notes=guards):
    notes += [(x, number, x.value > number)]
    return notes[-1][-1]
def recompute(root):
    known = {}
    for n in order(root)[::-1]:
        if n.inputs:
            a, b = [known[id(x)] for x in n.inputs]
            n.value = {"add": a+b, "mul": a*b}[n.op]
        known[id(n)] = n.value
def replay(graph, values):
    xs, root, gs = graph
    for i in range(len(xs)): xs[i].value = values[i]
    recompute(root)
    for n, number, answer in gs:
        recompute(n)
        if bool(n.value > number) ^ bool(answer): raise BranchChanged()
    return root
""",
    ("e12_train", "plain arrays"): """
def train(parameters, x, y):
    w1,b1,w2,b2=(p.value for p in parameters); h=[]
    for _ in range(100):
        z = x @ w1 + b1
        a = np.maximum(z, 0)
        l = a @ w2 + b2
        p = np.exp(l - l.max(1, keepdims=True))
        p /= p.sum(1, keepdims=True)
        h.append([0.9, -np.log(p[np.arange(len(y)),y]).mean()])
        p[np.arange(len(y)),y]-=1; p/=len(y); d=(p@w2.T)*(z>0)
        w1,b1,w2,b2=w1-.9*x.T@d,b1-.9*d.sum(0),w2-.9*a.T@p,b2-.9*p.sum(0)
    for q,v in zip(parameters,(w1,b1,w2,b2)): q.value=v
    return h
""",
    ("e07_grad_mode", "a class of the standard library"): """
import contextlib
class no_grad(contextlib.ContextDecorator):
    def __enter__(self):
        self.stack = getattr(self, "stack", [])
        self.stack.append(mode.on)
        mode.on = False
    def __exit__(self, *e): mode.on = self.stack.pop()
    def __call__(self, f):
        if inspect.isgeneratorfunction(f):
            @functools.wraps(f)
            def g(*a, **k):
                it = iter(f(*a, **k))
                while True:
                    with no_grad():
                        try: v = next(it)
                        except StopIteration: return
                    yield v
            return g
        return super().__call__(f)
""",
    ("e16_gradcheck", "formulas"): """
def softplus_rule(g, x): return g*np.exp(x-softplus(x))
def rule_of_rule(gg, g, x): return gg/(1+np.exp(-x)), gg*g*np.exp(-x)/(1+np.exp(-x))**2
""",
    ("e13_find_the_bug", "reduce"): """
import functools
layers = lambda x, bs: functools.reduce(lambda h, b: tanh(add(b, h)), bs, x)
""",
    ("e15_versions", "PyTorch's own words"): """
class Saved:
    def __init__(self, array):
        self.array, self.version = array, array.version
    def get(self):
        if self.array.version != self.version:
            raise RuntimeError("one of the variables needed for gradient computation has been "
                "modified by an inplace operation: [torch.FloatTensor [2]], which is output 0 of "
                f"AddBackward0, is at version {self.array.version}; expected version "
                f"{self.version} instead.")
        return self.array.data
""",
    ("e15_versions", "lambda"): """
def square(x):
    s = Saved(x)
    return Array(x.data**2), lambda g: 2.0*g*s.get()
""",
    ("e09_variable_length", "rule"): """
def mean_loss_rule(g, losses, lengths):
    out = np.zeros(losses.shape)
    for row, n in zip(out, lengths): row[:n] = g
    return out / sum(lengths)
""",
}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(("folder", "manner"), ANSWERS)
def test_a_right_answer_in_an_unusual_manner_has_all_points(folder: str, manner: str) -> None:
    exercise = COURSE.exercise(folder)
    code = f"{exercise.solution}\n{ANSWERS[folder, manner]}"

    for seed in range(2):
        result = grade_code(exercise, code, Trusted(), seed)

        assert result.points == result.max, result.rows


GROWING = """
def train(parameters, x, y):
    history, rate = [], 0.5
    for _ in range(120):
        history.append((rate, train_step(parameters, x, y, rate)))
        rate = min(rate * 1.02, 1.5)
    return history
"""


@pytest.mark.parametrize(("seed", "points"), [(60, 10), (80, 8)])
def test_steps_so_large_that_round_off_grows_are_still_the_steps(seed: int, points: int) -> None:
    # Under the second seed the loss jumps, and what is read at the end is too little.
    exercise = COURSE.exercise("e12_train")

    result = grade_code(exercise, exercise.solution + GROWING, Trusted(), seed)

    assert result.points == points
    assert all(row.message != "not_by_these_steps" for row in result.rows)


@pytest.mark.gate
def test_such_answers_have_all_points_where_code_of_learners_runs() -> None:
    for folder, manner in ANSWERS:
        exercise = COURSE.exercise(folder)

        result = grade_code(
            exercise, f"{exercise.solution}\n{ANSWERS[folder, manner]}", runner_for(None), seed=3
        )

        assert result.points == result.max, (folder, manner, result.rows)
