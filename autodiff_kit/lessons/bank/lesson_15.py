"""The questions of lesson 15."""

from autodiff_kit.lessons.questions import Question

TITLE = "A small GPT, stepped"

QUESTIONS = (
    Question(
        key="15.losses",
        kind="number",
        text="`ada` has five tokens, `[0, 1, 4, 1, 0]`. How many predictions, each with a loss of "
        "its own, does the model make for it?",
        answer=4.0,
        right="Each token but the last is read, and the next one is predicted: `a`, `d`, `a`, and "
        "the end.",
        why={
            5.0: "Is there anything to predict after the last token?",
            3.0: "Those are the letters. That the name ends has to be predicted as well.",
            1.0: "One loss at the very end would not tell the model which letter was wrong.",
        },
        otherwise="For each pair of neighbouring tokens, the first is read and the second is "
        "predicted.",
    ),
    Question(
        key="15.contributions",
        kind="number",
        text="How many contributions add up in `model.head.weight.grad`?",
        answer=4.0,
        right="The head is used once in each round, and there are four rounds. As with a loop over "
        "one `w`: one contribution for each use.",
        why={
            1.0: "There is one tensor of weights. How often is it used?",
            27.0: "That is the number of its rows: all rows are in one contribution.",
            3.0: "`ada` has three letters. How many predictions are made?",
        },
        otherwise="The weights of the head are one leaf. How many operations use it?",
    ),
    Question(
        key="15.rows",
        kind="number",
        text="The tokens of `ada` that are read are `[0, 1, 4, 1]`. In how many of the 27 rows of "
        "`model.token.weight.grad` is there a gradient that is not 0?",
        answer=3.0,
        right="Rows 0, 1 and 4. The row of `a` was picked twice, so its two contributions add up "
        "in one row.",
        why={
            27.0: "The 27 scores depend on all rows of the *head*. Which rows of the embedding did "
            "this name use?",
            4.0: "Four rows were picked, but one of them twice.",
            2.0: "Those are the two different letters. Token 0, which begins the name, is read as "
            "well.",
        },
        otherwise="Which rows were picked, each of them once?",
    ),
    Question(
        key="15.reach",
        kind="number",
        text="Now only the loss of the *last* of the four predictions goes backward. For how many "
        "of the four positions is the gradient not 0?",
        answer=4.0,
        right="The last query is multiplied with the keys of all four positions, and takes from "
        "the values of all four.",
        why={
            1.0: "So it would be without attention: then only the last position leads to the last "
            "prediction.",
            2.0: "Attention does not stop at the neighbour: the last query sees the keys of all "
            "tokens so far.",
            3.0: "The position of the last token itself is added to its vector as well.",
        },
        otherwise="Which positions made keys and values that the last prediction used?",
    ),
    Question(
        key="15.attention",
        kind="choice",
        text="The model learns two names by heart: `ada` and `bob`, or `ava` and `eve`. Without "
        "attention, a prediction sees one letter and its position. Which pair can it not learn "
        "then?",
        choices=("`ada` and `bob`", "`ava` and `eve`", "neither pair", "it can learn both"),
        answer="`ava` and `eve`",
        right="After the `v`, at the same position, either an `a` or an `e` follows. Only the "
        "first letter says which.",
        why={
            "`ada` and `bob`": "After a `d` an `a` follows, after an `o` a `b`; and the second "
            "`a` or `b` is at another position. One letter and its position are enough.",
            "neither pair": "In one of the pairs, a letter and its position always tell what "
            "follows, except at the beginning.",
            "it can learn both": "Write down what follows each letter at each position. Is there a "
            "letter after which two are possible?",
        },
    ),
    Question(
        key="15.task",
        kind="number",
        text="    x = torch.tensor(3., requires_grad=True)\n"
        "    w1 = torch.tensor(0.)\n"
        "    w2 = torch.tensor(0.)\n"
        "    h = x + w1 * x\n"
        "    y = h + w2 * h\n"
        "    y.backward()\n\n"
        "What is `x.grad`?",
        answer=1.0,
        right="Through both parts flows 0 times something. Past them, the gradient 1 arrives "
        "unchanged.",
        why={
            0.0: "Through the products, yes. But `x` is used a second time in its line.",
            3.0: "That is the value of `y`. What flows back along `x + ...`?",
            2.0: "Along how many paths does something other than 0 arrive?",
        },
        otherwise="Two paths lead through each line. What does each contribute?",
    ),
)
