"""The questions of lesson 04."""

from autodiff_kit.lessons.questions import Question

TITLE = "Vectors"

QUESTIONS = (
    Question(
        key="04.slopes",
        kind="number",
        text="A layer makes 1000 numbers of 1000 numbers. How many entries does its Jacobian have?",
        answer=1_000_000.0,
        right="One slope for each pair of a result and an input: 1000 times 1000. As 4-byte "
        "floats, 4 MB for one layer and one example.",
        why={
            1000.0: "So it would be if each result depended on one input only. In a layer, each "
            "result depends on all of them.",
            2000.0: "Each of the 1000 results has a slope with respect to each of the 1000 inputs. "
            "Are the two numbers added?",
        },
        otherwise="One slope for each pair of a result and an input.",
    ),
    Question(
        key="04.vjp",
        kind="number",
        text="Let `g` be `[1., 10.]`: a change of the second result counts ten times as much as a "
        "change of the first. After `y.backward(g)`, what is the *last* number of `x.grad`? (The "
        "last column of the Jacobian holds 2 and 1.)",
        answer=12.0,
        right="1 times 2 by way of the first result, and 10 times 1 by way of the second. Both "
        "contributions add up.",
        why={
            3.0: "That is 2 + 1: each result counted once. How much does the second result count?",
            21.0: "That is 10 * 2 + 1 * 1: which of the two results has the slope 2?",
            2.0: "That is the contribution of the first result. The last input is used for the "
            "second result as well.",
            10.0: "That is the contribution of the second result. The last input is used for the "
            "first result as well.",
        },
        otherwise="Two paths lead from the last number of `x` to the results. Multiply along each, "
        "and add.",
    ),
    Question(
        key="04.row",
        kind="code",
        text="`x` has the shape (2, 3), `b` the shape (3,), and `y = x + b`. What flows into the "
        "node of `y` is\n\n"
        "    [[1., 1., 1.],\n"
        "     [0., 0., 5.]]\n\n"
        "What is `b.grad`? (Type a list of three numbers.)",
        answer="[1., 1., 6.]",
        right="Each number of `b` was added in both rows, so both rows contribute: the columns are "
        "summed.",
        why={
            "[1., 1., 1.]": "That is what the first row contributes. `b` was added to the second "
            "row, too.",
            "[0., 0., 5.]": "That is what the second row contributes. `b` was added to the first "
            "row, too.",
            "[3., 5.]": "Those are the sums of the rows, two numbers. `b` has three: what is the "
            "shape of `b.grad`?",
            "[0.5, 0.5, 3.]": "That is the mean of both rows. Contributions add up; nothing "
            "divides them by their number.",
        },
        otherwise="Which numbers of `y` did the first number of `b` go into? Add up what flows "
        "into them.",
    ),
    Question(
        key="04.column",
        kind="choice",
        text="Now `c` has the shape (2, 1), and `y = x * c` the shape (2, 3). `g` flows into the "
        "node of `y`. What flows to `c`?",
        choices=(
            "`(g * x).sum(1, keepdim=True)`",
            "`(g * x).sum(1)`",
            "`(g * x).sum(0)`",
            "`(g * x).mean(1, keepdim=True)`",
        ),
        answer="`(g * x).sum(1, keepdim=True)`",
        right="Axis 1 was stretched from 1 to 3, so axis 1 is summed; and it stays as an axis of "
        "size 1, because `c` has one.",
        why={
            "`(g * x).sum(1)`": "The sum is right, but its shape is (2,). What flows to `c` has "
            "the shape of `c`.",
            "`(g * x).sum(0)`": "This sums over the rows, and its shape is (3,). Along which axis "
            "was `c` stretched?",
            "`(g * x).mean(1, keepdim=True)`": "The shape is right. But `c` was used three times "
            "in each row, and contributions add up.",
        },
    ),
    Question(
        key="04.weight",
        kind="code",
        text="`x` is (4, 3), `w` is (3, 2), and `g`, which flows into the node of `x @ w`, is "
        "(4, 2). Which product of `g` and `x` flows to `w`? (Transpose with `.T`.)",
        answer="x.T @ g",
        also=("x.transpose(0, 1) @ g", "(g.T @ x).T", "torch.matmul(x.T, g)", "x.t() @ g"),
        right="(3, 4) @ (4, 2) is (3, 2), the shape of `w`. The axis that is summed is that of the "
        "examples: each of them used `w`.",
        why={
            "x @ g": "(4, 3) @ (4, 2) cannot be multiplied: the inner sizes, 3 and 4, differ.",
            "g @ x.T": "(4, 2) @ (3, 4) cannot be multiplied: the inner sizes, 2 and 3, differ.",
            "g.T @ x": "(2, 4) @ (4, 3) is (2, 3): that is the shape of `w.T`.",
            "x.T * g": "`*` multiplies number by number, and (3, 4) and (4, 2) do not fit. Which "
            "operation sums over the examples?",
        },
        otherwise="The result must have the shape (3, 2). Which of `x` and `g` has to be "
        "transposed, and which stands first?",
    ),
    Question(
        key="04.input",
        kind="code",
        text="And which product of `g` and `w` flows to `x`?",
        answer="g @ w.T",
        also=("g @ w.transpose(0, 1)", "(w @ g.T).T", "torch.matmul(g, w.T)", "g @ w.t()"),
        right="(4, 2) @ (2, 3) is (4, 3), the shape of `x`. Each example gets its own row.",
        why={
            "g @ w": "(4, 2) @ (3, 2) cannot be multiplied: the inner sizes, 2 and 3, differ.",
            "w.T @ g": "(2, 3) @ (4, 2) cannot be multiplied: the inner sizes, 3 and 4, differ.",
            "w @ g.T": "(3, 2) @ (2, 4) is (3, 4): that is the shape of `x.T`.",
        },
        otherwise="The result must have the shape (4, 3). Which of `g` and `w` stands first?",
    ),
    Question(
        key="04.passes",
        kind="number",
        text="`loss` takes 200 parameters and returns one number. A backward pass gives all 200 "
        "slopes at once. How many *forward* passes (`jvp`) does it take?",
        answer=200.0,
        right="Each forward pass follows the change of one input (or of one direction), so each "
        "input needs its own.",
        why={
            1.0: "One forward pass follows one change to all results. There is one result here, "
            "but there are 200 inputs to change.",
            2.0: "A forward pass starts with a change of the inputs. How many different changes "
            "does it take to tell 200 slopes apart?",
        },
        otherwise="One forward pass says how the results change with *one* input.",
    ),
    Question(
        key="04.task",
        kind="code",
        text="    x = torch.tensor([[1., 2.], [3., 4.], [5., 6.]])\n"
        "    w = torch.tensor([[1.], [-1.]], requires_grad=True)\n"
        "    b = torch.tensor([2.], requires_grad=True)\n"
        "    y = (x @ w + b).sum()\n"
        "    y.backward()\n\n"
        "What is `w.grad`? (Type a list of lists, as `w` is written.)",
        answer="[[9.], [12.]]",
        right="`sum` passes a 1 to each of the three outputs, so `x.T @ g` adds up the columns of "
        "`x`: 1 + 3 + 5 and 2 + 4 + 6.",
        why={
            "[9., 12.]": "The numbers are right, but the shape of `w` is (2, 1), and so is that of "
            "its gradient.",
            "[[3.], [7.], [11.]]": "Those are the sums of the rows of `x`: three numbers. `w` has "
            "the shape (2, 1).",
            "[[9., 12.]]": "The numbers are right, but this is (1, 2). Which shape does `w` have?",
            "[[1.], [-1.]]": "That is `w` itself. Its gradient is made of `x` and of what flows "
            "into the node of `x @ w`.",
        },
        otherwise="What flows into the node of `x @ w` is a column of three ones. Which product "
        "with `x` has the shape of `w`?",
    ),
)
