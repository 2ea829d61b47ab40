"""The questions of lesson 09."""

from autodiff_kit.lessons.questions import Question

TITLE = "Memory: what is saved"

QUESTIONS = (
    Question(
        key="09.who",
        kind="choice",
        text="`x` and `w` have 1000 numbers each and both ask for a gradient. What does the node "
        "of `x * w` save for backward?",
        choices=("nothing", "the result", "`x` and `w`", "`x`, `w` and the result"),
        answer="`x` and `w`",
        right="The rule for `x` multiplies by `w`, and the rule for `w` by `x`. Neither reads the "
        "result.",
        why={
            "nothing": "The slope of `x * w` in the direction of `x` is `w`: where should backward "
            "take that from?",
            "the result": "Which number does backward multiply by to get to `x`? It is not the "
            "product.",
            "`x`, `w` and the result": "Nearly: but which of the two rules would read the result?",
        },
    ),
    Question(
        key="09.when",
        kind="choice",
        text="The eight layers pile up eight arrays. When is the first of them freed?",
        choices=(
            "in the forward pass, when the next layer has run",
            "in the backward pass, as soon as it has been through its node",
            "at the end, when backward has reached the leaves",
        ),
        answer="in the backward pass, as soon as it has been through its node",
        right="Each node drops what it kept when its rules have been called. So the arrays of the "
        "last layer go first.",
        why={
            "in the forward pass, when the next layer has run": "The next layer needs it, but so "
            "does its rule in backward, which has not begun.",
            "at the end, when backward has reached the leaves": "So it could be done. But a node "
            "that backward has been through needs its arrays no more.",
        },
    ),
    Question(
        key="09.task",
        kind="number",
        text="The eight layers with `relu` keep 8 new arrays. How many do they keep with `sin`, "
        "whose rule reads its input? (The next product still reads the result; `sum` reads "
        "nothing.)",
        answer=15.0,
        right="For `sin` the eight products, and for the next products the results of the first "
        "seven layers. With `relu`, both rules read the same array.",
        why={
            16.0: "Nearly. Who would read the result of the last layer? After it comes `sum`.",
            8.0: "Eight products are kept for `sin`. But the products of the next layers read "
            "something, too.",
            7.0: "Those are the results that the next products read. What does `sin` itself keep?",
        },
        otherwise="Count the products, which `sin` reads, and then the results that a next "
        "product reads.",
    ),
)
