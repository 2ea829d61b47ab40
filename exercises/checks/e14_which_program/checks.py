"""Does a description tell graphs apart, and only graphs? And what can be read back from one?"""

from autodiff_kit.grading.checks import check
from autodiff_kit.grading.pictures import beside, graph

# A graph is a list of rows [label, inputs], and the last one is the root. The label of a leaf is
# its name, that of an operation its sign; inputs are numbers of earlier rows.


def build(step, rows, values):
    """Make the nodes of a graph; the last one is the root."""
    nodes = []
    for label, inputs in rows:
        if not inputs:
            nodes.append(step.Node(values[label], name=label))
            continue
        left, right = (nodes[i] for i in inputs)
        if label == "*":
            nodes.append(left * right)
        else:
            nodes.append(left + right if label == "+" else left - right)
    return nodes


def are_equal(step, pairs):
    """Answer for each pair of graphs whether their descriptions are equal."""
    answers = []
    for first, second, values, others in pairs:
        one, other = build(step, first, values)[-1], build(step, second, others)[-1]
        answers.append(bool(step.describe(one) == step.describe(other)))
    return answers


def chain(step, letters):
    """Make a long graph, one letter after the other, and return its root."""
    x = step.Node(0.0, name="x")
    t = x + x
    for letter in letters:
        if letter == "d":
            t = t + t
        elif letter == "l":
            t = t + x
        elif letter == "r":
            t = x + t
        else:
            s = t + x
            t = s + s
    return t


def execute(lines, names):
    """Run a program: assignments, loops and branches, as lists."""
    for line in lines:
        if line[0] == "for":
            for _ in range(line[1]):
                execute(line[2], names)
        elif line[0] == "if":
            larger = names[line[1]].value > names[line[2]].value
            execute(line[3] if larger else line[4], names)
        else:
            target, op, left, right = line
            left, right = names[left], names[right]
            if op == "*":
                names[target] = left * right
            else:
                names[target] = left + right if op == "+" else left - right


def choose(step, data):
    """Make a graph and the programs, and return the learner's choice."""

    def program_of(lines):
        def program(a, b, c, d):
            names = {"a": a, "b": b, "c": c, "d": d}
            execute(lines, names)
            return names["r"]

        return program

    nodes = build(step, data["rows"], dict(zip(data["names"], data["values"], strict=True)))
    programs = [program_of(lines) for lines in data["programs"]]
    return step.which(nodes[-1], programs, nodes[: len(data["names"])])


class Plain:
    """A node of the grader's own."""

    def __init__(self, value, op, inputs=()):
        self.value, self.op, self.inputs = value, op, inputs

    def __add__(self, other):
        return Plain(self.value + other.value, "+", (self, other))

    def __sub__(self, other):
        return Plain(self.value - other.value, "-", (self, other))

    def __mul__(self, other):
        return Plain(self.value * other.value, "*", (self, other))


def ran(data, lines):
    """Run a program here; return the rows of its graph, and its value."""
    leaves = [Plain(value, name) for name, value in zip(data["names"], data["values"], strict=True)]
    names = dict(zip("abcd", leaves, strict=True))
    execute(lines, names)
    nodes, waiting = list(leaves), [names["r"]]
    while waiting:
        missing = [x for x in waiting[-1].inputs if x not in nodes]
        if missing:
            waiting.append(missing[0])
        else:
            nodes.append(waiting.pop())
    return [[node.op, [nodes.index(x) for x in node.inputs]] for node in nodes], names["r"].value


def is_same(first, second):
    """Walk two graphs side by side, and tell whether they are the same."""
    there, back = {}, {}
    waiting = [(len(first) - 1, len(second) - 1)]
    while waiting:
        i, j = waiting.pop()
        if i not in there and j not in back:
            there[i], back[j] = j, i
            if first[i][0] != second[j][0] or len(first[i][1]) != len(second[j][1]):
                return False
            waiting += zip(first[i][1], second[j][1], strict=True)
        elif there.get(i) != j:
            return False
    return True


def same_pairs(data):
    return [is_same(first, second) for first, second, _, _ in data]


def letters(rng, count):
    """Return names of leaves; t is kept for the lines of step 3."""
    return [str(name) for name in rng.permutation(list("abcdefghkmnpqruvwxyz"))[:count]]


