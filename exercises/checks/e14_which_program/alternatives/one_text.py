# The description is one text; the names are given first.
def describe(root):
    nodes = nodes_behind(root)
    places = {id(node): str(place) for place, node in enumerate(nodes)}
    return "; ".join(
        f"{node.op}{node.name} {' '.join(places[id(x)] for x in node.inputs)}" for node in nodes
    )


def which(root, programs, leaves):
    return [describe(program(*leaves)) for program in programs].index(describe(root))


def write_down(root):
    nodes = nodes_behind(root)
    names, count = {}, 0
    for node in nodes:
        names[node] = node.name or f"t{count}"
        count += node.op != "leaf"
    return [
        f"{names[node]} = {f' {node.op} '.join(names[x] for x in node.inputs)}"
        for node in nodes
        if node.inputs
    ]
