"""Does each node come before its inputs, once, and in any depth?"""

from autodiff_kit.grading.checks import check
from autodiff_kit.grading.pictures import beside, graph


def build(step, data):
    """Make the nodes of a graph; the last one is the root."""
    nodes = []
    for inputs, name in zip(data["inputs"], data["names"], strict=True):
        used = tuple(nodes[i] for i in inputs)
        label = data.get("label", name)
        op = "add" if used else "leaf"
        nodes.append(step.Node(label, op, used, not name.startswith("const")))
    return nodes


def names(rng, count):
    """Return names whose order says nothing."""
    return [f"n{number}" for number in rng.permutation(count)]


def ordered(step, nodes, names):
    """Return the names in the order asked for; nodes of earlier graphs are asked for in `Anew`."""
    own = {id(node): name for node, name in zip(nodes, names, strict=True)}
    return [own[id(node)] for node in step.order(nodes[-1]) if id(node) in own]


def seen_from(data, root):
    """Return the part of a graph that is as old as a root, or older."""
    return {name: data[name][: root + 1] for name in ("inputs", "names")}


def reached(data):
    reachable = {len(data["inputs"]) - 1}
    for number in reversed(range(len(data["inputs"]))):
        if number in reachable:
            reachable.update(data["inputs"][number])
    return sorted(reachable)


def an_order(data):
    """Return one right order: nodes are numbered as they were made, so the newest come first."""
    return [data["names"][number] for number in reversed(reached(data))]


def is_an_order(data, value, expected):
    """Tell whether a list of names is a right order: there are several."""
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        return False
    if sorted(value) != sorted(expected):
        return False
    place = {name: number for number, name in enumerate(value)}
    names = data["names"]
    return all(
        place[names[number]] < place[names[x]]
        for number in reached(data)
        for x in data["inputs"][number]
    )


def what_is_wrong(data, value, expected):
    if len(set(value)) < len(value):
        return "comes_more_than_once"
    if is_an_order(data, value[::-1], expected):
        return "inputs_first"
    if set(value) < set(expected):
        return "nodes_are_missing"
    return ""


def places(data, value, expected):
    """Draw the graph with each node's place in the list; mark the first that is out of place."""
    names, inputs = data["names"], data["inputs"]
    notes = [
        [", ".join(str(i + 1) for i, n in enumerate(order) if n == name) or "-" for name in names]
        for order in (value, expected)
    ]
    earlier: set[str] = set()
    early = ""
    for name in value:
        users = [names[i] for i, used in enumerate(inputs) if names.index(name) in used]
        if not early and not earlier.issuperset(users):
            early = name
        earlier.add(name)
    missing = next(
        (name for name in reversed(names) if name in expected and name not in earlier), ""
    )
    marked = names.index(early or missing) if early or missing else -1
    words = f"{missing} is missing" if missing else "the places in the list"
    words = f"{early} comes before a node that uses it" if early else words
    graphs = [
        graph(names, inputs, note, mark) for note, mark in zip(notes, (marked, -1), strict=True)
    ]
    return beside(*graphs, words)


@check(step="order", points=3, concept="all users first", cases=4, using=[build, ordered])
class Shared:
    in_words = ", ".join
    caption = "d, which uses c and a, where c uses b, and b uses a"
    example = {"inputs": [[], [0], [1], [0, 2]], "names": ["a", "b", "c", "d"]}

    def generate(rng):
        inputs = [[], [0], [1], [0, 2]]
        for number in range(4, 4 + int(rng.integers(2, 6))):
            older = int(rng.integers(0, number - 1))
            inputs.append([int(i) for i in rng.permutation([older, number - 1])])
        # The root is reached by a long way and by a short one, from either side.
        root = len(inputs)
        inputs += [[root - 1], [root], [root + 1, 0], [1, root + 2]]
        return {"inputs": inputs, "names": names(rng, len(inputs))}

    def drive(step, data):
        return ordered(step, build(step, data), data["names"])

    expected, compare, diagnose, picture = an_order, is_an_order, what_is_wrong, places


