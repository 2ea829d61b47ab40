"""The questions of lesson 01."""

from autodiff_kit.lessons.questions import Question

TITLE = "What is a graph?"

QUESTIONS = (
    Question(
        key="01.operations",
        kind="number",
        text="How many operations does the line `y = 2 * x + 3` apply?",
        answer=2.0,
        right="A multiplication and an addition. Each of them will be a node.",
        why={
            1.0: "It is one line, but each operator in it is an operation of its own.",
            3.0: "`*` and `+` are two. The `=` computes nothing: it gives the result a name.",
        },
        otherwise="Count the operators that compute something.",
    ),
    Question(
        key="01.last",
        kind="code",
        text="The node that a multiplication makes is called `MulBackward0`. `y.grad_fn` is the "
        "node of the operation that made `y`, where `y = 2 * x + 3`. What is its name?",
        answer="AddBackward0",
        also=("'AddBackward0'", "<AddBackward0>"),
        right="Python multiplies first and adds last, and what ran last made `y`. The node of the "
        "multiplication is one step behind it.",
        why={
            "MulBackward0": "The multiplication runs first and makes `2 * x`, which has no name. "
            "Which operation runs last and makes `y`?",
            "AddBackward": "Nearly: the node of a built-in operation ends with a number, here `0`.",
        },
        otherwise="The name is the short name of the operation, as `Mul` for `*`, then "
        "`Backward0`. Which operation runs last?",
    ),
    Question(
        key="01.leaf",
        kind="choice",
        text="No tensor here asks for a gradient:\n\n"
        "    c = torch.tensor(1.)\n    d = c * 2\n\n"
        "Is `d` a leaf?",
        choices=(
            "Yes, because no *recorded* operation made it",
            "No, because the multiplication made it",
            "It is neither: where nothing is recorded, there is no `is_leaf`",
        ),
        answer="Yes, because no *recorded* operation made it",
        right="The multiplication ran, but nothing wanted a gradient, so nothing was recorded, and "
        "as far as the graph can know, `d` fell from the sky.",
        why={
            "No, because the multiplication made it": "The multiplication did make it. But a leaf "
            "is a tensor that no *recorded* operation made. Was this one recorded?",
            "It is neither: where nothing is recorded, there is no `is_leaf`": "Every tensor has "
            "`is_leaf`, and it is `True` or `False`. What made `d`, and was that recorded?",
        },
    ),
    Question(
        key="01.twice",
        kind="number",
        text="`x * x` uses the same tensor twice. How many edges lead from its node towards `x`?",
        answer=2.0,
        right="One edge for each *argument*, not for each tensor. In lesson 03 a contribution to "
        "the gradient comes along each of them.",
        why={
            1.0: "It is one tensor, but the multiplication has two arguments, and each argument "
            "has an edge of its own.",
        },
        otherwise="Each argument of an operation has an edge of its own.",
    ),
    Question(
        key="01.task",
        kind="code",
        text="`w = (a + 2) * a`, where `a` is a leaf that asks for a gradient. Which list does "
        "`[label(node) for node, _ in w.grad_fn.next_functions]` give? (Type the list.)",
        answer="['AddBackward0', 'AccumulateGrad']",
        right="One entry for each argument of the `*`, in their order: first `a + 2`, which an "
        "addition made, then the leaf `a`, where gradients are accumulated.",
        why={
            "['AccumulateGrad', 'AddBackward0']": "Both are there, but in the order of the "
            "arguments: which factor stands first?",
            "['AddBackward0']": "The multiplication has two arguments, so the list has two "
            "entries. What stands at the end of the graph for the leaf `a`?",
            "['AddBackward0', 'None']": "`None` stands where no gradient is wanted. The second "
            "factor is `a`, and `a` asks for one.",
            "['AddBackward0', None]": "`None` stands where no gradient is wanted. The second "
            "factor is `a`, and `a` asks for one.",
            "['MulBackward0', 'AccumulateGrad']": "`w.grad_fn` itself is the multiplication. Its "
            "arguments are `a + 2` and `a`: what made the first one?",
        },
        otherwise="The list has one name for each argument of the `*`, in order, such as "
        "`['MulBackward0', 'AccumulateGrad']`. What made `a + 2`, and what stands for a leaf?",
    ),
)
