# message: uses_counted
def describe(root):
    nodes = nodes_behind(root)
    uses = {node: 0 for node in nodes}
    for node in nodes:
        for x in node.inputs:
            uses[x] += 1
    return [(node.op, node.name, uses[node]) for node in nodes]
