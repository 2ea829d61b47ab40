"""The questions of lesson 07."""

from autodiff_kit.lessons.questions import Question

TITLE = "Static and dynamic"

QUESTIONS = (
    Question(
        key="07.branch",
        kind="number",
        text="    def size(x):\n"
        "        if x > 0:\n"
        "            return x * x\n"
        "        return -x\n\n"
        "It is traced with 3, and the trace is asked with -3. What does it answer?",
        answer=9.0,
        right="At 3 the first branch ran, so the trace is `x * x` for ever: 9. Right would be 3.",
        why={
            3.0: "That is what the function answers. But the trace has no `if`: which operation "
            "ran when it was made?",
            -9.0: "The trace is `x * x`: -3 times -3.",
            -3.0: "What did the function do with 3 when it was traced?",
        },
        otherwise="Which operation ran with 3? That one is replayed with -3.",
    ),
    Question(
        key="07.loop",
        kind="number",
        text="    def power(x, rounds=3):\n"
        "        y = x\n"
        "        for i in range(rounds):\n"
        "            y = y * x\n"
        "        return y\n\n"
        "Traced with `x = 2.` and `rounds = 3`. With `rounds = 1` the function gives 4. And the "
        "trace?",
        answer=16.0,
        right="Three multiplications were written down, and three are replayed: 2 * 2 * 2 * 2.",
        why={
            4.0: "That is what the function gives. The trace knows no `rounds`: how many "
            "multiplications ran when it was made?",
            8.0: "Three multiplications, and `y` begins with `x`: that makes four factors.",
        },
        otherwise="How many multiplications ran when it was traced? All of them are replayed.",
    ),
    Question(
        key="07.calls",
        kind="number",
        text="A function is traced once; the trace is then replayed for three other inputs. A "
        "`print` stands in the function. How many lines are printed in all?",
        answer=1.0,
        right="Once, when it was traced. A replay runs the operations, not your function.",
        why={
            3.0: "Once for each replay? A replay runs the operations that were written down, and "
            "`print` is none of them.",
            4.0: "Each time the function runs; but does it run when the trace is replayed?",
            0.0: "To be traced, the function has to run once, all of it.",
        },
        otherwise="When does the function itself run?",
    ),
    Question(
        key="07.faster",
        kind="choice",
        text="Twenty sines and products, forward and backward: where does it pay to replay a "
        "trace?",
        choices=(
            "with small tensors more than with large ones",
            "with large tensors more than with small ones",
            "equally with both",
        ),
        answer="with small tensors more than with large ones",
        right="A replay saves the work *around* the operations. The larger the tensors, the less "
        "that is in comparison.",
        why={
            "with large tensors more than with small ones": "The sines of large tensors have to be "
            "computed in a replay, too. What is it that a replay leaves out?",
            "equally with both": "A replay leaves out the questions and the nodes: as many for a "
            "large tensor as for a small one. And the sines?",
        },
    ),
    Question(
        key="07.task",
        kind="number",
        text="    def doubled(x):\n"
        "        y = x.abs()\n"
        "        if y > 2:\n"
        "            y = 2 * y\n"
        "        return y\n\n"
        "Traced with -1, asked with 3. What does the trace answer?",
        answer=3.0,
        right="With -1 nothing was doubled, so the trace is `x.abs()` alone. Right would be 6.",
        why={
            6.0: "That is what the function gives: 3 > 2. What ran at -1?",
            -3.0: "`abs` was written down: it runs in the replay.",
            1.0: "That is the answer at -1. The trace keeps the operations, not their values.",
        },
        otherwise="Which operations ran with -1? These are replayed with 3.",
    ),
)
