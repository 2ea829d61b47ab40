"""A backward pass by hand: in which order, to whom, how much, and what adds up?"""

from autodiff_kit.grading.performing import performed

# What is performed is a program of a few lines, drawn anew for each attempt:
#   program(rng)   returns its source. `torch` is the kit; the last line is a backward pass
#   EXAMPLE        one that `program` never draws: `verify` tries its answers on other graphs
# Each check has some of the questions, by what they are about (a list is in the kit's
# view/perform/script.py, CONCEPTS): all of them have to be right for its points. An order alone is
# soon guessed, so half of the contributions ("value") have to be right for any points.
# `only` says which parts are performed: "build", "backward", "state"; else the backward pass.
# The solution in the notebook, the mutants and the alternatives are functions that answer one
# question. They get a dict: "about", "options", "node" (the box it is about), "to" (where a
# contribution goes) and "place" (as which input), "nodes" (of the graph), "arrived" (for each pass,
# the contributions so far by box), "complete" and "visited" boxes, and the "root" of the pass.

NUMBERS = {
    "w": "w = torch.tensor({}.0, requires_grad=True)",
    "x": "x = torch.tensor({}.0, requires_grad=True)",
    "k": "k = torch.tensor({}.0)",
    "m": "m = torch.tensor({}.0)",
}


def written(numbers, lines):
    """Return a program with these numbers and lines, in the order in which they are given."""
    leaves = [NUMBERS[name].format(number) for name, number in numbers.items()]
    return "\n".join([*leaves, *lines, "loss.backward()"])


def program(rng):
    """Draw numbers and their order, the order of factors, and the places of two lines."""
    while True:
        w, x, m = (int(rng.integers(2, most)) for most in (13, 10, 100))
        t = int(rng.integers(-20, 21))
        k = x * x - t
        # Each known mistake gives another number, and the example's numbers do not come again.
        is_another = t not in (-5, -2, -1, 0, 1, 2, w, -w) and w not in (3, x, 1) and t * w != -15
        if k > 0 and is_another and m not in (3, x, k):
            break

    def either(left, sign, right):
        sides = (left, right) if rng.random() < 0.5 else (right, left)
        return f"{sides[0]} {sign} {sides[1]}"

    lines = [
        "s = x * x",
        "t = s - k",
        f"u = {either('t', '*', 'c')}",
        f"r = {either('u', '*', 't')}",
    ]
    lines.insert(int(rng.integers(0, 3)), "c = w.detach()")
    lines.insert(int(rng.integers(0, 6)), f"v = {either('x', '*', 'm')}")
    lines.append(f"loss = {either('r', '+', 'v')}")
    numbers = [("w", w), ("x", x), ("k", k), ("m", m)]
    # So many programs that no two learners have the same one by chance, whatever its names are.
    return written(dict(numbers[place] for place in rng.permutation(4)), lines)


EXAMPLE = written(
    {"w": 3, "x": 2, "k": 9, "m": 3},
    [
        *("c = w.detach()", "s = x * x", "t = s - k", "u = t * c", "r = u * t"),
        *("v = x * m", "loss = r + v"),
    ],
)
CAPTION = "the graph of r = u * t with u = t * c"


def asked(name, points, concept, *about):
    return performed(
        program,
        name=name,
        step="pass",
        points=points,
        concept=concept,
        about=about,
        example=EXAMPLE,
        caption=CAPTION,
    )


Order = asked("Order", 2, "a node waits for all of its contributions", "begin", "seed", "next")
Edges = asked("Edges", 3, "contributions go to the inputs in the graph", "targets", "count")
Contributions = asked("Contributions", 3, "a contribution is slope times gradient", "value")
Sums = asked("Sums", 2, "contributions add up", "sum")