def one_of(rng, choices):
    return choices[int(rng.integers(0, len(choices)))]


def values_for(rng, *graphs):
    names = sorted({label for rows in graphs for label, inputs in rows if not inputs})
    return {name: float(rng.integers(2, 9)) for name in names}


def a_graph(rng):
    """Return leaves and operations; each operation uses the newest node and an older one."""
    rows = [[name, []] for name in letters(rng, 3)]
    rows.append([one_of(rng, "+-*"), [0, 1]])
    rows.append([one_of(rng, "+-*"), [3, 2]])
    for _ in range(int(rng.integers(1, 4))):
        older = int(rng.integers(0, len(rows) - 1))
        rows.append([one_of(rng, "+-*"), [int(i) for i in rng.permutation([len(rows) - 1, older])]])
    return rows


def made_later(rng, rows):
    """Return the same graph, made in another order and with a node that is not used."""
    rows = [*rows[:-1], ["*", [0, len(rows) - 2]], rows[-1]]
    place, left = {}, list(range(len(rows) - 1))
    order = []
    while left:
        ready = [i for i in left if all(x in place for x in rows[i][1])]
        order.append(ready[int(rng.integers(0, len(ready)))])
        left.remove(order[-1])
        place[order[-1]] = len(order) - 1
    order.append(len(rows) - 1)
    return [[rows[i][0], [place[x] for x in rows[i][1]]] for i in order]


def with_top(rng, bottoms):
    """Put the same few operations on top of several graphs with the same leaves."""
    leaf, ops = (
        int(rng.integers(0, 2)),
        [one_of(rng, "+-*") for _ in range(int(rng.integers(0, 3)))],
    )
    tops = []
    for rows in bottoms:
        rows = list(rows)
        for op in ops:
            rows.append([op, [len(rows) - 1, leaf]])
        tops.append(rows)
    return tops


def pairs_of(rng, *graphs):
    """Return each pair in random order, at the same values."""
    pairs = []
    for first, second in graphs:
        values = values_for(rng, first, second)
        pairs.append([first, second, values, values])
    return [pairs[i] for i in rng.permutation(len(pairs))]


X, Y = ["x", []], ["y", []]
AT = {"x": 2.0, "y": 3.0, "z": 3.0}
OTHERS = {"x": 5.0, "y": 7.0, "z": 7.0}


@check(
    step="describe",
    points=1,
    concept="what ran, and not with which values",
    cases=4,
    using=[build, are_equal],
)
class Same:
    in_words = ("x * y at 2 and at 5:", "x * y and x + y:")
    caption = "x * y at x = 2 and at x = 5; x * y and x + y (are their descriptions equal?)"
    example = [
        [[X, Y, ["*", [0, 1]]], [Y, X, ["*", [1, 0]]], AT, OTHERS],
        [[X, Y, ["*", [0, 1]]], [X, Y, ["+", [0, 1]]], AT, AT],
    ]

    def generate(rng):
        pairs = []
        for is_same in rng.permutation([True, True, True, False, False, False]):
            first = a_graph(rng)
            second = [list(row) for row in first]
            if not is_same:
                row = second[int(rng.integers(3, len(second)))]
                row[0] = one_of(rng, "+-*".replace(row[0], ""))
            second = made_later(rng, second)
            pairs.append([first, second, values_for(rng, first), values_for(rng, first)])
        return pairs

    def drive(step, data):
        return are_equal(step, data)

    expected = same_pairs


