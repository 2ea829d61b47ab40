"""The questions of lesson 02."""

from autodiff_kit.lessons.questions import Question

TITLE = "Built on the fly"

QUESTIONS = (
    Question(
        key="02.when",
        kind="choice",
        text="When does the graph of `y = 2 * x + 3` come into being?",
        choices=(
            "before the program runs, from its text",
            "while Python runs this line",
            "when `y.backward()` is called",
        ),
        answer="while Python runs this line",
        right="Operation by operation: after `2 * x` there is one node, after `+ 3` there are two.",
        why={
            "before the program runs, from its text": "That is how a *static* graph is made: "
            "described first, run later. PyTorch does not read the text of your program.",
            "when `y.backward()` is called": "`backward` needs the graph, so it has to be there "
            "already. Look at what `print(y)` shows before any `backward`.",
        },
    ),
    Question(
        key="02.spread",
        kind="choice",
        text="Only `w` asks for a gradient:\n\n"
        "    w = torch.tensor(2., requires_grad=True)\n"
        "    x = torch.tensor(3.)\n"
        "    h = w * x\n"
        "    k = x * x\n\n"
        "Which of `h` and `k` require a gradient?",
        choices=("both", "only `h`", "only `k`", "neither: they were not asked to"),
        answer="only `h`",
        right="One argument that requires a gradient is enough: `h` depends on `w`. Nothing that "
        "`k` depends on requires one.",
        why={
            "both": "`h` does. But `k` is made of `x` alone: does its value depend on `w`?",
            "only `k`": "The other way round: which of the two depends on `w`?",
            "neither: they were not asked to": "They need not be: what depends on `w` has to "
            "be recorded, or the gradient of `w` could not be found. So `requires_grad` spreads.",
        },
    ),
    Question(
        key="02.twice",
        kind="choice",
        text="A function that computes `2 * x + 3` is called twice with the same `x`. How many "
        "nodes do its operations make?",
        choices=(
            "two: the second call finds the graph already there",
            "four: each call makes its own",
        ),
        answer="four: each call makes its own",
        right="Each operation that runs makes a node. The calls share the leaf `x`, and nothing "
        "else.",
        why={
            "two: the second call finds the graph already there": "Nothing looks for an old graph "
            "when an operation runs. What would have to be compared?",
        },
    ),
    Question(
        key="02.branch",
        kind="code",
        text="A function with an `if`:\n\n"
        "    def f(x):\n"
        "        if x > 0:\n"
        "            return x * x\n"
        "        return -x\n\n"
        "It is called with `x = torch.tensor(-2., requires_grad=True)`. What is the name of the "
        "result's `grad_fn`? (The operation `-x` is called `neg`.)",
        answer="NegBackward0",
        also=("'NegBackward0'", "<NegBackward0>"),
        right="-2 is not above 0, so the second `return` ran, and only what ran is in the graph.",
        why={
            "MulBackward0": "That line did not run: -2 is not above 0. Only what ran is recorded.",
            "IfBackward0": "There is no node for an `if`: Python decides it by itself, and only "
            "operations on tensors make nodes.",
        },
        otherwise="Which of the two `return` lines runs, and which operation does it apply?",
    ),
    Question(
        key="02.grows",
        kind="choice",
        text="A graph has three operations. Then `backward()` is called on its result. How many "
        "operation nodes has the graph afterwards?",
        choices=(
            "more, because the graph grows backward",
            "three, as before",
            "none, because `backward` takes the graph down",
        ),
        answer="three, as before",
        right="`backward` walks along the edges that are there. It builds nothing. It frees the "
        "values that were saved in the nodes; the nodes stay as long as the result does.",
        why={
            "more, because the graph grows backward": "An article says so. Count before and "
            "after: the next cell does.",
            "none, because `backward` takes the graph down": "Something is freed, but not the "
            "nodes: it is the values saved in them. Count before and after: the next cell does.",
        },
    ),
    Question(
        key="02.task",
        kind="number",
        text="How many `MulBackward0` nodes does this make?\n\n"
        "    w = torch.tensor(2., requires_grad=True)\n"
        "    h = w\n"
        "    for i in range(4):\n"
        "        h = h * w",
        answer=4.0,
        right="The line stands there once, but it runs four times, and each run makes a node.",
        why={
            1.0: "The line stands there once, but the graph is made by what *runs*.",
            5.0: "`h = w` computes nothing. It gives the tensor a second name.",
        },
        otherwise="How often does the multiplication run?",
    ),
)
