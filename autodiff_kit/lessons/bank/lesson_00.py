"""The questions of lesson 00."""

from autodiff_kit.lessons.questions import Question

TITLE = "Start here"

QUESTIONS = (
    Question(
        key="00.slope",
        kind="number",
        text="Let `y = x * x`, and let `x` be 3. When `x` grows a little, how many times as much "
        "does `y` grow? In other words: what is the slope of `y` there?",
        answer=6.0,
        within=0.0011,  # 6.001 is what the step of 0.001 gives
        right="From 3 to 3.001 is a step of 0.001. It takes `y` from 9 to 9.006001, which is about "
        "six times as far. Now watch how the graph finds the 6.",
        why={
            9.0: "9 is `y` itself. The question is how much `y` *changes* when `x` changes a "
            "little: compute `3.001 * 3.001` and see.",
            3.0: "3 is what one of the two factors contributes. But `x` stands on both sides of "
            "the `*`, and both of them grow.",
            2.0: "2 would be the slope of `2 * x`, which is the same everywhere. The slope of "
            "`x * x` depends on where you are, and you are at 3.",
            9.006: "That is the new `y`. It was 9: by how much has it grown, and how many times "
            "0.001 is that?",
            0.006: "`y` has grown by 0.006, and `x` by 0.001. How many times as much is that?",
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
)
