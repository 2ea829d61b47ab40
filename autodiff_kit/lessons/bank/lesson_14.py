"""The questions of lesson 14."""

from autodiff_kit.lessons.questions import Question

TITLE = "Gradients of gradients, own operations"

QUESTIONS = (
    Question(
        key="14.rule",
        kind="choice",
        text="An operation of your own computes `x ** 3`. Its rule is given `g`, the gradient that "
        "flows into its result. What does it return?",
        choices=("`3 * x ** 2`", "`g * 3 * x ** 2`", "`g * x ** 3`", "`g + 3 * x ** 2`"),
        answer="`g * 3 * x ** 2`",
        right="The gradient flowing in, times the operation's own slope: no rule does more.",
        why={
            "`3 * x ** 2`": "That is the slope. It is right only for `g = 1`, where `backward` "
            "begins; anywhere else the chain would be cut.",
            "`g * x ** 3`": "That multiplies by the value. Which number says how `x ** 3` grows "
            "when `x` does?",
            "`g + 3 * x ** 2`": "Slopes along a chain are multiplied. Contributions of different "
            "ways are added, but the engine does that.",
        },
    ),
    Question(
        key="14.check",
        kind="choice",
        text="`gradcheck` finds out whether a rule is right. With what does it compare the rule?",
        choices=(
            "with PyTorch's rule for the same operation",
            "with how the result moves when the input is moved a little",
            "with the derivative that it works out from the formula",
        ),
        answer="with how the result moves when the input is moved a little",
        right="It needs nothing but `forward`: each element is moved a little up and a little "
        "down. That is why it wants `float64`, where a little can be very little.",
        why={
            "with PyTorch's rule for the same operation": "There is none for an operation of your "
            "own.",
            "with the derivative that it works out from the formula": "It does not see a formula, "
            "only a function that can be called.",
        },
    ),
    Question(
        key="14.second",
        kind="number",
        text="Differentiate twice:\n\n"
        "    x = torch.tensor(3., requires_grad=True)\n"
        "    y = x ** 3\n"
        "    first, = torch.autograd.grad(y, x, create_graph=True)\n"
        "    second, = torch.autograd.grad(first, x)\n\n"
        "`first` is 3 times `x ** 2`: 27. What is `second`?",
        answer=18.0,
        right="The slope of `3 * x ** 2` is `6 * x`.",
        why={
            27.0: "That is `first` itself. How does it grow with `x`?",
            6.0: "That is the slope of `3 * x ** 2` at 1, or the third derivative.",
            9.0: "Do not lose the 3: `first` is `3 * x ** 2`, and its slope is `6 * x`.",
        },
        otherwise="`first` is `3 * x ** 2`. What is its slope at 3?",
    ),
    Question(
        key="14.without",
        kind="choice",
        text="The same without `create_graph=True`. What does the last line, "
        "`torch.autograd.grad(first, x)`, do?",
        choices=("it gives 18 all the same", "it gives 0", "it gives `None`", "it is an error"),
        answer="it is an error",
        right="Without a graph `first` is a plain number: nothing says how it was made of `x`.",
        why={
            "it gives 18 all the same": "From what? What `first` is made of was not recorded.",
            "it gives 0": "A plain number does not change with `x`, well seen. But PyTorch does "
            "not guess that you meant that.",
            "it gives `None`": "With `allow_unused=True` it gives `None` for a leaf that no path "
            "leads to. Here there is no graph at all to begin in.",
        },
    ),
    Question(
        key="14.task",
        kind="number",
        text="Once more, and deeper:\n\n"
        "    x = torch.tensor(1., requires_grad=True)\n"
        "    g = x ** 4\n"
        "    for i in range(3):\n"
        "        g, = torch.autograd.grad(g, x, create_graph=True)\n\n"
        "What is `g` at the end?",
        answer=24.0,
        right="`4 * x ** 3`, then `12 * x ** 2`, then `24 * x`.",
        why={
            4.0: "That is the first round. There are three.",
            12.0: "That is the second round. There are three.",
            0.0: "Only the fifth derivative of `x ** 4` is 0 everywhere.",
        },
        otherwise="Each round takes the derivative of what the round before gave.",
    ),
)
