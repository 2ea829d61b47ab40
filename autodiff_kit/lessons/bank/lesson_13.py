"""The questions of lesson 13."""

from autodiff_kit.lessons.questions import Question

TITLE = "Errors everybody meets"

QUESTIONS = (
    Question(
        key="13.cut",
        kind="choice",
        text="This program stops at its last line: `element 0 of tensors does not require grad`. "
        "Which line has to be changed?\n\n"
        "    w = torch.tensor([2., -1.], requires_grad=True)\n"
        "    x = torch.tensor([3., 4.])\n"
        "    with torch.no_grad():\n"
        "        h = w * x\n"
        "    loss = (h - 1).pow(2).sum()\n"
        "    loss.backward()",
        choices=(
            "`x = torch.tensor([3., 4.])`",
            "`with torch.no_grad():`",
            "`loss = (h - 1).pow(2).sum()`",
            "`loss.backward()`",
        ),
        answer="`with torch.no_grad():`",
        right="The backward pass ends there: `h` has numbers and no node. All that follows is made "
        "of `h` alone.",
        why={
            "`x = torch.tensor([3., 4.])`": "With `requires_grad=True` the error would be the "
            "same: is anything recorded where `x` is used?",
            "`loss = (h - 1).pow(2).sum()`": "This line is fine, if only `h` led somewhere.",
            "`loss.backward()`": "This line is where it comes to light. `loss` has no `grad_fn`: "
            "since when?",
        },
    ),
    Question(
        key="13.twice",
        kind="choice",
        text="Two results share `h`:\n\n"
        "    h = x.exp()\n"
        "    first = h * 2\n"
        "    second = h + 5\n"
        "    first.backward()\n"
        "    second.backward()\n\n"
        "The second `backward` fails. At which operation?",
        choices=("`h + 5`", "`h * 2`", "`x.exp()`"),
        answer="`x.exp()`",
        right="Its rule reads the result that it had saved, and the first `backward` has freed "
        "that. `h + 5` saves nothing, so there is nothing to miss.",
        why={
            "`h + 5`": "The rule of an addition reads only the gradient: it saves nothing. So "
            "what could it miss?",
            "`h * 2`": "The second `backward` does not come to `h * 2` at all: that made `first`.",
        },
    ),
    Question(
        key="13.changed",
        kind="choice",
        text="`h += 1` overwrites what other operations may need:\n\n"
        "    h = x.exp()\n"
        "    y = h * x\n"
        "    h += 1\n"
        "    y.sum().backward()\n\n"
        "Which operation comes first in the backward pass and misses the old numbers?",
        choices=("`y.sum()`", "`h * x`", "`x.exp()`"),
        answer="`h * x`",
        right="For the gradient of `x` it had saved `h`, at version 0. Now `h` is at version 1.",
        why={
            "`y.sum()`": "A sum needs only the shape of what it summed, and that is still known.",
            "`x.exp()`": "It misses its result, too. But the backward pass reaches another "
            "operation first.",
        },
    ),
    Question(
        key="13.leaf",
        kind="choice",
        text="A step of gradient descent by hand: `w -= 0.1 * w.grad`, where `w` is a leaf that "
        "requires a gradient. What does PyTorch say?",
        choices=(
            "nothing: `w` has its new value",
            "an error: the change would be part of what is recorded",
            "an error: `w.grad` cannot be used in a calculation",
        ),
        answer="an error: the change would be part of what is recorded",
        right="Recorded, the line would make a result of the leaf `w`, and the old value would be "
        "gone. An update is meant to be no part of the graph: `with torch.no_grad():`.",
        why={
            "nothing: `w` has its new value": "That is what you want. But recording is on: what "
            "would the node of this change lead back to?",
            "an error: `w.grad` cannot be used in a calculation": "It is a tensor as any other. "
            "The trouble is on the left.",
        },
    ),
    Question(
        key="13.result",
        kind="choice",
        text="    w = torch.ones(3, requires_grad=True) * 0.5\n"
        "    torch.optim.SGD([w], lr=0.1)\n\n"
        "Why does the optimizer refuse `w`?",
        choices=(
            "`w` does not require a gradient",
            "`w` is the result of `* 0.5`, and no leaf",
            "all numbers of `w` are equal",
        ),
        answer="`w` is the result of `* 0.5`, and no leaf",
        right="The leaf is the tensor of ones, and it has lost its name. `w` has a `grad_fn`, and "
        "no `.grad` would ever arrive there.",
        why={
            "`w` does not require a gradient": "It does: `requires_grad` spreads from the ones "
            "to the result.",
            "all numbers of `w` are equal": "That is no good start for learning, but nothing "
            "that an optimizer looks at.",
        },
    ),
    Question(
        key="13.task",
        kind="choice",
        text="Where does the way from `loss` back to `x` end?",
        choices=("at `x * 2`", "at `.sum()`", "at `.item()`", "at `h * w`"),
        answer="at `.item()`",
        right="It gives a number of Python's, and Python's numbers know nothing of graphs. "
        "`torch.tensor([...])` makes a new leaf of it.",
        why={
            "at `x * 2`": "This is recorded: an operation on a leaf that requires a gradient.",
            "at `.sum()`": "A sum has a node like any other operation.",
            "at `h * w`": "This is recorded, because of `w`, and its node leads to `h` and `w`. "
            "But what is `h`?",
        },
    ),
)
