"""The questions of lesson 11."""

from autodiff_kit.lessons.questions import Question

TITLE = "Debugging"

QUESTIONS = (
    Question(
        key="11.first",
        kind="choice",
        text="The inputs of `softmax` are 10, 40 and 90. Which operation makes the first number "
        "that is no ordinary one (`inf` or `nan`)?",
        choices=("`w * x`", "`h.exp()`", "`e.sum()`", "`e / e.sum()`"),
        answer="`h.exp()`",
        right="The largest number that `float32` can hold is about 3.4e38, and exp(90) is more "
        "than that: `inf`. The `nan` comes later: `inf / inf`.",
        why={
            "`w * x`": "That makes 10, 40 and 90: three ordinary numbers.",
            "`e.sum()`": "It makes `inf`. But of three ordinary numbers below 1e38? Look at what "
            "it adds up.",
            "`e / e.sum()`": "That makes the first `nan`. But it divides `inf` by `inf`: where do "
            "these come from?",
        },
    ),
    Question(
        key="11.grad",
        kind="choice",
        text="The length of a vector, at the point where it is 0:\n\n"
        "    x = torch.zeros(2, requires_grad=True)\n"
        "    y = (x * x).sum().sqrt()\n"
        "    y.backward()\n\n"
        "`y` is 0, an ordinary number. What is `x.grad`?",
        choices=("zeros", "ones", "`inf`, twice", "`nan`, twice"),
        answer="`nan`, twice",
        right="The slope of the square root is infinite at 0, so `inf` flows into the sum; then "
        "the rule of `x * x` multiplies it by `x`, and `inf * 0` is `nan`.",
        why={
            "zeros": "`x` is 0, and the rule of `x * x` multiplies by it. But by what does it "
            "multiply? Think of the slope of the square root at 0.",
            "ones": "Away from 0 the gradient has the length 1. At 0 the rules are followed one "
            "by one, and one of them has an infinite slope.",
            "`inf`, twice": "`inf` is the gradient that flows into the sum. The rule of `x * x` "
            "then multiplies it by `x`, which is 0.",
        },
    ),
    Question(
        key="11.hook",
        kind="number",
        text="A hook changes the gradient that flows into `s`:\n\n"
        "    x = torch.zeros(2, requires_grad=True)\n"
        "    s = (x * x).sum()\n"
        "    s.register_hook(lambda g: g.clamp(max=1000.))\n"
        "    s.sqrt().backward()\n\n"
        "What are the two numbers in `x.grad` (they are equal)?",
        answer=0.0,
        right="The hook makes 1000 of `inf`, and 1000 times 0 is 0.",
        why={
            1000.0: "That is what the hook passes on. Then the rules of `sum` and of `x * x` come, "
            "and `x` is 0.",
            2000.0: "`x * x` contributes twice, but each time multiplied by `x`, which is 0.",
        },
        otherwise="The hook makes 1000 of `inf`; the rule of `x * x` multiplies that by `x`.",
    ),
    Question(
        key="11.alter",
        kind="number",
        text="The network decides while it runs which layers it has:\n\n"
        "    layers = [torch.exp, torch.exp, torch.tanh]\n\n"
        "    def network(x):\n"
        "        for layer in layers:\n"
        "            y = layer(x)\n"
        "            if y > 1e6:\n"
        "                continue  # too large: go on without this layer\n"
        "            x = y\n"
        "        return x\n\n"
        "It is called with 5: exp(5) is 148, and exp(148) is far above a million. Through how many "
        "operations will `backward` go from its result?",
        answer=2.0,
        right="The first `exp` and `tanh`. The second `exp` did run, but nothing was made of its "
        "result, so no way leads to it.",
        why={
            3.0: "Three layers ran. But is the result made of what the second one gave?",
            1.0: "`tanh` is one. What was its input made of?",
            4.0: "The comparison `y > 1e6` is no node: it has no gradient.",
        },
        otherwise="Follow the result back: what made it, and what made the input of that?",
    ),
    Question(
        key="11.task",
        kind="choice",
        text="A program protects a square root against negative numbers, and against its infinite "
        "slope at 0:\n\n"
        "    x = torch.tensor(0., requires_grad=True)\n"
        "    y = torch.where(x > 0, x.sqrt(), x)\n"
        "    y.backward()\n\n"
        "What is `x.grad`?",
        choices=("0", "1", "`inf`", "`nan`"),
        answer="`nan`",
        right="`where` sends 0 to the branch that was not taken, and 1 to the other one. But the "
        "rule of `sqrt` multiplies that 0 by its infinite slope, and 0 times `inf` is `nan`; and "
        "`nan` plus 1 is `nan`.",
        why={
            "0": "`y` is 0. Its gradient is the sum of what comes by two ways, and one of them is "
            "1.",
            "1": "That comes by way of the branch that was taken. But `x.sqrt()` has run as well, "
            "and a 0 goes back to it: what does its rule make of that 0?",
            "`inf`": "The slope of `sqrt` at 0 is `inf`. By what is it multiplied?",
        },
    ),
)
