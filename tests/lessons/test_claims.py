"""What the two texts on the web claim, and the cell of a lesson in which it is put to the test.

A claim is told in words of our own. It is covered by the cells of a lesson that say the words
given with it: so a lesson that is rewritten must still say what becomes of each claim.
"""

from pathlib import Path
from typing import NamedTuple

import nbformat
import pytest

from autodiff_kit.lessons.verdicts import verdicts

NOTEBOOKS = {path.name[:2]: path for path in Path(__file__).parents[2].glob("notebooks/*.ipynb")}


class Claim(NamedTuple):
    """What is claimed, the lesson that takes it up, and words in the cells that do."""

    sentence: str
    lesson: str
    words: tuple[str, ...]


def claim(sentence: str, lesson: str, *words: str) -> Claim:
    return Claim(sentence, lesson, words)


# "PyTorch - Computation graph", a blog post.
BLOG = (
    claim("nodes are operations, edges carry tensors", "01", "nodes describe operations"),
    claim("a node is a value at the beginning of the graph", "01", "at the beginning of the graph"),
    claim("a leaf was made by no tracked operation: weights, inputs", "01", "tracked by the grad"),
    claim("an edge is an argument of a function", "01", "an edge is a function argument"),
    claim("a node depends on those at the tails of its edges", "01", "that edge's tail"),
    claim("a node computes its value", "01", "a node knows how to compute its value"),
    claim("and its derivative by each argument, times a given one", "01", "times a given input"),
    claim(
        "nodes and edges are pointers to nodes", "01", "These pointers lead **against the arrows**"
    ),
    claim("the graph is attached to a tensor at grad_fn", "01", "`grad_fn` is a node"),
    claim("its program prints these numbers, and AddBackward0", "02", "-0.3360, -0.2482, -1.1120"),
    claim("backward() is called at a scalar", "03", "call `.backward()` at a scalar"),
    claim("gradients flow back by a probability chain rule", "03", '"probability chain rule"'),
    claim("its chain of slopes, set equal, gives 8", "03", "have to be *multiplied*"),
    claim(
        "its program gives eights for x.grad", "03", "y = torch.randn([3,3], requires_grad=True)"
    ),
    claim("x.grad is 8", "03", "`x.grad` is 8 everywhere"),
    claim("backward goes in reverse topological order", "03", "in reverse topological order"),
    claim("it finds the derivative by each leaf", "03", "with respect to each leaf"),
    claim("a derivative says what a small change does", "03", "(f(5.001) - f(5.)) / 0.001"),
    claim("the graph is made while the forward pass runs", "02", "as the code runs"),
    claim("the architecture can change at run time", "02", "can change at run time"),
    claim("a forward loop goes over the nodes", "02", "a forward loop goes over the nodes in"),
    claim("all of PyTorch's code is pure Python", "14", "pure python", "finds no Python"),
    claim("TensorFlow 2 is like PyTorch", "07", "TensorFlow 2 runs line by line like PyTorch"),
    claim("a static graph is constructed first, then fed with data", "07", "constructed first"),
    claim("a static graph is faster, a dynamic one slower", "07", "it is computationally faster"),
    claim("a static graph is not flexible", "07", "it is not very flexible"),
    claim("a dynamic graph is useful in debugging", "07", "are useful while debugging"),
    claim("with a dynamic graph the source of an error is found", "11", "debugging is easy"),
    claim("whatever is missing one can write oneself", "14", "(torch.autograd.Function)"),
    claim("what is inside no_grad is not added to the graph", "06", "is not added to the graph"),
    claim("no_grad is a decorator, too", "06", "it works as a decorator", "@torch.no_grad()"),
    claim("no_grad takes less memory", "06", "it reduces memory usage"),
    claim("no_grad is faster", "06", "it speeds up computations"),
    claim("under no_grad one cannot go backward", "06", "you won't be able to backprop"),
)

# "PyTorch's Dynamic Computation Graph", noob to master.
NOOB = (
    claim("a graph stands for mathematical operations", "01", "nodes describe operations"),
    claim("the graph is made on the fly", "02", "the graph is created on the fly"),
    claim("requires_grad makes PyTorch track operations", "02", "keeps track of the operations"),
    claim("the graph grows backward in backpropagation", "02", "the graph grows backward during"),
    claim("all tensors involved get gradients", "03", "keeps none unless you ask"),
    claim("loops and conditionals can be used", "05", "loops and conditionals can be used"),
    claim("a model adapts to its inputs, or to conditions", "05", "adapt to its input"),
    claim("a static graph is defined beforehand and stays the same", "07", "constructed first"),
    claim(
        "control flow is hard to express in it",
        "07",
        "loops and conditionals are not easily",
        "`torch.cond` puts *both* branches into the graph",
    ),
    claim("TensorFlow uses static graphs", "07", "| TensorFlow uses static graphs |"),
    claim("inputs of varying length are taken", "08", "takes inputs of varying length"),
    claim("without padding", "08", "| without padding |"),
    claim("without further preprocessing", "08", "| or extra preprocessing |"),
    claim("made at run time, it needs less memory", "10", "and that reduces memory"),
    claim("static graphs are stored whole, beforehand", "10", "have to store the entire graph"),
    claim("so large models fit better", "10", "needs less | **No.**"),
    claim("intermediate values can be printed", "11", "easily print intermediate values"),
    claim("breakpoints can have conditions", "11", "apply conditional breakpoints"),
    claim("the structure can be altered at run time", "11", "alter the structure during runtime"),
    claim("so debugging is easy", "11", "| debugging is easy |"),
    claim("networks are simple to build", "12", "building is simple"),
    claim("and to train", "12", "training is simple"),
    claim("and to experiment with", "12", "experimenting is simple"),
)


def cells_with(words: str, lesson: str) -> list[str]:
    """Return the ids of the cells of a lesson that say these words."""
    cells = nbformat.read(NOTEBOOKS[lesson], as_version=4).cells
    return [cell.id for cell in cells if words in " ".join(cell.source.split())]


@pytest.mark.parametrize(
    "claim", BLOG + NOOB, ids=lambda claim: f"{claim.lesson}: {claim.sentence}"
)
def test_every_claim_is_covered_by_a_cell(claim: Claim) -> None:
    for words in claim.words:
        assert cells_with(words, claim.lesson), words


def test_every_lesson_that_weighs_claims_is_in_the_list() -> None:
    weighing = [
        number
        for number in NOTEBOOKS
        if cells_with("claims, checked", number) + cells_with("claim, checked", number)
    ]

    assert set(weighing) <= {claim.lesson for claim in BLOG + NOOB}


def test_no_claim_is_listed_twice() -> None:
    for claims in (BLOG, NOOB):
        assert len({claim.sentence for claim in claims}) == len(claims)


def test_each_lesson_that_takes_up_a_claim_has_verdicts_and_no_other() -> None:
    lessons = {verdict.lesson for verdict in verdicts()}

    assert lessons == {claim.lesson for claim in BLOG + NOOB}


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        ("forward loop", "does not hold"),
        ("pure Python", "does not hold"),
        ("TensorFlow uses static graphs", "in part"),
        ("not easily expressible", "in part"),
        ("grows backward", "does not hold"),
        ("in reverse topological order", "holds"),
        ("needs less", "does not hold"),
        ("is 8 everywhere", "does not hold"),
    ],
)
def test_what_became_of_a_claim(words: str, kind: str) -> None:
    (verdict,) = (verdict for verdict in verdicts() if words in verdict.claim)
    assert verdict.kind == kind
