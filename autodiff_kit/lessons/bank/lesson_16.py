"""The questions of lesson 16."""

from autodiff_kit.lessons.questions import Question

TITLE = "The map of today's PyTorch"

QUESTIONS = (
    Question(
        key="16.change",
        kind="number",
        text="The program of lesson 03 (`x = torch.tensor(5., requires_grad=True)` and so on, down "
        "to `z.backward()`) is moved to PyTorch. How many of its lines have to change, not "
        "counting the import?",
        answer=0.0,
        right="None. Every name here means what it means in PyTorch; so only the import changes.",
        why={
            1.0: "If you were thinking of the import: that one is not counted. Which other?",
            4.0: "All of them? They call `torch.tensor`, `*`, `+` and `backward`: does PyTorch "
            "call these otherwise?",
        },
        otherwise="Look for a name in it that PyTorch does not have.",
    ),
    Question(
        key="16.train",
        kind="choice",
        text="A small network is made at random after `torch.manual_seed(0)`, and trained for 300 "
        "steps, once with the kit and once with PyTorch. How near to each other are the losses "
        "that are printed, to three digits?",
        choices=(
            "the same: the random numbers and every step are the same",
            "near, because both learn the same task",
            "quite different, because both begin with other random numbers",
        ),
        answer="the same: the random numbers and every step are the same",
        right="The kit draws its random numbers as PyTorch does, and every operation, gradient and "
        "update is the same calculation.",
        why={
            "near, because both learn the same task": "Even near losses would differ in the third "
            "digit, if anything on the way were different. Is anything?",
            "quite different, because both begin with other random numbers": "That would be so "
            "with another generator. `manual_seed(0)` says where this one begins.",
        },
    ),
    Question(
        key="16.error",
        kind="choice",
        text="`y = x.exp()`, then `y += 1`, then `y.sum().backward()`. Which part of PyTorch's "
        "message is different from the kit's?",
        choices=(
            "the versions: PyTorch counts them in another way",
            "the name of the operation",
            "none: the kit only adds a line of its own",
        ),
        answer="none: the kit only adds a line of its own",
        right="The words, the shape, the operation and both versions are the same.",
        why={
            "the versions: PyTorch counts them in another way": "A version counts changes in "
            "place: one `+=` is one change, here as there.",
            "the name of the operation": "Both write `output 0 of Exp`: the saved tensor is the "
            "result of `exp`, whose node is `ExpBackward0` in both.",
        },
    ),
    Question(
        key="16.graph",
        kind="number",
        text="The next cell makes, three times in a loop, `h = torch.tanh(h * w) + h`, and then "
        "`loss = h * h`. How many operation nodes will PyTorch's graph have?",
        answer=10.0,
        right="Three in each round (`*`, `tanh`, `+`), and one for `loss`. The loop itself is no "
        "node: it is unrolled by running.",
        why={
            4.0: "That would be a graph with a loop in it. But the graph is made by what *runs*, "
            "and each round runs anew.",
            3.0: "Each round has three operations, and there are three rounds.",
            9.0: "And `loss = h * h`?",
            11.0: "The leaf `w` is no operation.",
            7.0: "Count the operations of one round again: `*`, `tanh` and `+`.",
        },
        otherwise="Three operations in each round, three rounds, and what comes after the loop.",
    ),
    Question(
        key="16.task",
        kind="choice",
        text="`a` has shape (2,), `b` has shape (3, 1), and `c = (a * b).sum()`. What is `a.grad` "
        "after `c.backward()`, here and in PyTorch?",
        choices=(
            "`b` itself, of shape (3, 1)",
            "a matrix of shape (3, 2)",
            "the sum of `b` for each number of `a`: `[6., 6.]`",
        ),
        answer="the sum of `b` for each number of `a`: `[6., 6.]`",
        right="`a` was used in each of the three rows. Each use contributes, and contributions "
        "add up: 1 + 2 + 3.",
        why={
            "`b` itself, of shape (3, 1)": "A gradient has the shape of its leaf, and `a` has two "
            "numbers.",
            "a matrix of shape (3, 2)": "That is what the rule gives, before broadcasting is "
            "undone. A gradient has the shape of its leaf.",
        },
    ),
)
