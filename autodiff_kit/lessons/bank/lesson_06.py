"""The questions of lesson 06."""

from autodiff_kit.lessons.questions import Question

TITLE = "Grad modes"

QUESTIONS = (
    Question(
        key="06.inside",
        kind="choice",
        text="    x = torch.tensor(3., requires_grad=True)\n"
        "    with torch.no_grad():\n"
        "        y = 2 * x\n\n"
        "What is `y` afterwards?",
        choices=(
            "6, with a `grad_fn`: `x` requires a gradient",
            "6, without a `grad_fn`",
            "there is none: `2 * x` did not run",
            "an error: `x` requires a gradient",
        ),
        answer="6, without a `grad_fn`",
        right="The numbers are computed as always; only the recording is off.",
        why={
            "6, with a `grad_fn`: `x` requires a gradient": "Outside it would have one. Inside of "
            "`no_grad`, it does not matter what the inputs require.",
            "there is none: `2 * x` did not run": "It runs: only the *recording* is off.",
            "an error: `x` requires a gradient": "`x` may well be used; its use is not recorded.",
        },
    ),
    Question(
        key="06.memory",
        kind="number",
        text="Each `sin` keeps its input for `backward`. Ten of them in a row, on 1,000 numbers of "
        "4 bytes: how many bytes does the graph keep?",
        answer=40000.0,
        right="Ten inputs of 4,000 bytes each. Under `no_grad`: none.",
        why={
            4000.0: "That is what *one* of them keeps. The input of the next one is another array.",
            44000.0: "Close: that counts the last result, too. But no rule reads it.",
            1000.0: "That many numbers, of 4 bytes each, and ten times.",
            10000.0: "So many numbers; each has 4 bytes.",
            0.0: "That is what it keeps under `no_grad`.",
        },
        otherwise="Ten inputs, 1,000 numbers each, 4 bytes each.",
    ),
    Question(
        key="06.speed",
        kind="choice",
        text="The same ten sines on a *small* tensor: how much faster is the forward pass under "
        "`no_grad`?",
        choices=(
            "more than ten times as fast",
            "somewhat faster, and less than four times",
            "it is slower: the switch itself takes time",
        ),
        answer="somewhat faster, and less than four times",
        right="Making a node is quick. The operation itself, and the way to it from Python, take "
        "most of the time in either case.",
        why={
            "more than ten times as fast": "Then making a node would take nine times as long as "
            "all the rest, or longer. The sine has to be computed in either case.",
            "it is slower: the switch itself takes time": "The switch is set once for all ten, and "
            "then ten nodes need not be made. Measure it.",
        },
    ),
    Question(
        key="06.silent",
        kind="choice",
        text="    def loss(w):\n"
        "        total = w.sum()       # under no_grad\n"
        "        share = w / total\n"
        "        return share[0]\n\n"
        "`w` is `[1., 3.]`, and only the sum is under `no_grad`. What happens to `w.grad`?",
        choices=(
            "`backward` raises an error",
            "it stays `None`",
            "it is the right gradient: the sum is only a number",
            "it is another gradient, and nothing is said",
        ),
        answer="it is another gradient, and nothing is said",
        right="For the graph, `total` is a constant. It differentiates `w[0] / 4`: 0.25 instead of "
        "0.1875.",
        why={
            "`backward` raises an error": "It would if it could not begin. But `w / total` is "
            "recorded, so there is a way from the result to `w`.",
            "it stays `None`": "`w / total` is recorded, and it leads to `w`.",
            "it is the right gradient: the sum is only a number": "The sum depends on `w`: if "
            "`w[0]` grows, so does `total`, and the share grows less. Who sees that?",
        },
    ),
    Question(
        key="06.detach",
        kind="number",
        text="    x = torch.tensor(3., requires_grad=True)\n"
        "    y = x * x\n"
        "    z = y.detach() * x\n"
        "    z.backward()\n\n"
        "What is `x.grad`?",
        answer=9.0,
        right="`y.detach()` is the constant 9, so `z` is 9 * x.",
        why={
            27.0: "Without `detach` it would be: the slope of x^3. Or did you compute `z` itself? "
            "`y.detach()` has no history.",
            6.0: "That is the slope of `y`. No contribution comes that way: it is cut.",
            18.0: "That is what comes by way of `y` without `detach`. That way is cut; which one "
            "is left?",
            0.0: "One way to `x` is left: the second factor.",
        },
        otherwise="`y.detach()` is a constant, 9. So `z` is 9 * x.",
    ),
    Question(
        key="06.eval",
        kind="choice",
        text="A model with `Dropout` is measured under `no_grad`, but without `model.eval()`. It "
        "is given the same input twice. What happens?",
        choices=(
            "two equal results: nothing is recorded",
            "two different results: dropout still drops",
            "an error: `no_grad` needs `eval()`",
        ),
        answer="two different results: dropout still drops",
        right="`no_grad` only stops the recording. What a layer does, in training or in "
        "evaluation, is set by `train()` and `eval()`.",
        why={
            "two equal results: nothing is recorded": "Nothing is recorded, that is right. But "
            "which numbers come out does not depend on the recording.",
            "an error: `no_grad` needs `eval()`": "The two know nothing of each other, so nothing "
            "complains.",
        },
    ),
    Question(
        key="06.task",
        kind="number",
        text="    x = torch.tensor(3., requires_grad=True)\n"
        "    with torch.no_grad():\n"
        "        y = 2 * x\n"
        "    z = y * x\n"
        "    z.backward()\n\n"
        "`z` is 2 x^2, and its slope at 3 is 12. What is `x.grad`?",
        answer=6.0,
        right="`y` is the constant 6, and `z` is 6 * x. Half of the gradient is missing, silently.",
        why={
            12.0: "That is the right slope of 2 x^2. But `y` has no history: one of the two ways "
            "to `x` is missing.",
            0.0: "`z = y * x` stands outside of `no_grad`, and `x` is one of its factors.",
            18.0: "That is `z` itself.",
        },
        otherwise="Which factor of `y * x` does the graph take for a constant?",
    ),
)