@check(
    step="describe", points=1, concept="computed once or twice", cases=6, using=[build, are_equal]
)
class Sharing:
    in_words = ("s + s twice:", "s + s and s + r:", "(s + r) * s and (s + r) * r:")
    caption = (
        "s + s and s + s; s + s and s + r; (s + r) * s and (s + r) * r, where s and r are two "
        "nodes x * y (are their descriptions equal?)"
    )
    once = [X, Y, ["*", [0, 1]], ["+", [2, 2]]]
    twice = [X, Y, ["*", [0, 1]], ["*", [0, 1]], ["+", [2, 3]]]
    example = [
        [once, once, AT, AT],
        [once, twice, AT, AT],
        [[*twice, ["*", [4, 2]]], [*twice, ["*", [4, 3]]], AT, AT],
    ]

    def generate(rng):
        leaves = [[name, []] for name in letters(rng, 2)]
        bottom = [*leaves, [one_of(rng, "+-*"), [0, 1]]]
        if rng.random() < 0.5:
            bottom.append([one_of(rng, "+-*"), [2, int(rng.integers(0, 2))]])
        n, last = len(bottom) - 1, bottom[-1]
        op, top = one_of(rng, "+-*"), one_of(rng, "+-*")
        twice = [*bottom, last, [op, [n, n + 1]]]
        graphs = [
            [*bottom, [op, [n, n]]],
            twice,
            [*twice, [top, [n + 2, n]]],
            [*twice, [top, [n + 2, n + 1]]],
        ]
        # Each of the two is used twice, by the same operations, but not by the same one first.
        crossed = [[*rows, ["-", [n + 3, n + 1 - i]]] for i, rows in enumerate(graphs[2:])]
        once, twice, first, second, *crossed = with_top(rng, [*graphs, *crossed])
        pairs = [(once, once), (once, twice), (first, second), (second, second), crossed]
        return pairs_of(rng, *pairs)

    def drive(step, data):
        return are_equal(step, data)

    expected = same_pairs


@check(step="describe", points=1, concept="the order of inputs", cases=4, using=[build, are_equal])
class Order:
    in_words = ("the same twice:", "the product turned round:", "the difference turned round:")
    caption = (
        "(x + y) * x twice; (x + y) * x and x * (x + y); (x + y) - x and x - (x + y) (are their "
        "descriptions equal?)"
    )
    total = [X, Y, ["+", [0, 1]]]
    example = [
        [[*total, ["*", [2, 0]]], [*total, ["*", [2, 0]]], AT, AT],
        [[*total, ["*", [2, 0]]], [*total, ["*", [0, 2]]], AT, AT],
        [[*total, ["-", [2, 0]]], [*total, ["-", [0, 2]]], AT, AT],
    ]

    def generate(rng):
        pairs = []
        for is_same in rng.permutation([True, True, True, False, False, False]):
            bottom = [[name, []] for name in letters(rng, 2)]
            bottom.append([one_of(rng, "+-*"), [0, 1]])
            if rng.random() < 0.5:
                bottom.append([one_of(rng, "+-*"), [2, 1]])
            op, sides = one_of(rng, "+-*"), [len(bottom) - 1, 0]
            if rng.random() < 0.5:
                sides.reverse()
            graphs = [[*bottom, [op, sides]], [*bottom, [op, sides if is_same else sides[::-1]]]]
            pairs.append(with_top(rng, graphs))
        return pairs_of(rng, *pairs)

    def drive(step, data):
        return are_equal(step, data)

    expected = same_pairs


@check(step="describe", points=1, concept="which leaf it is", cases=4, using=[build, are_equal])
class Leaves:
    in_words = ("x * y twice:", "x * y and x * z:")
    caption = "x * y and x * y; x * y and x * z at z = y (are their descriptions equal?)"
    example = [
        [[X, Y, ["*", [0, 1]]], [X, Y, ["*", [0, 1]]], AT, AT],
        [[X, Y, ["*", [0, 1]]], [X, ["z", []], ["*", [0, 1]]], AT, AT],
    ]

    def generate(rng):
        pairs = []
        kinds = ["same"] * 3 + ["renamed", "exchanged", one_of(rng, ["renamed", "exchanged"])]
        for kind in rng.permutation(kinds):
            first = a_graph(rng)
            second = [list(row) for row in first]
            i, j = (int(i) for i in rng.permutation(3)[:2])
            if kind == "renamed":
                names = [row[0] for row in first]
                second[i][0] = next(name for name in letters(rng, 7) if name not in names)
            if kind == "exchanged":
                second[i][0], second[j][0] = first[j][0], first[i][0]
            pairs.append((first, second))
        # All at one value: who looks at values sees no difference.
        pairs = pairs_of(rng, *pairs)
        return [
            [first, second, *[dict.fromkeys(values, 3.0) for values in both]]
            for first, second, *both in pairs
        ]

    def drive(step, data):
        return are_equal(step, data)

    expected = same_pairs


