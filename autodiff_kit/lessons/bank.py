"""The questions that the lessons ask, by key; the part before the dot is the lesson's number.

They stand here and not in the notebooks, so that nobody reads an answer before it is asked for.
Tests run the code behind every answer, under the kit and under PyTorch. Read next: ``cards.py``.
"""

from __future__ import annotations

from typing import NamedTuple

from autodiff_kit.lessons.questions import Question

__all__ = ["LESSONS", "QUESTIONS", "Lesson"]


class Lesson(NamedTuple):
    """A lesson that can be opened: its number as in its file's name, and its title."""

    number: str
    title: str


LESSONS = (
    Lesson("00", "Start here"),
    Lesson("01", "What is a graph?"),
    Lesson("02", "Built on the fly"),
    Lesson("03", "The backward pass"),
)

_ALL = (
    Question(
        key="00.slope",
        kind="number",
        text="Let `y = x * x`, and let `x` be 3. When `x` grows a little, `y` grows how many times "
        "as much? In other words: what is the slope of `y` there?",
        answer=6.0,
        right="From 3 to 3.001 is a step of 0.001. It takes `y` from 9 to 9.006001, which is about "
        "six times as far. Now watch how the graph finds the 6.",
        why={
            9.0: "9 is `y` itself. The question is how much `y` *changes* when `x` changes a "
            "little: compute `3.001 * 3.001` and see.",
            3.0: "3 is what one of the two factors contributes. But `x` stands on both sides of "
            "the `*`, and both of them grow.",
            2.0: "2 would be the slope of `2 * x`, which is the same everywhere. The slope of "
            "`x * x` depends on where you are, and you are at 3.",
        },
        otherwise="Compute `3.001 * 3.001` and compare it with 9: how many times 0.001 was added?",
    ),
    Question(
        key="00.task",
        kind="number",
        text="Before you run it with `5.`: which number will end up in `x.grad`?",
        answer=10.0,
        right="5 from one factor and 5 from the other. Run it, and see the two fives arrive.",
        why={
            25.0: "25 is the new `y`. What ends up in `x.grad` is the slope of `y`.",
            6.0: "6 was the slope at 3. Where `x` is 5, the curve is steeper.",
            5.0: "5 is what one of the two factors contributes, and `x` is used twice.",
        },
        otherwise="With 3 it was 3 + 3: one contribution for each time that `x` is used.",
    ),
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
        "node that made `y`, where `y = 2 * x + 3`. What is its name?",
        answer="AddBackward0",
        also=("'AddBackward0'", "<AddBackward0>"),
        right="Python multiplies first and adds last, and what ran last made `y`. The node of the "
        "multiplication is one step behind it.",
        why={
            "MulBackward0": "The multiplication runs first and makes `2 * x`, which has no name. "
            "Which operation runs last and makes `y`?",
            "AddBackward": "Nearly: the names of PyTorch 2 end with a number, here `0`.",
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
        "`[name(node) for node, _ in w.grad_fn.next_functions]` give? (Type the list.)",
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
            "described first, run later. Nobody reads the text of your program here.",
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
        choices=("both", "only `h`", "only `k`", "neither: nobody asked for it"),
        answer="only `h`",
        right="One argument that requires a gradient is enough: `h` depends on `w`. Nothing that "
        "`k` depends on requires one.",
        why={
            "both": "`h` does. But `k` is made of `x` alone: does its value depend on `w`?",
            "only `k`": "The other way round: which of the two depends on `w`?",
            "neither: nobody asked for it": "Nobody has to ask: what depends on `w` has to be "
            "recorded, or the gradient of `w` could not be found. So `requires_grad` spreads.",
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
        "nodes of operations has the graph afterwards?",
        choices=(
            "more, because the graph grows backward",
            "three, as before",
            "none, because `backward` takes the graph down",
        ),
        answer="three, as before",
        right="`backward` walks along the edges that are there. It builds nothing. It frees the "
        "values that were saved in the nodes; the nodes stay as long as the result does.",
        why={
            "more, because the graph grows backward": "One of our sources says so. Count before "
            "and after: the next cell does.",
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
            "eights: 4 times 2, by the chain rule": "So says the source, too. The calculation is "
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
        text="Mend it: write `z` in one line with `x` and without `y`, by putting `2 * x + 3` in "
        "the place of `y`.",
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

QUESTIONS = {question.key: question for question in _ALL}
