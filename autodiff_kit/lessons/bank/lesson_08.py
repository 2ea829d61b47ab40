"""The questions of lesson 08."""

from autodiff_kit.lessons.questions import Question

TITLE = "Variable length: dynamic batching"

QUESTIONS = (
    Question(
        key="08.nodes",
        kind="number",
        text="One step, `torch.tanh(x @ W + h @ U)`, applies four operations. How many operation "
        "nodes has the graph after a sequence of *five* items?",
        answer=20.0,
        right="Four for each step, and each step that runs makes its own. A sequence of two items "
        "makes eight.",
        why={
            4.0: "The line stands there once, but the graph is made by what *runs*, and it runs "
            "once for each item.",
            5.0: "Five steps run, and each of them applies four operations.",
            10.0: "Count the operations in one step again: two products, a sum, and `tanh`.",
        },
        otherwise="How often does the line run, and how many operations does it apply each time?",
    ),
    Question(
        key="08.cells",
        kind="number",
        text="Three sequences, of 5, 2 and 3 items, are padded to the length of the longest. How "
        "many cells of the rectangle are padding?",
        answer=5.0,
        right="The rectangle has 3 times 5 cells, and there are 10 items.",
        why={
            15.0: "That is the whole rectangle. How many of its cells hold data?",
            10.0: "That is how many cells hold data. The question is about the others.",
            3.0: "That is what the second sequence needs. The third needs some, too.",
        },
        otherwise="How many cells has the rectangle, and how many items are there?",
    ),
    Question(
        key="08.mean",
        kind="number",
        text="The mask is right, but the sum is divided by all 15 cells, and not by the 10 that "
        "hold data. By which number is the right gradient multiplied then? (A fraction is fine.)",
        answer=2 / 3,
        right="The sum is the same, so loss and gradient shrink alike: 10 / 15. In a batch without "
        "padding they would not shrink at all.",
        why={
            1.0: "The mask keeps padding out of the *sum*. But the sum is then divided by a larger "
            "number.",
            1.5: "The other way round: dividing by a larger number makes it smaller.",
            1 / 3: "A third of the cells is padding. What is left of a sum of ten that is divided "
            "by fifteen?",
        },
        otherwise="The same sum, divided by 15 and not by 10: how large is one compared with the "
        "other?",
    ),
    Question(
        key="08.shrinks",
        kind="code",
        text="The batch of 5, 3 and 2 items shrinks as sequences end. How many rows has it in each "
        "of the five steps? (Type a list of five numbers.)",
        answer="[3, 3, 2, 1, 1]",
        also=("3, 3, 2, 1, 1", "(3, 3, 2, 1, 1)"),
        right="3 + 3 + 2 + 1 + 1 = 10: each item once, and not one more.",
        why={
            "[5, 3, 2]": "Those are the lengths. In the first step, how many sequences are there?",
            "[3, 2, 1, 1, 1]": "The shortest has two items, so in the second step all three are "
            "still there.",
            "[3, 3, 3, 3, 3]": "That is the padded rectangle. Who is over can leave.",
        },
        otherwise="In each step, count the sequences that still have an item.",
    ),
    Question(
        key="08.task",
        kind="number",
        text="Four sequences, of 7, 1, 1 and 1 items. If they are padded, how many cells of the "
        "rectangle are padding?",
        answer=18.0,
        right="28 cells for 10 items. One long sequence is enough to make most of a batch padding, "
        "and that is why those who pad put sequences of similar length together.",
        why={
            28.0: "That is the whole rectangle. How many of its cells hold data?",
            10.0: "That is how many cells hold data.",
            6.0: "That is what one of the short sequences needs. There are three of them.",
        },
        otherwise="Four rows of seven cells; how many items are there?",
    ),
)
