"""The questions of lesson 12."""

from autodiff_kit.lessons.questions import Question

TITLE = "Building and training"

QUESTIONS = (
    Question(
        key="12.start",
        kind="number",
        text="A network that knows nothing gives each of the ten digits the probability 1/10. "
        "`cross_entropy` is minus the natural logarithm of the probability that the right digit "
        "was given. How large is it, to one decimal?",
        answer=2.302585,
        within=0.06,
        right="Minus the logarithm of 1/10 is 2.3026. Remember it: a loss that stays near 2.3 "
        "means that nothing has been learned.",
        why={
            0.1: "That is the probability. The loss is minus its natural logarithm.",
            1.0: "With the logarithm to base 10 it would be. Here it is the natural one.",
            -2.3: "*Minus* the logarithm: a loss is small where the probability is large.",
            0.0: "That would be a network that is sure and right, with probability 1.",
        },
        otherwise="The natural logarithm of 10 is a little over 2.",
    ),
    Question(
        key="12.deep",
        kind="choice",
        text="The same training for a network of eight layers, with `Sigmoid` between them. What "
        "does it get right of digits that it has never seen?",
        choices=(
            "more than the network of two layers",
            "about the same",
            "no more than by guessing, one in ten",
        ),
        answer="no more than by guessing, one in ten",
        right="It has learned nothing at all. The next experiments find out why.",
        why={
            "more than the network of two layers": "It could *express* more. But can it be "
            "trained? Look at the loss.",
            "about the same": "Look at the loss after training, and think of the very first "
            "question.",
        },
    ),
    Question(
        key="12.slopes",
        kind="number",
        text="The slope of a sigmoid is nowhere larger than 1/4. On its way from the loss back to "
        "the first layer, a gradient goes through seven sigmoids. They alone make it smaller: at "
        "least how many times?",
        answer=16384.0,
        within=0.5,
        right="4 to the power of 7. Slopes along a way are multiplied: the chain rule of lesson "
        "03, now against us.",
        why={
            28.0: "4 times 7: but slopes along a way are multiplied, not added.",
            65536.0: "That is 4 to the power of 8. Between eight layers there are seven sigmoids.",
            4.0: "That is one sigmoid. There are seven on the way.",
            2401.0: "7 to the power of 4: it is the other way round.",
        },
        otherwise="One sigmoid divides by 4 at least. Then comes the next.",
    ),
    Question(
        key="12.race",
        kind="choice",
        text="A long and narrow valley, 60 steps, learning rate 0.5. Which optimizer comes down "
        "farthest?",
        choices=("SGD", "SGD with momentum 0.9", "Adam"),
        answer="Adam",
        right="At this learning rate, Adam. It measures each direction by the gradients it has met "
        "there, so that the flat direction along the valley gets steps as long as the steep one "
        "across. At another learning rate the order may be another one.",
        why={
            "SGD": "Its steps are as long as the gradient, and along the floor of the valley that "
            "is nearly nothing.",
            "SGD with momentum 0.9": "It gathers speed along the valley and leaves plain SGD far "
            "behind. One of them does better still.",
        },
    ),
    Question(
        key="12.task",
        kind="choice",
        text="A network of eight layers with `ReLU`. Every weight and bias is multiplied by 4 "
        "before the first step. What happens to the gradient of the first layer?",
        choices=(
            "it stays about the same",
            "it gets about 4 times larger",
            "it gets more than 1000 times larger",
        ),
        answer="it gets more than 1000 times larger",
        right="In the backward pass each layer multiplies by its weights. Seven layers that are 4 "
        "times larger make 4 to the power of 7: the gradient explodes.",
        why={
            "it stays about the same": "In the backward pass, a gradient is multiplied by the "
            "weights of every layer that it passes.",
            "it gets about 4 times larger": "One layer would do that. There are seven on the path, "
            "and factors along a path are multiplied.",
        },
    ),
)