@check(step="describe", points=1, concept="any size", cases=2, slow=True, using=[chain])
class Large:
    in_words = ("the same chain:", "another one:")
    caption = (
        "a chain of 1100 operations, most of them t = t + t: the same chain again, and one that "
        "differs at its beginning (are the descriptions equal?)"
    )
    example = ["dddddddddl" * 110, "dddddddddl" * 110, "r" + "dddddddddl" * 109 + "ddddddddl"]

    def generate(rng):
        letters = [one_of(rng, "ddddlrs") for _ in range(int(rng.integers(1100, 1200)))]
        chains = ["".join(letters)]
        for is_same in rng.permutation([True] * 5 + [False] * 5):
            other = list(letters)
            if not is_same:
                place = int(rng.integers(0, 60))
                # Which input comes first is another check's question.
                other[place] = one_of(rng, "ds" if letters[place] in "lr" else "lr")
            chains.append("".join(other))
        return chains

    def drive(step, data):
        first, *others = (step.describe(chain(step, letters)) for letters in data)
        return [bool(first == other) for other in others]

    def expected(data):
        return [data[0] == other for other in data[1:]]


def index_of(data):
    """Return the number of the program that makes the graph."""
    return [is_same(ran(data, lines)[0], data["rows"]) for lines in data["programs"]].index(True)


# Which of five programs made the graph, and at which place it stands: each of them twice. The third
# stands behind all others once: who takes the first that fits in part takes another one there.
TWICE = tuple((place, (place + shift) % 5) for shift in (0, 3) for place in range(5))


def a_choice(rng, programs, place, maker):
    """Return a question with these programs, and their graphs and values.

    The program number `maker` made the graph and stands at `place`, the others in random order.
    """
    order = [i for i in rng.permutation(len(programs)) if i != maker]
    order.insert(place, maker)
    data = {
        "names": letters(rng, 4),
        "values": [float(value) for value in rng.integers(2, 8, 4)],
        "programs": [programs[i] for i in order],
    }
    graphs, values = zip(*(ran(data, lines) for lines in data["programs"]), strict=True)
    data["rows"] = graphs[place]
    return data, graphs, values


def drawn(yours, right, words):
    """Draw two graphs with what each node computed, the first that differs marked."""
    parts = []
    for rows in (yours, right):
        used = {x for _, inputs in rows for x in inputs} | {len(rows) - 1}  # not all leaves are
        place = {number: i for i, number in enumerate(sorted(used))}
        labels, inputs, notes = [], [], []
        for number in place:
            label, new = rows[number][0], [place[x] for x in rows[number][1]]
            labels.append(f"t{sum(map(bool, inputs))}" if new else label)
            notes.append(f" {label} ".join(labels[x] for x in new))
            inputs.append(new)
        parts.append((labels, inputs, notes))
    facts = [list(zip(labels, notes, strict=True)) for labels, _, notes in parts]
    differ = [i for i, fact in enumerate(facts[0]) if fact not in facts[1][i : i + 1]]
    return beside(graph(*parts[0], differ[0] if differ else -1), graph(*parts[1]), words)


def two_graphs(data, value, expected):
    """Draw the graph of the chosen program beside the one that was asked for."""
    both = [ran(data, data["programs"][index])[0] for index in (value, expected)]
    return drawn(*both, f"the graphs of the programs {value} and {expected}")


# The graphs of these programs differ without a look at shared nodes, names or the order of inputs.
# That is step 1's matter: `which` runs with the learner's own `describe`, and loses nothing by it.


def formulas(a, b, c, d):
    """Return programs: the first three have one value, the last two another one."""
    times, split = ["s", "*", b, c], [["s", "*", a, c], ["t", "*", b, c]]
    total = ["s", "+", a, b]
    return [
        [total, ["t", "*", "s", c], ["r", "+", "t", d]],
        [*split, ["u", "+", "s", "t"], ["r", "+", "u", d]],
        [*split, ["u", "+", "t", d], ["r", "+", "s", "u"]],
        [total, ["t", "+", "s", d], ["r", "*", "t", c]],
        [times, ["t", "+", a, "s"], ["r", "+", "t", d]],
        [times, ["t", "+", "s", d], ["r", "+", a, "t"]],
    ]


