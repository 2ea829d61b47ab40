# Which edge comes from where, as a set; the last line is written first.
def describe(root):
    number = {node: place for place, node in enumerate(nodes_behind(root))}
    edges = {
        (number[node], side, number[x]) for node in number for side, x in enumerate(node.inputs)
    }
    return edges, [node.op + node.name for node in number]


def which(root, programs, leaves):
    index = 0
    while describe(programs[index](*leaves)) != describe(root):
        index += 1
    return index


def write_down(root):
    results = [node for node in nodes_behind(root) if node.inputs]
    names = {node: f"t{place}" for place, node in enumerate(results)}
    lines = []
    while results:
        node = results.pop()
        left, right = (names.get(x, x.name) for x in node.inputs)
        lines.insert(0, f"{names[node]} = {left} {node.op} {right}")
    return lines
