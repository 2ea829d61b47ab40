# message: what_kind_of_input
def describe(root):
    return [
        (node.op, node.name, [x.op + x.name for x in node.inputs]) for node in nodes_behind(root)
    ]
