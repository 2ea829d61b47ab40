"""The questions of lesson 05."""

from autodiff_kit.lessons.questions import Question

TITLE = "Control flow"

QUESTIONS = (
    Question(
        key="05.loop",
        kind="number",
        text="A loop multiplies:\n\n"
        "    x = torch.tensor(2., requires_grad=True)\n"
        "    y = x\n"
        "    for i in range(3):\n"
        "        y = y * x\n"
        "    y.backward()\n\n"
        "What is `x.grad`?",
        answer=32.0,
        right="After three rounds `y` is x^4, and the slope of that is 4 x^3: four times eight.",
        why={
            16.0: "That is `y` itself: 2 to the power of 4. Its slope is asked for.",
            12.0: "That is the slope of x^3. How many factors are there: what is `y` before the "
            "first round?",
            8.0: "That is what the last round alone contributes to its second factor. Each round "
            "uses `x` again, and contributions add up.",
            6.0: "Three rounds with a 2 each? The rounds are multiplied with each other: `y` is "
            "x * x * x * x.",
        },
        otherwise="Write `y` without the loop: x * x * x * x. What is the slope of that at 2?",
    ),
    Question(
        key="05.while",
        kind="number",
        text="This loop looks at its own result:\n\n"
        "    x = torch.tensor(3., requires_grad=True)\n"
        "    y = x\n"
        "    while y < 100:\n"
        "        y = y * x\n\n"
        "How many multiplications are in the graph of `y`?",
        answer=4.0,
        right="3, 9, 27, 81, 243: four multiplications, and the loop knew of none of them before.",
        why={
            5.0: "Five is how often Python *asked* whether `y < 100`. The last answer was no.",
            3.0: "After three multiplications `y` is 81, and 81 < 100: the loop goes on.",
            1.0: "One line of code, but it runs several times, and each time leaves a node.",
            0.0: "`y` does get a graph: each multiplication leaves a node as it runs.",
        },
        otherwise="Follow the numbers: 3, 9, 27 ... until one is not below 100.",
    ),
    Question(
        key="05.jump",
        kind="number",
        text="    def jump(x):\n"
        "        if x > 2:\n"
        "            return 3 * x\n"
        "        return x * x\n\n"
        "At `x = 2.` exactly, what does `backward` leave in `x.grad`?",
        answer=4.0,
        right="2 > 2 is False, so `x * x` ran, with the slope 2 * 2. Nothing else is in the graph.",
        why={
            3.0: "That is the slope of the other branch. Is 2 greater than 2?",
            3.5: "The mean of both slopes? The graph knows one branch only: the one that ran.",
            0.0: "The graph of `x * x` is there, and it has a slope at 2.",
        },
        otherwise="Which branch runs at 2? Only that one is in the graph.",
    ),
    Question(
        key="05.many",
        kind="choice",
        text="`x = torch.tensor([3., -3.])`. What does `if x > 0:` do?",
        choices=(
            "it runs the branch: the first number is above 0",
            "it runs the branch for the 3 and not for the -3",
            "it skips the branch: not all numbers are above 0",
            "it raises an error",
        ),
        answer="it raises an error",
        right="One `if` needs one answer. Say which: `(x > 0).any()` or `(x > 0).all()`; or choose "
        "for each element with `torch.where`.",
        why={
            "it runs the branch: the first number is above 0": "Why the first one? PyTorch does "
            "not guess which of the numbers is meant.",
            "it runs the branch for the 3 and not for the -3": "That is what `torch.where` does. "
            "An `if` of Python runs its branch once or not at all.",
            "it skips the branch: not all numbers are above 0": "You may mean `(x > 0).all()`, and "
            "then you have to write it: PyTorch does not guess.",
        },
    ),
    Question(
        key="05.task",
        kind="number",
        text="    def deep(x, depth):\n"
        "        if depth == 0:\n"
        "            return x\n"
        "        return deep(x * w, depth - 1)\n\n"
        "    w = torch.tensor(2., requires_grad=True)\n"
        "    y = deep(torch.tensor(1.), 3)\n"
        "    y.backward()\n\n"
        "What is `w.grad`?",
        answer=12.0,
        right="`y` is w^3, so the slope is 3 w^2: three calls, and each contributes 4.",
        why={
            8.0: "That is `y` itself. Its slope is asked for.",
            4.0: "That is the contribution of one call. `w` is used in three.",
            6.0: "Three uses of `w`, but each contributes more than 2: the product of the other "
            "two factors.",
        },
        otherwise="Three calls multiply by `w`, so `y` is w * w * w. What is its slope at 2?",
    ),
)