@check(
    step="which",
    points=1,
    concept="the graph, not the value",
    using=[build, execute, choose],
)
class SameValue:
    caption = (
        "the graph of a * c + (b * c + d), and the programs (0) (a + b) * c + d, "
        "(1) (a * c + b * c) + d, (2) a * c + (b * c + d)"
    )
    example = {
        "names": ["a", "b", "c", "d"],
        "values": [2.0, 3.0, 4.0, 5.0],
        "programs": formulas(*"abcd")[:3],
        "rows": [
            *([name, []] for name in "abcd"),
            *(["*", [0, 2]], ["*", [1, 2]], ["+", [5, 3]], ["+", [4, 6]]),
        ],
    }

    kinds = TWICE

    def generate(rng, kind):
        programs = formulas(*(str(name) for name in rng.permutation(list("abcd"))))
        data, _, _ = a_choice(rng, [programs[i] for i in rng.permutation(6)[:5]], *kind)
        return data

    def drive(step, data):
        return choose(step, data)

    expected, picture = index_of, two_graphs


@check(
    step="which",
    points=1,
    concept="loops and branches",
    using=[build, execute, choose],
)
class Branches:
    caption = (
        "the graph of (a * c - d) + b at a = 3, b = 2, c = 5, d = 4, and the programs "
        "(0) if a > b: r = a * c, else: r = a * c - d; then once r = r + b, "
        "(1) the same with r = r + b three times, (2) as (0), with the two ways exchanged"
    )
    short, long = [["r", "*", "a", "c"]], [["r", "*", "a", "c"], ["r", "-", "r", "d"]]
    loops = [["for", rounds, [["r", "+", "r", "b"]]] for rounds in (1, 3)]
    example = {
        "names": ["a", "b", "c", "d"],
        "values": [3.0, 2.0, 5.0, 4.0],
        "programs": [
            [["if", "a", "b", short, long], loops[0]],
            [["if", "a", "b", short, long], loops[1]],
            [["if", "a", "b", long, short], loops[0]],
        ],
        "rows": [
            *([name, []] for name in "abcd"),
            *(["*", [0, 2]], ["-", [4, 3]], ["+", [5, 1]]),
        ],
    }

    kinds = TWICE

    def generate(rng, kind):
        while True:
            a, b, c, d = (str(name) for name in rng.permutation(list("abcd")))
            first, second = (str(op) for op in rng.permutation(list("+-*"))[:2])
            rounds, line = int(rng.integers(1, 4)), [["r", first, "r", a]]
            long, short = [["r", second, c, d], ["r", first, "r", b]], [["r", second, c, d]]
            more, less = [["r", second, "r", b], ["r", first, a, "r"]], [["r", second, "r", d]]
            programs = [
                [["if", a, b, long, short], ["for", rounds, line]],
                [["if", a, b, short, long], ["for", rounds, line]],
                [["if", a, b, long, short], ["for", rounds + 2, line]],
                [*short, ["for", rounds + 4, [["if", "r", a, more, less]]]],
                [*short, ["for", rounds + 4, [["if", "r", a, less, more]]]],
            ]
            data, graphs, values = a_choice(rng, programs, *kind)
            # Every graph has another value and another size.
            if all(len(set(facts)) == len(facts) for facts in (values, [*map(len, graphs)])):
                return data

    def drive(step, data):
        return choose(step, data)

    expected, picture = index_of, two_graphs


def rows_of(data, lines):
    """Read lines as a graph; raise a message's id where they make none."""
    rows = [row for row in data if not row[1]]
    place = {name: number for number, (name, _) in enumerate(rows)}
    targets = [line.split()[0] for line in lines if line.split()]
    for line in lines:
        words = line.split()
        if len(words) != 5 or words[1] != "=" or words[3] not in ("+", "-", "*"):
            raise ValueError("not_of_the_form")
        target, _, left, op, right = words
        if target in place:
            raise ValueError("one_name_for_all")
        if left not in place or right not in place:
            later = {left, right} <= {*targets, *place}
            raise ValueError("used_before_its_line" if later else "no_such_name")
        place[target] = len(rows)
        rows.append([op, [place[left], place[right]]])
    return rows


def is_a_program(data, value, expected):
    """Tell whether lines, run one after the other, make the graph again."""
    try:
        rows = rows_of(data, value)
    except ValueError:
        return False
    return len(rows) == len(data) and is_same(rows, data)


