# message: nodes_in_the_description
def describe(root):
    return [(id(node), node.op, node.name) for node in nodes_behind(root)]
