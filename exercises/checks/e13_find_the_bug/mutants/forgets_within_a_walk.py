# message: forgets_within_a_walk


def visit(node, seen=None):
    seen = set()
    if node in seen:
        return []
    seen.add(node)
    nodes = []
    for x in node.inputs:
        nodes += visit(x, seen)
    return [*nodes, node]
