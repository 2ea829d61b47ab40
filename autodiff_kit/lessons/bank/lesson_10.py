"""The questions of lesson 10."""

from autodiff_kit.lessons.questions import Question

TITLE = "Memory: paying less"

QUESTIONS = (
    Question(
        key="10.holds",
        kind="number",
        text="With `total = total + loss`, over three batches and without `backward`: how many "
        "graphs of the network are there at the end?",
        answer=3.0,
        right="The sum is a tensor with a graph of its own, which leads to all three. Over a "
        "thousand batches it would be a thousand.",
        why={
            1.0: "The old `loss` loses its name. But `total` was made from it, and has an edge to "
            "its node.",
            0.0: "No graph goes as long as something points to it, and `total` does.",
        },
        otherwise="`total` was made from all three losses by recorded operations. What do its "
        "edges lead to?",
    ),
    Question(
        key="10.checkpoint",
        kind="number",
        text="Eight layers in two checkpoints of four. Backward comes to the second part, which "
        "runs again. How many results of layers are kept at that moment?",
        answer=5.0,
        right="The four of this part, computed again, and the input of the part, which the "
        "checkpoint had kept. (The input of the first part is the network's own input.)",
        why={
            8.0: "That is without checkpoints. Those of the first part were thrown away and are "
            "not needed yet.",
            4.0: "Four are computed again. From what? That is kept, too.",
            2.0: "Between forward and backward little is kept, but now the part runs again, and "
            "its rules need all of its results.",
        },
        otherwise="What does the second part need to run again, and what do its own rules need "
        "then?",
    ),
    Question(
        key="10.task",
        kind="number",
        text="The same eight layers in *four* checkpoints of two. How many results of layers are "
        "saved at most?",
        answer=5.0,
        right="The inputs of the second, third and fourth part, and the two results of the part "
        "that runs again. Two parts of four layers need as many: 1 and 4.",
        why={
            2.0: "Those are the results of the part that runs again. Which results does it take "
            "to run the other parts again?",
            3.0: "Those are the inputs that the checkpoints save (the first one is the network's "
            "own input). And the part that runs again?",
            4.0: "One for each part? The input of the first part is no result of a layer; and the "
            "part that runs again saves more than one.",
            6.0: "Nearly. The input of the first part is the network's own: it was there before.",
            8.0: "That is without checkpoints.",
        },
        otherwise="Count the inputs of the parts that are results of layers, and then what the "
        "part at work saves.",
    ),
)