def what_is_wrong(data, value, expected):
    try:
        rows = rows_of(data, value)
    except ValueError as problem:
        return str(problem)
    return "too_many_lines" if len(rows) > len(data) else ""


def a_program(data):
    names, lines = [], []
    for label, inputs in data:
        if inputs:
            left, right = (names[i] for i in inputs)
            lines.append(f"t{len(lines)} = {left} {label} {right}")
            names.append(f"t{len(lines) - 1}")
        else:
            names.append(label)
    return lines


def graph_of_lines(data, value, expected):
    """Draw the graph that the lines make beside the one that was to be written down."""
    words = f"the graph of your {len(value)} lines beside the given one"
    return drawn(rows_of(data, value), data, words)


@check(step="write_down", points=1, concept="a line stands behind those it needs", using=[build])
class Lines:
    in_words = "; ".join
    caption = "s + (s - x), where s = x * y"
    example = [X, Y, ["*", [0, 1]], ["-", [2, 0]], ["+", [2, 3]]]
    many = True

    def generate(rng):
        rows = a_graph(rng)
        # The newest node is used at once, and again at the end of a longer way.
        newest = len(rows) - 1
        for _ in range(int(rng.integers(1, 4))):
            rows.append([one_of(rng, "+-*"), [len(rows) - 1, int(rng.integers(0, 3))]])
        ends = [int(i) for i in rng.permutation([newest, len(rows) - 1])]
        return [*rows, [one_of(rng, "+-*"), ends]]

    def drive(step, data):
        values = {label: 2.0 + number for number, (label, _) in enumerate(data)}
        return step.write_down(build(step, data, values)[-1])

    expected, compare = a_program, is_a_program
    diagnose, picture = what_is_wrong, graph_of_lines


@check(step="write_down", points=1, concept="one line for each operation", using=[build])
class Once:
    in_words = "; ".join
    caption = "d * d, where d = s + r, and s and r are two nodes x - y"
    example = [X, Y, ["-", [0, 1]], ["-", [0, 1]], ["+", [2, 3]], ["*", [4, 4]]]
    many = True

    def generate(rng):
        rows = [[name, []] for name in letters(rng, 2)]
        rows.append([one_of(rng, "+-*"), [0, 1]])
        kinds = ["shared", "again", *rng.choice(["shared", "again"], int(rng.integers(0, 3)))]
        for kind in rng.permutation(kinds):
            last = len(rows) - 1
            op = one_of(rng, "+-*")
            if kind == "again":
                rows += [[op, [last, last]], [op, [last, last]]]
                rows.append([one_of(rng, "+-*"), [last + 1, last + 2]])
            else:
                rows.append([op, [last, last]])
        return rows if rows[-1][1][0] == rows[-1][1][1] else [*rows, ["+", [len(rows) - 1] * 2]]

    def drive(step, data):
        values = {label: 0.5 for label, _ in data}
        return step.write_down(build(step, data, values)[-1])

    expected, compare = a_program, is_a_program
    diagnose, picture = what_is_wrong, graph_of_lines


def rows_of_chain(letters):
    rows = [["x", []], ["+", [0, 0]]]
    for letter in letters:
        last = len(rows) - 1
        if letter == "d":
            rows.append(["+", [last, last]])
        elif letter == "r":
            rows.append(["+", [0, last]])
        else:
            rows.append(["+", [last, 0]])
            if letter == "s":
                rows.append(["+", [last + 1, last + 1]])
    return rows


@check(step="write_down", points=1, concept="any length", cases=1, slow=True, using=[chain])
class Long:
    caption = "a chain of 1101 operations: x + x, and then by turns t + t and t + x"
    example = "dl" * 550
    many = True

    def generate(rng):
        return "".join(one_of(rng, "ddlrs") for _ in range(int(rng.integers(1100, 1200))))

    def drive(step, data):
        return step.write_down(chain(step, data))

    def expected(data):
        return a_program(rows_of_chain(data))

    def compare(data, value, expected):
        return value == expected or is_a_program(rows_of_chain(data), value, expected)

    def diagnose(data, value, expected):
        return what_is_wrong(rows_of_chain(data), value, expected)
