"""The questions of lesson 03."""

from autodiff_kit.lessons.questions import Question

TITLE = "The backward pass"

QUESTIONS = (
    Question(
        key="03.order",
        kind="choice",
        text="First `y = 2 * x + 3` ran, then `z = 4 * y - 1`. Which operation does "
        "`z.backward()` visit first?",
        choices=("`2 * x`", "`2 * x + 3`", "`4 * y`", "`4 * y - 1`"),
        answer="`4 * y - 1`",
        right="It made `z`, and `z` is where `backward` begins. From there the way leads from "
        "younger operations to older ones.",
        why={
            "`2 * x`": "That ran first, and so it is visited *last*: `backward` begins at `z`.",
            "`2 * x + 3`": "That made `y`. `backward` begins at `z`: which operation made `z`?",
            "`4 * y`": "Close: it made the number from which 1 was then taken away. Which "
            "operation ran last?",
        },
    ),
    Question(
        key="03.adds",
        kind="number",
        text="`w` is used twice:\n\n"
        "    w = torch.tensor(3., requires_grad=True)\n"
        "    x = torch.tensor(4., requires_grad=True)\n"
        "    y = w * x + w\n"
        "    y.backward()\n\n"
        "What is `w.grad`?",
        answer=5.0,
        right="4 by way of `w * x` (there the slope is `x`), and 1 by way of `+ w`. "
        "Contributions to the same leaf add up.",
        why={
            4.0: "That is what comes by way of `w * x`. But `w` is used a second time.",
            1.0: "That is what comes by way of `+ w`. But `w` is used in `w * x` as well.",
            3.0: "That is `x.grad`: the slope of `w * x` in the direction of `x` is `w`.",
            7.0: "4 + 3? The second contribution is the slope of `+ w`, and that is not `w`.",
        },
        otherwise="Two ways lead from `y` to `w`. Find what comes along each, and add.",
    ),
    Question(
        key="03.again",
        kind="number",
        text="Two rounds of the same:\n\n"
        "    w = torch.tensor(2., requires_grad=True)\n"
        "    for i in range(2):\n"
        "        loss = 3 * w\n"
        "        loss.backward()\n\n"
        "What is `w.grad` at the end?",
        answer=6.0,
        right="3 + 3. `backward` never replaces what is in `.grad`: it adds to it.",
        why={
            3.0: "That is what each round contributes. The second round finds a 3 in `.grad`: does "
            "it replace it?",
            9.0: "The rounds are not multiplied with each other: what does `backward` do with the "
            "number that is already in `.grad`?",
            12.0: "The slope of `3 * w` is 3, whatever `w` is. And there are two rounds.",
        },
        otherwise="The slope of `3 * w` is 3, and there are two rounds.",
    ),
    Question(
        key="03.source_claim",
        kind="choice",
        text="The program above runs to its end without any error. What is `x.grad` then?",
        choices=(
            "eights: 4 times 2, by the chain rule",
            "fours: the slope of `4 * y - 1`",
            "zeros: `z` does not change when `x` does",
            "`None`: no gradient came to `x`",
        ),
        answer="`None`: no gradient came to `x`",
        right="The third line gives the name `y` to a new tensor. `z` is made of that one, and no "
        "edge leads from `z` to `x`.",
        why={
            "eights: 4 times 2, by the chain rule": "The article says so. The calculation is "
            "right; but is it the calculation of *this program*? For which tensor does the name "
            "`y` stand in the fourth line?",
            "fours: the slope of `4 * y - 1`": "Fours do turn up, but somewhere else: in whose "
            "`.grad`?",
            "zeros: `z` does not change when `x` does": "Well seen: `z` does not depend on `x`. "
            "But `backward` walks along edges, and where it never comes, it leaves nothing, not "
            "even zeros.",
        },
    ),
    Question(
        key="03.mend",
        kind="code",
        text="Write `z` in one line with `x` and without `y`, by putting `2 * x + 3` in the place "
        "of `y` in `z = 4 * y - 1`.",
        answer="z = 4 * (2 * x + 3) - 1",
        also=("4 * (2 * x + 3) - 1", "z = 8 * x + 11", "8 * x + 11"),
        right="Now the way from `z` to `x` is whole.",
        why={
            "z = 4 * 2 * x + 3 - 1": "Without parentheses the 4 reaches only `2 * x`: the slope "
            "is 8, but `z` itself is off by 9.",
            "4 * 2 * x + 3 - 1": "Without parentheses the 4 reaches only `2 * x`: the slope "
            "is 8, but `z` itself is off by 9.",
            "z = 4 * y - 1": "That is the line as it was. Put `(2 * x + 3)` where `y` stands.",
            "4 * y - 1": "That is the line as it was. Put `(2 * x + 3)` where `y` stands.",
        },
        otherwise="Take the line `z = 4 * y - 1` and write `(2 * x + 3)` where `y` stands.",
    ),
    Question(
        key="03.task",
        kind="number",
        text="One last graph, with everything in it:\n\n"
        "    a = torch.tensor(2., requires_grad=True)\n"
        "    b = a * a\n"
        "    c = b * a\n"
        "    c.backward()\n\n"
        "What is `a.grad`?",
        answer=12.0,
        right="4 by way of the second factor of `b * a`, and 4 + 4 by way of `b = a * a`.",
        why={
            4.0: "That is the contribution of `a` in `b * a`. More comes by way of `b`.",
            8.0: "Either you computed `c` itself, or you found the two contributions by way of "
            "`b = a * a` and forgot that `a` is used once more.",
            6.0: "Three uses of `a`, but none of them contributes 2: follow the numbers from `c` "
            "back to `a`.",
        },
        otherwise="`a` is used three times, so three contributions arrive. Begin at `c` with 1.",
    ),
)