@check(step="order", points=1, concept="one node used twice", using=[build, ordered])
class Doubled:
    in_words = ", ".join
    caption = "fourth = square * square, square = x * x"
    example = {"inputs": [[], [0, 0], [1, 1]], "names": ["x", "square", "fourth"]}

    def generate(rng):
        inputs = [[]]
        for number in range(int(rng.integers(2, 6))):
            inputs.append([number] * (int(rng.integers(1, 4)) if number else 1))
        inputs.append([len(inputs) - 1] * 2)
        # Here the nodes themselves are told apart: all of them have the same value.
        return {"inputs": inputs, "names": names(rng, len(inputs)), "label": "node"}

    def drive(step, data):
        return ordered(step, build(step, data), data["names"])

    expected, compare, diagnose, picture = an_order, is_an_order, what_is_wrong, places


@check(step="order", points=2, concept="leaves and constants, too", cases=4, using=[build, ordered])
class Constants:
    in_words = ", ".join
    caption = "double = const * x, where const requires no gradient"
    example = {"inputs": [[], [], [0, 1]], "names": ["const", "x", "double"]}
    many = True

    def generate(rng):
        # A tree, deeper than a root and its inputs; some of its leaves are constants; and a node
        # that is not used.
        leaves = int(rng.integers(3, 5))
        inputs = [[] for _ in range(leaves)]
        newest = 0
        for number in range(1, leaves):
            inputs.append([newest, number])
            newest = len(inputs) - 1
        unused = len(inputs) - 1
        inputs.insert(unused, [])
        labels = names(rng, len(inputs))
        labels[int(rng.integers(0, leaves))] = "const1"
        return {"inputs": inputs, "names": labels}

    def drive(step, data):
        return ordered(step, build(step, data), data["names"])

    expected, compare, diagnose, picture = an_order, is_an_order, what_is_wrong, places


@check(step="order", points=2, concept="every call begins anew", using=[build])
class Anew:
    caption = "double = x * 2 and triple = x * 3: order(double), and then order(triple)"
    example = {"inputs": [[], [0], [0]], "names": ["x", "double", "triple"], "roots": [1, 2]}

    def generate(rng):
        inputs = [[], [0], [0, 1]]
        for number in range(3, 3 + int(rng.integers(2, 5))):
            # The first of them are a chain.
            inputs.append([number - 1 if number < 5 else int(rng.integers(1, number)), 0])
        roots = [int(root) for root in rng.permutation(range(1, len(inputs)))]
        return {"inputs": inputs, "names": names(rng, len(inputs)), "roots": roots}

    def drive(step, data):
        nodes = build(step, data)
        return [[node.value for node in step.order(nodes[root])] for root in data["roots"]]

    def expected(data):
        return [an_order(seen_from(data, root)) for root in data["roots"]]

    def compare(data, value, expected):
        # Which order it is, the other checks ask.
        return [sorted(set(names)) for names in value] == [sorted(names) for names in expected]

    def diagnose(data, value, expected):
        more = [set(names) - set(best) for names, best in zip(value, expected, strict=True)]
        return "earlier_calls_are_kept" if any(more) else ""


@check(step="order", points=2, concept="any depth", cases=1, using=[ordered])
class Deep:
    caption = "a chain of 1200 operations, 0 to 1199 (how many nodes came, and every 300th of them)"
    example = {"first": 0, "count": 1200}

    def generate(rng):
        return {"first": int(rng.integers(10**6)), "count": int(rng.integers(1100, 1300))}

    def drive(step, data):
        nodes = [step.Node(data["first"], requires_grad=True)]
        for number in range(1, data["count"]):
            nodes.append(step.Node(data["first"] + number, "add", (nodes[-1],), True))
        names = ordered(step, nodes, [node.value for node in nodes])
        return [len(names), *names[::300]]

    def expected(data):
        first, count = data["first"], data["count"]
        return [count, *range(first + count - 1, first - 1, -300)]
