# message: asks_for_a_set


def visit(node, seen):
    if node in seen:
        return []
    seen.add(node)
    nodes = []
    for x in node.inputs:
        nodes += visit(x, seen)
    return [*nodes, node]
