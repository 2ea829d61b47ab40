"""Two backward passes by hand: shapes, broadcasting, a matrix product, and what is in .grad."""

from autodiff_kit.grading.performing import performed


def matrix(rng, rows, columns, high=4):
    """Draw small integers, no two of a row alike."""
    return [[float(n) for n in rng.permutation(range(1, high + 1))[:columns]] for _ in range(rows)]


def written(a, b, s, c, d):
    """Return the program with these numbers."""
    return "\n".join(
        [
            f"A = torch.tensor({a}, requires_grad=True)",
            f"B = torch.tensor({b}, requires_grad=True)",
            f"s = torch.tensor({s}, requires_grad=True)",
            f"c = torch.tensor({c})",
            f"d = torch.tensor({d})",
            "h = A @ B",
            "z = h + s",
            "p = c * z",
            "loss = p.sum()",
            "loss.backward()",
            "q = s * d",
            "extra = q.sum()",
            "extra.backward()",
        ]
    )


def program(rng):
    """Draw the numbers; rows and columns differ, so that each wrong order shows."""
    a = [[1.0, 2.0, 3.0], [2.0, 1.0, 1.0]]
    rng.shuffle(a)
    a = [[a[i][j] for j in rng.permutation(3)] for i in range(2)]
    b = matrix(rng, 3, 2)
    c = matrix(rng, 2, 2)
    while c[0] == c[1] or c == [list(column) for column in zip(*c, strict=True)]:
        c = matrix(rng, 2, 2)
    (s,), (d,) = matrix(rng, 1, 2), matrix(rng, 1, 2, 6)
    return written(a, b, s, c, [n + 1 for n in d])


EXAMPLE = written(
    [[1.0, 2.0, 3.0], [2.0, 1.0, 1.0]],
    [[1.0, 2.0], [3.0, 1.0], [2.0, 4.0]],
    [1.0, 2.0],
    [[5.0, 2.0], [3.0, 1.0]],
    [2.0, 5.0],
)
CAPTION = "the graph of z = A @ B + s"


def asked(name, points, concept, *about):
    return performed(
        program,
        name=name,
        step="passes",
        points=points,
        concept=concept,
        about=about,
        only=("backward", "state"),
        example=EXAMPLE,
        caption=CAPTION,
    )


Axes = asked("Axes", 2, "an axis that was broadcast is summed", "axes")
Edges = asked("Edges", 1, "a pass goes along the edges", "begin", "seed", "next", "targets")
Contributions = asked("Contributions", 4, "a contribution has its input's shape", "value")
Accumulated = asked("Accumulated", 2, "a pass adds to what is in .grad", "grad", "leaf")
Afterwards = asked("Afterwards", 1, "a pass frees what was saved", "freed", "again")
