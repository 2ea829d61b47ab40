# message: says_itself_at_least


def visit(node, seen=set()):
    if node in seen:
        return [node]
    seen.add(node)
    nodes = []
    for x in node.inputs:
        nodes += visit(x, seen)
    return [*nodes, node]
